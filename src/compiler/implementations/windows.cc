// Windowed operations as operations on shifted arrays. XLA:CPU computes them with a scalar loop.
#include "compiler/implementations/windows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/sort_keys.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/window_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Of one operand.
bool IsWindow(const HloInstruction& root) {
  return root.opcode() == HloOpcode::kReduceWindow && root.operand_count() == 2 &&
         root.shape().IsArray() && emit::Free(root) &&
         !xla::ShapeUtil::IsZeroElementArray(root.shape()) &&
         !xla::ShapeUtil::IsZeroElementArray(root.operand(0)->shape()) &&
         !xla::primitive_util::IsComplexType(root.shape().element_type());
}

// Of one operand, with a reducer that is one operation.
std::optional<HloOpcode> WindowOperation(const HloInstruction& root) {
  if (!IsWindow(root)) return std::nullopt;
  return emit::ReducerOpcode(*root.to_apply());
}

// All that lies before, or behind, in one dimension, whatever is made of it.
std::optional<Scan> AllBefore(const HloInstruction& root) {
  Scan result;
  for (int64_t d = 0; d < root.window().dimensions_size(); ++d) {
    const xla::WindowDimension& window = root.window().dimensions(d);
    if (window.stride() != 1 || window.base_dilation() != 1 || window.window_dilation() != 1) {
      return std::nullopt;
    }
    const int64_t size = root.operand(0)->shape().dimensions(d);
    if (window.size() == 1 && window.padding_low() == 0 && window.padding_high() == 0) continue;
    if (result.dimension >= 0 || window.size() != size) return std::nullopt;
    const bool forward = window.padding_low() == size - 1 && window.padding_high() == 0;
    const bool backward = window.padding_low() == 0 && window.padding_high() == size - 1;
    if (!forward && !backward) return std::nullopt;
    result.dimension = d;
    result.backward = backward;
  }
  if (result.dimension < 0) return std::nullopt;
  return result;
}

// A small function of two scalars of the type, element by element.
bool IsElementwise(const HloComputation& function, xla::PrimitiveType type) {
  constexpr int64_t kMost = 32;
  return function.instruction_count() <= kMost && CanBeMapped(function) &&
         function.root_instruction()->shape().element_type() == type;
}

// Whether the function gives numbers back that it takes beside `start`; tried with a few.
bool GivesBack(const HloComputation& function, const HloInstruction& start) {
  if (start.opcode() != HloOpcode::kConstant) return false;
  const xla::PrimitiveType type = start.shape().element_type();
  xla::HloEvaluator evaluator(/*max_loop_iterations=*/0);
  for (const double value : {-2.0, 0.0, 1.0, 3.0}) {
    const xla::Literal number = xla::LiteralUtil::CreateR0<double>(value).Convert(type).value();
    for (const bool turned : {false, true}) {
      std::vector<const xla::Literal*> both = {&start.literal(), &number};
      if (turned) std::swap(both[0], both[1]);
      evaluator.ResetVisitStates();
      const auto result = evaluator.Evaluate(function, both);
      if (!result.ok() || *result != number) return false;
    }
  }
  return true;
}

// Moves by `step` along the dimension, towards the end or the beginning, and fills up.
HloInstruction* Moved(HloInstruction* x, const Scan& scan, int64_t step, HloInstruction* fill) {
  const size_t rank = x->shape().dimensions().size();
  std::vector<int64_t> low(rank, 0), high(rank, 0);
  low[scan.dimension] = scan.backward ? -step : step;
  high[scan.dimension] = -low[scan.dimension];
  return emit::Pad(x, fill, low, high, std::vector<int64_t>(rank, 0));
}

