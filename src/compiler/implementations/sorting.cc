#include "compiler/implementations/sorting.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/implementations/emit.h"
#include "xla/comparison_util.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;

// Numbers 0, 1, 2, … along the dimension, the same in all others.
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

// What a comparator compares, and how.
struct SortKey {
  const HloInstruction* function = nullptr;  // within the comparator, of the first of a pair
  bool descending = false;
  xla::ComparisonOrder order;
};

std::optional<SortKey> KeyOf(const HloComputation& comparator) {
  const HloInstruction* root = comparator.root_instruction();
  if (root->opcode() != HloOpcode::kCompare || comparator.instruction_count() > 64) {
    return std::nullopt;
  }
  SortKey key;
  key.order = xla::Cast<xla::HloCompareInstruction>(root)->order();
  key.descending = root->comparison_direction() == ComparisonDirection::kGt;
  if (!key.descending && root->comparison_direction() != ComparisonDirection::kLt) {
    return std::nullopt;
  }
  key.function = root->operand(0);
  if (SameFunction(*root->operand(0), 0, *root->operand(1), 1)) return key;
  if (!SameFunction(*root->operand(0), 1, *root->operand(1), 0)) return std::nullopt;
  key.descending = !key.descending;
  return key;
}

// The scalar function, applied to each element of `x`.
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

PrimitiveType Unsigned(int64_t bits) {
  return xla::primitive_util::UnsignedIntegralTypeForBitWidth(static_cast<int>(bits));
}

HloInstruction* Constant(HloInstruction* like, uint64_t value) {
  return emit::Broadcast(emit::Scalar(like->parent(), xla::LiteralUtil::CreateR0<uint64_t>(value)
                                                          .Convert(like->shape().element_type())
                                                          .value()),
                         emit::SizesOf(*like), {});
}

// The two zeros become one.
HloInstruction* WithOneZero(HloInstruction* keys) {
  HloInstruction* zero = emit::Broadcast(emit::Zero(keys->parent(), keys->shape().element_type()),
                                         emit::SizesOf(*keys), {});
  return emit::Select(emit::Compare(ComparisonDirection::kEq, keys, zero), zero, keys);
}

// Does a scalar function of one parameter give every float back, but for the sign of zeros and what
// kind of NaN it is? It must choose between its parameter and constants only.
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

// Unsigned integers in the order of the keys.
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

HloComputation* LessThan(xla::HloModule* module, PrimitiveType type) {
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(type, {});
  HloComputation::Builder builder("less");
  HloInstruction* a = builder.AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"));
  HloInstruction* b = builder.AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"));
  builder.AddInstruction(HloInstruction::CreateCompare(xla::ShapeUtil::MakeShape(xla::PRED, {}), a,
                                                       b, ComparisonDirection::kLt));
  return module->AddEmbeddedComputation(builder.Build());
}

// What JAX lowers is full of parts that nobody looks at.
bool IsUsed(const HloInstruction& sort, int64_t output) {
  if (sort.parent()->root_instruction() == &sort) return true;
  for (const HloInstruction* user : sort.users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return true;
    if (user->tuple_index() == output && !user->IsDead()) return true;
  }
  return false;
}

bool IsNarrowFloat(PrimitiveType type) {
  return xla::primitive_util::IsFloatingPointType(type) && emit::SumType(type) != type;
}

