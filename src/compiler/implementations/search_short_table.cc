// Binary searches in short tables, as jnp.searchsorted, digitize, histogram and interp write them:
// a loop that gathers one element for each query in each trip. Comparisons with all of the table
// are vectors, and the search a tree of choices by them, whether the table is sorted or not.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/counted_loop.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/sort_keys.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostSearched = 128;  // elements of a table, each of which is compared with
constexpr int64_t kLeastQueries = 64;

// An element of the table lies from `low` on, in front of `high`; where `before` is true of the
// query and the middle one, in front of that.
struct Search {
  int64_t low, high;  // parts of the loop's state
  HloInstruction* before;
  HloInstruction* table;   // in the loop
  HloInstruction* gather;  // its element in the middle
};

const HloInstruction* Unshaped(const HloInstruction* x) {
  while (x->opcode() == HloOpcode::kReshape || x->opcode() == HloOpcode::kBitcast)
    x = x->operand(0);
  return x;
}

bool IsSmallNumber(const HloInstruction* x, double number) {
  while (x->opcode() == HloOpcode::kBroadcast || x->opcode() == HloOpcode::kConvert) {
    x = x->operand(0);
  }
  return ConstantOf(*x) == number;
}

bool IsHalf(const HloInstruction& x, const HloInstruction* of) {
  if (x.operand_count() != 2 || x.operand(0) != of) return false;
  return (x.opcode() == HloOpcode::kDivide && IsSmallNumber(x.operand(1), 2)) ||
         (x.opcode() == HloOpcode::kShiftRightLogical && IsSmallNumber(x.operand(1), 1));
}

// low + (high - low) / 2, or (low + high) / 2.
bool IsMiddle(const CountedLoop& loop, const HloInstruction& x, int64_t low, int64_t high) {
  const auto is_of_both = [&](const HloInstruction& one, HloOpcode opcode, int64_t a, int64_t b) {
    return one.opcode() == opcode && loop.PartOf(*one.operand(0)) == a &&
           loop.PartOf(*one.operand(1)) == b;
  };
  if (x.operand_count() != 2) return false;
  if (x.opcode() == HloOpcode::kAdd) {
    for (int k : {0, 1}) {
      const HloInstruction& half = *x.operand(1 - k);
      if (loop.PartOf(*x.operand(k)) == low && half.operand_count() == 2 &&
          IsHalf(half, half.operand(0)) &&
          is_of_both(*half.operand(0), HloOpcode::kSubtract, high, low)) {
        return true;
      }
    }
    return false;
  }
  return IsHalf(x, x.operand(0)) && (is_of_both(*x.operand(0), HloOpcode::kAdd, low, high) ||
                                     is_of_both(*x.operand(0), HloOpcode::kAdd, high, low));
}

// Single elements of a vector, by their places.
bool IsLookup(const HloInstruction& gather) {
  return gather.opcode() == HloOpcode::kGather &&
         gather.operand(0)->shape().dimensions().size() == 1 &&
         gather.gather_slice_sizes()[0] == 1 &&
         xla::ShapeUtil::ElementsIn(gather.shape()) ==
             xla::ShapeUtil::ElementsIn(gather.operand(1)->shape());
}

// The gather that a value is a function of, element by element, beside constants; null where there
// is none.
HloInstruction* GatherIn(HloInstruction* value) {
  while (true) {
    if (IsLookup(*value)) return value;
    if (value->opcode() == HloOpcode::kReshape || value->opcode() == HloOpcode::kBitcast) {
      value = value->mutable_operand(0);
      continue;
    }
    if (!value->IsElementwise()) return nullptr;
    HloInstruction* next = nullptr;
    for (HloInstruction* operand : value->operands()) {
      if (operand->opcode() != HloOpcode::kBroadcast)
        next = operand;  // the last: a choice's usual one
    }
    if (next == nullptr) return nullptr;
    value = next;
  }
}

std::optional<Search> SearchOf(CountedLoop& loop) {
  Search search{kNone, kNone, nullptr, nullptr, nullptr};
  for (int64_t part = 0; part < loop.parts(); ++part) {
    const HloInstruction& next = *loop.next()->operand(part);
    if (next.opcode() != HloOpcode::kSelect || loop.IsKept(part)) continue;
    if (loop.PartOf(*next.operand(1)) == part) search.low = part;
    if (loop.PartOf(*next.operand(2)) == part) search.high = part;
  }
  if (search.low == kNone || search.high == kNone || search.low == search.high) return std::nullopt;
  HloInstruction& low = *loop.next()->mutable_operand(search.low);
  const HloInstruction& high = *loop.next()->operand(search.high);
  const HloInstruction* const middle = low.operand(2);
  search.before = low.mutable_operand(0);
  if (high.operand(0) != search.before || high.operand(1) != middle ||
      search.before->opcode() != HloOpcode::kCompare ||
      !IsMiddle(loop, *middle, search.low, search.high)) {
    return std::nullopt;
  }
  search.gather = GatherIn(search.before->mutable_operand(1));
  if (search.gather == nullptr || Unshaped(search.gather->operand(1)) != middle)
    return std::nullopt;
  search.table = search.gather->mutable_operand(0);
  return search;
}

