// Products with matrices, and scatters to places, that are known before anything runs: made of
// counters and constants only, as resizing images makes them.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/known_values.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Each output takes few of many.
constexpr int64_t kLeastContracted = 8;
constexpr size_t kMostTaken = 8;
constexpr int64_t kLeastPerTaken = 4;  // of what is contracted, for each one taken
constexpr int64_t kFewSummed = 8;      // slices that are added up, not reduced

// Places that are taken from, and what is multiplied with what is there.
struct Taken {
  std::vector<int32_t> places;
  std::vector<double> weights;
};

// What the outputs of a known matrix take, one after the other; nothing where some take too many.
std::vector<Taken> TakenBy(const xla::Literal& matrix, int64_t contracted) {
  const int64_t inputs = matrix.shape().dimensions(contracted),
                outputs = matrix.shape().dimensions(1 - contracted);
  std::vector<Taken> by_output(static_cast<size_t>(outputs));
  size_t most = 0;
  for (int64_t output = 0; output < outputs; ++output) {
    Taken& taken = by_output[static_cast<size_t>(output)];
    for (int64_t input = 0; input < inputs; ++input) {
      const double weight = contracted == 0 ? matrix.Get<double>({input, output})
                                            : matrix.Get<double>({output, input});
      if (weight == 0) continue;
      taken.places.push_back(static_cast<int32_t>(input));
      taken.weights.push_back(weight);
    }
    most = std::max(most, taken.places.size());
    if (most > kMostTaken) return {};
  }
  std::vector<Taken> all(most);
  for (size_t k = 0; k < most; ++k) {
    int32_t place = 0;  // where there are fewer, of the last one; where there is none, as before
    for (const Taken& taken : by_output) {
      const bool takes = k < taken.places.size();
      if (!taken.places.empty()) place = takes ? taken.places[k] : taken.places.back();
      all[k].places.push_back(place);
      all[k].weights.push_back(takes ? taken.weights[k] : 0);
    }
  }
  return all;
}

// The array's elements at these places along a dimension, which is then the dimension `to` of the
// result; all others stay in their order.
HloInstruction* TakenAt(HloInstruction* x, int64_t along, const std::vector<int32_t>& places,
                        int64_t to) {
  const auto count = static_cast<int64_t>(places.size());
  // Of equal distance: a slice.
  const int64_t step = count > 1 ? int64_t{places[1]} - places[0] : 1;
  bool equally = step > 0;
  for (size_t k = 1; k < places.size(); ++k) equally = equally && places[k] - places[k - 1] == step;
  if (equally) {
    Dimensions low(static_cast<size_t>(RankOf(*x)), 0), high = emit::SizesOf(*x);
    Dimensions steps(low.size(), 1), order = Without(*x, {along});
    low[along] = places.front();
    high[along] = places.back() + 1;
    steps[along] = step;
    order.insert(order.begin() + to, along);
    return emit::Transpose(emit::Slice(x, low, high, steps), order);
  }
  Dimensions slice = emit::SizesOf(*x), sizes = SizesAt(*x, Without(*x, {along}));
  slice[along] = 1;
  sizes.insert(sizes.begin() + to, count);
  Dimensions offsets = Range(0, RankOf(*x));
  offsets.erase(offsets.begin() + to);
  const xla::GatherDimensionNumbers numbers = xla::HloGatherInstruction::MakeGatherDimNumbers(
      offsets, /*collapsed_slice_dims=*/{along}, /*start_index_map=*/{along},
      /*index_vector_dim=*/1);
  xla::Literal column = xla::LiteralUtil::CreateR1<int32_t>(places).Reshape({count, 1}).value();
  return x->parent()->AddInstruction(
      HloInstruction::CreateGather(xla::ShapeUtil::MakeShape(x->shape().element_type(), sizes), x,
                                   emit::Scalar(x->parent(), std::move(column)), numbers, slice,
                                   /*indices_are_sorted=*/absl::c_is_sorted(places)));
}

