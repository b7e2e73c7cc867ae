#include "compiler/rules/general_fusion.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/run/execute.h"
#include "compiler/sites/intercept.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::ShapeUtil;

constexpr int64_t kMostEvaluations = 15;  // as in XLA's FusionNodeIndexingEvaluation
// How many times over an expensive element may be computed.
constexpr double kMostRecomputation = 16;

bool IsScalarConstant(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kConstant &&
         ShapeUtil::IsEffectiveScalar(instruction->shape());
}

// Each of its elements takes many others.
bool IsHeavy(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kReduce ||
         instruction->opcode() == HloOpcode::kReduceWindow;
}

// How many elements of an operand one element of the result takes, about.
double ElementsRead(const HloInstruction* user) {
  switch (user->opcode()) {
    case HloOpcode::kReduce:
      return std::max(1.0, static_cast<double>(ShapeUtil::ElementsIn(user->operand(0)->shape())) /
                               static_cast<double>(ShapeUtil::ElementsIn(user->shape())));
    case HloOpcode::kReduceWindow: {
      double elements = 1;
      for (const auto& dimension : user->window().dimensions()) {
        elements *= static_cast<double>(dimension.size());
      }
      return elements;
    }
    default:
      return 1;
  }
}

// What XLA:CPU emits within a fusion that is there before layouts are assigned. Layout assignment
// clears the layouts inside of fusions, which reshapes, transposes, concatenations, gathers,
// selects and further outputs do not survive: tests/xla_findings.
bool CanBeMember(const HloInstruction* instruction) {
  if (!instruction->shape().IsArray() || instruction->HasSideEffect() ||
      instruction->HasControlDependencies() ||
      ShapeUtil::IsZeroElementArray(instruction->shape())) {
    return false;
  }
  switch (instruction->opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
      return true;
    case HloOpcode::kConstant:
    case HloOpcode::kMap:
    case HloOpcode::kRng:
    case HloOpcode::kSelect:
      return false;
    default:
      return instruction->IsElementwise();
  }
}

using Set = absl::flat_hash_set<HloInstruction*>;

// The members of one fusion to be.
class Group {
 public:
  explicit Group(HloInstruction* last) : last_(last) {
    set_.insert(last);
    members_.push_back(last);
    emitted_for_[last].insert(last);
    runs_[last] = static_cast<double>(ShapeUtil::ElementsIn(last->shape()));
  }

  bool Has(HloInstruction* instruction) const { return set_.contains(instruction); }

  // Users come before what they use: all of the producer's that the group is to have are in it.
  bool Add(HloInstruction* producer) {
    Set emitted_for;
    double runs = 0;
    for (HloInstruction* user : producer->users()) {
      if (!Has(user)) continue;
      runs += runs_.at(user) * ElementsRead(user);
      if (user->IsElementwise()) {
        const Set& same_index = emitted_for_.at(user);
        emitted_for.insert(same_index.begin(), same_index.end());
      } else {
        emitted_for.insert(user);
      }
    }
    if (Evaluations(emitted_for) > kMostEvaluations) return false;
    const auto elements = static_cast<double>(ShapeUtil::ElementsIn(producer->shape()));
    if (IsHeavy(producer) && runs > kMostRecomputation * elements) return false;
    set_.insert(producer);
    if (IsNeededOutside(producer)) stays_.insert(producer);
    members_.push_back(producer);
    emitted_for_[producer] = std::move(emitted_for);
    runs_[producer] = runs;
    return true;
  }

  const std::vector<HloInstruction*>& members() const { return members_; }

  // The fusion in place of what it makes unnecessary.
  absl::StatusOr<HloInstruction*> Make() {
    HloComputation* const computation = last_->parent();
    HloComputation::Builder builder("general_fusion");
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> inside;
    std::vector<HloInstruction*> inputs;
    const auto bring_in = [&](HloInstruction* operand) -> HloInstruction* {
      const auto [known, fresh] = inside.try_emplace(operand, nullptr);
      if (!fresh) return known->second;
      if (IsScalarConstant(operand)) {
        return known->second = builder.AddInstruction(operand->Clone());
      }
      const auto number = static_cast<int64_t>(inputs.size());
      inputs.push_back(operand);
      return known->second = builder.AddInstruction(HloInstruction::CreateParameter(
                 number, operand->shape(), absl::StrCat("param_", number)));
    };
    for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : (*member)->operands()) operands.push_back(bring_in(operand));
      inside[*member] =
          builder.AddInstruction((*member)->CloneWithNewOperands((*member)->shape(), operands));
    }
    HloComputation* const fused =
        computation->parent()->AddEmbeddedComputation(builder.Build(inside.at(last_)));
    HloInstruction* const fusion = computation->AddInstruction(HloInstruction::CreateFusion(
        last_->shape(), HloInstruction::FusionKind::kLoop, inputs, fused));
    TF_RETURN_IF_ERROR(last_->ReplaceAllUsesWith(fusion));
    for (HloInstruction* member : members_) {
      if (Goes(member)) TF_RETURN_IF_ERROR(computation->RemoveInstruction(member));
    }
    return fusion;
  }

 private:
  bool Goes(HloInstruction* instruction) const {
    return set_.contains(instruction) && !stays_.contains(instruction);
  }

  bool IsNeededOutside(const HloInstruction* producer) const {
    return producer->IsRoot() ||
           absl::c_any_of(producer->users(), [&](HloInstruction* user) { return !Goes(user); });
  }

  int64_t Evaluations(const Set& users) const {
    int64_t sum = 0;
    for (HloInstruction* user : users) {
      const auto known = evaluations_.find(user);
      if (known != evaluations_.end()) {
        sum += known->second;
        continue;
      }
      const Set& its = emitted_for_.at(user);
      const int64_t times = its.contains(user) ? 1 : Evaluations(its);
      evaluations_[user] = times;
      sum += times;
    }
    return sum;
  }

  HloInstruction* const last_;
  Set set_;
  std::vector<HloInstruction*> members_;  // users before what they use
  Set stays_;                             // computed in the fusion and, for others, outside
  // The users of other indices, for each of which a member is emitted once more.
  absl::flat_hash_map<HloInstruction*, Set> emitted_for_;
  mutable absl::flat_hash_map<HloInstruction*, int64_t> evaluations_;
  absl::flat_hash_map<HloInstruction*, double> runs_;  // of a member's code, in all
};