// Argmax and argmin, as JAX writes them: a NaN wins, then the better value, then the lower
// position. The reducer only compares and selects, so that the orders of its arguments decide all:
// one example of each order is a proof.
bool IsArgReducer(const HloComputation& reducer, PrimitiveType value, PrimitiveType position,
                  bool largest) {
  for (const HloInstruction* instruction : reducer.instructions()) {
    switch (instruction->opcode()) {
      case HloOpcode::kParameter:
      case HloOpcode::kCompare:
      case HloOpcode::kSelect:
      case HloOpcode::kAnd:
      case HloOpcode::kOr:
      case HloOpcode::kNot:
      case HloOpcode::kTuple:
        break;
      default:
        return false;
    }
  }
  std::vector<double> values = {-1, 0, 2};
  if (xla::primitive_util::IsFloatingPointType(value)) {
    values.push_back(std::numeric_limits<double>::infinity());
    values.push_back(-std::numeric_limits<double>::infinity());
    values.push_back(std::nan(""));
  }
  xla::HloEvaluator evaluator(/*max_loop_iterations=*/0);
  for (double v0 : values) {
    for (double v1 : values) {
      for (int i0 : {0, 1, 2}) {
        for (int i1 : {0, 1, 2}) {
          if (std::isnan(v0) && std::isnan(v1)) continue;  // either will do
          const bool better = largest ? v0 > v1 : v0 < v1;
          const bool first = std::isnan(v0) || better || (v0 == v1 && i0 < i1);
          const bool either = v0 == v1 && i0 == i1;
          const double want_value = first || either ? v0 : v1;
          const int want_position = first || either ? i0 : i1;
          std::vector<xla::Literal> arguments;
          for (double v : {v0, v1}) {
            const int i = arguments.empty() ? i0 : i1;
            arguments.push_back(xla::LiteralUtil::CreateR0<double>(v).Convert(value).value());
            arguments.push_back(xla::LiteralUtil::CreateR0<int>(i).Convert(position).value());
          }
          std::vector<const xla::Literal*> pointers;
          for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
          evaluator.ResetVisitStates();
          auto result = evaluator.Evaluate(reducer, pointers);
          if (!result.ok()) return false;
          std::vector<xla::Literal> got = result->DecomposeTuple();
          const double got_value = got[0].Convert(xla::F64).value().Get<double>({});
          const double got_position = got[1].Convert(xla::F64).value().Get<double>({});
          const bool same_value =
              std::isnan(want_value) ? std::isnan(got_value) : got_value == want_value;
          if (!same_value || got_position != want_position) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<HloInstruction*> TopKInF32(HloInstruction* root) {
  const bool is_call =
      root->opcode() == HloOpcode::kCustomCall && root->custom_call_target() == "TopK";
  if ((root->opcode() != HloOpcode::kTopK && !is_call) || root->operand_count() != 1 ||
      root->HasControlDependencies() || root->has_sharding()) {
    return nullptr;
  }
  HloInstruction* operand = root->mutable_operand(0);
  const PrimitiveType type = operand->shape().element_type();
  if (!IsNarrowFloat(type) || !root->shape().IsTuple() ||
      root->shape().tuple_shapes().size() != 2 || !operand->shape().is_static()) {
    return nullptr;
  }
  xla::Shape shape = root->shape();
  shape.mutable_tuple_shapes(0)->set_element_type(xla::F32);
  HloComputation* computation = root->parent();
  HloInstruction* wide = computation->AddInstruction(
      root->CloneWithNewOperands(shape, {emit::Convert(operand, xla::F32)}));
  HloInstruction* values =
      computation->AddInstruction(HloInstruction::CreateGetTupleElement(wide, 0));
  HloInstruction* positions =
      computation->AddInstruction(HloInstruction::CreateGetTupleElement(wide, 1));
  return computation->AddInstruction(
      HloInstruction::CreateTuple({emit::Convert(values, type), positions}));
}

absl::StatusOr<HloInstruction*> SortTopK(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kSlice || !emit::Free(*root)) return nullptr;
  HloInstruction* from = root->mutable_operand(0);
  const bool positions = from->opcode() == HloOpcode::kGetTupleElement && from->tuple_index() == 1;
  if (from->opcode() == HloOpcode::kGetTupleElement) from = from->mutable_operand(0);
  if (from->opcode() != HloOpcode::kSort || !emit::Free(*from) || from->operand_count() > 2) {
    return nullptr;
  }
  const int64_t dimension = xla::Cast<xla::HloSortInstruction>(from)->sort_dimension();
  HloInstruction* x = from->mutable_operand(0);
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  const auto rank = static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < rank; ++d) {
    const bool whole = root->slice_starts(d) == 0 && root->slice_limits(d) == sizes[d];
    if (root->slice_strides(d) != 1 || (d != dimension && !whole)) return nullptr;
  }
  const int64_t size = sizes[dimension];
  const int64_t k = root->slice_limits(dimension) - root->slice_starts(dimension);
  const bool first = root->slice_starts(dimension) == 0;
  if (k < 1 || 4 * k > size || (!first && root->slice_limits(dimension) != size)) return nullptr;
  const PrimitiveType type = x->shape().element_type();
  if (type != xla::F32 && !IsNarrowFloat(type)) return nullptr;
  if (from->operand_count() == 2 && (!IsPositions(*from->operand(1), dimension) ||
                                     from->operand(1)->shape().element_type() != xla::S32)) {
    return nullptr;
  }
  const auto key = KeyOf(*from->to_apply());
  if (!key || key->function->shape().element_type() != type) return nullptr;
  if (positions ? !first : !KeepsValues(*key->function, type)) return nullptr;

  std::map<const HloInstruction*, HloInstruction*> done;
  HloInstruction* keys = Mapped(*key->function, x, &done);
  if (key->order == xla::ComparisonOrder::kPartial) keys = WithOneZero(keys);
  const bool smallest = key->descending != first;
  // A NaN's sign is turned, too, so that it changes ends with the others.
  if (smallest) keys = emit::Unary(HloOpcode::kNegate, keys);
  std::vector<int64_t> to_last;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dimension) to_last.push_back(d);
  }
  to_last.push_back(dimension);
  keys = emit::Convert(emit::Transpose(keys, to_last), xla::F32);
  std::vector<int64_t> result_sizes = emit::SizesOf(*keys);
  result_sizes.back() = k;
  const int64_t batch = emit::Product(sizes) / std::max<int64_t>(1, size);
  keys = emit::Reshape(keys, {batch, size});
  const auto shape_of = [&](PrimitiveType element) {
    return xla::ShapeUtil::MakeShape(element, {batch, k});
  };
  HloComputation* const computation = root->parent();
  HloInstruction* const top = computation->AddInstruction(HloInstruction::CreateTopK(
      xla::ShapeUtil::MakeTupleShape({shape_of(xla::F32), shape_of(xla::S32)}), keys, k,
      /*largest=*/true));
  HloInstruction* result =
      computation->AddInstruction(HloInstruction::CreateGetTupleElement(top, positions ? 1 : 0));
  result = emit::Reshape(result, result_sizes);
  std::vector<int64_t> back(rank);
  for (int64_t d = 0; d < rank; ++d) back[to_last[d]] = d;
  result = emit::Transpose(result, back);
  if (positions) return result;
  result = emit::Convert(result, type);
  if (smallest) result = emit::Unary(HloOpcode::kNegate, result);
  if (!first) {
    result = computation->AddInstruction(
        HloInstruction::CreateReverse(result->shape(), result, {dimension}));
  }
  return result;
}

HloInstruction* SmallSort(HloInstruction* root) {
  constexpr int64_t kMost = 16;
  if (root->opcode() != HloOpcode::kSort || !emit::Free(*root)) return nullptr;
  const int64_t dimension = xla::Cast<xla::HloSortInstruction>(root)->sort_dimension();
  HloInstruction* x = root->mutable_operand(0);
  const int64_t size = x->shape().dimensions(dimension);
  const auto key = KeyOf(*root->to_apply());
  if (size < 2 || size > kMost || xla::ShapeUtil::IsZeroElementArray(x->shape()) || !key) {
    return nullptr;
  }
  const PrimitiveType key_type = key->function->shape().element_type();
  if (xla::primitive_util::IsComplexType(key_type) || key_type == xla::PRED ||
      xla::primitive_util::BitWidth(key_type) < 8) {
    return nullptr;
  }
  // What is exchanged: the keys, the positions that break ties, then the arrays.
  std::map<const HloInstruction*, HloInstruction*> done;
  std::vector<HloInstruction*> arrays = {
      Ordered(Mapped(*key->function, x, &done), *key),
      emit::Iota(x->parent(), xla::S32, emit::SizesOf(*x), dimension)};
  arrays.insert(arrays.end(), root->operands().begin(), root->operands().end());
  std::vector<int64_t> starts(x->shape().dimensions().size(), 0), limits = emit::SizesOf(*x);
  const std::vector<int64_t> strides(starts.size(), 1);
  std::vector<std::vector<HloInstruction*>> places(size);
  for (int64_t k = 0; k < size; ++k) {
    starts[dimension] = k;
    limits[dimension] = k + 1;
    for (HloInstruction* array : arrays) {
      places[k].push_back(emit::Slice(array, starts, limits, strides));
    }
  }
  const auto exchange = [&](std::vector<HloInstruction*>& a, std::vector<HloInstruction*>& b) {
    HloInstruction* later =
        emit::Binary(HloOpcode::kAnd, emit::Compare(ComparisonDirection::kEq, a[0], b[0]),
                     emit::Compare(ComparisonDirection::kGt, a[1], b[1]));
    HloInstruction* swapped =
        emit::Binary(HloOpcode::kOr, emit::Compare(ComparisonDirection::kGt, a[0], b[0]), later);
    for (size_t k = 0; k < a.size(); ++k) {
      HloInstruction* const first = a[k];
      a[k] = emit::Select(swapped, b[k], first);
      b[k] = emit::Select(swapped, first, b[k]);
    }
  };
  for (int64_t p = 1; p < size; p *= 2) {
    for (int64_t k = p; k >= 1; k /= 2) {
      for (int64_t j = k % p; j + k < size; j += 2 * k) {
        for (int64_t i = j; i < std::min(j + k, size - k); ++i) {
          if (i / (2 * p) == (i + k) / (2 * p)) exchange(places[i], places[i + k]);
        }
      }
    }
  }
  std::vector<HloInstruction*> out;
  for (int64_t n = 0; n < root->operand_count(); ++n) {
    std::vector<HloInstruction*> parts;
    for (const auto& place : places) parts.push_back(place[n + 2]);
    out.push_back(emit::Concatenate(parts, dimension));
  }
  if (out.size() == 1) return out[0];
  return x->parent()->AddInstruction(HloInstruction::CreateTuple(out));
}

absl::StatusOr<HloInstruction*> SortPackedKeys(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kSort || !emit::Free(*root)) return nullptr;
  const int64_t dimension = xla::Cast<xla::HloSortInstruction>(root)->sort_dimension();
  HloInstruction* x = root->mutable_operand(0);
  if (xla::ShapeUtil::IsZeroElementArray(x->shape())) return nullptr;
  const auto key = KeyOf(*root->to_apply());
  if (!key) return nullptr;
  const PrimitiveType type = x->shape().element_type();
  if (xla::primitive_util::IsComplexType(type) || type == xla::PRED ||
      xla::primitive_util::BitWidth(type) < 8 ||
      xla::primitive_util::BitWidth(key->function->shape().element_type()) < 8) {
    return nullptr;
  }
  const int64_t size = x->shape().dimensions(dimension);
  int64_t position_bits = 0;
  while ((int64_t{1} << position_bits) < size) ++position_bits;
  const int64_t key_bits = xla::primitive_util::BitWidth(key->function->shape().element_type());
  const int64_t type_bits = xla::primitive_util::BitWidth(type);
  if (key_bits + position_bits > 64) return nullptr;
  // Where the values fit in beside them, they need not be looked up.
  const bool values = (root->operand_count() == 1 || IsUsed(*root, 0)) &&
                      key_bits + position_bits + type_bits <= 64;
  const int64_t value_bits = values ? type_bits : 0;
  const PrimitiveType packed_type =
      key_bits + position_bits + value_bits <= 32 ? xla::U32 : xla::U64;
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  std::map<const HloInstruction*, HloInstruction*> done;
  const auto shifted = [](HloInstruction* value, int64_t by, HloOpcode opcode) {
    return by == 0 ? value : emit::Binary(opcode, value, Constant(value, by));
  };
  HloInstruction* packed =
      shifted(emit::Convert(Ordered(Mapped(*key->function, x, &done), *key), packed_type),
              position_bits + value_bits, HloOpcode::kShiftLeft);
  packed = emit::Binary(HloOpcode::kOr, packed,
                        shifted(emit::Iota(x->parent(), packed_type, sizes, dimension), value_bits,
                                HloOpcode::kShiftLeft));
  if (values) {
    packed =
        emit::Binary(HloOpcode::kOr, packed,
                     emit::Convert(emit::BitcastConvert(x, Unsigned(value_bits)), packed_type));
  }
  HloInstruction* sorted = x->parent()->AddInstruction(
      HloInstruction::CreateSort(packed->shape(), dimension, {packed},
                                 LessThan(x->GetModule(), packed_type), /*is_stable=*/false));
  HloInstruction* positions =
      emit::Binary(HloOpcode::kAnd, shifted(sorted, value_bits, HloOpcode::kShiftRightLogical),
                   Constant(sorted, (uint64_t{1} << position_bits) - 1));
  const auto sorted_operand = [&](int64_t k) {
    HloInstruction* operand = root->mutable_operand(k);
    const PrimitiveType operand_type = operand->shape().element_type();
    if (root->operand_count() > 1 && !IsUsed(*root, k)) return operand;  // nobody looks
    if (IsPositions(*operand, dimension)) return emit::Convert(positions, operand_type);
    // Converting to fewer bits drops the high ones.
    if (k == 0 && values) {
      return emit::BitcastConvert(emit::Convert(sorted, Unsigned(value_bits)), type);
    }
    return emit::TakeAlong(operand, emit::Convert(positions, xla::S32), dimension);
  };
  if (root->operand_count() == 1) return sorted_operand(0);
  std::vector<HloInstruction*> out;
  for (int64_t k = 0; k < root->operand_count(); ++k) out.push_back(sorted_operand(k));
  return x->parent()->AddInstruction(HloInstruction::CreateTuple(out));
}

