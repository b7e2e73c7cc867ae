// Loops: short ones unrolled, those of small operations as one kernel.
#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/implementations/element_loop.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/collective_ops_utils.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostTrips = 64;
constexpr int64_t kMostInstructions = 4000;  // of all trips together
// Multiply-adds of a product that a library does better than plain loops, which is all that such a
// kernel has.
constexpr int64_t kMostMultiplyAdds = 1 << 16;

bool CanCopy(const HloComputation& body) {
  for (const HloInstruction* instruction : body.instructions()) {
    if (instruction->HasSideEffect() || instruction->HasControlDependencies() ||
        instruction->has_sharding() || !instruction->shape().is_static()) {
      return false;
    }
  }
  return true;
}

bool IsLargeProduct(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConvolution) return true;
  if (instruction.opcode() != HloOpcode::kDot) return false;
  return emit::TermsOf(instruction) * xla::ShapeUtil::ElementsIn(instruction.shape()) >
         kMostMultiplyAdds;
}

// What XLA's own pass leaves alone, and what is slow in such a kernel.
bool MayBeInOneKernel(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kCustomCall:
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kScatter:
    case HloOpcode::kSort:
    case HloOpcode::kFft:
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kTopK:
      return false;
    default:
      return !instruction.HasSideEffect() && !instruction.has_sharding() &&
             !xla::IsCollective(&instruction) && !IsLargeProduct(instruction);
  }
}

// A while, with everything that it calls.
bool AllMayBeInOneKernel(const HloInstruction& loop) {
  if (!MayBeInOneKernel(loop)) return false;
  for (const HloComputation* called : loop.called_computations()) {
    for (const HloInstruction* instruction : called->instructions()) {
      if (!AllMayBeInOneKernel(*instruction)) return false;
    }
  }
  return true;
}

// With those of the calls in it, which are copied as often.
int64_t InstructionsOf(const HloComputation& computation) {
  int64_t count = computation.instruction_count();
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() != HloOpcode::kCall) continue;
    for (const HloComputation* called : instruction->called_computations()) {
      count += InstructionsOf(*called);
    }
  }
  return count;
}

// Whether a computation is part of such a kernel, or of a loop that is going to be one.
bool IsOrWillBeInOneKernel(const HloComputation& computation) {
  for (const HloInstruction* caller : computation.caller_instructions()) {
    if (caller->frontend_attributes().map().contains(emit::kSmallCall) ||
        (caller->opcode() == HloOpcode::kWhile && AllMayBeInOneKernel(*caller)) ||
        IsOrWillBeInOneKernel(*caller->parent())) {
      return true;
    }
  }
  return false;
}

// Whether a trip computes elements of large arrays from elements in the same places alone; of small
// ones it may do anything.
bool IsElementwise(const HloComputation& body) {
  constexpr int64_t kFewElements = 16;
  return absl::c_all_of(body.instructions(), [](const HloInstruction* instruction) {
    switch (instruction->opcode()) {
      case HloOpcode::kBroadcast:
      case HloOpcode::kConstant:
      case HloOpcode::kGetTupleElement:
      case HloOpcode::kIota:
      case HloOpcode::kParameter:
      case HloOpcode::kReshape:
      case HloOpcode::kTuple:
        return true;
      case HloOpcode::kCall:
        return IsElementwise(*instruction->to_apply());
      default:
        break;
    }
    if (!instruction->shape().IsArray()) return false;
    if (instruction->IsElementwise()) return true;
    return instruction->called_computations().empty() &&
           absl::c_all_of(instruction->operands(), [](const HloInstruction* operand) {
             return operand->shape().IsArray() &&
                    xla::ShapeUtil::ElementsIn(operand->shape()) <= kFewElements;
           });
  });
}

// The parts of a loop's state that are taken afterwards, where these are words of one shape, of 32
// bits each. None where others are taken.
std::vector<HloInstruction*> WordsTaken(const HloInstruction& loop) {
  std::vector<HloInstruction*> words;
  for (HloInstruction* part : loop.users()) {
    if (part->opcode() != HloOpcode::kGetTupleElement) return {};
    if (part->user_count() == 0 && !part->IsRoot()) continue;
    if (part->shape().element_type() != xla::U32) return {};
    words.push_back(part);
  }
  const bool alike = words.size() == 2 && words[0]->tuple_index() != words[1]->tuple_index() &&
                     xla::ShapeUtil::Compatible(words[0]->shape(), words[1]->shape());
  return alike ? words : std::vector<HloInstruction*>();
}

