// Convolutions of one feature by many taps in a row, as filters of signals and images are, as dots.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr int64_t kTogether = 32;  // neighbouring outputs
constexpr int64_t kLeastTaps = 8;
constexpr int64_t kMostLaidOut = int64_t{1} << 26;  // of what is laid out anew

int64_t Blocks(int64_t of) { return (of + kTogether - 1) / kTogether; }

// The dimension along which there are most taps; the last of several.
int64_t LineOf(const ConvolutionParts& parts) {
  int64_t line = 0;
  for (int64_t k = 1; k < parts.spatial(); ++k) {
    if (parts.taps[k] >= parts.taps[line]) line = k;
  }
  return line;
}

class Banded {
 public:
  explicit Banded(const ConvolutionParts& parts)
      : parts_(parts),
        line_(LineOf(parts)),
        outputs_(parts.outputs[line_]),
        taps_(parts.taps[line_]),
        rows_(parts.tap_count() / taps_),
        blocks_(Blocks(outputs_)),
        wide_(Blocks(kTogether + taps_ - 1)) {
    for (int64_t k = 0; k < parts.spatial(); ++k) {
      if (k != line_) others_.push_back(k);
    }
  }

  bool Fits() const {
    return parts_.batch * parts_.output_count() / outputs_ * blocks_ * rows_ * Terms() <=
           kMostLaidOut;
  }

  HloInstruction* Make() const {
    HloInstruction* const windows = Windows();
    const int64_t rank = RankOf(*windows);
    HloInstruction* result = emit::Dot(windows, Band(), {}, {}, {rank - 1}, {1}, parts_.sum_type,
                                       emit::HighestPrecision());
    std::vector<int64_t> sizes = emit::SizesOf(*result);
    sizes.resize(static_cast<size_t>(rank - 1));
    sizes.back() = blocks_ * kTogether;
    result = emit::SliceAlong(emit::Reshape(result, sizes), rank - 2, 0, outputs_);
    // Of [batch, others…, line].
    Dimensions order(static_cast<size_t>(parts_.spatial() + 1), 0);
    for (size_t i = 0; i < others_.size(); ++i) order[others_[i] + 1] = static_cast<int64_t>(i) + 1;
    order[line_ + 1] = rank - 2;
    result = emit::Transpose(result, order);
    sizes = emit::SizesOf(*result);
    sizes.push_back(1);
    return InOutputOrder(parts_, emit::Reshape(result, sizes));
  }

 private:
  int64_t Terms() const { return wide_ * kTogether; }  // of a block of outputs, in a row

  // [batch, others…, blocks, rows of taps * terms]: what each block of neighbouring outputs sees.
  HloInstruction* Windows() const {
    HloInstruction* x = PaddedInput(parts_);
    std::vector<int64_t> sizes = emit::SizesOf(*x);
    sizes.pop_back();
    Dimensions order = {0};
    for (const int64_t k : others_) order.push_back(k + 1);
    order.push_back(line_ + 1);
    x = emit::Transpose(emit::Reshape(x, sizes), order);
    const int64_t last = RankOf(*x) - 1, length = (blocks_ + wide_ - 1) * kTogether;
    Dimensions none(static_cast<size_t>(last + 1), 0), high = none;
    high[last] = length - emit::SizesOf(*x)[last];
    x = emit::Pad(x, emit::Zero(x->parent(), parts_.sum_type), none, high, none);
    Dimensions other_taps;
    for (const int64_t k : others_) other_taps.push_back(parts_.taps[k]);
    std::vector<HloInstruction*> seen;
    for (const std::vector<int64_t>& tap : AllIndices(other_taps)) {
      HloInstruction* row = x;
      for (size_t i = 0; i < others_.size(); ++i) {
        const int64_t d = static_cast<int64_t>(i) + 1, from = tap[i];
        row = emit::SliceAlong(row, d, from, from + parts_.outputs[others_[i]]);
      }
      std::vector<int64_t> split = emit::SizesOf(*row);
      split.back() = length / kTogether;
      split.push_back(kTogether);
      row = emit::Reshape(row, split);
      for (int64_t block = 0; block < wide_; ++block) {
        seen.push_back(emit::SliceAlong(row, last, block, block + blocks_));
      }
    }
    return emit::Concatenate(seen, last + 1);
  }

  // [outputs, rows * terms]: the taps of a row, begun one place later for each next output. Put
  // behind each other, with one place more than there are terms, they are read with one less.
  HloInstruction* Band() const {
    Dimensions order;
    for (const int64_t k : others_) order.push_back(parts_.kernel_spatial[k]);
    order.push_back(parts_.kernel_spatial[line_]);
    order.push_back(parts_.kernel_input);
    order.push_back(parts_.kernel_output);
    HloInstruction* taps = emit::Transpose(emit::Convert(parts_.kernel, parts_.sum_type), order);
    Dimensions backwards;
    for (size_t i = 0; i < others_.size(); ++i) {
      if (parts_.reversed[others_[i]]) backwards.push_back(static_cast<int64_t>(i));
    }
    if (parts_.reversed[line_]) backwards.push_back(static_cast<int64_t>(others_.size()));
    if (!backwards.empty()) {
      taps = taps->parent()->AddInstruction(
          HloInstruction::CreateReverse(taps->shape(), taps, backwards));
    }
    taps =
        emit::Pad(emit::Reshape(taps, {rows_, taps_}), emit::Zero(taps->parent(), parts_.sum_type),
                  {0, 0}, {0, Terms() + 1 - taps_}, {0, 0});
    HloInstruction* band = emit::Broadcast(taps, {rows_, kTogether, Terms() + 1}, {0, 2});
    band = emit::Reshape(band, {rows_, kTogether * (Terms() + 1)});
    band = emit::SliceAlong(band, 1, 0, kTogether * Terms());
    band = emit::Transpose(emit::Reshape(band, {rows_, kTogether, Terms()}), {1, 0, 2});
    return emit::Reshape(band, {kTogether, rows_ * Terms()});
  }

  const ConvolutionParts& parts_;
  const int64_t line_, outputs_, taps_;
  const int64_t rows_;  // of taps
  const int64_t blocks_, wide_;
  Dimensions others_;
};

}  // namespace

// XLA:CPU multiplies tap by tap, for one output after the other.
absl::StatusOr<HloInstruction*> ConvolutionBandedDot(HloInstruction* root) {
  const auto parts = PartsOf(root);
  const auto all_one = [](const std::vector<int64_t>& of) {
    return std::all_of(of.begin(), of.end(), [](int64_t one) { return one == 1; });
  };
  if (!parts || parts->spatial() == 0 || parts->batch_groups != 1 || parts->input_features != 1 ||
      parts->output_features != 1 || !all_one(parts->strides) || !all_one(parts->base_dilation) ||
      !all_one(parts->window_dilation) ||
      !xla::primitive_util::IsFloatingPointType(parts->sum_type)) {
    return nullptr;
  }
  const int64_t line = LineOf(*parts);
  if (parts->taps[line] < kLeastTaps || parts->outputs[line] < kTogether ||
      parts->tap_count() / parts->taps[line] > kMostTerms) {
    return nullptr;
  }
  for (int64_t k = 0; k < parts->spatial(); ++k) {
    if (parts->low[k] < 0 || parts->high[k] < 0) return nullptr;
  }
  const Banded banded(*parts);
  return banded.Fits() ? banded.Make() : nullptr;
}

}  // namespace hone::compiler