// Running sums along the last dimension of [rows, size], f32 or f64.
HloInstruction* RunningSums(HloInstruction* x, bool backward) {
  constexpr int64_t kBlock = 64;
  const xla::PrimitiveType type = x->shape().element_type();
  const int64_t rows = x->shape().dimensions(0), size = x->shape().dimensions(1);
  const int64_t block = std::min(size, kBlock), blocks = (size + block - 1) / block;
  HloInstruction* zero = emit::Zero(x->parent(), type);
  HloInstruction* padded = emit::Pad(x, zero, {0, 0}, {0, blocks * block - size}, {0, 0});
  HloInstruction* from = emit::Iota(x->parent(), xla::S32, {block, block}, 0);
  HloInstruction* to = emit::Iota(x->parent(), xla::S32, {block, block}, 1);
  HloInstruction* triangle = emit::Convert(
      emit::Compare(backward ? xla::ComparisonDirection::kGe : xla::ComparisonDirection::kLe, from,
                    to),
      type);
  HloInstruction* within = emit::Dot(emit::Reshape(padded, {rows * blocks, block}), triangle, {},
                                     {}, {1}, {0}, type, emit::HighestPrecision());
  if (blocks == 1) return within;
  const int64_t last = backward ? 0 : block - 1;
  HloInstruction* totals = emit::Reshape(
      emit::Slice(within, {0, last}, {rows * blocks, last + 1}, {1, 1}), {rows, blocks});
  HloInstruction* before = RunningSums(totals, backward);
  before = emit::Pad(before, zero, {0, backward ? -1 : 1}, {0, backward ? 1 : -1}, {0, 0});
  HloInstruction* sums = emit::Binary(
      HloOpcode::kAdd, within,
      emit::Broadcast(emit::Reshape(before, {rows * blocks}), {rows * blocks, block}, {0}));
  return emit::Slice(emit::Reshape(sums, {rows, blocks * block}), {0, 0}, {rows, size}, {1, 1});
}

// By a function that is more than one operation, such as log(exp(a) + exp(b)): XLA asks of it no
// less than that it may combine what it has combined before.
HloInstruction* AnyCumulativeSteps(HloInstruction* root) {
  if (!IsWindow(*root)) return nullptr;
  const HloComputation& function = *root->to_apply();
  HloInstruction* const start = root->mutable_operand(1);
  const auto scan = AllBefore(*root);
  if (!scan || !IsElementwise(function, root->shape().element_type()) ||
      !GivesBack(function, *start)) {
    return nullptr;
  }
  HloInstruction* value = root->mutable_operand(0);
  const int64_t size = root->shape().dimensions(scan->dimension);
  for (int64_t step = 1; step < size; step *= 2) {
    HloInstruction* const before = Moved(value, *scan, step, start);
    std::map<const HloInstruction*, HloInstruction*> done = {
        {function.parameter_instruction(0), scan->backward ? value : before},
        {function.parameter_instruction(1), scan->backward ? before : value}};
    value = Mapped(*function.root_instruction(), value, &done);
  }
  return value;
}

}  // namespace

std::optional<Cumulative> CumulativeOf(const HloInstruction& root) {
  const auto opcode = WindowOperation(root);
  if (!opcode) return std::nullopt;
  const std::optional<Scan> scan = AllBefore(root);
  if (!scan) return std::nullopt;
  return Cumulative{*scan, *opcode};
}

