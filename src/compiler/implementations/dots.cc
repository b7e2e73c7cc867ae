// Matrix products in another type or form.
#include "compiler/implementations/dots.h"

#include <iterator>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/dot_places.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Of a side, what is neither batch nor contracted.
std::vector<int64_t> Rest(const HloInstruction& side, emit::Sizes batch, emit::Sizes contracted) {
  std::vector<int64_t> rest;
  for (int64_t d = 0; d < static_cast<int64_t>(side.shape().dimensions().size()); ++d) {
    if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracted, d)) {
      rest.push_back(d);
    }
  }
  return rest;
}

// An operand of a dot with its dimensions.
struct Side {
  HloInstruction* array;
  std::vector<int64_t> batch;
  std::vector<int64_t> contracted;
};

// Looks through a transpose that leaves the dimensions that the dot keeps in their order; whether
// there is one.
bool Untranspose(Side& side) {
  if (side.array->opcode() != HloOpcode::kTranspose) return false;
  const auto& from = side.array->dimensions();
  int64_t last = -1;
  for (const int64_t d : Rest(*side.array, side.batch, side.contracted)) {
    if (from[d] < last) return false;
    last = from[d];
  }
  for (int64_t& d : side.batch) d = from[d];
  for (int64_t& d : side.contracted) d = from[d];
  side.array = side.array->mutable_operand(0);
  return true;
}

// Behind conversions that need not round and that nobody else takes.
HloInstruction* BehindRoundings(HloInstruction* value) {
  while (value->opcode() == HloOpcode::kConvert && value->user_count() == 1 && IsRounding(*value)) {
    value = value->mutable_operand(0);
  }
  return value;
}

// An array of integers of 8 bits, converted to floats.
bool IsOfBytes(const HloInstruction& value) {
  if (value.opcode() != HloOpcode::kConvert) return false;
  const xla::PrimitiveType type = value.operand(0)->shape().element_type();
  return type == xla::S8 || type == xla::U8;
}

// Dimensions of an operand in the result, where the dot keeps them all.
std::optional<std::vector<int64_t>> Kept(const HloInstruction& dot, int number,
                                         emit::Sizes dimensions) {
  const std::vector<DotPlace> places = ResultPlaces(dot);
  std::vector<int64_t> kept;
  for (const int64_t d : dimensions) {
    const auto found = absl::c_find_if(places, [&](const DotPlace& place) {
      return place.operand == number ? place.dimension == d : number == 1 && place.other == d;
    });
    if (found == places.end()) return std::nullopt;
    kept.push_back(found - places.begin());
  }
  return kept;
}

// Integers of few bits, or truth values: the array behind conversions that keep the values, and the
// largest magnitude that its type has. Null where it has more than 8 bits.
struct SmallIntegers {
  HloInstruction* array = nullptr;
  int64_t largest = 0;
};

SmallIntegers SmallIntegersOf(HloInstruction* value) {
  using xla::primitive_util::BitWidth;
  const auto is_signed = [](const HloInstruction& array) {
    return xla::primitive_util::IsSignedIntegralType(array.shape().element_type());
  };
  const auto is_whole = [](const HloInstruction& array) {
    return array.shape().element_type() == xla::PRED ||
           xla::primitive_util::IsIntegralType(array.shape().element_type());
  };
  if (!is_whole(*value)) return {};
  while (value->opcode() == HloOpcode::kConvert && is_whole(*value->operand(0)) &&
         (is_signed(*value) || !is_signed(*value->operand(0))) &&
         BitWidth(value->operand(0)->shape().element_type()) <
             BitWidth(value->shape().element_type())) {
    value = value->mutable_operand(0);
  }
  const xla::PrimitiveType type = value->shape().element_type();
  if (type == xla::PRED) return {value, 1};
  const int bits = BitWidth(type);
  if (bits > 8) return {};
  return {value, is_signed(*value) ? int64_t{1} << (bits - 1) : (int64_t{1} << bits) - 1};
}

// A dot or convolution of small integers in f32, which has all sums of so many terms; null where it
// has not.
HloInstruction* ExactInF32(HloInstruction* root, int64_t terms) {
  constexpr int64_t kExact = 1 << 24;
  const SmallIntegers x = SmallIntegersOf(root->mutable_operand(0));
  const SmallIntegers y = SmallIntegersOf(root->mutable_operand(1));
  if (x.array == nullptr || y.array == nullptr || terms > kExact / (x.largest * y.largest)) {
    return nullptr;
  }
  const auto is_signed = [](const HloInstruction& value) {
    return xla::primitive_util::IsSignedIntegralType(value.shape().element_type());
  };
  if ((is_signed(*x.array) || is_signed(*y.array)) && !is_signed(*root)) return nullptr;
  return root->parent()->AddInstruction(root->CloneWithNewOperands(
      xla::ShapeUtil::ChangeElementType(root->shape(), xla::F32),
      {emit::Convert(x.array, xla::F32), emit::Convert(y.array, xla::F32)}));
}

}  // namespace