// Words of many operations, computed once each: their difference, where nothing else is wanted of
// them, else both beside each other.
void KeepWords(const std::vector<HloInstruction*>& words, std::vector<HloInstruction*>* parts) {
  HloInstruction*& first = (*parts)[words[0]->tuple_index()];
  HloInstruction*& second = (*parts)[words[1]->tuple_index()];
  const auto is_difference = [&](const HloInstruction* word) {
    return word->user_count() == 1 && !word->IsRoot() && word->users() == words[0]->users() &&
           word->users()[0]->opcode() == HloOpcode::kXor;
  };
  if (absl::c_all_of(words, is_difference)) {
    const Elements difference = Elements(first).Binary(HloOpcode::kXor, Elements(second));
    first = emit::Kept(difference.array());
    second = difference.Bits(0).array();
    return;
  }
  const auto as_float = [](HloInstruction* word) { return Elements(word).BitsAs(xla::F32); };
  const Elements both(emit::Kept(Complex(as_float(first), as_float(second)).array()));
  first = RealPart(both).BitsAs(xla::U32).array();
  second = ImaginaryPart(both).BitsAs(xla::U32).array();
}

// The value behind a while of a known small number of trips, as its body that many times. Null
// where it is not, or `body` may not be.
template <class MayBe>
HloInstruction* Unrolled(HloInstruction* loop, const MayBe& may_be) {
  if (loop->opcode() != HloOpcode::kWhile || !emit::Free(*loop)) return nullptr;
  HloComputation* body = loop->while_body();
  if (!CanCopy(*body) || !may_be(*body)) return nullptr;
  const std::optional<int64_t> trips = xla::ComputeWhileLoopTripCount(loop, kMostTrips);
  if (!trips || *trips > kMostTrips || *trips * InstructionsOf(*body) > kMostInstructions) {
    return nullptr;
  }
  HloInstruction* value = loop->mutable_operand(0);
  const std::vector<HloInstruction*> order = body->MakeInstructionPostOrder();
  for (int64_t trip = 0; trip < *trips; ++trip) {
    std::map<const HloInstruction*, HloInstruction*> copies;
    copies[body->parameter_instruction(0)] = value;
    for (const HloInstruction* instruction : order) {
      if (instruction->opcode() == HloOpcode::kParameter) continue;
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(copies.at(operand));
      }
      // A part of what the last trip put together needs no tuple.
      if (instruction->opcode() == HloOpcode::kGetTupleElement &&
          operands[0]->opcode() == HloOpcode::kTuple) {
        copies[instruction] = operands[0]->mutable_operand(instruction->tuple_index());
        continue;
      }
      copies[instruction] = loop->parent()->AddInstruction(
          instruction->CloneWithNewOperands(instruction->shape(), operands));
    }
    value = copies.at(body->root_instruction());
  }
  return value == loop->operand(0) && *trips > 0 ? nullptr : value;
}

}  // namespace

// A while of small operations as one kernel: no trip starts a kernel for each operation. XLA does
// so itself where few bytes pass through the loop
// (xla/service/cpu/small_while_loop_hoisting_pass.cc); here the number of bytes does not count. Not
// where the loop has what such a kernel may not have, or products that are better off in a library.
absl::StatusOr<HloInstruction*> LoopOneKernel(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kWhile || !emit::Free(*root)) return nullptr;
  if (!AllMayBeInOneKernel(*root) || IsOrWillBeInOneKernel(*root->parent())) return nullptr;
  HloComputation::Builder builder(absl::StrCat(root->name(), "_kernel"));
  HloInstruction* state = builder.AddInstruction(
      HloInstruction::CreateParameter(0, root->operand(0)->shape(), "state"));
  builder.AddInstruction(root->CloneWithNewOperands(root->shape(), {state}));
  return emit::OneKernel(root->parent(), {root->mutable_operand(0)}, builder.Build());
}

// A while of a known small number of trips as its body, that many times: what the trips have in
// common can then be shared and fused across them.
absl::StatusOr<HloInstruction*> UnrollShortLoop(HloInstruction* root) {
  return Unrolled(root, [](const HloComputation&) { return true; });
}

// Only those that compute elements from elements: they are fused into one pass over memory, and the
// program grows by little. The rounds of JAX's random numbers (Threefry-2x32: Salmon et al.,
// Parallel random numbers: as easy as 1, 2, 3, SC 2011) are a hundred operations for each word, not
// to be computed by each of those who take it.
absl::StatusOr<HloInstruction*> UnrollElementwiseLoop(HloInstruction* root) {
  HloInstruction* const unrolled = Unrolled(root, IsElementwise);
  if (unrolled == nullptr || unrolled->opcode() != HloOpcode::kTuple ||
      !MixesBits(*root->while_body())) {
    return unrolled;
  }
  const std::vector<HloInstruction*> words = WordsTaken(*root);
  if (words.empty()) return unrolled;
  std::vector<HloInstruction*> parts(unrolled->operands().begin(), unrolled->operands().end());
  KeepWords(words, &parts);
  return unrolled->AddInstruction(HloInstruction::CreateTuple(parts));
}

}  // namespace hone::compiler