// Whether the backend can emit them, in a program of their own.
absl::Status CompileAlone(const std::vector<HloInstruction*>& fusions) {
  xla::HloModule module("fusions", fusions.front()->GetModule()->config());
  HloComputation::Builder builder("entry");
  xla::HloCloneContext context(&module);
  std::vector<HloInstruction*> results;
  absl::flat_hash_set<std::string> seen;
  std::string names;
  int64_t parameters = 0;
  for (const HloInstruction* fusion : fusions) {
    const std::string text =
        fusion->fused_instructions_computation()->ToString(xla::HloPrintOptions::Canonical());
    if (!seen.insert(text).second) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", fusion->name());
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : fusion->operands()) {
      operands.push_back(builder.AddInstruction(HloInstruction::CreateParameter(
          parameters, operand->shape(), absl::StrCat("p", parameters))));
      ++parameters;
    }
    results.push_back(
        builder.AddInstruction(fusion->CloneWithNewOperands(fusion->shape(), operands, &context)));
  }
  builder.AddInstruction(HloInstruction::CreateTuple(results));
  HloComputation* const entry = module.AddEntryComputation(builder.Build());
  module.mutable_config().SetDefaultComputationLayout(entry->ComputeProgramShape());
  const auto program = Program::Compile(module, CodeQuality::kQuickCompile);
  if (program.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the backend cannot emit ", names, ": ", program.status().message()));
}

}  // namespace

absl::StatusOr<bool> GeneralFusion::RunImpl(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) {
  std::vector<HloInstruction*> fusions;
  for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
    // Reducers and comparators are scalar code within another operation's.
    if (!computation->IsEntryComputation() &&
        absl::c_all_of(computation->parameter_instructions(), [](const HloInstruction* parameter) {
          return ShapeUtil::IsEffectiveScalar(parameter->shape());
        })) {
      continue;
    }
    const std::vector<HloInstruction*> sorted = computation->MakeInstructionPostOrder();
    absl::flat_hash_map<const HloInstruction*, int64_t> order;
    for (HloInstruction* instruction : sorted) {
      order[instruction] = static_cast<int64_t>(order.size());
    }
    // By consumer, so that what is accepted is known before anything changes.
    absl::flat_hash_map<HloInstruction*, std::vector<HloInstruction*>> accepted;
    for (auto consumer = sorted.rbegin(); consumer != sorted.rend(); ++consumer) {
      if (!CanBeMember(*consumer)) continue;
      for (int64_t i = 0; i < (*consumer)->operand_count(); ++i) {
        HloInstruction* const producer = (*consumer)->mutable_operand(i);
        if (!CanBeMember(producer) || (*consumer)->operand_index(producer) != i) continue;
        if (MayFuse(producer, *consumer, i)) accepted[*consumer].push_back(producer);
      }
    }
    const Unobserved unobserved;
    absl::flat_hash_set<HloInstruction*> gone;
    for (auto last = sorted.rbegin(); last != sorted.rend(); ++last) {
      if (gone.contains(*last) || !accepted.contains(*last)) continue;
      Group group(*last);
      absl::btree_set<std::pair<int64_t, HloInstruction*>> next;
      const auto add_producers = [&](HloInstruction* consumer) {
        const auto producers = accepted.find(consumer);
        if (producers == accepted.end()) return;
        for (HloInstruction* producer : producers->second) {
          if (!gone.contains(producer)) next.insert({order.at(producer), producer});
        }
      };
      add_producers(*last);
      while (!next.empty()) {
        HloInstruction* const producer = std::prev(next.end())->second;
        next.erase(std::prev(next.end()));
        if (group.Add(producer)) add_producers(producer);
      }
      if (group.members().size() < 2) continue;
      TF_ASSIGN_OR_RETURN(HloInstruction* const fusion, group.Make());
      fusions.push_back(fusion);
      for (HloInstruction* member : group.members()) {
        if (member->parent() == nullptr) gone.insert(member);
      }
    }
  }
  if (fusions.empty()) return false;
  const Unobserved unobserved;
  TF_RETURN_IF_ERROR(module->RemoveUnusedComputations());
  TF_RETURN_IF_ERROR(CompileAlone(fusions));
  return true;
}

}  // namespace hone::compiler
