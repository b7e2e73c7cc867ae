#include "compiler/implementations/kernel_parts.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/implementations/emit.h"
#include "core/kernel_elements.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// -infinity, which changes no maximum.
bool IsLeast(const HloInstruction& instruction) {
  const HloInstruction* constant = &instruction;
  if (constant->opcode() == HloOpcode::kBroadcast) constant = constant->operand(0);
  return constant->opcode() == HloOpcode::kConstant &&
         xla::ShapeUtil::IsEffectiveScalar(constant->shape()) &&
         constant->literal().IsAllFloat(-std::numeric_limits<float>::infinity());
}

// Null where kernels do not know it.
const loops::ElementInfo* ElementOf(xla::PrimitiveType type) {
  return loops::FindElement(xla::primitive_util::LowercasePrimitiveTypeName(type));
}

// The name in a task of what is narrow, and read as such by what computes in f32; else null.
const char* NarrowType(xla::PrimitiveType type) {
  const loops::ElementInfo* const info = ElementOf(type);
  return info != nullptr && info->narrow() ? info->name : nullptr;
}

// What a value in f32 is converted from, past roundings.
HloInstruction* BeforeConversions(HloInstruction* value) {
  if (value->opcode() != HloOpcode::kConvert) return value;
  HloInstruction* const from = value->mutable_operand(0);
  if (IsRounding(*value)) return BeforeConversions(from);
  return NarrowType(from->shape().element_type()) != nullptr ? from : value;
}

// Whether it lies in memory as it is.
bool LiesInMemory(const HloInstruction& value) {
  switch (value.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
      return LiesInMemory(*value.operand(0));
    case HloOpcode::kConstant:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kParameter:
      return true;
    default:
      return false;
  }
}

// What a value in f32 was rounded to before: narrow numbers, of f32. Null where it was not.
HloInstruction* RoundedValue(HloInstruction* value) {
  while (IsRounding(*value)) {
    if (Narrows(*value)) return value;
    value = value->mutable_operand(0);
  }
  return nullptr;
}

// Inputs that are converted to f32 for the task alone: it reads what they are converted from.
void ReadNarrow(std::string& task, std::vector<HloInstruction*>& inputs) {
  const bool multiplies =
      absl::StrContains(task, "= product ") || absl::StrContains(task, "= convolve ");
  size_t at = 0;
  for (HloInstruction*& input : inputs) {
    at = task.find(";input ", at) + 1;
    const size_t wide = task.find(" f32[", at);
    if (wide == std::string::npos || wide > task.find(';', at)) continue;
    const bool is_operand = task[at + 6] != 'i';  // others are i0, i1, ...
    // What multiplies does so several times as fast by narrow numbers: what the program rounds to
    // them is rounded as it is read where the wide numbers lie in memory, else before.
    HloInstruction* const rounded = multiplies && is_operand ? RoundedValue(input) : nullptr;
    const char* type = nullptr;
    if (rounded != nullptr && rounded->shape().element_type() == xla::BF16 &&
        LiesInMemory(*rounded->operand(0))) {
      input = rounded->mutable_operand(0);
      type = loops::InfoOf(loops::Element::kF32AsBF16).name;
    } else {
      input = rounded != nullptr ? rounded : BeforeConversions(input);
      type = NarrowType(input->shape().element_type());
    }
    if (type != nullptr) task.replace(wide + 1, 3, type);
  }
}

// The same task with its output rounded, in the same step where what makes it need not be stored.
void RoundOutput(std::string& task, const char* type) {
  const size_t output = task.rfind(";output ");
  const std::string name = task.substr(output + 8, task.size() - output - 9);
  const size_t made = task.find(absl::StrCat(";", name, " = ")) + name.size() + 2;
  const std::string kind = task.substr(made + 2, task.find(' ', made + 2) - made - 2);
  const bool stored =
      absl::StartsWith(kind, "reduce_") || absl::StartsWith(kind, "running_") || kind == "attend";
  if (!stored) task.replace(made, 1, ":=");
  task.resize(task.rfind(";output ") + 1);
  absl::StrAppend(&task, "rounded = to_", type, " ", name, ";output rounded;");
}

}  // namespace

const char* TaskType(xla::PrimitiveType type) {
  const loops::ElementInfo* const info = ElementOf(type);
  return loops::InfoOf(info == nullptr ? loops::Element::kF32 : loops::WideOf(info->element)).name;
}

bool IsKernelFloat(xla::PrimitiveType type) {
  const loops::ElementInfo* const info = ElementOf(type);
  return info != nullptr && info->floating && info->bytes > 1;
}

xla::PrimitiveType KernelType(xla::PrimitiveType type) {
  return IsKernelFloat(type) && ElementOf(type)->narrow() ? xla::F32 : type;
}

bool MayBeUnrounded(const HloInstruction& value) {
  const xla::PrimitiveType type = value.shape().element_type();
  return KernelType(type) == type ||
         value.GetModule()->config().debug_options().xla_allow_excess_precision();
}

bool IsRounding(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kConvert && MayBeUnrounded(instruction) &&
         KernelType(instruction.shape().element_type()) == xla::F32 &&
         KernelType(instruction.operand(0)->shape().element_type()) == xla::F32;
}

bool Narrows(const HloInstruction& instruction) {
  return IsRounding(instruction) && NarrowType(instruction.shape().element_type()) != nullptr &&
         instruction.operand(0)->shape().element_type() == xla::F32;
}

