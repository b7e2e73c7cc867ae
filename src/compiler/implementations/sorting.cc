// Sorting, the largest few, and the place of the largest.
#include "compiler/implementations/sorting.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/implementations/emit.h"
#include "compiler/implementations/sort_keys.h"
#include "core/merge_exchange.h"
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
  if (value == xla::PRED) values = {0, 1};
  if (xla::primitive_util::IsUnsignedIntegralType(value)) values = {0, 1, 2};
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

HloComputation* Comparing(xla::HloModule* module, PrimitiveType type,
                          ComparisonDirection direction) {
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(type, {});
  HloComputation::Builder builder("compare");
  HloInstruction* a = builder.AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"));
  HloInstruction* b = builder.AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"));
  builder.AddInstruction(
      HloInstruction::CreateCompare(xla::ShapeUtil::MakeShape(xla::PRED, {}), a, b, direction));
  return module->AddEmbeddedComputation(builder.Build());
}

xla::Shape TopShape(const HloInstruction& rows, int64_t k) {
  const auto of = [&](PrimitiveType type) {
    return xla::ShapeUtil::MakeShape(type, {rows.shape().dimensions(0), k});
  };
  return xla::ShapeUtil::MakeTupleShape({of(rows.shape().element_type()), of(xla::S32)});
}

// The largest few of narrow floats, found in f32, which holds them exactly and in the same order:
// XLA:CPU has a fast way for f32 alone.
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

// The largest few as the call that XLA:CPU has for rows of f32, which makes no whole sort. XLA
// finds it in a sort behind which there is a slice, unless other passes move that first. Of up to
// 32 bits of floats and 16 of integers.
absl::StatusOr<HloInstruction*> TopKCall(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kTopK || !emit::Free(*root) ||
      !xla::Cast<xla::HloTopKInstruction>(root)->largest()) {
    return nullptr;
  }
  HloInstruction* const x = root->mutable_operand(0);
  const PrimitiveType type = x->shape().element_type();
  // Fewer bits than those of f32's significand are the same numbers there.
  const bool small_integers = xla::primitive_util::IsIntegralType(type) &&
                              xla::primitive_util::BitWidth(type) >= 8 &&
                              xla::primitive_util::BitWidth(type) <= 16;
  if (type != xla::F32 && !IsNarrowFloat(type) && !small_integers) return nullptr;
  const int64_t last = static_cast<int64_t>(x->shape().dimensions().size()) - 1;
  HloInstruction* const rows = emit::Rows(emit::Convert(x, xla::F32), last);
  const int64_t k = xla::Cast<xla::HloTopKInstruction>(root)->k();
  HloComputation* const computation = root->parent();
  HloInstruction* const top = computation->AddInstruction(HloInstruction::CreateCustomCall(
      TopShape(*rows, k), {rows}, Comparing(root->GetModule(), xla::F32, ComparisonDirection::kGt),
      "TopK"));
  const auto part = [&](int64_t index) {
    return emit::FromRows(
        computation->AddInstruction(HloInstruction::CreateGetTupleElement(top, index)),
        root->shape().tuple_shapes(index).dimensions(), last);
  };
  return computation->AddInstruction(
      HloInstruction::CreateTuple({emit::Convert(part(0), type), part(1)}));
}

// The first or last few of a sort, at most a quarter, as a top-k: of the keys, or of the positions
// beside them (the first few only: ties would come in another order). Floats of up to 32 bits.
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

  const bool smallest = key->descending != first;
  HloInstruction* const keys = emit::Convert(
      emit::Rows(InTotalOrder(KeysIn(from, *key), *key, /*opposite=*/smallest), dimension),
      xla::F32);
  HloComputation* const computation = root->parent();
  HloInstruction* const top =
      computation->AddInstruction(HloInstruction::CreateTopK(TopShape(*keys, k), keys, k,
                                                             /*largest=*/true));
  HloInstruction* result =
      computation->AddInstruction(HloInstruction::CreateGetTupleElement(top, positions ? 1 : 0));
  std::vector<int64_t> result_sizes = sizes;
  result_sizes[dimension] = k;
  result = emit::FromRows(result, result_sizes, dimension);
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
  std::vector<HloInstruction*> arrays = {
      Ordered(KeysIn(root, *key), *key),
      emit::Iota(x->parent(), xla::S32, emit::SizesOf(*x), dimension)};
  arrays.insert(arrays.end(), root->operands().begin(), root->operands().end());
  std::vector<std::vector<HloInstruction*>> places(size);
  for (int64_t k = 0; k < size; ++k) {
    for (HloInstruction* array : arrays) {
      places[k].push_back(emit::SliceAlong(array, dimension, k, k + 1));
    }
  }
  ForEachExchange(size, [&](int64_t i, int64_t j) {
    std::vector<HloInstruction*>& a = places[i];
    std::vector<HloInstruction*>& b = places[j];
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
  });
  std::vector<HloInstruction*> out;
  for (int64_t n = 0; n < root->operand_count(); ++n) {
    std::vector<HloInstruction*> parts;
    for (const auto& place : places) parts.push_back(place[n + 2]);
    out.push_back(emit::Concatenate(parts, dimension));
  }
  if (out.size() == 1) return out[0];
  return x->parent()->AddInstruction(HloInstruction::CreateTuple(out));
}

