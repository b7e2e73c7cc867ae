// Loops whose trips compute large arrays element by element: all trips on one block of elements
// after the other. A trip over whole arrays reads and writes memory; a block stays in the cache
// from the first trip to the last (loops interchanged, one of them in strips; M. Wolfe, "More
// Iteration Space Tiling", Supercomputing 1989). So it goes with integrators of many systems at
// once, maps that are iterated, and what jax.vmap makes of loops that go on until something has
// converged, of which each block stops by itself.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/implementations/element_loop.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::Shape;
using Use = ElementLoop::Use;

constexpr int64_t kLeastBlock = 128, kMostBlock = 1024;
constexpr int64_t kVector = 16;            // that blocks are made of where sizes allow it
constexpr int64_t kLeastTrips = 4;         // fewer have little to find in the cache
constexpr int64_t kMostCountedTrips = 64;  // one by one, where no formula counts them
constexpr xla::PrimitiveType kPlaceType = xla::S64;

// The largest that divides so many elements; 0 where there is none.
int64_t BlockOf(int64_t elements) {
  for (const int64_t step : {kVector, int64_t{1}}) {
    for (int64_t size = kMostBlock; size >= kLeastBlock; size -= step) {
      if (elements % size == 0) return size;
    }
  }
  return 0;
}

// So few that they are better one after the other, as rounds of random numbers are.
bool HasFewTrips(const HloInstruction& loop) {
  const std::optional<int64_t> trips = xla::ComputeWhileLoopTripCount(&loop, kMostCountedTrips);
  return trips && (*trips < kLeastTrips || MixesBits(*loop.while_body()));
}

// The state of the loop over blocks: the parts of the state that there were, large arrays in one
// dimension; large arrays that are known in front of the loop; what parts begin with that change
// and are not large; the place of the block. The first two are also the state of a block's loop.
class ByBlocks {
 public:
  ByBlocks(std::unique_ptr<ElementLoop> loop, int64_t block)
      : loop_(std::move(loop)),
        whole_(loop_->whole()),
        parent_(whole_->parent()),
        parts_(loop_->parts()),
        block_(block) {}

  // What takes the loop's place.
  HloInstruction* Make();

 private:
  // A computation of a state whose parts are not all known yet, nor is its root.
  HloComputation* OfState(const char* name) const {
    return compiler::OfState(*whole_->GetModule(), absl::StrCat(whole_->name(), name),
                             whole_->shape());
  }
  static void SetState(HloComputation* of, const Shape& state, HloInstruction* root) {
    of->set_root_instruction(root, /*accept_different_shape=*/true);
    *of->parameter_instruction(0)->mutable_shape() = state;
  }
  static HloInstruction* Part(HloComputation* of, const Shape& shape, int64_t part) {
    return of->AddInstruction(
        HloInstruction::CreateGetTupleElement(shape, of->parameter_instruction(0), part));
  }
  Shape BlockOfType(xla::PrimitiveType type) const {
    return xla::ShapeUtil::MakeShape(type, {block_});
  }
  Shape BlockShape(int64_t part) const {
    return IsLarge(part) ? BlockOfType(TypeOf(part)) : loop_->ShapeOf(part);
  }
  bool IsLarge(int64_t part) const { return part >= parts_ || loop_->IsLarge(part); }
  bool Changes(int64_t part) const { return part < parts_ && loop_->UseOf(part) != Use::kKept; }
  xla::PrimitiveType TypeOf(int64_t part) const {
    return part < parts_ ? loop_->ShapeOf(part).element_type()
                         : outside_[part - parts_]->shape().element_type();
  }
  int64_t InnerParts() const { return parts_ + static_cast<int64_t>(outside_.size()); }
  HloInstruction* First(int64_t part) const { return ElementOf(whole_->mutable_operand(0), part); }

