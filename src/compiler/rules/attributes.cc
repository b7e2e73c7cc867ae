#include "compiler/rules/attributes.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "absl/types/span.h"
#include "compiler/opcodes.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloOpcode;

template <class Container>
Value ListOf(const Container& numbers) {
  return Value::List(std::vector<int64_t>(numbers.begin(), numbers.end()));
}

// "add" for a computation of two parameters whose root adds them.
std::optional<Value> ReductionName(const xla::HloComputation& computation) {
  const xla::HloInstruction* const root = computation.root_instruction();
  const std::optional<HloOpcode> opcode = CombinerOpcode(computation);
  if (!opcode || !root->shape().IsArray() || root->operand(0)->shape() != root->shape()) {
    return std::nullopt;
  }
  return Value::Word(xla::HloOpcodeString(*opcode));
}

Value Padding(const xla::PaddingConfig& config, std::string_view name) {
  std::vector<int64_t> list;
  for (const auto& dimension : config.dimensions()) {
    list.push_back(name == "low"    ? dimension.edge_padding_low()
                   : name == "high" ? dimension.edge_padding_high()
                                    : dimension.interior_padding());
  }
  return Value::List(std::move(list));
}

std::optional<Value> DotDimensions(const xla::DotDimensionNumbers& numbers, std::string_view name) {
  if (name == "lhs_batch_dims") return ListOf(numbers.lhs_batch_dimensions());
  if (name == "rhs_batch_dims") return ListOf(numbers.rhs_batch_dimensions());
  if (name == "lhs_contracting_dims") return ListOf(numbers.lhs_contracting_dimensions());
  if (name == "rhs_contracting_dims") return ListOf(numbers.rhs_contracting_dimensions());
  return std::nullopt;
}

std::optional<Value> GatherAttribute(const xla::HloGatherInstruction& gather,
                                     std::string_view name) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  if (name == "offset_dims") return ListOf(numbers.offset_dims());
  if (name == "collapsed_slice_dims") return ListOf(numbers.collapsed_slice_dims());
  if (name == "start_index_map") return ListOf(numbers.start_index_map());
  if (name == "operand_batching_dims") return ListOf(numbers.operand_batching_dims());
  if (name == "index_vector_dim") return Value::Integer(numbers.index_vector_dim());
  if (name == "slice_sizes") return ListOf(gather.gather_slice_sizes());
  return std::nullopt;
}

