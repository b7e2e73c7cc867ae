#include "compiler/cut_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "compiler/fingerprint.h"
#include "compiler/load.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/layout_util.h"
#include "xla/service/call_inliner.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr size_t kMostTogether = 64;           // instructions
constexpr int kMostReductions = 2;             // in a task
constexpr int64_t kLargestConstant = 1 << 16;  // elements; larger ones are passed
constexpr size_t kFewOperations = 12;          // of a loop that is not taken apart
constexpr int64_t kUnknownTrips = 10;          // of a loop whose end is not known before it runs
constexpr int64_t kMostRuns = 1 << 30;
constexpr int kMostComputations = 1000;  // that are taken apart
constexpr int64_t kMostInlined = 4096;   // instructions of a task

// Takes no time: another look at the same bytes, or a part of a tuple.
bool IsView(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kBitcast ||
         instruction.opcode() == HloOpcode::kGetTupleElement;
}

// What every reader computes anew.
bool IsRepeated(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConvert:
    case HloOpcode::kIota:
      return true;
    case HloOpcode::kConstant:
      return instruction.shape().IsArray() &&
             xla::ShapeUtil::ElementsIn(instruction.shape()) <= kLargestConstant;
    default:
      return false;
  }
}

bool IsOperation(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kTuple:
    case HloOpcode::kAfterAll:
    case HloOpcode::kAddDependency:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
      return false;
    default:
      return !IsView(instruction) && !IsRepeated(instruction);
  }
}

// That run others, which are operations of their own.
std::vector<HloComputation*> Inside(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
      return {instruction.while_body()};
    case HloOpcode::kConditional:
      return {instruction.branch_computations().begin(), instruction.branch_computations().end()};
    case HloOpcode::kCall:
      return {instruction.to_apply()};
    default:
      return {};
  }
}

size_t OperationsIn(const HloComputation& computation) {
  size_t operations = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!IsOperation(*instruction)) continue;
    ++operations;
    for (const HloComputation* inner : Inside(*instruction)) operations += OperationsIn(*inner);
  }
  return operations;
}

// A loop or call that is taken apart.
bool IsOpened(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConditional) return true;
  const size_t few = instruction.opcode() == HloOpcode::kCall ? 1 : kFewOperations;
  size_t operations = 0;
  for (const HloComputation* inner : Inside(instruction)) operations += OperationsIn(*inner);
  return operations > few;
}

bool IsHeavy(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kConvolution:
    case HloOpcode::kSort:
    case HloOpcode::kFft:
    case HloOpcode::kWhile:
    case HloOpcode::kCustomCall:
    case HloOpcode::kScatter:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
      return true;
    case HloOpcode::kFusion:
      return absl::c_any_of(instruction.fused_instructions(),
                            [](const HloInstruction* part) { return IsHeavy(*part); });
    case HloOpcode::kCall:
      return absl::c_any_of(instruction.to_apply()->instructions(),
                            [](const HloInstruction* part) { return IsHeavy(*part); });
    default:
      return false;
  }
}

// A reduction, or what is about as dear.
bool IsReduction(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kReduce || instruction.opcode() == HloOpcode::kGather ||
         instruction.opcode() == HloOpcode::kDynamicUpdateSlice;
}

// Who reads it, through views and what is repeated; null stands for those that are no operations,
// and for the caller.
void Readers(const HloInstruction& instruction, std::vector<const HloInstruction*>& readers) {
  if (instruction.IsRoot()) readers.push_back(nullptr);
  for (const HloInstruction* user : instruction.users()) {
    if (IsView(*user) || IsRepeated(*user)) {
      Readers(*user, readers);
    } else {
      readers.push_back(IsOperation(*user) && !IsOpened(*user) ? user : nullptr);
    }
  }
}

using Cluster = std::vector<const HloInstruction*>;  // operands before users

