#include "compiler/launches.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/opcodes.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// How many trips XLA looks at one by one where a loop's condition is of no form that it knows.
constexpr int64_t kMostLookedAt = 128;

std::optional<int64_t> TripCount(const HloInstruction& loop) {
  const auto config = loop.backend_config<xla::WhileLoopBackendConfig>();
  if (config.ok() && config->has_known_trip_count()) {
    return std::max<int64_t>(0, config->known_trip_count().n());
  }
  return xla::ComputeWhileLoopTripCount(&loop, kMostLookedAt);
}

bool OnlyCalls(const HloInstruction& instruction) {
  return IsOneOf<HloOpcode::kWhile, HloOpcode::kCall, HloOpcode::kConditional,
                 HloOpcode::kAsyncStart>(instruction.opcode());
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
      const double trips =
          loop ? static_cast<double>(TripCount(*instruction).value_or(kUnknownTrips)) : 1;
      for (const xla::HloComputation* called : instruction->called_computations()) {
        often[called] += times * trips;
      }
    }
  }
}

int64_t UnknownLoops(const xla::HloModule& module) {
  int64_t unknown = 0;
  ForEachRun(module, [&](const xla::HloComputation& computation, double) {
    for (const HloInstruction* instruction : computation.instructions()) {
      unknown += instruction->opcode() == HloOpcode::kWhile && !TripCount(*instruction);
    }
  });
  return unknown;
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