// The same of a convolution.
absl::StatusOr<HloInstruction*> ConvolutionOfSmallIntegersInF32(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  if (!emit::Free(*root) || !xla::primitive_util::IsIntegralType(type) ||
      xla::primitive_util::BitWidth(type) < 32 ||
      xla::ShapeUtil::IsZeroElementArray(root->shape())) {
    return nullptr;
  }
  HloInstruction* const wide = ExactInF32(root, emit::TermsOf(*root));
  return wide == nullptr ? nullptr : emit::Convert(wide, type);
}

bool IsAnyDot(const HloInstruction& root) {
  return root.opcode() == HloOpcode::kDot && root.operand_count() == 2 && emit::Free(root) &&
         !xla::ShapeUtil::IsZeroElementArray(root.shape());
}

bool IsPlainDot(const HloInstruction& root) {
  return IsAnyDot(root) && !xla::primitive_util::IsComplexType(root.shape().element_type());
}

// A dot of small integers or truth values whose sums are whole numbers that f32 has: XLA:CPU has no
// library for other types than bytes, and what follows it stays by itself.
absl::StatusOr<HloInstruction*> DotOfSmallIntegersInF32(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  if (!IsPlainDot(*root) || (type != xla::PRED && (!xla::primitive_util::IsIntegralType(type) ||
                                                   xla::primitive_util::BitWidth(type) < 32))) {
    return nullptr;
  }
  HloInstruction* const dot = ExactInF32(root, emit::TermsOf(*root));
  if (dot == nullptr) return nullptr;
  if (type != xla::PRED) return emit::Convert(dot, type);
  HloInstruction* zero = emit::Zero(root->parent(), xla::F32);
  return emit::Compare(xla::Comparison::Direction::kNe, dot,
                       emit::Broadcast(zero, emit::SizesOf(*dot), {}));
}

// Narrow floats converted to f32 and back.
absl::StatusOr<HloInstruction*> DotInF32(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  bool narrow = false;
  for (const HloInstruction* operand : root->operands()) {
    const xla::PrimitiveType type = operand->shape().element_type();
    if (!xla::primitive_util::IsFloatingPointType(type)) return nullptr;
    narrow = narrow || emit::SumType(type) != type;
  }
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  if (!narrow || type != xla::F32) return nullptr;
  HloInstruction* wide = root->parent()->AddInstruction(
      root->CloneWithNewOperands(xla::ShapeUtil::ChangeElementType(root->shape(), type),
                                 {emit::Convert(root->mutable_operand(0), type),
                                  emit::Convert(root->mutable_operand(1), type)}));
  return emit::Convert(wide, root->shape().element_type());
}

// Many small products at once as a multiplication and a sum: a call per product costs more than it.
absl::StatusOr<HloInstruction*> BatchedDotReduce(HloInstruction* root) {
  constexpr int64_t kMostProducts = 1 << 26;
  if (!IsAnyDot(*root)) return nullptr;
  const xla::DotDimensionNumbers& numbers = root->dot_dimension_numbers();
  HloInstruction *x = root->mutable_operand(0), *y = root->mutable_operand(1);
  const emit::Sizes x_batch = numbers.lhs_batch_dimensions(),
                    y_batch = numbers.rhs_batch_dimensions(),
                    x_contracted = numbers.lhs_contracting_dimensions(),
                    y_contracted = numbers.rhs_contracting_dimensions();
  int64_t batches = 1, depth = 1;
  std::vector<int64_t> sizes = emit::SizesOf(*root);
  for (int64_t d : x_batch) batches *= x->shape().dimensions(d);
  for (int64_t d : x_contracted) {
    depth *= x->shape().dimensions(d);
    sizes.push_back(x->shape().dimensions(d));
  }
  const int64_t products = emit::Product(sizes);
  if (batches < 8 || products > kMostProducts || products / batches > 4096 || depth == 0) {
    return nullptr;
  }
  // Both sides as [batch…, rest of x…, rest of y…, contracted…].
  const std::vector<int64_t> x_rest = Rest(*x, x_batch, x_contracted),
                             y_rest = Rest(*y, y_batch, y_contracted);
  const int64_t outer = static_cast<int64_t>(root->shape().dimensions().size());
  std::vector<int64_t> x_places(x->shape().dimensions().size()),
      y_places(y->shape().dimensions().size()), summed;
  for (size_t k = 0; k < x_batch.size(); ++k) x_places[x_batch[k]] = y_places[y_batch[k]] = k;
  for (size_t k = 0; k < x_rest.size(); ++k) x_places[x_rest[k]] = x_batch.size() + k;
  for (size_t k = 0; k < y_rest.size(); ++k) {
    y_places[y_rest[k]] = x_batch.size() + x_rest.size() + k;
  }
  for (size_t k = 0; k < x_contracted.size(); ++k) {
    x_places[x_contracted[k]] = y_places[y_contracted[k]] = outer + static_cast<int64_t>(k);
    summed.push_back(outer + static_cast<int64_t>(k));
  }
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  // A broadcast may not permute.
  const auto spread = [&](HloInstruction* side, const std::vector<int64_t>& places) {
    std::vector<int64_t> order(places.size()), sorted = places;
    absl::c_sort(sorted);
    for (size_t d = 0; d < places.size(); ++d) {
      order[absl::c_lower_bound(sorted, places[d]) - sorted.begin()] = static_cast<int64_t>(d);
    }
    return emit::Broadcast(emit::Transpose(emit::Convert(side, type), order), sizes, sorted);
  };
  HloInstruction* product =
      emit::Binary(HloOpcode::kMultiply, spread(x, x_places), spread(y, y_places));
  HloInstruction* sum =
      emit::Reduce(product, emit::Zero(root->parent(), type), summed, HloOpcode::kAdd);
  return emit::Convert(sum, root->shape().element_type());
}