const char* TaskKind(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAbs:
      return "abs";
    case HloOpcode::kAdd:
      return "add";
    case HloOpcode::kDivide:
      return "divide";
    case HloOpcode::kExp:
      return "exp";
    case HloOpcode::kExpm1:
      return "expm1";
    case HloOpcode::kLog:
      return "log";
    case HloOpcode::kLog1p:
      return "log1p";
    case HloOpcode::kLogistic:
      return "logistic";
    case HloOpcode::kMaximum:
      return "maximum";
    case HloOpcode::kMinimum:
      return "minimum";
    case HloOpcode::kMultiply:
      return "multiply";
    case HloOpcode::kNegate:
      return "negate";
    case HloOpcode::kRsqrt:
      return "rsqrt";
    case HloOpcode::kSqrt:
      return "sqrt";
    case HloOpcode::kSubtract:
      return "subtract";
    case HloOpcode::kTanh:
      return "tanh";
    default:
      return nullptr;
  }
}

Sizes Squeezed(const xla::Shape& shape) {
  Sizes sizes;
  for (const int64_t size : shape.dimensions()) {
    if (size != 1) sizes.push_back(size);
  }
  return sizes;
}

bool IsArray(const xla::Shape& shape) {
  return shape.IsArray() && shape.is_static() && !xla::ShapeUtil::IsZeroElementArray(shape);
}

std::optional<double> NumberOf(const HloInstruction& instruction) {
  const HloInstruction* constant = &instruction;
  while (constant->opcode() == HloOpcode::kBroadcast || constant->opcode() == HloOpcode::kReshape) {
    constant = constant->operand(0);
  }
  if (constant->opcode() != HloOpcode::kConstant ||
      !xla::ShapeUtil::IsEffectiveScalar(constant->shape())) {
    return std::nullopt;
  }
  const Sizes first(constant->shape().dimensions().size(), 0);
  if (constant->shape().element_type() == xla::PRED) return constant->literal().IsAll(1) ? 1 : 0;
  if (const std::optional<int64_t> whole = constant->literal().GetIntegralAsS64(first)) {
    return static_cast<double>(*whole);
  }
  const std::optional<double> value = constant->literal().GetAsDouble(first);
  return value && !std::isnan(*value) ? value : std::nullopt;
}

std::optional<double> ConstantOf(const HloInstruction& instruction) {
  const std::optional<double> value = NumberOf(instruction);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

int PastLeast(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kMaximum) return -1;
  for (const int i : {0, 1}) {
    if (IsLeast(*instruction.operand(i))) return 1 - i;
  }
  return -1;
}

bool IsIdentity(const HloInstruction& instruction) {
  return (instruction.opcode() == HloOpcode::kReshape ||
          instruction.opcode() == HloOpcode::kBitcast ||
          instruction.opcode() == HloOpcode::kCopy) &&
         instruction.operand(0)->shape().element_type() == instruction.shape().element_type() &&
         Squeezed(instruction.operand(0)->shape()) == Squeezed(instruction.shape());
}

bool IsFunction(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAtan2:
    case HloOpcode::kCbrt:
    case HloOpcode::kCos:
    case HloOpcode::kErf:
    case HloOpcode::kExp:
    case HloOpcode::kExpm1:
    case HloOpcode::kLog:
    case HloOpcode::kLog1p:
    case HloOpcode::kLogistic:
    case HloOpcode::kPower:
    case HloOpcode::kSin:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
      return true;
    default:
      return false;
  }
}

bool IsInOneKernel(const xla::HloComputation& computation) {
  return absl::c_any_of(computation.caller_instructions(), [](const HloInstruction* caller) {
    return caller->frontend_attributes().map().contains(emit::kSmallCall) ||
           IsInOneKernel(*caller->parent());
  });
}

xla::Shape RowMajor(const xla::Shape& shape) {
  return xla::ShapeUtil::MakeShape(shape.element_type(), shape.dimensions());
}

HloInstruction* KernelCall(xla::HloComputation* computation, const xla::Shape& shape,
                           std::vector<HloInstruction*> inputs, std::string task) {
  ReadNarrow(task, inputs);
  std::vector<xla::Shape> shapes;
  for (const HloInstruction* input : inputs) shapes.push_back(RowMajor(input->shape()));
  const std::string attributes =
      absl::StrCat("{", loops::kKernelName, " = \"", loops::KernelName(task), "\", ",
                   loops::kKernelTask, " = \"", task, "\"}");
  return computation->AddInstruction(HloInstruction::CreateCustomCall(
      RowMajor(shape), inputs, loops::kKernelCall, shapes, attributes,
      xla::CustomCallApiVersion::API_VERSION_TYPED_FFI));
}

HloInstruction* KernelCall(xla::HloComputation* computation, const xla::Shape& shape,
                           xla::PrimitiveType type, std::vector<HloInstruction*> inputs,
                           std::string task) {
  const xla::PrimitiveType own = shape.element_type();
  if (own != type && type == xla::F32 && KernelType(own) == xla::F32) {
    RoundOutput(task, NarrowType(own));
    type = own;
  }
  HloInstruction* const call =
      KernelCall(computation, xla::ShapeUtil::ChangeElementType(shape, type), std::move(inputs),
                 std::move(task));
  return emit::Convert(call, own);
}

HloInstruction* KernelCall(HloInstruction* root, xla::PrimitiveType type,
                           std::vector<HloInstruction*> inputs, std::string task) {
  return KernelCall(root->parent(), root->shape(), type, std::move(inputs), std::move(task));
}

}  // namespace hone::compiler