namespace {

// Of more taps a window goes along one dimension after another, 7 + 7 of them in place of 49.
constexpr int64_t kMostTogether = 12;

// Whether an element may be taken again.
bool IsIdempotent(HloOpcode opcode) {
  return opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum ||
         opcode == HloOpcode::kAnd || opcode == HloOpcode::kOr;
}

// Windows of so many elements along a dimension, `apart` from one another, of what may be taken
// again: each step takes twice as many together as the one before.
HloInstruction* Doubled(HloInstruction* x, HloOpcode opcode, int64_t d, int64_t count,
                        int64_t apart) {
  for (int64_t together = 1; together < count;) {
    const int64_t step = std::min(together, count - together);
    const int64_t size = x->shape().dimensions(d);
    x = emit::Binary(opcode, emit::SliceAlong(x, d, 0, size - step * apart),
                     emit::SliceAlong(x, d, step * apart, size));
    together += step;
  }
  return x;
}

// What a window over some of its dimensions makes of `x`, by shifted arrays.
HloInstruction* Shifted(HloInstruction* x, const HloInstruction& root, HloOpcode opcode,
                        const std::vector<bool>& along) {
  const int64_t rank = root.window().dimensions_size();
  std::vector<int64_t> taps(rank, 1), low(rank), high(rank), interior(rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (!along[d]) continue;
    const xla::WindowDimension& window = root.window().dimensions(d);
    taps[d] = window.size();
    low[d] = window.padding_low();
    high[d] = window.padding_high();
    interior[d] = window.base_dilation() - 1;
  }
  // XLA:CPU and the evaluator leave padding out, they do not take the initial value there.
  HloInstruction* const nothing =
      emit::Scalar(x->parent(), emit::Identity(opcode, x->shape().element_type()));
  x = emit::Pad(x, nothing, low, high, interior);
  if (IsIdempotent(opcode)) {
    for (int64_t d = 0; d < rank; ++d) {
      x = Doubled(x, opcode, d, std::exchange(taps[d], 1),
                  root.window().dimensions(d).window_dilation());
    }
  }
  HloInstruction* value = nullptr;
  for (const std::vector<int64_t>& tap : AllIndices(taps)) {
    std::vector<int64_t> starts(rank), limits = emit::SizesOf(*x), strides(rank, 1);
    for (int64_t d = 0; d < rank; ++d) {
      if (!along[d]) continue;
      starts[d] = tap[d] * root.window().dimensions(d).window_dilation();
      strides[d] = root.window().dimensions(d).stride();
      limits[d] = starts[d] + (root.shape().dimensions(d) - 1) * strides[d] + 1;
    }
    HloInstruction* const term = emit::Slice(x, starts, limits, strides);
    value = value == nullptr ? term : emit::Binary(opcode, value, term);
  }
  return value;
}

}  // namespace

// A reduce-window as its operation over the slices that the window's elements see.
absl::StatusOr<HloInstruction*> ReduceWindowShifts(HloInstruction* root) {
  const auto opcode = WindowOperation(*root);
  if (!opcode) return nullptr;
  const int64_t rank = root->window().dimensions_size();
  int64_t taps = 1;
  for (const xla::WindowDimension& window : root->window().dimensions()) {
    if (window.size() > kMostTerms) return nullptr;
    taps *= window.size();
  }
  const xla::PrimitiveType type = emit::WorkType(*opcode, root->shape().element_type());
  HloInstruction* value = emit::Convert(root->mutable_operand(0), type);
  if (taps <= kMostTogether) {
    value = Shifted(value, *root, *opcode, std::vector<bool>(rank, true));
  } else {
    for (int64_t d = 0; d < rank; ++d) {
      std::vector<bool> along(rank, false);
      along[d] = true;
      if (xla::window_util::IsTrivialWindowDimension(root->window().dimensions(d))) continue;
      value = Shifted(value, *root, *opcode, along);
    }
  }
  return emit::Convert(emit::WithStart(value, root->mutable_operand(1), *opcode),
                       root->shape().element_type());
}

// Windows side by side, without gaps or padding: a reshape and a reduce.
absl::StatusOr<HloInstruction*> ReduceWindowReduce(HloInstruction* root) {
  const auto opcode = WindowOperation(*root);
  if (!opcode) return nullptr;
  std::vector<int64_t> used, limits, split, summed;
  const HloInstruction* operand = root->operand(0);
  for (int64_t d = 0; d < root->window().dimensions_size(); ++d) {
    const xla::WindowDimension& window = root->window().dimensions(d);
    const int64_t outputs = root->shape().dimensions(d);
    if ((window.stride() != window.size() && outputs != 1) || window.padding_low() != 0 ||
        window.padding_high() != 0 || window.base_dilation() != 1 ||
        window.window_dilation() != 1) {
      return nullptr;
    }
    limits.push_back(outputs * window.size());
    split.push_back(outputs);
    if (window.size() > 1) {
      summed.push_back(static_cast<int64_t>(split.size()));
      split.push_back(window.size());
    }
    used.push_back(0);
  }
  if (summed.empty() || limits.size() != operand->shape().dimensions().size()) return nullptr;
  const xla::PrimitiveType type = emit::WorkType(*opcode, root->shape().element_type());
  HloInstruction* x =
      emit::Slice(root->mutable_operand(0), used, limits, std::vector<int64_t>(limits.size(), 1));
  HloInstruction* value =
      emit::Reduce(emit::Convert(emit::Reshape(x, split), type),
                   emit::Convert(root->mutable_operand(1), type), summed, *opcode);
  return emit::Convert(emit::Reshape(value, emit::SizesOf(*root)), root->shape().element_type());
}

