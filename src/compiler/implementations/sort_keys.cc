#include "compiler/implementations/sort_keys.h"

#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;

constexpr int64_t kMostInComparator = 64;

// Is `a` made of parameter `from_a` exactly as `b` is made of parameter `from_b`, by elementwise
// operations on scalars?
bool SameFunction(const HloInstruction& a, int64_t from_a, const HloInstruction& b,
                  int64_t from_b) {
  if (a.opcode() != b.opcode() || a.shape() != b.shape()) return false;
  if (a.opcode() == HloOpcode::kParameter) {
    return a.parameter_number() == from_a && b.parameter_number() == from_b;
  }
  if (a.opcode() == HloOpcode::kConstant) return a.literal() == b.literal();
  if (!a.IsElementwise() || a.HasSideEffect() || !a.called_computations().empty()) return false;
  if (!a.Identical(b, [](const HloInstruction*, const HloInstruction*) { return true; })) {
    return false;
  }
  for (int64_t k = 0; k < a.operand_count(); ++k) {
    if (!SameFunction(*a.operand(k), from_a, *b.operand(k), from_b)) return false;
  }
  return true;
}

// A parameter that it is made of; -1 where there is none.
int64_t ParameterOf(const HloInstruction& x) {
  if (x.opcode() == HloOpcode::kParameter) return x.parameter_number();
  for (const HloInstruction* operand : x.operands()) {
    if (const int64_t parameter = ParameterOf(*operand); parameter >= 0) return parameter;
  }
  return -1;
}

// The same function of both elements of an array, compared.
std::optional<SortKey> KeyOfCompare(const HloInstruction& root) {
  if (root.opcode() != HloOpcode::kCompare) return std::nullopt;
  SortKey key;
  key.order = xla::Cast<xla::HloCompareInstruction>(&root)->order();
  key.descending = root.comparison_direction() == ComparisonDirection::kGt;
  if (!key.descending && root.comparison_direction() != ComparisonDirection::kLt) {
    return std::nullopt;
  }
  const int64_t parameter = ParameterOf(*root.operand(0));
  if (parameter < 0) return std::nullopt;
  key.array = parameter / 2;
  const int64_t first = 2 * key.array;
  const bool turned = parameter != first;
  key.function = root.operand(turned ? 1 : 0);
  if (!SameFunction(*key.function, first, *root.operand(turned ? 0 : 1), first + 1)) {
    return std::nullopt;
  }
  key.descending = key.descending != turned;
  return key;
}

// Whether it tells that the key is the same of both.
bool IsEqual(const HloInstruction& x, const SortKey& key) {
  if (x.opcode() != HloOpcode::kCompare || x.comparison_direction() != ComparisonDirection::kEq ||
      xla::Cast<xla::HloCompareInstruction>(&x)->order() != key.order) {
    return false;
  }
  const int64_t first = 2 * key.array, second = first + 1;
  for (const int side : {0, 1}) {
    if (SameFunction(*x.operand(side), first, *key.function, first) &&
        SameFunction(*x.operand(1 - side), second, *key.function, first)) {
      return true;
    }
  }
  return false;
}

// The two zeros become one.
HloInstruction* WithOneZero(HloInstruction* keys) {
  HloInstruction* zero = emit::Broadcast(emit::Zero(keys->parent(), keys->shape().element_type()),
                                         emit::SizesOf(*keys), {});
  return emit::Select(emit::Compare(ComparisonDirection::kEq, keys, zero), zero, keys);
}

}  // namespace

bool IsPositions(const HloInstruction& x, int64_t dimension) {
  if (!xla::primitive_util::IsIntegralType(x.shape().element_type())) return false;
  if (x.opcode() == HloOpcode::kIota) {
    return xla::Cast<xla::HloIotaInstruction>(&x)->iota_dimension() == dimension;
  }
  if (x.opcode() != HloOpcode::kBroadcast) return false;
  for (size_t k = 0; k < x.dimensions().size(); ++k) {
    if (x.dimensions()[k] == dimension) {
      return IsPositions(*x.operand(0), static_cast<int64_t>(k));
    }
  }
  return false;
}

