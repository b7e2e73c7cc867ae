// What is elementwise over short rows, as over one long row or few.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewElements = 4096;
constexpr int64_t kUnrolled = 8;  // rows up to this size LLVM writes out
constexpr int64_t kVector = 16;   // elements, at most
constexpr int64_t kLong = 128;    // what is left behind a row's last vector does not matter
constexpr int64_t kMostTogether = 1024;
constexpr size_t kMostLookedAt = 256;

// Whether much of a row is not within its vectors, or LLVM makes none: of two it writes out each
// element.
bool IsShort(int64_t row) {
  return row > kUnrolled && row < kLong && (row <= 2 * kVector || row % kVector != 0);
}

bool HasSizesOf(const HloInstruction& a, const HloInstruction& b) {
  return a.shape().IsArray() && a.shape().dimensions() == b.shape().dimensions();
}

bool IsPart(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kCopy:
    case HloOpcode::kMap:
    case HloOpcode::kRng:
      return false;
    default:
      return instruction.IsElementwise() && instruction.operand_count() > 0 &&
             instruction.shape().IsArray() && emit::Free(instruction);
  }
}

// What elementwise instructions of one shape are computed for: the one that others need.
class Ends {
 public:
  const HloInstruction* Of(const HloInstruction* part) {
    if (const auto known = known_.find(part); known != known_.end()) return known->second;
    if (known_.size() >= kMostLookedAt) return part;
    known_[part] = part;
    const HloInstruction* end = nullptr;
    if (part->parent()->root_instruction() != part) {
      for (const HloInstruction* user : part->users()) {
        const HloInstruction* const its =
            IsPart(*user) && HasSizesOf(*user, *part) ? Of(user) : part;
        end = end == nullptr || end == its ? its : part;
        if (end == part) break;
      }
    }
    return known_[part] = end == nullptr ? part : end;
  }

 private:
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> known_;
};

// The first of an array's last dimensions which alone a value depends on; 0 where it depends on
// others too, the rank where on none.
int64_t FirstOfRow(const HloInstruction& value) {
  const int64_t rank = RankOf(value);
  if (value.opcode() == HloOpcode::kIota) {
    return xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension();
  }
  if (value.opcode() != HloOpcode::kBroadcast) return 0;
  const auto given = static_cast<int64_t>(value.dimensions().size());
  for (int64_t i = 0; i < given; ++i) {
    if (value.dimensions(i) != rank - given + i) return 0;
  }
  return rank - given;
}

// The end and all that is computed for it alone, over other sizes.
class Flattening {
 public:
  explicit Flattening(HloInstruction* end)
      : end_(end), sizes_(emit::SizesOf(*end)), rank_(RankOf(*end)), first_of_row_(rank_) {
    Collect(end);
  }

  // Null where it would change nothing, or sizes do not allow it.
  HloInstruction* Make() {
    if (!ChooseSizes()) return nullptr;
    return emit::Reshape(emit::Kept(Flat(end_)), sizes_);
  }

 private:
  bool IsInside(const HloInstruction& value) {
    return IsPart(value) && HasSizesOf(value, *end_) && ends_.Of(&value) == end_;
  }

  void Collect(HloInstruction* part) {
    if (!seen_.insert(part).second) return;
    for (HloInstruction* operand : part->operands()) {
      if (IsInside(*operand)) {
        Collect(operand);
      } else if (HasSizesOf(*operand, *end_)) {
        const int64_t first = FirstOfRow(*operand);
        if (first > 0) first_of_row_ = std::min(first_of_row_, first);
      }
    }
  }

  int64_t SizeFrom(int64_t dimension) const {
    return emit::Product(absl::MakeConstSpan(sizes_).subspan(dimension));
  }

  // One row of all where nothing depends on the last dimensions alone; else so many of such rows
  // together that vectors fill them.
  bool ChooseSizes() {
    const int64_t elements = SizeFrom(0);
    if (first_of_row_ == rank_) {
      flat_ = {elements};
      return true;
    }
    const int64_t row = SizeFrom(first_of_row_), rows = elements / row;
    for (together_ = 1; together_ <= std::min(rows, kMostTogether); ++together_) {
      const int64_t size = together_ * row;
      if (rows % together_ == 0 && size > sizes_.back() && !IsShort(size) && size >= 4 * kVector) {
        flat_ = {rows / together_, size};
        return true;
      }
    }
    return false;
  }

  // What depends on the last dimensions alone: for all rows that are together.
  HloInstruction* Row(HloInstruction* value) {
    const int64_t first = FirstOfRow(*value);
    std::vector<int64_t> sizes(sizes_.begin() + first_of_row_, sizes_.end());
    sizes.insert(sizes.begin(), together_);
    HloInstruction* const here =
        value->opcode() == HloOpcode::kIota
            ? emit::Iota(end_->parent(), value->shape().element_type(), sizes,
                         1 + first - first_of_row_)
            : emit::Broadcast(value->mutable_operand(0), sizes,
                              Range(1 + first - first_of_row_, rank_ - first));
    return emit::Broadcast(emit::Kept(emit::Reshape(here, {flat_[1]})), flat_, {1});
  }

  HloInstruction* Flat(HloInstruction* value) {
    HloInstruction*& flat = made_[value];
    if (flat != nullptr) return flat;
    HloInstruction* made = value;
    if (IsInside(*value)) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : value->mutable_operands()) operands.push_back(Flat(operand));
      const xla::Shape shape = xla::ShapeUtil::MakeShape(value->shape().element_type(), flat_);
      made = end_->parent()->AddInstruction(value->CloneWithNewOperands(shape, operands));
    } else if (HasSizesOf(*value, *end_)) {
      const int64_t first = FirstOfRow(*value);
      if (first == rank_) {
        made = emit::Broadcast(value->mutable_operand(0), flat_, {});
      } else {
        made = first > 0 ? Row(value) : emit::Kept(emit::Reshape(value, flat_));
      }
    }
    return made_[value] = made;
  }

  HloInstruction* const end_;
  const std::vector<int64_t> sizes_;
  const int64_t rank_;
  Ends ends_;
  int64_t first_of_row_;
  int64_t together_ = 1;
  std::vector<int64_t> flat_;
  absl::flat_hash_set<const HloInstruction*> seen_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> made_;
};

}  // namespace

// XLA:CPU's kernels go through the result's dimensions, and LLVM makes vectors along the last one
// alone: of 20 elements 16 and then 4 one by one, or all one by one.
absl::StatusOr<HloInstruction*> FlatElementwise(HloInstruction* root) {
  if (!IsPart(*root) || RankOf(*root) < 2 || !IsShort(emit::SizesOf(*root).back()) ||
      xla::ShapeUtil::ElementsIn(root->shape()) < kFewElements || IsInOneKernel(*root->parent()) ||
      Ends().Of(root) != root) {
    return nullptr;
  }
  return Flattening(root).Make();
}

std::vector<HloOpcode> FlatElementwiseRoots() { return emit::ElementwiseOpcodes(); }

}  // namespace hone::compiler
