// Loops over a batch, as vmap makes them: the batch comes first in all their arrays, so that what
// XLA:CPU goes through innermost are the few numbers of one of the batch, of which LLVM makes no
// vectors. Here it comes last, in the loop's state and in all that the loop does.
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "compiler/implementations/turned_values.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastBatch = 16;
constexpr int64_t kLeastElements = 1024;
constexpr int64_t kComputedForMoved = 4;  // elements, at least

bool CanTurn(const HloInstruction& loop) { return IsOfKnownParts(loop) && IsTakenApart(loop); }

// Whether a body takes or writes one step of a part of its state at a time, along the first
// dimension.
bool IsOfSteps(const HloInstruction& loop, size_t part) {
  for (const HloInstruction* one : loop.while_body()->parameter_instruction(0)->users()) {
    if (static_cast<size_t>(one->tuple_index()) != part) continue;
    for (const HloInstruction* user : one->users()) {
      const bool reads = user->opcode() == HloOpcode::kDynamicSlice;
      const bool writes = user->opcode() == HloOpcode::kDynamicUpdateSlice;
      if (!reads && !(writes && user->operand(0) == one)) continue;
      if ((reads ? user : user->operand(1))->shape().dimensions(0) == 1) return true;
    }
  }
  return false;
}

// Whether a body does to a part of its state what XLA:CPU does to a batch in front alone.
bool IsForBatchInFront(const HloInstruction& loop, size_t part) {
  for (const HloInstruction* one : loop.while_body()->parameter_instruction(0)->users()) {
    if (static_cast<size_t>(one->tuple_index()) != part) continue;
    for (const HloInstruction* user : one->users()) {
      const HloOpcode opcode = user->opcode();
      if (opcode == HloOpcode::kCustomCall || opcode == HloOpcode::kCholesky ||
          opcode == HloOpcode::kTriangularSolve || opcode == HloOpcode::kFft ||
          opcode == HloOpcode::kSort ||
          ((opcode == HloOpcode::kGather || opcode == HloOpcode::kScatter) &&
           user->operand(0) == one)) {
        return true;
      }
    }
  }
  return false;
}

// The dimension of a part of a loop's state that may be a batch's: the first, or the one behind
// steps.
int64_t BatchDimension(const HloInstruction& loop, size_t part) {
  const xla::Shape& shape = loop.shape().tuple_shapes(part);
  if (!shape.IsArray() || shape.dimensions().empty() || IsForBatchInFront(loop, part)) {
    return kNone;
  }
  const bool has_steps = shape.dimensions().size() > 1 && IsOfSteps(loop, part);
  return has_steps ? 1 : 0;
}

// Of each part of the state the dimension of a batch of this size; kNone where it has none.
Dimensions BatchDimensions(const HloInstruction& loop, int64_t batch) {
  Dimensions dimensions;
  for (size_t part = 0; part < loop.shape().tuple_shapes().size(); ++part) {
    const int64_t d = BatchDimension(loop, part);
    const bool is_batch = d != kNone && loop.shape().tuple_shapes(part).dimensions(d) == batch;
    dimensions.push_back(is_batch ? d : kNone);
  }
  return dimensions;
}

// The size of the batch that most of a loop's state has in front of shorter rows. Nothing where
// there is none.
std::optional<int64_t> BatchOf(const HloInstruction& loop) {
  std::map<int64_t, int64_t> elements;  // of rows behind a batch of this size
  int64_t others = 0;
  for (size_t part = 0; part < loop.shape().tuple_shapes().size(); ++part) {
    const int64_t d = BatchDimension(loop, part);
    if (d == kNone) continue;
    const auto sizes = loop.shape().tuple_shapes(part).dimensions();
    const bool is_turned = d + 1 < static_cast<int64_t>(sizes.size());
    const bool is_short =
        is_turned && sizes[d] >= kLeastBatch && sizes.back() < sizes[d] &&
        absl::c_all_of(sizes.subspan(d), [&](int64_t n) { return n <= sizes[d]; });
    if (is_short) {
      elements[sizes[d]] += emit::Product(sizes);
    } else if (is_turned) {
      others += emit::Product(sizes);
    }
  }
  std::optional<int64_t> best;
  for (const auto& [batch, count] : elements) {
    if (!best || count > elements[*best]) best = batch;
  }
  if (!best || elements[*best] < kLeastElements || elements[*best] < others) return std::nullopt;
  return best;
}

absl::StatusOr<HloInstruction*> TurnedLoop(HloInstruction* loop, int64_t batch,
                                           TurnedValues* around, Dimensions& dimensions,
                                           Effort& effort);