// How many trips a search needs where there are so many elements between both places; `from_low`
// where the lower one may be what is found, as at first.
int64_t TripsOf(int64_t elements, bool from_low) {
  if (elements == (from_low ? 0 : 1)) return 0;
  const int64_t lower = elements / 2;
  return 1 + std::max(TripsOf(elements - lower, false), from_low ? TripsOf(lower, true) : 0);
}

// The function of the gathered elements that a value is, of the whole table; null where it is
// something else.
HloInstruction* OfTable(HloInstruction* value, const Search& search, HloInstruction* table,
                        CountedLoop& loop) {
  if (value == search.gather) return table;
  if (value->opcode() == HloOpcode::kReshape || value->opcode() == HloOpcode::kBitcast) {
    return OfTable(value->mutable_operand(0), search, table, loop);
  }
  const std::vector<int64_t> sizes = emit::SizesOf(*table);
  if (value->opcode() == HloOpcode::kBroadcast && value->operand(0)->shape().dimensions().empty() &&
      loop.IsInvariant(*value->operand(0))) {
    return emit::Broadcast(loop.Before(value->mutable_operand(0)), sizes, {});
  }
  if (!value->IsElementwise() || value->operand_count() == 0) return nullptr;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) {
    operands.push_back(OfTable(operand, search, table, loop));
    if (operands.back() == nullptr) return nullptr;
  }
  return table->parent()->AddInstruction(value->CloneWithNewOperands(
      xla::ShapeUtil::MakeShape(value->shape().element_type(), sizes), operands));
}

// Integers that compare as the numbers do, where these are floats in their total order, which XLA
// expands at each comparison; else the numbers.
HloInstruction* AsIntegers(HloInstruction* x, const HloInstruction& compare) {
  if (!xla::primitive_util::IsFloatingPointType(x->shape().element_type()) ||
      xla::Cast<xla::HloCompareInstruction>(&compare)->order() != xla::ComparisonOrder::kTotal) {
    return x;
  }
  return Ordered(x, {0, nullptr, /*descending=*/false, xla::ComparisonOrder::kTotal});
}

// The places that searches of a table come to.
class Places {
 public:
  Places(HloInstruction* queries, HloInstruction* keys, xla::ComparisonDirection direction,
         xla::PrimitiveType type)
      : queries_(queries), keys_(keys), direction_(direction), type_(type) {}

  // From `low` on, up to `high`; behind `low` unless `from_low`.
  HloInstruction* Between(int64_t low, int64_t high, bool from_low = true) {
    if (high - low == (from_low ? 0 : 1)) return Place(high);
    const int64_t middle = low + (high - low) / 2;
    HloInstruction* const key = emit::Reshape(emit::SliceAlong(keys_, 0, middle, middle + 1), {});
    HloInstruction* const before =
        emit::Compare(direction_, queries_, emit::Broadcast(key, emit::SizesOf(*queries_), {}));
    return emit::Select(before, Between(low, middle, from_low), Between(middle, high, false));
  }

 private:
  HloInstruction* Place(int64_t place) {
    return emit::Broadcast(emit::Number(queries_->parent(), type_, place), emit::SizesOf(*queries_),
                           {});
  }

  HloInstruction* const queries_;
  HloInstruction* const keys_;
  const xla::ComparisonDirection direction_;
  const xla::PrimitiveType type_;
};

}  // namespace

// A binary search in a short table, whatever is in it.
absl::StatusOr<HloInstruction*> SearchShortTable(HloInstruction* root) {
  const std::unique_ptr<CountedLoop> loop = CountedLoop::Of(root);
  if (!loop) return nullptr;
  const std::optional<Search> search = SearchOf(*loop);
  if (!search || !loop->IsInvariant(*search->table)) return nullptr;
  HloInstruction& before = *search->before;
  HloInstruction* const query = before.mutable_operand(0);
  const int64_t elements = search->table->shape().dimensions(0);
  const xla::Shape& found = root->shape().tuple_shapes(search->high);
  if (!loop->IsInvariant(*query) || elements < 1 || elements > kMostSearched ||
      xla::ShapeUtil::ElementsIn(found) < kLeastQueries ||
      loop->trips() < TripsOf(elements, true) ||
      !xla::ShapeUtil::SameDimensions(query->shape(), found) ||
      ConstantOf(*loop->First(search->low)) != 0 ||
      ConstantOf(*loop->First(search->high)) != elements) {
    return nullptr;
  }
  for (int64_t part = 0; part < loop->parts(); ++part) {
    if (part != search->high && !loop->IsKept(part) && IsUsed(*root, part)) return nullptr;
  }
  HloInstruction* const keys =
      OfTable(before.mutable_operand(1), *search, loop->Before(search->table), *loop);
  if (keys == nullptr) return nullptr;
  std::vector<HloInstruction*> state;
  for (int64_t part = 0; part < loop->parts(); ++part) state.push_back(loop->First(part));
  Places places(AsIntegers(loop->Before(query), before), AsIntegers(keys, before),
                before.comparison_direction(), found.element_type());
  state[search->high] = places.Between(0, elements);
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(state));
}

}  // namespace hone::compiler
