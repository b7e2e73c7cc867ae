// Dots with what is put together alternately: weights of 4 bits unpacked from bytes, rotary
// positions of pairs (Su et al., RoFormer, arXiv:2104.09864, 2021), which stack([a, b], -1) and a
// reshape make. XLA:CPU writes the elements one by one. Each part by itself is vectors; a dot with
// all is a sum of dots, or their results put together alternately, which are smaller.
#include <array>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dot_places.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostParts = 8;
constexpr int kMostLookedAt = 64;         // operations
constexpr int64_t kLeastTogether = 4096;  // of what is put together
constexpr int64_t kMuchSmaller = 8;       // what is taken apart, or put together, instead

// The dimension of a reshape's operand that this one of its result is, all of it; kNone where there
// is none.
int64_t SameDimension(const HloInstruction& reshape, int64_t dimension) {
  const Dimensions to = emit::SizesOf(reshape), from = emit::SizesOf(*reshape.operand(0));
  int64_t within = 1;
  for (auto d = static_cast<int64_t>(to.size()) - 1; d > dimension; --d) within *= to[d];
  for (auto d = static_cast<int64_t>(from.size()) - 1; d >= 0; within /= from[d--]) {
    if (within == 1 && from[d] == to[dimension]) return d;
    if (within % from[d] != 0) return kNone;
  }
  return kNone;
}

// How many parts are put together alternately along a dimension of a reshape's result; 0 where none
// are.
int64_t PartsAlternating(const HloInstruction& reshape, int64_t dimension) {
  const HloInstruction& whole = *reshape.operand(0);
  const auto parts = static_cast<int64_t>(whole.operand_count());
  if (reshape.opcode() != HloOpcode::kReshape || whole.opcode() != HloOpcode::kConcatenate ||
      whole.concatenate_dimension() != dimension + 1 ||
      whole.shape().dimensions(dimension + 1) != parts) {
    return 0;
  }
  Dimensions sizes = emit::SizesOf(whole);
  sizes[dimension] *= parts;
  sizes.erase(sizes.begin() + dimension + 1);
  return sizes == emit::SizesOf(reshape) && parts <= kMostParts ? parts : 0;
}

// Of so many parts that alternate along a dimension this one.
HloInstruction* EachOf(HloInstruction* value, int64_t dimension, int64_t number, int64_t parts) {
  const Dimensions limits = emit::SizesOf(*value);
  Dimensions starts(limits.size(), 0), steps(limits.size(), 1);
  starts[dimension] = number;
  steps[dimension] = parts;
  return emit::Slice(value, starts, limits, steps);
}

// What an array is made of along a dimension, of which each part takes every so manieth.
class Alternation {
 public:
  // `most`: elements of what may be taken apart by slices.
  Alternation(HloInstruction* array, int64_t dimension, int64_t most)
      : array_(array), dimension_(dimension), most_(most) {
    count_ = CountOf(*array, dimension);
  }

  int64_t count() const { return count_; }

  // Null where something is too large to be taken apart. What was added for it is not taken.
  HloInstruction* Part(int64_t number) { return PartOf(array_, dimension_, number); }

 private:
  int64_t CountOf(const HloInstruction& value, int64_t dimension) {
    if (++looked_at_ > kMostLookedAt) return 0;
    if (value.opcode() == HloOpcode::kReshape) {
      if (const int64_t parts = PartsAlternating(value, dimension)) return parts;
      const int64_t same = SameDimension(value, dimension);
      return same == kNone ? 0 : CountOf(*value.operand(0), same);
    }
    if (value.opcode() == HloOpcode::kTranspose) {
      return CountOf(*value.operand(0), value.dimensions(dimension));
    }
    if (!IsByElement(value)) return 0;
    for (const HloInstruction* operand : value.operands()) {
      if (const int64_t parts = CountOf(*operand, dimension)) return parts;
    }
    return 0;
  }

  static bool IsByElement(const HloInstruction& value) {
    return value.IsElementwise() && value.opcode() != HloOpcode::kRng &&
           value.called_computations().empty() && emit::Free(value) &&
           absl::c_all_of(value.operands(), [&](const HloInstruction* operand) {
             return emit::SizesOf(*operand) == emit::SizesOf(value);
           });
  }