std::vector<Cluster> ClustersOf(const HloComputation& computation) {
  struct Growing {
    Cluster members;  // users before operands
    int heavy = 0;
    int reductions = 0;
  };
  std::vector<Growing> clusters;
  absl::flat_hash_map<const HloInstruction*, size_t> place;  // of an operation, its cluster
  std::vector<HloInstruction*> order = computation.MakeInstructionPostOrder();
  absl::c_reverse(order);
  for (const HloInstruction* instruction : order) {
    if (!IsOperation(*instruction) || IsOpened(*instruction)) continue;
    const int heavy = IsHeavy(*instruction);
    const int reductions = IsReduction(*instruction);
    std::vector<const HloInstruction*> readers;
    Readers(*instruction, readers);
    // Its readers have their places already. What they all read together stays together.
    std::optional<size_t> joined;
    for (size_t i = 0; i < readers.size(); ++i) {
      const auto found = place.find(readers[i]);
      const bool same = found != place.end() && (i == 0 || joined == found->second);
      joined = same ? std::optional<size_t>(found->second) : std::nullopt;
      if (!same) break;
    }
    if (joined) {
      const Growing& cluster = clusters[*joined];
      if (cluster.members.size() == kMostTogether || cluster.heavy + heavy > 1 ||
          cluster.reductions + reductions > kMostReductions) {
        joined.reset();
      }
    }
    if (!joined) {
      joined = clusters.size();
      clusters.emplace_back();
    }
    Growing& cluster = clusters[*joined];
    cluster.members.push_back(instruction);
    cluster.heavy += heavy;
    cluster.reductions += reductions;
    place[instruction] = *joined;
  }
  std::vector<Cluster> found;
  for (Growing& cluster : clusters) {
    absl::c_reverse(cluster.members);
    found.push_back(std::move(cluster.members));
  }
  absl::c_reverse(found);
  return found;
}

bool StandsAlone(const HloInstruction& instruction) {
  if (instruction.HasSideEffect()) return false;
  bool fine = true;
  const auto check = [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    fine = fine && (leaf.IsTuple() || (leaf.IsArray() && leaf.is_static()));
  };
  xla::ShapeUtil::ForEachSubshape(instruction.shape(), check);
  for (const HloInstruction* operand : instruction.operands()) {
    xla::ShapeUtil::ForEachSubshape(operand->shape(), check);
  }
  return fine;
}

// A module that computes the members from parameters and returns what others read.
std::unique_ptr<xla::HloModule> ModuleOf(const Cluster& members) {
  auto module = std::make_unique<xla::HloModule>("task", xla::HloModuleConfig());
  xla::HloCloneContext context(module.get());
  HloComputation::Builder builder("main");
  const absl::flat_hash_set<const HloInstruction*> inside(members.begin(), members.end());
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> made;
  int64_t parameters = 0;
  // Whether a view is of something inside.
  const auto reads = [&](const HloInstruction* view) {
    while (IsView(*view)) view = view->operand(0);
    return inside.contains(view);
  };
  const std::function<HloInstruction*(HloInstruction*)> get = [&](HloInstruction* operand) {
    if (const auto found = made.find(operand); found != made.end()) return found->second;
    if (IsRepeated(*operand) || (IsView(*operand) && reads(operand))) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* one : operand->operands()) operands.push_back(get(one));
      HloInstruction* const copy = builder.AddInstruction(
          operand->CloneWithNewOperands(operand->shape(), operands, &context));
      return made[operand] = copy;
    }
    const int64_t number = parameters++;
    return made[operand] = builder.AddInstruction(HloInstruction::CreateParameter(
               number, operand->shape(), absl::StrCat("p", number)));
  };
  std::vector<HloInstruction*> results;
  for (const HloInstruction* member : members) {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : member->operands()) operands.push_back(get(operand));
    HloInstruction* const copy =
        builder.AddInstruction(member->CloneWithNewOperands(member->shape(), operands, &context));
    made[member] = copy;
    std::vector<const HloInstruction*> readers;
    Readers(*member, readers);
    const bool outside = readers.empty() || absl::c_any_of(readers, [&](const auto* reader) {
                           return reader == nullptr || !inside.contains(reader);
                         });
    if (outside) results.push_back(copy);
  }
  HloInstruction* root = results.back();
  if (results.size() > 1) root = builder.AddInstruction(HloInstruction::CreateTuple(results));
  module->AddEntryComputation(builder.Build(root));
  return module;
}

