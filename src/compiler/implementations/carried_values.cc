// What a trip of a loop computes of its first state that the trip before has computed of its last:
// the force at the end of one leapfrog step and at the beginning of the next, as Hamiltonian Monte
// Carlo and Verlet's integrator are written down, or a loss before and after a step. It becomes a
// part of the state, computed once a trip (loop-carried redundancy: "predictive commoning",
// O'Brien, IBM 1991).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/loop_state.h"
#include "compiler/implementations/work.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using InstructionSet = absl::flat_hash_set<const HloInstruction*>;

// Operations for each element that is carried, which is written and read, and in all.
constexpr double kLeastSavedPerElement = 16;
constexpr double kLeastSaved = 1000;

class Carrying {
 public:
  explicit Carrying(HloInstruction* loop) : loop_(loop) {}

  // What takes the loop's place; null where nothing is computed twice.
  absl::StatusOr<HloInstruction*> Apply();

 private:
  HloComputation* body() const { return loop_->while_body(); }
  bool IsPart(const HloInstruction& value) const {
    return value.opcode() == HloOpcode::kGetTupleElement &&
           value.operand(0) == body()->parameter_instruction(0);
  }
  // The same of the state behind the trip; null where the body does not compute it. Itself where no
  // trip changes it.
  HloInstruction* NextOf(const HloInstruction& value) const {
    const auto found = next_.find(&value);
    return found == next_.end() ? nullptr : found->second;
  }
  void FindNext();
  HloInstruction* FindNextOf(HloInstruction& value) const;
  bool MayBeCarried(const HloInstruction& value) const;
  // What the body needs where these are parts of the state.
  InstructionSet NeededBeside(std::vector<HloInstruction*>* carried) const;
  // A value of the first state, before the loop.
  HloInstruction* Before(HloInstruction* value);

  HloInstruction* const loop_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> next_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> before_;
};

HloInstruction* Carrying::FindNextOf(HloInstruction& value) const {
  if (IsPart(value)) return body()->root_instruction()->mutable_operand(value.tuple_index());
  if (value.opcode() == HloOpcode::kParameter || !IsPure(value)) return nullptr;
  std::vector<HloInstruction*> operands;
  HloInstruction* changed = nullptr;
  for (const HloInstruction* operand : value.operands()) {
    operands.push_back(NextOf(*operand));
    if (operands.back() == nullptr) return nullptr;
    if (operands.back() != operand) changed = operands.back();
  }
  if (changed == nullptr) return &value;
  for (HloInstruction* user : changed->users()) {
    const bool same =
        user->opcode() == value.opcode() && absl::c_equal(user->operands(), operands) &&
        value.Identical(*user, [](const HloInstruction*, const HloInstruction*) { return true; });
    if (same) return user;
  }
  return nullptr;
}

void Carrying::FindNext() {
  for (HloInstruction* value : body()->MakeInstructionPostOrder()) {
    if (HloInstruction* const next = FindNextOf(*value)) next_[value] = next;
  }
}

// By all that it takes: what others need of that, too, is seen later.
bool Carrying::MayBeCarried(const HloInstruction& value) const {
  const HloInstruction* const next = NextOf(value);
  if (next == nullptr || next == &value || IsPart(value) || !value.shape().IsArray()) return false;
  double work = 0;
  InstructionSet seen = {&value};
  std::vector<const HloInstruction*> left = {&value};
  while (!left.empty()) {
    const HloInstruction* const at = left.back();
    left.pop_back();
    work += WorkOf(*at);
    for (const HloInstruction* operand : at->operands()) {
      const bool changes = !IsPart(*operand) && NextOf(*operand) != operand;
      if (changes && seen.insert(operand).second) left.push_back(operand);
    }
  }
  return work >= std::max(kLeastSaved, kLeastSavedPerElement * MostElements(value.shape()));
}

InstructionSet Carrying::NeededBeside(std::vector<HloInstruction*>* carried) const {
  InstructionSet needed = {body()->root_instruction()};
  std::vector<HloInstruction*> left = {body()->root_instruction()};
  while (!left.empty()) {
    HloInstruction* const at = left.back();
    left.pop_back();
    std::vector<HloInstruction*> taken(at->operands().begin(), at->operands().end());
    if (carried != nullptr && MayBeCarried(*at)) {
      carried->push_back(at);
      taken = {NextOf(*at)};
    }
    for (HloInstruction* one : taken) {
      if (needed.insert(one).second) left.push_back(one);
    }
  }
  return needed;
}

HloInstruction* Carrying::Before(HloInstruction* value) {
  if (IsPart(*value)) return ElementOf(loop_->mutable_operand(0), value->tuple_index());
  if (const auto known = before_.find(value); known != before_.end()) return known->second;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) operands.push_back(Before(operand));
  HloInstruction* const copy =
      loop_->parent()->AddInstruction(value->CloneWithNewOperands(value->shape(), operands));
  return before_[value] = copy;
}

absl::StatusOr<HloInstruction*> Carrying::Apply() {
  FindNext();
  std::vector<HloInstruction*> carried;
  const InstructionSet left = NeededBeside(&carried), all = NeededBeside(nullptr);
  double saved = 0, elements = 0;
  for (const HloInstruction* one : all) saved += left.contains(one) ? 0 : WorkOf(*one);
  for (const HloInstruction* one : carried) {
    saved += WorkOf(*one);
    elements += MostElements(one->shape());
  }
  if (carried.empty() || saved < std::max(kLeastSaved, kLeastSavedPerElement * elements)) {
    return nullptr;
  }
  const HloInstruction& begin = *loop_->operand(0);
  std::vector<HloInstruction*> first(begin.operands().begin(), begin.operands().end());
  const auto parts = static_cast<int64_t>(first.size());
  xla::Shape state = loop_->shape();
  for (HloInstruction* one : carried) {
    first.push_back(Before(one));
    *state.add_tuple_shapes() = one->shape();
  }
  xla::HloModule& module = *loop_->GetModule();
  xla::HloCloneContext context(&module);
  HloComputation* const within = module.AddEmbeddedComputation(body()->Clone("carrying", &context));
  HloInstruction* const of_body = within->parameter_instruction(0);
  *of_body->mutable_shape() = state;
  std::vector<HloInstruction*> next(within->root_instruction()->operands().begin(),
                                    within->root_instruction()->operands().end());
  for (const HloInstruction* one : carried) next.push_back(context.FindInstruction(NextOf(*one)));
  HloInstruction* const end = within->AddInstruction(HloInstruction::CreateTuple(next));
  within->set_root_instruction(end, /*accept_different_shape=*/true);
  for (size_t k = 0; k < carried.size(); ++k) {
    TF_RETURN_IF_ERROR(
        context.FindInstruction(carried[k])
            ->ReplaceAllUsesWith(ElementOf(of_body, parts + static_cast<int64_t>(k))));
  }
  TF_RETURN_IF_ERROR(RemoveUnused(*within));
  return FirstParts(LoopLike(loop_, WithState(*loop_->while_condition(), state), within, first),
                    parts);
}

}  // namespace

absl::StatusOr<HloInstruction*> CarriedValues(HloInstruction* root) {
  if (!IsOfKnownParts(*root)) return nullptr;
  return Carrying(root).Apply();
}

}  // namespace hone::compiler