std::vector<SortKey> KeysOf(const HloComputation& comparator) {
  std::vector<SortKey> keys;
  if (comparator.instruction_count() > kMostInComparator) return keys;
  const HloInstruction* rest = comparator.root_instruction();
  while (rest->opcode() == HloOpcode::kOr) {
    const bool turned = rest->operand(0)->opcode() == HloOpcode::kAnd;
    const HloInstruction* const first = rest->operand(turned ? 1 : 0);
    const HloInstruction* const equal = rest->operand(turned ? 0 : 1);
    const std::optional<SortKey> key = KeyOfCompare(*first);
    if (!key || equal->opcode() != HloOpcode::kAnd) return {};
    keys.push_back(*key);
    if (IsEqual(*equal->operand(0), *key)) {
      rest = equal->operand(1);
    } else if (IsEqual(*equal->operand(1), *key)) {
      rest = equal->operand(0);
    } else {
      return {};
    }
  }
  const std::optional<SortKey> last = KeyOfCompare(*rest);
  if (!last) return {};
  keys.push_back(*last);
  return keys;
}

std::optional<SortKey> KeyOf(const HloComputation& comparator) {
  const std::vector<SortKey> keys = KeysOf(comparator);
  if (keys.size() != 1 || keys[0].array != 0) return std::nullopt;
  return keys[0];
}

bool CanBeMapped(const HloComputation& function) {
  for (const HloInstruction* instruction : function.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      if (!xla::ShapeUtil::IsScalar(instruction->shape())) return false;
    } else if (instruction->opcode() == HloOpcode::kConstant) {
      if (!xla::ShapeUtil::IsEffectiveScalar(instruction->shape())) return false;
    } else if (instruction->opcode() == HloOpcode::kTuple) {
      if (!instruction->IsRoot()) return false;
    } else if (!instruction->IsElementwise() || instruction->HasSideEffect() ||
               instruction->opcode() == HloOpcode::kRng ||
               !instruction->called_computations().empty()) {
      return false;
    }
  }
  return true;
}

HloInstruction* Mapped(const HloInstruction& function, HloInstruction* x,
                       std::map<const HloInstruction*, HloInstruction*>* done) {
  HloInstruction*& result = (*done)[&function];
  if (result != nullptr) return result;
  if (function.opcode() == HloOpcode::kParameter) return result = x;
  if (function.opcode() == HloOpcode::kConstant) {
    return result = emit::Broadcast(emit::Scalar(x->parent(), function.literal().Clone()),
                                    emit::SizesOf(*x), {});
  }
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : function.operands()) {
    operands.push_back(Mapped(*operand, x, done));
  }
  const xla::Shape shape =
      xla::ShapeUtil::ChangeElementType(x->shape(), function.shape().element_type());
  return result = x->parent()->AddInstruction(function.CloneWithNewOperands(shape, operands));
}

HloInstruction* KeysIn(HloInstruction* sort, const SortKey& key) {
  std::map<const HloInstruction*, HloInstruction*> done;
  return Mapped(*key.function, sort->mutable_operand(key.array), &done);
}

PrimitiveType Unsigned(int64_t bits) {
  return xla::primitive_util::UnsignedIntegralTypeForBitWidth(static_cast<int>(bits));
}

HloInstruction* Constant(HloInstruction* like, uint64_t value) {
  return emit::Broadcast(emit::Scalar(like->parent(), xla::LiteralUtil::CreateR0<uint64_t>(value)
                                                          .Convert(like->shape().element_type())
                                                          .value()),
                         emit::SizesOf(*like), {});
}

HloInstruction* InTotalOrder(HloInstruction* keys, const SortKey& key, bool opposite) {
  if (key.order == xla::ComparisonOrder::kPartial) keys = WithOneZero(keys);
  // A NaN's sign is turned, too, so that it changes ends with the others.
  return opposite ? emit::Unary(HloOpcode::kNegate, keys) : keys;
}