// Times these, one for each place of the dimension `along`.
HloInstruction* Weighted(HloInstruction* x, const std::vector<double>& weights, int64_t along) {
  if (weights == std::vector<double>(weights.size(), 1.0)) return x;
  xla::Literal row =
      xla::LiteralUtil::CreateR1<double>(weights).Convert(x->shape().element_type()).value();
  return emit::Binary(
      HloOpcode::kMultiply, x,
      emit::Broadcast(emit::Scalar(x->parent(), std::move(row)), emit::SizesOf(*x), {along}));
}

// A scatter of whole slices, one dimension of updates for each dimension that it scatters along.
struct SliceScatter {
  Dimensions updated;  // for each dimension of the updates, that of the operand
  Dimensions along;    // the dimensions of the updates that say where, in the order of indices
};

std::optional<SliceScatter> SliceScatterOf(const HloInstruction& root) {
  const xla::ScatterDimensionNumbers& numbers =
      xla::Cast<xla::HloScatterInstruction>(&root)->scatter_dimension_numbers();
  const HloInstruction &operand = *root.operand(0), &indices = *root.operand(1),
                       &updates = *root.operand(2);
  const auto all = [](const auto& some) { return Dimensions(some.begin(), some.end()); };
  const Dimensions inserted = all(numbers.inserted_window_dims()),
                   places = all(numbers.scatter_dims_to_operand_dims()),
                   windows = all(numbers.update_window_dims());
  Dimensions sorted = places;
  absl::c_sort(sorted);
  const auto count = static_cast<int64_t>(places.size());
  const bool own_dimension = numbers.index_vector_dim() == count && RankOf(indices) == count + 1;
  const bool none = count == 1 && numbers.index_vector_dim() == 1 && RankOf(indices) == 1;
  if (count == 0 || sorted != inserted || numbers.input_batching_dims_size() != 0 ||
      (!own_dimension && !none)) {
    return std::nullopt;
  }
  SliceScatter scatter{Dimensions(static_cast<size_t>(RankOf(updates)), kNone),
                       Without(updates, windows)};
  if (static_cast<int64_t>(scatter.along.size()) != count) return std::nullopt;
  const Dimensions whole = Without(operand, inserted);
  for (size_t k = 0; k < windows.size(); ++k) {
    if (operand.shape().dimensions(whole[k]) != updates.shape().dimensions(windows[k])) {
      return std::nullopt;
    }
    scatter.updated[windows[k]] = whole[k];
  }
  for (size_t k = 0; k < places.size(); ++k) scatter.updated[scatter.along[k]] = places[k];
  return scatter;
}

// Whether index k of each update is its place along that dimension, divided and rounded down:
// `counts` there are, of which so many one after the other go to one place.
bool AreQuotients(const xla::Literal& indices, const Dimensions& counts,
                  const Dimensions& together) {
  const bool own_dimension = indices.shape().dimensions().size() > counts.size();
  Dimensions at(counts.size(), 0);
  for (int64_t left = emit::Product(counts); left > 0; --left) {
    for (size_t k = 0; k < counts.size(); ++k) {
      Dimensions place = at;
      if (own_dimension) place.push_back(static_cast<int64_t>(k));
      if (indices.Get<int64_t>(place) != at[k] / together[k]) return false;
    }
    for (size_t k = counts.size(); k-- > 0;) {
      if (++at[k] < counts[k]) break;
      at[k] = 0;
    }
  }
  return true;
}

// The sum along a dimension, which is left out.
HloInstruction* SumAlong(HloInstruction* x, int64_t dimension) {
  const int64_t size = x->shape().dimensions(dimension);
  if (size > kFewSummed) {
    HloInstruction* const zero = emit::Zero(x->parent(), x->shape().element_type());
    return emit::Reduce(x, zero, {dimension}, HloOpcode::kAdd);
  }
  // XLA:CPU makes no vectors of short sums.
  HloInstruction* sum = nullptr;
  for (int64_t k = 0; k < size; ++k) {
    HloInstruction* const term = emit::Reshape(emit::SliceAlong(x, dimension, k, k + 1),
                                               SizesAt(*x, Without(*x, {dimension})));
    sum = emit::AddTo(sum, term);
  }
  return sum;
}

}  // namespace