absl::StatusOr<HloInstruction*> ArgmaxTwoReduces(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kReduce || root->operand_count() != 4 || !emit::Free(*root) ||
      root->dimensions().size() != 1 || !root->shape().IsTuple()) {
    return nullptr;
  }
  const int64_t dimension = root->dimensions()[0];
  HloInstruction* x = root->mutable_operand(0);
  HloInstruction* positions = root->mutable_operand(1);
  const PrimitiveType type = x->shape().element_type();
  const PrimitiveType position_type = positions->shape().element_type();
  if (!IsPositions(*positions, dimension) || xla::primitive_util::IsComplexType(type) ||
      xla::ShapeUtil::IsZeroElementArray(x->shape()) ||
      root->operand(3)->opcode() != HloOpcode::kConstant || !root->operand(3)->literal().IsAll(0)) {
    return nullptr;
  }
  const bool largest = emit::IsIdentity(*root->operand(2), HloOpcode::kMaximum);
  if (!largest && !emit::IsIdentity(*root->operand(2), HloOpcode::kMinimum)) return nullptr;
  if (!IsArgReducer(*root->to_apply(), type, position_type, largest)) return nullptr;
  HloInstruction* best = emit::Reduce(x, root->mutable_operand(2), {dimension},
                                      largest ? HloOpcode::kMaximum : HloOpcode::kMinimum);
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    if (d != dimension) kept.push_back(d);
  }
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  HloInstruction* has =
      emit::Compare(ComparisonDirection::kEq, x, emit::Broadcast(best, sizes, kept));
  if (xla::primitive_util::IsFloatingPointType(type)) {
    has = emit::Binary(HloOpcode::kOr, has, emit::Compare(ComparisonDirection::kNe, x, x));
  }
  HloInstruction* far = emit::Scalar(root->parent(), xla::LiteralUtil::MaxValue(position_type));
  HloInstruction* first =
      emit::Reduce(emit::Select(has, positions, emit::Broadcast(far, sizes, {})), far, {dimension},
                   HloOpcode::kMinimum);
  return root->parent()->AddInstruction(HloInstruction::CreateTuple({best, first}));
}

}  // namespace hone::compiler