// The first element.
std::optional<Value> NumberOf(const xla::LiteralBase& literal) {
  const xla::PrimitiveType type = literal.shape().element_type();
  const std::vector<int64_t> first(literal.shape().dimensions().size(), 0);
  if (type == xla::PRED || xla::primitive_util::IsIntegralType(type)) {
    const std::optional<int64_t> number = literal.GetIntegralAsS64(first);
    if (!number || (type == xla::U64 && *number < 0)) return std::nullopt;
    return Value::Integer(*number);
  }
  if (xla::primitive_util::IsFloatingPointType(type)) {
    const std::optional<double> number = literal.GetAsDouble(first);
    if (!number || std::isnan(*number)) return std::nullopt;
    return Value::Real(*number);
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string_view>& AttributeNames(HloOpcode opcode) {
  static const std::map<HloOpcode, std::vector<std::string_view>> names = {
      {HloOpcode::kTranspose, {"dimensions"}},
      {HloOpcode::kBroadcast, {"dimensions"}},
      {HloOpcode::kReverse, {"dimensions"}},
      {HloOpcode::kConcatenate, {"dimensions"}},
      {HloOpcode::kReduce, {"dimensions", "to_apply"}},
      {HloOpcode::kReduceWindow, {"to_apply"}},
      {HloOpcode::kIota, {"iota_dimension"}},
      {HloOpcode::kSlice, {"start", "limit", "strides"}},
      {HloOpcode::kDynamicSlice, {"sizes"}},
      {HloOpcode::kPad, {"low", "high", "interior"}},
      {HloOpcode::kCompare, {"direction"}},
      {HloOpcode::kConstant, {"value"}},
      {HloOpcode::kGetTupleElement, {"index"}},
      {HloOpcode::kDot,
       {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}},
      {HloOpcode::kGather,
       {"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
        "index_vector_dim", "slice_sizes"}},
      {HloOpcode::kConvolution, {"feature_group_count", "batch_group_count"}},
  };
  static const std::vector<std::string_view> none;
  const auto found = names.find(opcode);
  return found == names.end() ? none : found->second;
}

std::optional<Value> AttributeOf(const xla::HloInstruction& instruction, std::string_view name) {
  switch (instruction.opcode()) {
    case HloOpcode::kConcatenate:
      return Value::Integer(instruction.concatenate_dimension());
    case HloOpcode::kTranspose:
    case HloOpcode::kBroadcast:
    case HloOpcode::kReverse:
      return ListOf(instruction.dimensions());
    case HloOpcode::kReduce:
      if (name == "dimensions") return ListOf(instruction.dimensions());
      return ReductionName(*instruction.to_apply());
    case HloOpcode::kReduceWindow:
      return ReductionName(*instruction.to_apply());
    case HloOpcode::kIota:
      return Value::Integer(xla::Cast<xla::HloIotaInstruction>(&instruction)->iota_dimension());
    case HloOpcode::kSlice:
      return ListOf(name == "start"   ? instruction.slice_starts()
                    : name == "limit" ? instruction.slice_limits()
                                      : instruction.slice_strides());
    case HloOpcode::kDynamicSlice:
      return ListOf(instruction.dynamic_slice_sizes());
    case HloOpcode::kPad:
      return Padding(instruction.padding_config(), name);
    case HloOpcode::kCompare:
      return Value::Word(xla::ComparisonDirectionToString(instruction.comparison_direction()));
    case HloOpcode::kConstant:
      return SplatValue(instruction);
    case HloOpcode::kGetTupleElement:
      return Value::Integer(instruction.tuple_index());
    case HloOpcode::kDot:
      return DotDimensions(instruction.dot_dimension_numbers(), name);
    case HloOpcode::kGather:
      return GatherAttribute(*xla::Cast<xla::HloGatherInstruction>(&instruction), name);
    case HloOpcode::kConvolution:
      return Value::Integer(name == "feature_group_count" ? instruction.feature_group_count()
                                                          : instruction.batch_group_count());
    default:
      return std::nullopt;
  }
}

std::optional<Value> SplatValue(const xla::HloInstruction& instruction) {
  const xla::HloInstruction* constant = &instruction;
  while (constant->opcode() == HloOpcode::kBroadcast) constant = constant->operand(0);
  if (constant->opcode() != HloOpcode::kConstant || !constant->shape().IsArray() ||
      constant->shape().is_dynamic()) {
    return std::nullopt;
  }
  const xla::Literal& literal = constant->literal();
  if (literal.element_count() == 0 || (literal.element_count() > 1 && !literal.IsAllFirst())) {
    return std::nullopt;
  }
  return NumberOf(literal);
}

bool IsUnaryClass(HloOpcode opcode) {
  return IsOneOf<HloOpcode::kAbs, HloOpcode::kCbrt, HloOpcode::kCeil, HloOpcode::kCos,
                 HloOpcode::kErf, HloOpcode::kExp, HloOpcode::kExpm1, HloOpcode::kFloor,
                 HloOpcode::kLog, HloOpcode::kLog1p, HloOpcode::kLogistic, HloOpcode::kNegate,
                 HloOpcode::kNot, HloOpcode::kRoundNearestAfz, HloOpcode::kRoundNearestEven,
                 HloOpcode::kRsqrt, HloOpcode::kSign, HloOpcode::kSin, HloOpcode::kSqrt,
                 HloOpcode::kTan, HloOpcode::kTanh>(opcode);
}

bool IsBinaryClass(HloOpcode opcode) {
  return IsOneOf<HloOpcode::kAdd, HloOpcode::kAnd, HloOpcode::kAtan2, HloOpcode::kDivide,
                 HloOpcode::kMaximum, HloOpcode::kMinimum, HloOpcode::kMultiply, HloOpcode::kOr,
                 HloOpcode::kPower, HloOpcode::kRemainder, HloOpcode::kShiftLeft,
                 HloOpcode::kShiftRightArithmetic, HloOpcode::kShiftRightLogical,
                 HloOpcode::kSubtract, HloOpcode::kXor>(opcode);
}

bool IsCommutative(HloOpcode opcode) {
  return IsOneOf<HloOpcode::kAdd, HloOpcode::kAnd, HloOpcode::kMaximum, HloOpcode::kMinimum,
                 HloOpcode::kMultiply, HloOpcode::kOr, HloOpcode::kXor>(opcode);
}

}  // namespace hone::compiler
