#include "compiler/launches.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

double TripCount(const HloInstruction& loop) {
  const auto config = loop.backend_config<xla::WhileLoopBackendConfig>();
  if (!config.ok() || !config->has_known_trip_count()) return 1;
  return static_cast<double>(std::max<int64_t>(0, config->known_trip_count().n()));
}

bool OnlyCalls(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kAsyncStart:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ForEachRun(const xla::HloModule& module,
                const std::function<void(const xla::HloComputation&, double times)>& visit) {
  absl::flat_hash_map<const xla::HloComputation*, double> often = {{module.entry_computation(), 1}};
  // Callers before what they call, so that each is visited once, however many call it.
  const std::vector<xla::HloComputation*> callees_first = module.MakeComputationPostOrder();
  for (auto it = callees_first.rbegin(); it != callees_first.rend(); ++it) {
    const auto found = often.find(*it);
    if (found == often.end()) continue;
    const double times = found->second;
    visit(**it, times);
    for (const HloInstruction* instruction : (*it)->instructions()) {
      if (!OnlyCalls(*instruction)) continue;
      const bool loop = instruction->opcode() == HloOpcode::kWhile;
      for (const xla::HloComputation* called : instruction->called_computations()) {
        often[called] += loop ? times * TripCount(*instruction) : times;
      }
    }
  }
}

bool RunsKernel(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kAfterAll:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kBitcast:
    case HloOpcode::kConstant:
    case HloOpcode::kCopyDone:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kParameter:
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
    case HloOpcode::kTuple:
      return false;
    default:
      return !OnlyCalls(instruction);
  }
}

}  // namespace hone::compiler