  HloInstruction* PartOf(HloInstruction* value, int64_t dimension, int64_t number) {
    if (--left_ < 0) return nullptr;
    Dimensions sizes = emit::SizesOf(*value);
    if (sizes[dimension] % count_ != 0) return nullptr;
    sizes[dimension] /= count_;
    switch (value->opcode()) {
      case HloOpcode::kReshape: {
        if (PartsAlternating(*value, dimension) == count_) {
          return emit::Reshape(value->mutable_operand(0)->mutable_operand(number), sizes);
        }
        const int64_t same = SameDimension(*value, dimension);
        if (same == kNone) break;
        HloInstruction* const part = PartOf(value->mutable_operand(0), same, number);
        return part == nullptr ? nullptr : emit::Reshape(part, sizes);
      }
      case HloOpcode::kTranspose: {
        HloInstruction* const part =
            PartOf(value->mutable_operand(0), value->dimensions(dimension), number);
        const Dimensions order(value->dimensions().begin(), value->dimensions().end());
        return part == nullptr ? nullptr : emit::Transpose(part, order);
      }
      case HloOpcode::kBroadcast: {
        const Dimensions places(value->dimensions().begin(), value->dimensions().end());
        HloInstruction* part = value->mutable_operand(0);
        if (const auto place = absl::c_find(places, dimension); place != places.end()) {
          part = PartOf(part, place - places.begin(), number);
        }
        return part == nullptr ? nullptr : emit::Broadcast(part, sizes, places);
      }
      default:
        if (IsByElement(*value) && value->operand_count() > 0) {
          std::vector<HloInstruction*> operands;
          for (HloInstruction* operand : value->operands()) {
            operands.push_back(PartOf(operand, dimension, number));
            if (operands.back() == nullptr) return nullptr;
          }
          return value->AddInstruction(value->CloneWithNewOperands(
              xla::ShapeUtil::MakeShape(value->shape().element_type(), sizes), operands));
        }
    }
    if (xla::ShapeUtil::ElementsIn(value->shape()) > most_) return nullptr;
    return EachOf(value, dimension, number, count_);
  }

  HloInstruction* const array_;
  const int64_t dimension_, most_;
  int64_t count_ = 0;
  int looked_at_ = 0;
  int left_ = kMostParts * kMostLookedAt;
};

// Of dimension `along` of operand `side`; null where that is not put together so.
HloInstruction* WithParts(HloInstruction* root, int side, int64_t along) {
  const std::array<DotSide, 2> sides = {DotSideOf(*root, 0), DotSideOf(*root, 1)};
  std::array<HloInstruction*, 2> operands = {root->mutable_operand(0), root->mutable_operand(1)};
  const int64_t elements = xla::ShapeUtil::ElementsIn(operands[side]->shape());
  const int64_t most = elements / kMuchSmaller;
  Alternation alternation(operands[side], along, most);
  const int64_t parts = alternation.count();
  if (parts == 0 || elements < kLeastTogether) return nullptr;
  const auto dot = [&] {
    return emit::Dot(operands[0], operands[1], sides[0].batch, sides[1].batch, sides[0].contracted,
                     sides[1].contracted, emit::SumType(root->shape().element_type()),
                     root->precision_config());
  };
  const auto summed = absl::c_find(sides[side].contracted, along);
  if (summed != sides[side].contracted.end()) {
    const int64_t others = sides[1 - side].contracted[summed - sides[side].contracted.begin()];
    Alternation other(operands[1 - side], others, most);
    if (other.count() != parts && other.count() != 0) return nullptr;
    HloInstruction* const whole = operands[1 - side];
    if (other.count() == 0 && xla::ShapeUtil::ElementsIn(whole->shape()) > most) return nullptr;
    HloInstruction* sum = nullptr;
    for (int64_t k = 0; k < parts; ++k) {
      operands[side] = alternation.Part(k);
      operands[1 - side] = other.count() != 0 ? other.Part(k) : EachOf(whole, others, k, parts);
      if (operands[0] == nullptr || operands[1] == nullptr) return nullptr;
      sum = emit::AddTo(sum, dot());
    }
    return sum;
  }
  if (!Has(sides[side].free, along) || xla::ShapeUtil::ElementsIn(root->shape()) > most) {
    return nullptr;
  }
  const int64_t place = ResultPlaceOf(*root, side, along);
  std::vector<HloInstruction*> results;
  for (int64_t k = 0; k < parts; ++k) {
    operands[side] = alternation.Part(k);
    if (operands[side] == nullptr) return nullptr;
    HloInstruction* const result = dot();
    Dimensions sizes = emit::SizesOf(*result);
    sizes.insert(sizes.begin() + place + 1, 1);
    results.push_back(emit::Reshape(result, sizes));
  }
  return emit::Reshape(emit::Concatenate(results, place + 1), emit::SizesOf(*root));
}

}  // namespace

absl::StatusOr<HloInstruction*> DotOfInterleaved(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  const int64_t before = root->parent()->instruction_count();
  for (const int side : {0, 1}) {
    for (int64_t d = 0; d < RankOf(*root->operand(side)); ++d) {
      if (HloInstruction* const made = WithParts(root, side, d)) {
        return emit::Convert(made, root->shape().element_type());
      }
    }
  }
  TF_RETURN_IF_ERROR(emit::RemoveBehind(*root->parent(), before));
  return nullptr;
}

}  // namespace hone::compiler