namespace {

bool OnlyMoves(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConvert:
    case HloOpcode::kReshape:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// What is computed behind moves is kept, as it is for a library: each element is wanted in several
// of the result, and in a chain of products that would double with each of them.
HloInstruction* ComputedOnce(HloInstruction* x) {
  if (OnlyMoves(*x)) {
    HloInstruction* const behind = ComputedOnce(x->mutable_operand(0));
    if (behind == x->operand(0)) return x;
    return x->parent()->AddInstruction(x->CloneWithNewOperands(x->shape(), {behind}));
  }
  const bool computed = x->IsElementwise() && x->operand_count() > 0;
  return computed || IsAnyDot(*x) ? emit::Kept(x) : x;
}

}  // namespace

// A product with few terms as their sum: one loop over the result, where a library that packs its
// operands takes many times as long.
absl::StatusOr<HloInstruction*> ThinDotSum(HloInstruction* root) {
  constexpr int64_t kMostTerms = 8, kMostProducts = 1 << 28;
  if (!IsAnyDot(*root)) return nullptr;
  const xla::DotDimensionNumbers& numbers = root->dot_dimension_numbers();
  if (numbers.lhs_contracting_dimensions_size() != 1) return nullptr;
  const int64_t x_summed = numbers.lhs_contracting_dimensions(0),
                y_summed = numbers.rhs_contracting_dimensions(0);
  const int64_t terms = root->operand(0)->shape().dimensions(x_summed);
  const std::vector<int64_t> sizes = emit::SizesOf(*root);
  if (terms == 0 || terms > kMostTerms || terms * emit::Product(sizes) > kMostProducts) {
    return nullptr;
  }
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  // The k-th part of a side, over the whole result: first what is batch, then the rest, which
  // begins at `begin` in the result.
  const auto part = [&](HloInstruction* side, emit::Sizes batch, int64_t summed, int64_t begin,
                        int64_t k) {
    std::vector<int64_t> low(side->shape().dimensions().size(), 0);
    std::vector<int64_t> high = emit::SizesOf(*side), order, places;
    low[summed] = k;
    high[summed] = k + 1;
    for (const int64_t d : batch) {
      places.push_back(static_cast<int64_t>(places.size()));
      order.push_back(d);
    }
    for (const int64_t d : Rest(*side, batch, {summed})) {
      places.push_back(begin++);
      order.push_back(d);
    }
    std::vector<int64_t> kept;
    for (const int64_t d : order) kept.push_back(side->shape().dimensions(d));
    order.push_back(summed);
    const std::vector<int64_t> strides(low.size(), 1);
    HloInstruction* one = emit::Transpose(emit::Slice(side, low, high, strides), order);
    return emit::Broadcast(emit::Convert(emit::Reshape(one, kept), type), sizes, places);
  };
  const emit::Sizes x_batch = numbers.lhs_batch_dimensions(),
                    y_batch = numbers.rhs_batch_dimensions();
  HloInstruction* const x = ComputedOnce(root->mutable_operand(0));
  HloInstruction* const y = ComputedOnce(root->mutable_operand(1));
  const auto x_rest = static_cast<int64_t>(x_batch.size()),
             y_rest = static_cast<int64_t>(x->shape().dimensions().size()) - 1;
  HloInstruction* sum = nullptr;
  for (int64_t k = 0; k < terms; ++k) {
    HloInstruction* term = emit::Binary(HloOpcode::kMultiply, part(x, x_batch, x_summed, x_rest, k),
                                        part(y, y_batch, y_summed, y_rest, k));
    sum = emit::AddTo(sum, term);
  }
  return emit::Convert(sum, root->shape().element_type());
}

// Transposed operands as they were, other dimensions contracted: of a matrix times a vector XLA:CPU
// copies a transposed matrix first. As the rules dot_of_transpose_left and _right have it, and also
// where it saves no instruction, for the transpose has other users.
absl::StatusOr<HloInstruction*> DotOfTransposes(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  const xla::DotDimensionNumbers& numbers = root->dot_dimension_numbers();
  const auto all = [](const auto& dimensions) {
    return std::vector<int64_t>(dimensions.begin(), dimensions.end());
  };
  Side x{root->mutable_operand(0), all(numbers.lhs_batch_dimensions()),
         all(numbers.lhs_contracting_dimensions())};
  Side y{root->mutable_operand(1), all(numbers.rhs_batch_dimensions()),
         all(numbers.rhs_contracting_dimensions())};
  const bool of_x = Untranspose(x);
  const bool of_y = Untranspose(y);
  if (!of_x && !of_y) return nullptr;
  return emit::Dot(x.array, y.array, x.batch, y.batch, x.contracted, y.contracted,
                   root->shape().element_type(), root->precision_config());
}

absl::StatusOr<HloInstruction*> DotScaledAfter(HloInstruction* root) {
  if (!IsPlainDot(*root) || !MayBeUnrounded(*root)) return nullptr;
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  for (const int number : {0, 1}) {
    HloInstruction* const operand = root->mutable_operand(number);
    HloInstruction* const scaled = BehindRoundings(operand);
    if (scaled->opcode() != HloOpcode::kMultiply || scaled->user_count() != 1 ||
        !MayBeUnrounded(*scaled)) {
      continue;
    }
    const bool first = IsOfBytes(*scaled->operand(0));
    HloInstruction* const matrix = scaled->mutable_operand(first ? 0 : 1);
    HloInstruction* const scale = scaled->mutable_operand(first ? 1 : 0);
    if (!IsOfBytes(*matrix) || scale->opcode() != HloOpcode::kBroadcast) continue;
    const auto kept = Kept(*root, number, scale->dimensions());
    if (!kept) continue;
    std::vector<HloInstruction*> operands(root->operands().begin(), root->operands().end());
    operands[static_cast<size_t>(number)] =
        emit::Convert(matrix->mutable_operand(0), operand->shape().element_type());
    HloInstruction* const dot = root->parent()->AddInstruction(root->CloneWithNewOperands(
        xla::ShapeUtil::ChangeElementType(root->shape(), type), operands));
    HloInstruction* const factors = emit::Broadcast(emit::Convert(scale->mutable_operand(0), type),
                                                    emit::SizesOf(*root), *kept);
    return emit::Convert(emit::Binary(HloOpcode::kMultiply, dot, factors),
                         root->shape().element_type());
  }
  return nullptr;
}

// The operands changed round, the result transposed; of a matrix times a vector, the vector times
// the matrix.
absl::StatusOr<HloInstruction*> DotSwapped(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  // A swapped product ends in a transpose: not to be swapped back.
  for (const HloInstruction* user : root->users()) {
    if (user->opcode() == HloOpcode::kTranspose) return nullptr;
  }
  const xla::DotDimensionNumbers& numbers = root->dot_dimension_numbers();
  HloInstruction *x = root->mutable_operand(0), *y = root->mutable_operand(1);
  const int64_t batch = numbers.lhs_batch_dimensions_size();
  const int64_t x_rest = static_cast<int64_t>(x->shape().dimensions().size()) - batch -
                         numbers.lhs_contracting_dimensions_size();
  const int64_t y_rest = static_cast<int64_t>(y->shape().dimensions().size()) - batch -
                         numbers.rhs_contracting_dimensions_size();
  // Of a matrix and a vector the vector comes first.
  if (x_rest == 0) return nullptr;
  xla::PrecisionConfig precision = root->precision_config();
  if (precision.operand_precision_size() == 2) {
    precision.mutable_operand_precision()->SwapElements(0, 1);
  }
  if (precision.algorithm() != xla::PrecisionConfig::ALG_UNSET) return nullptr;
  HloInstruction* swapped =
      emit::Dot(y, x, numbers.rhs_batch_dimensions(), numbers.lhs_batch_dimensions(),
                numbers.rhs_contracting_dimensions(), numbers.lhs_contracting_dimensions(),
                root->shape().element_type(), precision);
  if (y_rest == 0) return swapped;
  std::vector<int64_t> order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  for (int64_t d = 0; d < x_rest; ++d) order.push_back(batch + y_rest + d);
  for (int64_t d = 0; d < y_rest; ++d) order.push_back(batch + d);
  return emit::Transpose(swapped, order);
}

}  // namespace hone::compiler