// A copy of a loop's body or condition, over a state that is turned.
absl::StatusOr<HloComputation*> WithTurnedState(HloComputation& computation,
                                                const xla::Shape& state, int64_t batch,
                                                const Dimensions& dimensions, Effort& effort,
                                                bool is_body) {
  HloComputation* const copy = WithState(computation, state);
  HloInstruction* const parameter = copy->parameter_instruction(0);
  const auto turn_loop = [&, batch](HloInstruction* loop, TurnedValues& around, Dimensions& inner) {
    return TurnedLoop(loop, batch, &around, inner, effort);
  };
  TurnedValues values(copy, turn_loop, &effort);
  const std::vector<HloInstruction*> parts = parameter->users();
  for (HloInstruction* part : parts) {
    const int64_t d = dimensions[part->tuple_index()];
    if (d != kNone) values.Know(part, ElementOf(parameter, part->tuple_index()), d);
  }
  TF_RETURN_IF_ERROR(values.GoOn());
  HloInstruction* const root = copy->root_instruction();
  if (is_body) {
    std::vector<HloInstruction*> next;
    for (int64_t k = 0; k < root->operand_count(); ++k) {
      HloInstruction* const part = root->mutable_operand(k);
      next.push_back(dimensions[k] == kNone ? values.Back(part) : values.As(part, dimensions[k]));
    }
    copy->set_root_instruction(copy->AddInstruction(HloInstruction::CreateTuple(next)),
                               /*accept_different_shape=*/true);
  } else {
    TF_RETURN_IF_ERROR(values.PutBack(root));
  }
  TF_RETURN_IF_ERROR(RemoveUnused(*copy));
  return copy;
}

// The loop over a state that is turned, which it takes from what is turned `around` it, if
// anything.
absl::StatusOr<HloInstruction*> TurnedLoop(HloInstruction* loop, int64_t batch,
                                           TurnedValues* around, Dimensions& dimensions,
                                           Effort& effort) {
  if (!CanTurn(*loop)) return nullptr;
  dimensions = BatchDimensions(*loop, batch);
  HloInstruction* const before = loop->mutable_operand(0);
  xla::Shape state = loop->shape();
  std::vector<HloInstruction*> first;
  for (int64_t k = 0; k < before->operand_count(); ++k) {
    HloInstruction* const part = before->mutable_operand(k);
    const int64_t known = around == nullptr ? kNone : around->DimensionOf(part);
    if (known != kNone && !IsForBatchInFront(*loop, k)) dimensions[k] = known;
    if (dimensions[k] == kNone) {
      first.push_back(around == nullptr ? part : around->Back(part));
      continue;
    }
    first.push_back(around == nullptr ? TurnedArray(part, dimensions[k])
                                      : around->As(part, dimensions[k]));
    *state.mutable_tuple_shapes(k) = TurnedShape(state.tuple_shapes(k), dimensions[k]);
  }
  const auto turned = [&](HloComputation& computation, bool is_body) {
    return WithTurnedState(computation, state, batch, dimensions, effort, is_body);
  };
  TF_ASSIGN_OR_RETURN(HloComputation* const condition,
                      turned(*loop->while_condition(), /*is_body=*/false));
  TF_ASSIGN_OR_RETURN(HloComputation* const body, turned(*loop->while_body(), /*is_body=*/true));
  return LoopLike(loop, condition, body, first);
}

// Whether it is a computation that a loop calls, whose batch is that loop's matter.
bool IsWithinTurned(const HloInstruction& loop) {
  return absl::c_any_of(loop.parent()->caller_instructions(), [](const HloInstruction* caller) {
    return caller->opcode() == HloOpcode::kWhile && CanTurn(*caller) && BatchOf(*caller);
  });
}

}  // namespace

absl::StatusOr<HloInstruction*> BatchLast(HloInstruction* root) {
  if (!CanTurn(*root) || IsInOneKernel(*root->parent()) || IsWithinTurned(*root)) return nullptr;
  const std::optional<int64_t> batch = BatchOf(*root);
  if (!batch) return nullptr;
  HloComputation& around = *root->parent();
  xla::HloModule& module = *around.parent();
  const int64_t instructions = around.instruction_count(), before = module.computation_count();
  Dimensions dimensions;
  Effort effort;
  TF_ASSIGN_OR_RETURN(HloInstruction* const loop,
                      TurnedLoop(root, *batch, nullptr, dimensions, effort));
  if (effort.moved * kComputedForMoved > effort.computed) {
    TF_RETURN_IF_ERROR(emit::RemoveBehind(around, instructions));
    std::vector<HloComputation*> added;
    for (HloComputation* one : module.computations()) added.push_back(one);
    for (size_t k = before; k < added.size(); ++k) {
      TF_RETURN_IF_ERROR(module.RemoveEmbeddedComputation(added[k]));
    }
    return nullptr;
  }
  std::vector<HloInstruction*> results;
  for (size_t k = 0; k < loop->shape().tuple_shapes().size(); ++k) {
    HloInstruction* const part = ElementOf(loop, k);
    results.push_back(dimensions[k] == kNone ? part : TurnedBack(part, dimensions[k]));
  }
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(results));
}

}  // namespace hone::compiler