// Running sums, products, maxima, and whatever else combines two elements: each element takes in
// the one 1, 2, 4, … places before it (Hillis and Steele, Data parallel algorithms, CACM 1986).
absl::StatusOr<HloInstruction*> CumulativeSteps(HloInstruction* root) {
  const auto scan = CumulativeOf(*root);
  if (!scan) return AnyCumulativeSteps(root);
  const xla::PrimitiveType type = emit::WorkType(scan->opcode, root->shape().element_type());
  HloInstruction* value = emit::Convert(root->mutable_operand(0), type);
  const int64_t size = root->shape().dimensions(scan->dimension);
  HloInstruction* fill = emit::Scalar(root->parent(), emit::Identity(scan->opcode, type));
  for (int64_t step = 1; step < size; step *= 2) {
    value = emit::Binary(scan->opcode, value, Moved(value, *scan, step, fill));
  }
  return emit::Convert(emit::WithStart(value, root->mutable_operand(1), scan->opcode),
                       root->shape().element_type());
}

// Running sums as products with triangles of ones: within blocks, then over the blocks' sums.
absl::StatusOr<HloInstruction*> CumulativeDots(HloInstruction* root) {
  const auto scan = CumulativeOf(*root);
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  if (!scan || scan->opcode != HloOpcode::kAdd || (type != xla::F32 && type != xla::F64)) {
    return nullptr;
  }
  // An infinity would meet the triangle's zeros and become a NaN everywhere: only integers and
  // comparisons, converted, are known to be finite.
  const HloInstruction* operand = root->operand(0);
  const bool finite =
      operand->opcode() == HloOpcode::kConvert &&
      (operand->operand(0)->shape().element_type() == xla::PRED ||
       xla::primitive_util::IsIntegralType(operand->operand(0)->shape().element_type()));
  if (!finite) return nullptr;
  HloInstruction* const rows =
      emit::Rows(emit::Convert(root->mutable_operand(0), type), scan->dimension);
  HloInstruction* const sums =
      emit::FromRows(RunningSums(rows, scan->backward), emit::SizesOf(*root), scan->dimension);
  return emit::Convert(emit::WithStart(sums, root->mutable_operand(1), HloOpcode::kAdd),
                       root->shape().element_type());
}

