#include "compiler/implementations/running_kernels.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/windows.h"
#include "core/native_kernel.h"

namespace hone::compiler {

using xla::HloInstruction;
using xla::HloOpcode;

namespace {

// What runs, in a task; null where nothing does. A minimum is a maximum in the opposite order.
const char* KindOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return "running_sum";
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
      return "running_max";
    case HloOpcode::kMultiply:
      return "running_product";
    default:
      return nullptr;
  }
}

}  // namespace

HloInstruction* RunningCall(HloInstruction* root) {
  const std::optional<Cumulative> running = CumulativeOf(*root);
  if (!running || IsInOneKernel(*root->parent())) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  if (type != xla::F32 && type != xla::F64 && type != xla::S32) return nullptr;
  const char* const kind = KindOf(running->opcode);
  if (kind == nullptr) return nullptr;
  if (!emit::IsIdentity(*root->operand(1), running->opcode)) return nullptr;
  int64_t before = 1, along = 1, behind = 1;
  for (int64_t d = 0; d < static_cast<int64_t>(root->shape().dimensions().size()); ++d) {
    const int64_t size = root->shape().dimensions(d);
    (d < running->dimension ? before : d == running->dimension ? along : behind) *= size;
  }
  if (before * along * behind < kLeastElements) return nullptr;
  const std::string shape =
      absl::StrCat(before, ",", along, behind == 1 ? "" : absl::StrCat(",", behind));
  const std::string task =
      absl::StrCat(loops::kKernelTaskBegin, "input i0 ", TaskType(type), "[", shape,
                   "];v0 = ", kind, " i0", running->backward ? " reverse=1" : "", ";output v0;");
  HloInstruction* const x = root->mutable_operand(0);
  if (running->opcode != HloOpcode::kMinimum) return KernelCall(root, type, {x}, task);
  // The maximum in the opposite order.
  const HloOpcode turned = type == xla::S32 ? HloOpcode::kNot : HloOpcode::kNegate;
  return emit::Unary(turned, KernelCall(root, type, {emit::Unary(turned, x)}, task));
}

}  // namespace hone::compiler
