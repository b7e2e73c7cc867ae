#include "compiler/rules/batch_lanes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "compiler/rules/lane_dependences.h"
#include "compiler/rules/lane_form.h"
#include "compiler/rules/lane_group.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// The dependences of larger computations would take too much memory (a byte for eight pairs).
constexpr size_t kMostInstructions = 60'000;

// What can be a seed at all.
bool MayBeSeed(const HloInstruction* instruction) {
  switch (instruction->opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kTuple:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kReshape:
    case HloOpcode::kSlice:
      return false;
    default:
      return instruction->shape().IsArray() && instruction->operand_count() > 0 &&
             !instruction->HasSideEffect();
  }
}

// Alike as far as opcodes and element types go, down to operands of operands.
uint64_t Likeness(const HloInstruction* instruction, int depth) {
  const uint64_t likeness = Mix(static_cast<uint64_t>(instruction->opcode()),
                                static_cast<uint64_t>(instruction->shape().element_type()));
  if (depth == 0) return likeness;
  uint64_t operands = 0;  // in any order: lanes of commutative operations may be turned around
  for (const HloInstruction* operand : instruction->operands()) {
    operands += Mix(Likeness(operand, depth - 1), 0x1a4e);
  }
  return Mix(likeness, operands);
}

// Splits what is alike, in post-order, into sets of which no member reaches another.
std::vector<Lanes> IndependentSets(const Lanes& alike, const LaneDependences& dependences) {
  std::vector<Lanes> levels;
  for (HloInstruction* instruction : alike) {
    size_t level = levels.size();
    // Whoever is reached at a level is, by induction, reached at all below it.
    while (level > 0 && absl::c_none_of(levels[level - 1], [&](const HloInstruction* other) {
             return dependences.Reaches(other, instruction);
           })) {
      --level;
    }
    if (level == levels.size()) levels.emplace_back();
    levels[level].push_back(instruction);
  }
  return levels;
}

struct Candidate {
  Lanes lanes;
  std::vector<int> forms;  // that all fit
};

// Sets of lanes that can be joined, larger ones first, equally large ones in the lanes' order: never
// by addresses, which are others in every process.
std::vector<Candidate> Candidates(const Lanes& lanes, const BatchLanesOptions& options,
                                  bool flatten) {
  using Members = std::vector<size_t>;  // places among the lanes, ascending
  std::map<Members, std::vector<int>> forms_of;
  const auto group = [&](int form) {
    std::map<std::vector<int64_t>, Members> groups;
    for (size_t i = 0; i < lanes.size(); ++i) {
      const xla::Shape& shape = lanes[i]->shape();
      const auto rank = static_cast<int>(shape.dimensions().size());
      if (form >= rank || (form == kFlattened && rank == 0)) continue;
      std::vector<int64_t> key;
      if (form != kFlattened) {
        key.push_back(rank);
        for (int d = 0; d < rank; ++d) key.push_back(d == form ? -1 : shape.dimensions(d));
      }
      groups[key].push_back(i);
    }
    for (const auto& [key, members] : groups) {
      if (members.size() > 1) forms_of[members].push_back(form);
    }
  };
  size_t most_rank = 0;
  for (const HloInstruction* lane : lanes) {
    most_rank = std::max(most_rank, lane->shape().dimensions().size());
  }
  if (options.concatenate) {
    for (int form = 0; form < static_cast<int>(most_rank); ++form) group(form);
  }
  if (options.stack) group(kStacked);
  if (flatten) group(kFlattened);
  std::vector<Candidate> candidates;
  for (const auto& [members, forms] : forms_of) {
    Candidate& candidate = candidates.emplace_back();
    for (const size_t member : members) candidate.lanes.push_back(lanes[member]);
    candidate.forms = forms;
  }
  absl::c_stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.lanes.size() > b.lanes.size();
  });
  return candidates;
}

absl::StatusOr<bool> PackBest(const Candidate& candidate, bool heavy,
                              LaneDependences& dependences) {
  int best_form = 0;
  int64_t best = 0;
  const size_t count = candidate.lanes.size();
  for (const int form : candidate.forms) {
    LaneGroup group(candidate.lanes, form, heavy, dependences);
    if (const int64_t gain = group.Weigh(); gain > best) {
      best = gain;
      best_form = form;
    }
  }
  if (best <= 0 || count < 2) return false;
  LaneGroup group(candidate.lanes, best_form, heavy, dependences);
  if (group.Weigh() <= 0) return false;
  return group.Apply();
}

absl::StatusOr<bool> Round(HloComputation* computation, const BatchLanesOptions& options,
                           bool flatten) {
  const std::vector<HloInstruction*> order = computation->MakeInstructionPostOrder();
  absl::flat_hash_map<uint64_t, Lanes> classes;
  absl::flat_hash_map<const HloInstruction*, size_t> position;
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    if (MayBeSeed(order[i]) && !order[i]->IsDead()) {
      classes[Likeness(order[i], 2)].push_back(order[i]);
    }
  }
  std::vector<Lanes> sorted;
  for (auto& [likeness, alike] : classes) {
    if (alike.size() > 1) sorted.push_back(std::move(alike));
  }
  if (sorted.empty() || order.size() > kMostInstructions) return false;
  // What is last in the program is the bottom of the longest chains.
  absl::c_sort(sorted, [&](const Lanes& a, const Lanes& b) {
    return position.at(a.back()) > position.at(b.back());
  });
  LaneDependences dependences(order);
  bool changed = false;
  const auto gone = [&](const HloInstruction* lane) {
    return computation->IsMarkedAsDead(lane) || lane->IsDead();
  };
  for (Lanes& alike : sorted) {
    alike.erase(std::remove_if(alike.begin(), alike.end(), gone), alike.end());
    for (const Lanes& independent : IndependentSets(alike, dependences)) {
      if (independent.size() < 2) continue;
      for (Candidate& candidate : Candidates(independent, options, flatten)) {
        candidate.lanes.erase(std::remove_if(candidate.lanes.begin(), candidate.lanes.end(), gone),
                              candidate.lanes.end());
        if (candidate.lanes.size() < 2) continue;
        TF_ASSIGN_OR_RETURN(const bool packed, PackBest(candidate, options.heavy, dependences));
        changed |= packed;
      }
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> BatchLanes::RunImpl(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) {
  bool changed = false;
  for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
    bool flatten = false;
    for (int round = 0; round < options_.most_rounds; ++round) {
      TF_ASSIGN_OR_RETURN(const bool packed, Round(computation, options_, flatten));
      computation->Cleanup();
      changed |= packed;
      // Flattening costs a reshape each way for every lane: only what nothing else could join.
      if (!packed && (flatten || !options_.flatten)) break;
      if (!packed) flatten = true;
    }
  }
  return changed;
}

}  // namespace hone::compiler
