// Runs a plan on a modelled machine: a DRAM, a scratchpad of bytes, and engines.
//
// The scratchpad knows of every byte which buffer and tensor wrote it last. A step that reads a
// byte that is not the tensor's that it wants traps, and so does one that reaches beyond a buffer,
// a partition or the capacity, or whose operands lie in other partitions than its engine works in.
// Nothing of the planner is asked: addresses are computed from the plan, traffic is counted from
// what is moved.
#ifndef HONE_MEMORY_SIMULATOR_SIMULATE_H_
#define HONE_MEMORY_SIMULATOR_SIMULATE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "memory/machine.h"
#include "memory/plan.h"
#include "memory/values/array.h"

namespace hone::memory {

struct Simulation {
  int64_t loaded_bytes = 0;
  int64_t stored_bytes = 0;
  int64_t copies = 0;  // copy steps, as listed
  int64_t steps = 0;   // run, tile by tile
  int64_t peak_bytes_per_partition = 0;
  bool numbers = false;  // computed with numbers; else only followed where they lie
  std::vector<Array> outputs;
};

// With values of parameters and large constants the plan is run with numbers; without, only boxes
// are followed: what is where, and how much moves. Errors: kInternal for a trap, naming step and
// tile; kUnsupported where an operator cannot be computed here; kDeadline where an EvaluationLimit
// (values/evaluate.h) is over.
StatusOr<Simulation> Simulate(const Network& network, const Machine& machine, const Plan& plan,
                              const Evaluation* values);

// How far the outputs are from what XLA computed.
struct OutputCheck {
  bool equal = false;
  // Neither equal nor different: decisions in the program hang on the last bit of these inputs, or
  // XLA leaves open what an operator means.
  bool unclear = false;
  double worst = 0;    // error as a share of the tolerance
  std::string reason;  // where not
};

// By the rule that holds everywhere (verify/rule.h), from XLA's further runs; where those do not
// explain it, also from what ours change by when every elementwise result on the way is moved. An
// output that differs is unclear where a reduction behind it depends on how often its initial value
// is taken, or where an infinity or NaN is multiplied by a truth value.
OutputCheck CompareOutputs(const Network& network, const std::vector<Array>& outputs,
                           const Evaluation& reference);

}  // namespace hone::memory

#endif  // HONE_MEMORY_SIMULATOR_SIMULATE_H_
