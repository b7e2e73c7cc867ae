// Reductions, with what leads to them and what follows, as kernels of hone-loops: a softmax, a
// layer norm, a mean of squares are one pass over memory each, where XLA:CPU makes several of them,
// the sums one element after another.
#include "compiler/implementations/loop_kernels.h"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/implementations/attention_kernels.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "compiler/implementations/places.h"
#include "compiler/implementations/running_kernels.h"
#include "compiler/implementations/task_text.h"
#include "compiler/native/kernels.h"
#include "core/native_kernel.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// The nearest space that an instruction is computed in.
std::optional<Space> FindSpace(HloInstruction* root) {
  std::deque<HloInstruction*> next = {root};
  std::set<HloInstruction*> seen = {root};
  while (!next.empty() && seen.size() < kMostKernelNodes) {
    HloInstruction* instruction = next.front();
    next.pop_front();
    if (std::optional<Space> space = SpaceOf(*instruction)) {
      if (space->columns && Squeezed(root->shape()) != space->kept) continue;
      return space->Has(root->shape()) ? space : std::nullopt;
    }
    if (!IsElementwise(instruction->opcode()) && !IsFree(*instruction)) continue;
    for (HloInstruction* operand : instruction->operands()) {
      if (seen.insert(operand).second) next.push_back(operand);
    }
  }
  return std::nullopt;
}

// The value of `NAME = "..."` in a call's attributes; empty where there is none.
std::string AttributeOf(const std::string& attributes, const char* name) {
  const std::string begin = absl::StrCat(name, " = \"");
  const size_t at = attributes.find(begin);
  if (at == std::string::npos) return "";
  const size_t end = attributes.find('"', at + begin.size());
  if (end == std::string::npos) return "";
  return attributes.substr(at + begin.size(), end - at - begin.size());
}

// Of a reduction and what lies around it, where there is one.
HloInstruction* ReductionCall(HloInstruction* root) {
  if (IsForFew(*root)) return nullptr;
  const std::optional<Space> space = FindSpace(root);
  if (!space || !Fits(*root, *space) || emit::Product(space->full) < kLeastElements) return nullptr;
  const Neighbourhood neighbourhood = Grow(root, *space);
  if (!neighbourhood.reduces || neighbourhood.nodes.size() >= kMostKernelNodes) return nullptr;
  // XLA reduces all of an array well that is in memory already.
  if (space->kept.empty() && !neighbourhood.computes) return nullptr;
  if (IsTakenIn(root, *space) || IsInOneKernel(*root->parent())) return nullptr;
  if (IsOfAttention(*root)) return nullptr;
  return CallWith(root, neighbourhood, *space);
}

// A dot of which nothing but the batch is left, as the sum of products that it is; null of others.
// XLA:CPU adds one product after the other.
HloInstruction* InnerProductAsSum(HloInstruction* dot) {
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  HloInstruction *const x = dot->mutable_operand(0), *const y = dot->mutable_operand(1);
  const auto batch = static_cast<int64_t>(dot->shape().dimensions().size());
  const auto is_inner = [&](const HloInstruction& side, emit::Sizes batches, emit::Sizes summed) {
    return IsKernelFloat(side.shape().element_type()) && emit::InOrder(batches, 0, batch) &&
           emit::InOrder(summed, batch, static_cast<int64_t>(side.shape().dimensions().size()));
  };
  if (!IsKernelFloat(dot->shape().element_type()) || !emit::Free(*dot) || !IsArray(x->shape()) ||
      emit::SizesOf(*x) != emit::SizesOf(*y) ||
      !is_inner(*x, numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions()) ||
      !is_inner(*y, numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions())) {
    return nullptr;
  }
  const xla::PrimitiveType type = emit::SumType(dot->shape().element_type());
  HloInstruction* const products =
      emit::Binary(HloOpcode::kMultiply, emit::Convert(x, type), emit::Convert(y, type));
  Sizes summed;
  for (auto d = batch; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    summed.push_back(d);
  }
  return emit::Convert(
      emit::Reduce(products, emit::Number(dot->parent(), type, 0), summed, HloOpcode::kAdd),
      dot->shape().element_type());
}

// The kernel of what a dot is as a sum, which itself goes; null where none is made.
absl::StatusOr<HloInstruction*> InnerProductCall(HloInstruction* dot) {
  HloInstruction* const sum = InnerProductAsSum(dot);
  if (sum == nullptr) return nullptr;
  HloInstruction* const call = ReductionCall(sum);
  if (absl::Status gone = dot->parent()->RemoveInstructionAndUnusedOperands(sum); !gone.ok()) {
    return gone;
  }
  return call;
}

}  // namespace

std::vector<HloOpcode> LoopKernelsRoots() {
  return ElementwiseOpcodesAnd({HloOpcode::kReduce, HloOpcode::kDot, HloOpcode::kTranspose,
                                HloOpcode::kReduceWindow, HloOpcode::kCompare,
                                HloOpcode::kScatter});
}

// The largest neighbourhoods of elementwise operations, broadcasts and sums or maxima over the last
// dimensions, or over the first ones where nothing that follows is as large as what was reduced, of
// f32 or f64, that one instruction alone is needed of, become custom calls `hone_loops`
// (core/native_kernel.h). The call tells what it computes as a task of hone-loops (loops/task.h),
// in which sizes of 1 are left out; the machine code is made elsewhere. Arrays are passed
// row-major: where they lie otherwise, XLA copies them.
absl::StatusOr<HloInstruction*> LoopKernels(HloInstruction* root) {
  if (!IsArray(root->shape()) || PastLeast(*root) >= 0) return nullptr;
  if (root->opcode() == HloOpcode::kDot || root->opcode() == HloOpcode::kTranspose) {
    if (IsInOneKernel(*root->parent())) return nullptr;
    HloInstruction* const attention = AttentionCall(root);
    if (attention != nullptr || root->opcode() != HloOpcode::kDot) return attention;
    return InnerProductCall(root);
  }
  if (root->opcode() == HloOpcode::kReduceWindow) return RunningCall(root);
  if (root->opcode() == HloOpcode::kCompare) return ComparedInFloats(root);
  if (root->opcode() == HloOpcode::kScatter) return ChosenByPlace(root);
  if (HloInstruction* const scatter = ScatteredOnto(root)) return scatter;
  return ReductionCall(root);
}

absl::StatusOr<std::vector<std::string>> MissingKernels(const xla::HloModule& module) {
  std::set<std::string> tasks;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->IsCustomCall(loops::kKernelCall)) continue;
      const std::string& attributes = instruction->raw_backend_config_string();
      const std::string task = AttributeOf(attributes, loops::kKernelTask);
      const std::string name = AttributeOf(attributes, loops::kKernelName);
      if (task.empty() || name != loops::KernelName(task)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the custom call hone_loops ", instruction->name(),
                         " does not tell what it computes, or has another kernel's name"));
      }
      if (native::FindKernel(name) == nullptr) tasks.insert(task);
    }
  }
  return std::vector<std::string>(tasks.begin(), tasks.end());
}

}  // namespace hone::compiler