// The gradient of a max-pool: which element of each window wins is found by comparing slices in
// XLA's order; then each element adds up what the windows that it won have for it.
absl::StatusOr<HloInstruction*> SelectAndScatterShifts(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kSelectAndScatter || !emit::Free(*root) ||
      xla::ShapeUtil::IsZeroElementArray(root->shape())) {
    return nullptr;
  }
  const HloInstruction* select = root->select()->root_instruction();
  const auto scatter = emit::ReducerOpcode(*root->scatter());
  if (!scatter || *scatter != HloOpcode::kAdd || select->opcode() != HloOpcode::kCompare ||
      root->select()->instruction_count() != 3 ||
      select->operand(0)->opcode() != HloOpcode::kParameter ||
      select->operand(1)->opcode() != HloOpcode::kParameter ||
      select->operand(0)->parameter_number() != 0 || select->operand(1)->parameter_number() != 1) {
    return nullptr;
  }
  const bool floats = xla::primitive_util::IsFloatingPointType(root->shape().element_type());
  const bool total =
      xla::Cast<xla::HloCompareInstruction>(select)->order() == xla::ComparisonOrder::kTotal;
  if (floats == total) return nullptr;  // the order of emit::Compare
  HloInstruction* x = root->mutable_operand(0);
  HloInstruction* source = root->mutable_operand(1);
  const int64_t rank = root->window().dimensions_size();
  std::vector<int64_t> taps, strides;
  for (const xla::WindowDimension& window : root->window().dimensions()) {
    // Padding is never chosen, which shifting could not tell from a value.
    if (window.padding_low() != 0 || window.padding_high() != 0 || window.base_dilation() != 1 ||
        window.window_dilation() != 1) {
      return nullptr;
    }
    taps.push_back(window.size());
    strides.push_back(window.stride());
  }
  if (emit::Product(taps) > kMostTerms || emit::Product(taps) < 2) return nullptr;
  const std::vector<int64_t> outputs = emit::SizesOf(*source), inputs = emit::SizesOf(*x);
  // The winner of each window, as the number of its tap.
  const std::vector<std::vector<int64_t>> all = AllIndices(taps);
  HloInstruction *best = nullptr, *winner = nullptr;
  for (size_t number = 0; number < all.size(); ++number) {
    std::vector<int64_t> limits(rank);
    for (int64_t d = 0; d < rank; ++d)
      limits[d] = all[number][d] + (outputs[d] - 1) * strides[d] + 1;
    HloInstruction* value = emit::Slice(x, all[number], limits, strides);
    HloInstruction* me = emit::Broadcast(
        emit::Number(x->parent(), xla::S32, static_cast<int64_t>(number)), outputs, {});
    if (best == nullptr) {
      best = value;
      winner = me;
      continue;
    }
    HloInstruction* keep = emit::Compare(select->comparison_direction(), best, value);
    best = emit::Select(keep, best, value);
    winner = emit::Select(keep, winner, me);
  }
  // Position q * stride + residue is tap k of window q + (residue - k) / stride.
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  HloInstruction* wide = emit::Convert(source, type);
  HloInstruction* zero = emit::Zero(x->parent(), type);
  HloInstruction* none = emit::Number(x->parent(), xla::S32, -1);
  std::vector<int64_t> sizes(rank), low(rank), high(rank);
  for (int64_t d = 0; d < rank; ++d) {
    sizes[d] = (inputs[d] + strides[d] - 1) / strides[d];
    low[d] = (taps[d] - 1) / strides[d];  // windows before the first
    high[d] = std::max<int64_t>(0, sizes[d] - outputs[d]);
  }
  const std::vector<int64_t> zeros(rank, 0), ones(rank, 1);
  HloInstruction* padded_source = emit::Pad(wide, zero, low, high, zeros);
  HloInstruction* padded_winner = emit::Pad(winner, none, low, high, zeros);
  std::vector<HloInstruction*> pieces;
  for (const std::vector<int64_t>& residue : AllIndices(strides)) {
    HloInstruction* sum = emit::Broadcast(zero, sizes, {});
    for (size_t number = 0; number < all.size(); ++number) {
      std::vector<int64_t> starts(rank), limits(rank);
      bool hits = true;
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t behind = all[number][d] - residue[d];
        hits = hits && behind % strides[d] == 0;
        starts[d] = low[d] - behind / strides[d];
        limits[d] = starts[d] + sizes[d];
      }
      if (!hits) continue;
      HloInstruction* won = emit::Compare(
          xla::ComparisonDirection::kEq, emit::Slice(padded_winner, starts, limits, ones),
          emit::Broadcast(emit::Number(x->parent(), xla::S32, static_cast<int64_t>(number)), sizes,
                          {}));
      sum = emit::Binary(HloOpcode::kAdd, sum,
                         emit::Select(won, emit::Slice(padded_source, starts, limits, ones),
                                      emit::Broadcast(zero, sizes, {})));
    }
    pieces.push_back(sum);
  }
  HloInstruction* merged = emit::Interleave(pieces, strides);
  merged = emit::Slice(merged, zeros, inputs, ones);
  return emit::Convert(emit::WithStart(merged, root->mutable_operand(2), HloOpcode::kAdd),
                       root->shape().element_type());
}

}  // namespace hone::compiler