// A sort by the first of its arrays as a sort of unsigned integers that hold the key in the high
// bits and the position in the low ones. XLA:CPU sorts those without calling a comparator, and no
// two are equal, so that the order is that of a stable sort. The other arrays, and values that do
// not fit in, are looked up by the positions. The comparator must compare the same function of both
// elements, in so few bits that positions fit in beside them.
absl::StatusOr<HloInstruction*> SortPackedKeys(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kSort || !emit::Free(*root)) return nullptr;
  const int64_t dimension = xla::Cast<xla::HloSortInstruction>(root)->sort_dimension();
  HloInstruction* x = root->mutable_operand(0);
  if (xla::ShapeUtil::IsZeroElementArray(x->shape())) return nullptr;
  const auto key = KeyOf(*root->to_apply());
  if (!key) return nullptr;
  const PrimitiveType type = x->shape().element_type();
  const PrimitiveType key_type = key->function->shape().element_type();
  // Truth values are bytes of 0 and 1.
  const auto fits = [](PrimitiveType one) {
    return one == xla::PRED || xla::primitive_util::BitWidth(one) >= 8;
  };
  if (xla::primitive_util::IsComplexType(type) || !fits(type) || !fits(key_type)) return nullptr;
  const int64_t size = x->shape().dimensions(dimension);
  int64_t position_bits = 0;
  while ((int64_t{1} << position_bits) < size) ++position_bits;
  const auto bits_of = [](PrimitiveType one) {
    return one == xla::PRED ? int64_t{8} : int64_t{xla::primitive_util::BitWidth(one)};
  };
  const int64_t key_bits = bits_of(key_type), type_bits = bits_of(type);
  if (key_bits + position_bits > 64) return nullptr;
  // Where the values fit in beside them, they need not be looked up.
  const bool values = (root->operand_count() == 1 || IsUsed(*root, 0)) &&
                      key_bits + position_bits + type_bits <= 64;
  const int64_t value_bits = values ? type_bits : 0;
  const PrimitiveType packed_type =
      key_bits + position_bits + value_bits <= 32 ? xla::U32 : xla::U64;
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  const auto shifted = [](HloInstruction* value, int64_t by, HloOpcode opcode) {
    return by == 0 ? value : emit::Binary(opcode, value, Constant(value, by));
  };
  HloInstruction* keys = KeysIn(root, *key);
  if (key_type == xla::PRED) keys = emit::Convert(keys, xla::U8);
  HloInstruction* packed = shifted(emit::Convert(Ordered(keys, *key), packed_type),
                                   position_bits + value_bits, HloOpcode::kShiftLeft);
  packed = emit::Binary(HloOpcode::kOr, packed,
                        shifted(emit::Iota(x->parent(), packed_type, sizes, dimension), value_bits,
                                HloOpcode::kShiftLeft));
  if (values) {
    HloInstruction* const bits = type == xla::PRED ? emit::Convert(x, xla::U8)
                                                   : emit::BitcastConvert(x, Unsigned(value_bits));
    packed = emit::Binary(HloOpcode::kOr, packed, emit::Convert(bits, packed_type));
  }
  HloInstruction* sorted = x->parent()->AddInstruction(HloInstruction::CreateSort(
      packed->shape(), dimension, {packed},
      Comparing(x->GetModule(), packed_type, ComparisonDirection::kLt), /*is_stable=*/false));
  HloInstruction* positions =
      emit::Binary(HloOpcode::kAnd, shifted(sorted, value_bits, HloOpcode::kShiftRightLogical),
                   Constant(sorted, (uint64_t{1} << position_bits) - 1));
  return EachSorted(root, [&](int64_t k) {
    HloInstruction* const operand = root->mutable_operand(k);
    // Converting to fewer bits drops the high ones.
    if (k == 0 && values && !IsPositions(*operand, dimension)) {
      HloInstruction* const bits = emit::Convert(sorted, Unsigned(value_bits));
      return type == xla::PRED ? emit::Convert(bits, type) : emit::BitcastConvert(bits, type);
    }
    return FromPlaces(operand, positions, dimension);
  });
}