  // A value in the body or condition, of one block.
  HloInstruction* Copy(HloInstruction* value, HloComputation* into);
  // One that is known before the loop, whole.
  HloInstruction* Before(HloInstruction* value);
  void MakeInner();
  HloInstruction* MakeBody(HloComputation* body, const std::vector<HloInstruction*>& first) const;

  const std::unique_ptr<ElementLoop> loop_;
  HloInstruction* const whole_;
  HloComputation* const parent_;
  const int64_t parts_, block_;
  std::vector<HloInstruction*> outside_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_, before_;
  HloComputation* inner_body_ = nullptr;
  HloComputation* inner_condition_ = nullptr;
  std::vector<int64_t> restarted_;  // parts that begin anew for each block
};

HloInstruction* ByBlocks::Before(HloInstruction* value) {
  value = Unwrapped(value);
  if (const int64_t part = ElementLoop::PartOf(*value); part != kNone) return First(part);
  if (const auto known = before_.find(value); known != before_.end()) return known->second;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) operands.push_back(Before(operand));
  HloInstruction* const made =
      parent_->AddInstruction(value->CloneWithNewOperands(value->shape(), operands));
  return before_[value] = made;
}

HloInstruction* ByBlocks::Copy(HloInstruction* value, HloComputation* into) {
  value = Unwrapped(value);
  if (const auto known = copies_.find(value); known != copies_.end()) return known->second;
  HloInstruction* made = nullptr;
  if (const int64_t part = ElementLoop::PartOf(*value); part != kNone) {
    made = Part(into, BlockShape(part), part);
  } else if (loop_->IsKnownBefore(*value)) {
    outside_.push_back(value);
    made = Part(into, BlockShape(InnerParts() - 1), InnerParts() - 1);
  } else {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : value->operands()) operands.push_back(Copy(operand, into));
    if (loop_->IsShared(*value)) {
      made = into->AddInstruction(value->CloneWithNewOperands(value->shape(), operands));
    } else if (value->opcode() == HloOpcode::kReshape) {
      made = operands[0];
    } else if (value->opcode() == HloOpcode::kBroadcast) {
      made = emit::Broadcast(emit::Reshape(operands[0], {}), {block_}, {});
    } else {
      made = into->AddInstruction(
          value->CloneWithNewOperands(BlockOfType(value->shape().element_type()), operands));
    }
  }
  return copies_[value] = made;
}

// The loop of one block.
void ByBlocks::MakeInner() {
  inner_body_ = OfState("_block");
  inner_condition_ = OfState("_block_condition");
  std::vector<HloInstruction*> next;
  for (HloInstruction* part : loop_->next()->operands()) next.push_back(Copy(part, inner_body_));
  HloInstruction* goes_on = nullptr;
  if (loop_->stops_by_element()) {
    goes_on = emit::Reduce(Copy(loop_->goes_on()->mutable_operand(0), inner_condition_),
                           emit::Zero(inner_condition_, xla::PRED), {0}, HloOpcode::kOr);
  } else {
    goes_on = Copy(loop_->goes_on(), inner_condition_);
  }
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < InnerParts(); ++k) {
    shapes.push_back(BlockShape(k));
    if (k >= parts_) next.push_back(Part(inner_body_, shapes.back(), k));
  }
  const Shape state = xla::ShapeUtil::MakeTupleShape(shapes);
  SetState(inner_body_, state, inner_body_->AddInstruction(HloInstruction::CreateTuple(next)));
  SetState(inner_condition_, state, goes_on);
}

