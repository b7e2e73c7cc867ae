#include "jobs/describe_for_plan.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "tune/recipe.h"

namespace hone::jobs {
namespace {

constexpr const char* kOpcode = "rng-bit-generator";

bool IsRandomBits(const InstructionInfo& instruction) { return instruction.opcode == kOpcode; }

bool HasRandomBits(const ProgramGraph& graph) {
  return std::any_of(graph.computations.begin(), graph.computations.end(),
                     [](const ComputationInfo& computation) {
                       return std::any_of(computation.instructions.begin(),
                                          computation.instructions.end(), IsRandomBits);
                     });
}

// Computations of `from` are added to `to` once, those that they call before them.
class Importer {
 public:
  Importer(const ProgramGraph& from, ProgramGraph& to) : from_(from), to_(to) {}

  uint32_t Import(uint32_t computation) {
    if (auto known = known_.find(computation); known != known_.end()) return known->second;
    ComputationInfo copy = from_.computations[computation];
    for (InstructionInfo& instruction : copy.instructions) {
      for (uint32_t& called : instruction.called) called = Import(called);
    }
    to_.computations.push_back(std::move(copy));
    return known_[computation] = static_cast<uint32_t>(to_.computations.size() - 1);
  }

 private:
  const ProgramGraph& from_;
  ProgramGraph& to_;
  std::unordered_map<uint32_t, uint32_t> known_;
};

// `expanded` is the same program after the pass, in which calls stand where the random bits stood:
// computations keep their names, instructions their places.
ProgramGraph CallWhatMakesBits(const ProgramGraph& graph, const ProgramGraph& expanded) {
  std::unordered_map<std::string, const ComputationInfo*> named;
  for (const ComputationInfo& computation : expanded.computations) {
    named[computation.name] = &computation;
  }
  ProgramGraph result;
  result.name = graph.name;
  Importer importer(expanded, result);
  std::vector<uint32_t> moved;  // where a computation of `graph` is now
  for (const ComputationInfo& original : graph.computations) {
    ComputationInfo computation = original;
    const auto other = named.find(original.name);
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      InstructionInfo& instruction = computation.instructions[i];
      for (uint32_t& called : instruction.called) called = moved[called];
      if (!IsRandomBits(instruction) || other == named.end() ||
          other->second->instructions.size() != computation.instructions.size()) {
        continue;
      }
      const InstructionInfo& call = other->second->instructions[i];
      if (call.opcode == "call") instruction.called = {importer.Import(call.called[0])};
    }
    moved.push_back(static_cast<uint32_t>(result.computations.size()));
    result.computations.push_back(std::move(computation));
  }
  return result;
}

}  // namespace

StatusOr<ProgramGraph> DescribeForPlan(Pool& pool, ProgramId program) {
  auto graph = pool.Describe({program, {}});
  if (!graph || !HasRandomBits(*graph)) return graph;
  const auto pass = FindPass(pool.passes(), "rng-bit-generator-expander");
  if (!pass) return tl::unexpected(pass.error());
  const auto applied = pool.Apply(ApplyRequest{{program, {}}, {*pass}, {}});
  if (!applied) return tl::unexpected(applied.error());
  // Without its arithmetic random bits can still be planned, though not computed.
  if (applied->steps.empty() || !applied->steps[0].failure.empty()) return graph;
  const auto expanded = pool.Describe({program, {{*pass, applied->steps[0].state}}});
  if (!expanded) return tl::unexpected(expanded.error());
  return CallWhatMakesBits(*graph, *expanded);
}

}  // namespace hone::jobs