// The rows of which x is the elements, one behind the other; null where it is no such reshape.
HloInstruction* RowsOfReshaped(HloInstruction* x) {
  constexpr int64_t kFewColumns = 16, kFewRows = 4;
  if (x->opcode() != HloOpcode::kReshape || x->shape().dimensions().size() != 1) return nullptr;
  HloInstruction* const of = x->mutable_operand(0);
  if (of->shape().dimensions().size() < 2) return nullptr;
  const int64_t columns = of->shape().dimensions().back(), all = x->shape().dimensions(0);
  if (columns < kFewColumns || all / columns < kFewRows) return nullptr;
  return emit::Reshape(of, {all / columns, columns});
}

// A reduce to the largest (smallest) element and its first position as a reduce to the element and
// then one to the first position that has it.
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
  HloInstruction* const far =
      emit::Scalar(root->parent(), xla::LiteralUtil::MaxValue(position_type));
  const auto first_of = [&](HloInstruction* has, HloInstruction* numbers, int64_t along) {
    HloInstruction* const nowhere = emit::Broadcast(far, emit::SizesOf(*has), {});
    return emit::Reduce(emit::Select(has, numbers, nowhere), far, {along}, HloOpcode::kMinimum);
  };
  const auto first_where = [&](HloInstruction* has) { return first_of(has, positions, dimension); };
  if (type == xla::PRED) {  // the first place that has it tells whether one has
    HloInstruction* const first = first_where(largest ? x : emit::Unary(HloOpcode::kNot, x));
    const auto everywhere = [&](HloInstruction* number) {
      return emit::Broadcast(number, emit::SizesOf(*first), {});
    };
    HloInstruction* const none = emit::Compare(ComparisonDirection::kEq, first, everywhere(far));
    HloInstruction* const zero = everywhere(root->mutable_operand(3));
    return root->parent()->AddInstruction(HloInstruction::CreateTuple(
        {largest ? emit::Unary(HloOpcode::kNot, none) : none, emit::Select(none, zero, first)}));
  }
  HloInstruction* start = root->mutable_operand(2);
  if (IsNarrowFloat(type)) {  // f32 holds them exactly, and in the same order
    x = emit::Convert(x, xla::F32);
    start = emit::Convert(start, xla::F32);
  }
  const HloOpcode chooses = largest ? HloOpcode::kMaximum : HloOpcode::kMinimum;
  // Where `numbers` have the best one, or are NaN.
  const auto has_best = [&](HloInstruction* numbers, HloInstruction* best,
                            const std::vector<int64_t>& kept) {
    HloInstruction* const has = emit::Compare(ComparisonDirection::kEq, numbers,
                                              emit::Broadcast(best, emit::SizesOf(*numbers), kept));
    if (!xla::primitive_util::IsFloatingPointType(type)) return has;
    return emit::Binary(HloOpcode::kOr, has,
                        emit::Compare(ComparisonDirection::kNe, numbers, numbers));
  };
  if (HloInstruction* matrix = RowsOfReshaped(root->mutable_operand(0))) {
    matrix = emit::Convert(matrix, x->shape().element_type());
    // The best of each row, the first row that has the best of these, and the place in that row: no
    // place is taken apart into row and column.
    const int64_t rows = matrix->shape().dimensions(0), columns = matrix->shape().dimensions(1);
    const auto iota = [&](int64_t size) {
      return emit::Iota(root->parent(), position_type, {size}, 0);
    };
    HloInstruction* const of_rows = emit::Reduce(matrix, start, {1}, chooses);
    HloInstruction* const best = emit::Reduce(of_rows, start, {0}, chooses);
    HloInstruction* const row = first_of(has_best(of_rows, best, {}), iota(rows), 0);
    HloInstruction* const it = emit::Reshape(
        emit::DynamicSlice(matrix, {row, emit::Number(root->parent(), position_type, 0)},
                           {1, columns}),
        {columns});
    HloInstruction* const column = first_of(has_best(it, best, {}), iota(columns), 0);
    HloInstruction* const position =
        emit::Binary(HloOpcode::kAdd, column,
                     emit::Binary(HloOpcode::kMultiply, row,
                                  emit::Number(root->parent(), position_type, columns)));
    return root->parent()->AddInstruction(
        HloInstruction::CreateTuple({emit::Convert(best, type), position}));
  }
  HloInstruction* best = emit::Reduce(x, start, {dimension}, chooses);
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    if (d != dimension) kept.push_back(d);
  }
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(
      {emit::Convert(best, type), first_where(has_best(x, best, kept))}));
}

}  // namespace hone::compiler