// Reads a block of each large array, loops over its trips, and writes the blocks that change, where
// they were.
HloInstruction* ByBlocks::MakeBody(HloComputation* body,
                                   const std::vector<HloInstruction*>& first) const {
  std::vector<HloInstruction*> parts, inner_first;
  for (const HloInstruction* each : first) {
    parts.push_back(Part(body, each->shape(), static_cast<int64_t>(parts.size())));
  }
  HloInstruction* const place = parts.back();
  for (int64_t k = 0; k < InnerParts(); ++k) {
    if (!IsLarge(k)) {
      inner_first.push_back(parts[k]);
      continue;
    }
    HloInstruction* const block = body->AddInstruction(HloInstruction::CreateDynamicSlice(
        BlockOfType(parts[k]->shape().element_type()), parts[k], {place}, {block_}));
    inner_first.push_back(FromBits(block, TypeOf(k)));
  }
  for (size_t r = 0; r < restarted_.size(); ++r) {
    inner_first[restarted_[r]] = parts[InnerParts() + static_cast<int64_t>(r)];
  }
  HloInstruction* const from = body->AddInstruction(HloInstruction::CreateTuple(inner_first));
  HloInstruction* const inner = body->AddInstruction(
      HloInstruction::CreateWhile(from->shape(), inner_condition_, inner_body_, from));
  whole_->SetupDerivedInstruction(inner);
  inner->CopyBackendConfigFrom(whole_);  // it has as many trips
  for (int64_t k = 0; k < parts_; ++k) {
    if (!Changes(k)) continue;
    HloInstruction* const end = ElementOf(inner, k);
    parts[k] = IsLarge(k) ? body->AddInstruction(HloInstruction::CreateDynamicUpdateSlice(
                                parts[k]->shape(), parts[k], BitsOf(end), {place}))
                          : end;
  }
  parts.back() = emit::Binary(HloOpcode::kAdd, place, emit::Number(body, kPlaceType, block_));
  return body->AddInstruction(HloInstruction::CreateTuple(parts));
}

HloInstruction* ByBlocks::Make() {
  MakeInner();
  std::vector<HloInstruction*> first;
  for (int64_t k = 0; k < InnerParts(); ++k) {
    HloInstruction* const value = k < parts_ ? First(k) : Before(outside_[k - parts_]);
    first.push_back(IsLarge(k) ? BitsOf(emit::Reshape(value, {loop_->elements()})) : value);
    if (Changes(k) && !IsLarge(k)) restarted_.push_back(k);
  }
  for (const int64_t k : restarted_) first.push_back(first[k]);
  first.push_back(emit::Zero(parent_, kPlaceType));
  HloInstruction* const from = parent_->AddInstruction(HloInstruction::CreateTuple(first));

  HloComputation* const body = OfState("_blocks");
  SetState(body, from->shape(), MakeBody(body, first));
  HloComputation* const condition = OfState("_blocks_condition");
  SetState(
      condition, from->shape(),
      emit::Compare(xla::Comparison::Direction::kLt,
                    Part(condition, first.back()->shape(), static_cast<int64_t>(first.size()) - 1),
                    emit::Number(condition, kPlaceType, loop_->elements())));
  HloInstruction* const blocks =
      parent_->AddInstruction(HloInstruction::CreateWhile(from->shape(), condition, body, from));
  whole_->SetupDerivedInstruction(blocks);

  std::vector<HloInstruction*> last;
  for (int64_t k = 0; k < parts_; ++k) {
    HloInstruction* part = Changes(k) ? ElementOf(blocks, k) : First(k);
    if (Changes(k) && IsLarge(k)) {
      part = emit::Reshape(FromBits(part, TypeOf(k)), loop_->ShapeOf(k).dimensions());
    }
    last.push_back(part);
  }
  return parent_->AddInstruction(HloInstruction::CreateTuple(last));
}

}  // namespace

absl::StatusOr<HloInstruction*> LoopByBlocks(HloInstruction* root) {
  std::unique_ptr<ElementLoop> loop = ElementLoop::Of(root);
  if (loop == nullptr || IsInOneKernel(*root->parent()) || HasFewTrips(*root)) return nullptr;
  const int64_t block = BlockOf(loop->elements());
  return block == 0 ? nullptr : ByBlocks(std::move(loop), block).Make();
}

}  // namespace hone::compiler