// Fusions and calls become what they compute. False where that cannot be.
bool Inline(xla::HloModule* module) {
  for (;;) {
    HloInstruction* next = nullptr;
    for (HloComputation* computation : module->MakeNonfusionComputations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        const bool call = instruction->opcode() == HloOpcode::kCall ||
                          instruction->opcode() == HloOpcode::kFusion;
        if (call) next = instruction;
      }
    }
    if (next == nullptr) return true;
    const bool done = next->opcode() == HloOpcode::kFusion ? next->Defuse().ok()
                                                           : xla::CallInliner::Inline(next).ok();
    if (!done || module->instruction_count() > kMostInlined) return false;
  }
}

bool IsRowMajor(const xla::Shape& shape) {
  return !shape.IsArray() || !shape.has_layout() ||
         xla::LayoutUtil::IsMonotonicWithDim0Major(shape.layout());
}

// Takes back what somebody has decided: layouts, which mean nothing but to bitcasts, and what is
// noted down for code generators. False where a bitcast hangs on layouts.
bool Undecide(xla::HloModule* module) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kBitcast) continue;
      HloInstruction* const operand = instruction->mutable_operand(0);
      if (!IsRowMajor(operand->shape()) || !IsRowMajor(instruction->shape()) ||
          operand->shape().element_type() != instruction->shape().element_type() ||
          !computation
               ->ReplaceWithNewInstruction(
                   instruction, HloInstruction::CreateReshape(instruction->shape(), operand))
               .ok()) {
        return false;
      }
    }
  }
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      // A constant's values lie as its layout says.
      if (instruction->opcode() == HloOpcode::kConstant) {
        if (!IsRowMajor(instruction->shape())) return false;
      } else {
        xla::LayoutUtil::SetToDefaultLayout(instruction->mutable_shape());
      }
      instruction->clear_backend_config();
      instruction->set_metadata(xla::OpMetadata());
    }
  }
  module->mutable_entry_computation_layout()->SetToDefaultLayout();
  return true;
}

class Cutter {
 public:
  explicit Cutter(size_t most) : most_(most) {}

  // `runs` of the computation in a run of the program.
  void Cut(const HloComputation& computation, int64_t runs) {
    if (++computations_ > kMostComputations) return;
    for (const Cluster& cluster : ClustersOf(computation)) Add(cluster, runs);
    for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
      if (!IsOpened(*instruction)) continue;
      int64_t times = 1;
      if (instruction->opcode() == HloOpcode::kWhile) {
        times = xla::ComputeWhileLoopTripCount(instruction).value_or(kUnknownTrips);
      }
      for (const HloComputation* inner : Inside(*instruction)) {
        Cut(*inner, std::clamp<int64_t>(runs * times, 1, kMostRuns));
      }
    }
  }

  std::vector<CutTask> Take() { return std::move(tasks_); }

 private:
  void Add(const Cluster& cluster, int64_t runs) {
    if (!absl::c_all_of(cluster, [](const auto* one) { return StandsAlone(*one); })) return;
    std::unique_ptr<xla::HloModule> module = ModuleOf(cluster);
    if (!Inline(module.get()) || !Undecide(module.get())) return;
    if (!module->RemoveUnusedComputations().ok() || !VerifyModule(*module).empty()) return;
    const std::string name = DigestModule(*module).fingerprint.ToHex();
    const auto [known, added] = known_.try_emplace(name, tasks_.size());
    if (added) {
      if (tasks_.size() == most_) {
        known_.erase(known);
        return;
      }
      const auto dear = absl::c_find_if(cluster, [](const auto* one) { return IsHeavy(*one); });
      const HloInstruction* const what = dear == cluster.end() ? cluster.back() : *dear;
      tasks_.push_back({std::move(module), std::string(what->name()), 0, 0});
    }
    CutTask& task = tasks_[known->second];
    ++task.places;
    task.runs += runs;
  }

  const size_t most_;
  int computations_ = 0;
  std::map<std::string, size_t> known_;  // by fingerprint, into tasks_
  std::vector<CutTask> tasks_;
};

}  // namespace

std::vector<CutTask> CutTasks(const xla::HloModule& program, size_t most) {
  Cutter cutter(most);
  cutter.Cut(*program.entry_computation(), 1);
  return cutter.Take();
}

}  // namespace hone::compiler