bool KeepsValues(const HloInstruction& function, PrimitiveType type) {
  if (function.opcode() == HloOpcode::kParameter) return true;
  for (const HloInstruction* instruction : function.parent()->instructions()) {
    switch (instruction->opcode()) {
      case HloOpcode::kParameter:
      case HloOpcode::kCompare:
      case HloOpcode::kSelect:
        break;
      case HloOpcode::kConstant: {
        const double value = instruction->literal().Convert(xla::F64).value().Get<double>({});
        if (value != 0 && !std::isnan(value)) return false;
        break;
      }
      default:
        return false;
    }
  }
  xla::HloEvaluator evaluator(/*max_loop_iterations=*/0);
  const double infinity = std::numeric_limits<double>::infinity();
  for (double value : {-infinity, -2.0, 0.0, 3.0, infinity, std::nan("")}) {
    const xla::Literal argument = xla::LiteralUtil::CreateR0<double>(value).Convert(type).value();
    absl::flat_hash_map<const HloInstruction*, const xla::LiteralBase*> known;
    for (const HloInstruction* parameter : function.parent()->parameter_instructions()) {
      known[parameter] = &argument;
    }
    auto result = evaluator.Evaluate(&function, {},
                                     /*recursively_evaluate_nonconstant_operands=*/true, known);
    if (!result.ok()) return false;
    const double got = result->Convert(xla::F64).value().Get<double>({});
    if (got != value && !(std::isnan(got) && std::isnan(value))) return false;
  }
  return true;
}

HloInstruction* Ordered(HloInstruction* keys, const SortKey& key) {
  const PrimitiveType type = keys->shape().element_type();
  const int64_t bits = xla::primitive_util::BitWidth(type);
  const bool floats = xla::primitive_util::IsFloatingPointType(type);
  if (floats && key.order == xla::ComparisonOrder::kPartial) keys = WithOneZero(keys);
  HloInstruction* raw = emit::BitcastConvert(keys, Unsigned(bits));
  const uint64_t sign = uint64_t{1} << (bits - 1);
  if (floats) {
    // Negative numbers: all bits turned over. Others: above all negative ones.
    HloInstruction* negative = emit::Compare(ComparisonDirection::kGe, raw, Constant(raw, sign));
    raw = emit::Select(negative, emit::Unary(HloOpcode::kNot, raw),
                       emit::Binary(HloOpcode::kAdd, raw, Constant(raw, sign)));
  } else if (xla::primitive_util::IsSignedIntegralType(type)) {
    raw = emit::Binary(HloOpcode::kAdd, raw, Constant(raw, sign));
  }
  return key.descending ? emit::Unary(HloOpcode::kNot, raw) : raw;
}

bool IsUsed(const HloInstruction& sort, int64_t output) {
  if (sort.parent()->root_instruction() == &sort) return true;
  for (const HloInstruction* user : sort.users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return true;
    if (user->tuple_index() == output && !user->IsDead()) return true;
  }
  return false;
}

HloInstruction* EachSorted(HloInstruction* sort,
                           absl::FunctionRef<HloInstruction*(int64_t array)> sorted) {
  if (sort->operand_count() == 1) return sorted(0);
  std::vector<HloInstruction*> out;
  for (int64_t k = 0; k < sort->operand_count(); ++k) {
    out.push_back(IsUsed(*sort, k) ? sorted(k) : sort->mutable_operand(k));
  }
  return sort->parent()->AddInstruction(HloInstruction::CreateTuple(out));
}

HloInstruction* FromPlaces(HloInstruction* array, HloInstruction* places, int64_t dimension) {
  if (IsPositions(*array, dimension)) return emit::Convert(places, array->shape().element_type());
  return emit::TakeAlong(array, emit::Convert(places, xla::S32), dimension);
}

}  // namespace hone::compiler
