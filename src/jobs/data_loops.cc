#include "jobs/data_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/program_graph.h"
#include "cost/work.h"
#include "tune/pool_evaluator.h"

namespace hone::jobs {
namespace {

constexpr char kAnnotator[] = "while-loop-trip-count-annotator";

bool IsDataLoop(const InstructionInfo& one) {
  return one.opcode == "while" &&
         cost::AttributeOf(one, "backend_config").find("\"known_trip_count\"") ==
             std::string_view::npos;
}

}  // namespace

int CountDataLoops(Pool& pool, const ProgramInfo& program) {
  const bool loops = std::any_of(
      program.opcodes.begin(), program.opcodes.end(),
      [&](const OpcodeCount& count) { return pool.opcodes()[count.opcode] == "while"; });
  if (!loops) return 0;
  const StatusOr<StateName> state = tune::StateAfter(pool, program.id, {{kAnnotator, {}}});
  if (!state) return 0;
  const StatusOr<ProgramGraph> graph = pool.Describe(*state);
  if (!graph) return 0;
  int count = 0;
  for (const ComputationInfo& computation : graph->computations) {
    count += static_cast<int>(std::count_if(computation.instructions.begin(),
                                            computation.instructions.end(), IsDataLoop));
  }
  return count;
}

std::string BesideDataLoops(int loops) {
  if (loops == 0) return "";
  return fmt::format(
      "{} until {} data say so, here of made-up inputs: on yours {} may take more trips, or fewer; "
      "--inputs FILE.npz tunes for yours",
      loops == 1 ? "a loop goes on" : fmt::format("{} loops go on", loops),
      loops == 1 ? "its" : "their", loops == 1 ? "it" : "they");
}

}  // namespace hone::jobs