// A product with a known matrix of which each output takes a few: what it takes, times weights, as
// in an interpolation. What is infinite elsewhere has no part in it.
absl::StatusOr<HloInstruction*> KnownSparseDot(HloInstruction* root) {
  if (!IsPlainDot(*root) || !IsKernelFloat(root->shape().element_type())) return nullptr;
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  for (const HloInstruction* operand : root->operands()) {
    const xla::PrimitiveType its = operand->shape().element_type();
    if (!IsKernelFloat(its) || emit::SumType(its) != type) return nullptr;
  }
  for (const int number : {0, 1}) {
    const DotSide side = DotSideOf(*root, number), other = DotSideOf(*root, 1 - number);
    HloInstruction* const x = root->mutable_operand(1 - number);
    if (!side.batch.empty() || side.contracted.size() != 1 || side.free.size() != 1) continue;
    const int64_t contracted = x->shape().dimensions(other.contracted[0]);
    if (contracted < kLeastContracted) continue;
    const std::optional<xla::Literal> matrix = KnownValue(*root->operand(number), xla::F64);
    if (!matrix) continue;
    const std::vector<Taken> all = TakenBy(*matrix, side.contracted[0]);
    if (all.empty() || contracted < kLeastPerTaken * static_cast<int64_t>(all.size())) continue;
    const int64_t to = number == 0 ? 0 : RankOf(*x) - 1;
    HloInstruction* sum = nullptr;
    for (const Taken& taken : all) {
      HloInstruction* const values =
          emit::Convert(TakenAt(x, other.contracted[0], taken.places, to), type);
      HloInstruction* const term = Weighted(values, taken.weights, to);
      sum = emit::AddTo(sum, term);
    }
    return emit::Convert(sum, root->shape().element_type());
  }
  return nullptr;
}

// A scatter that adds slices to known places, as many one after the other to each: their sums, as
// in the gradient of what repeats each element.
absl::StatusOr<HloInstruction*> KnownScatter(HloInstruction* root) {
  const xla::PrimitiveType result_type = root->shape().element_type();
  if (!root->shape().IsArray() || root->operand_count() != 3 || !emit::Free(*root) ||
      xla::ShapeUtil::IsZeroElementArray(root->shape()) || result_type == xla::PRED ||
      emit::ReducerOpcode(*root->to_apply()) != HloOpcode::kAdd) {
    return nullptr;
  }
  HloInstruction *const operand = root->mutable_operand(0), *updates = root->mutable_operand(2);
  const std::optional<SliceScatter> scatter = SliceScatterOf(*root);
  if (!scatter) return nullptr;
  const Dimensions counts = SizesAt(*updates, scatter->along);
  Dimensions together;
  for (const int64_t d : scatter->along) {
    const int64_t size = root->shape().dimensions(scatter->updated[d]),
                  count = updates->shape().dimensions(d);
    if (count == 0 || count % size != 0) return nullptr;
    together.push_back(count / size);
  }
  const std::optional<xla::Literal> indices = KnownValue(*root->operand(1), xla::S64);
  if (!indices || !AreQuotients(*indices, counts, together)) return nullptr;
  // [.., places, together, ..] of each dimension that says where.
  const xla::PrimitiveType type = emit::SumType(result_type);
  Dimensions apart, summed, order(scatter->updated.size(), 0);
  for (int64_t d = 0; d < RankOf(*updates); ++d) {
    const int64_t of_operand = scatter->updated[d], size = root->shape().dimensions(of_operand);
    order[of_operand] = d;
    apart.push_back(size);
    if (updates->shape().dimensions(d) == size) continue;
    summed.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(updates->shape().dimensions(d) / size);
  }
  HloInstruction* sum = emit::Reshape(emit::Convert(updates, type), apart);
  for (size_t k = summed.size(); k-- > 0;) sum = SumAlong(sum, summed[k]);
  sum = emit::Transpose(sum, order);
  if (NumberOf(*operand) != 0.0) {
    sum = emit::Binary(HloOpcode::kAdd, emit::Convert(operand, type), sum);
  }
  return emit::Convert(sum, result_type);
}

}  // namespace hone::compiler
