#include "compiler/launches.h"

#include <algorithm>
#include <cstdint>

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

void Visit(const xla::HloComputation& computation, double times,
           const std::function<void(const xla::HloComputation&, double)>& visit) {
  visit(computation, times);
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!OnlyCalls(*instruction)) continue;
    const bool loop = instruction->opcode() == HloOpcode::kWhile;
    const double often = loop ? times * TripCount(*instruction) : times;
    for (const xla::HloComputation* called : instruction->called_computations()) {
      Visit(*called, often, visit);
    }
  }
}

}  // namespace

void ForEachRun(const xla::HloModule& module,
                const std::function<void(const xla::HloComputation&, double times)>& visit) {
  Visit(*module.entry_computation(), 1, visit);
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
