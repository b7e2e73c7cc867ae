// How long a plan takes.
#include <algorithm>

#include "memory/access.h"
#include "memory/layout/requirements.h"
#include "memory/planning/work.h"

namespace hone::memory {
namespace {

double ShareOfSum(const Network& network, const Step& step, size_t tile) {
  if (step.sums.empty()) return 1;
  double whole = 1;
  for (const auto& sum : SumDimensions(network, network.ops[static_cast<size_t>(step.op)])) {
    whole *= static_cast<double>(sum.size);
  }
  return static_cast<double>(Elements(step.sums[tile])) / whole;
}

double TimesCopied(const Network& network, const Plan& plan, const Step& step) {
  const Layout& wanted = plan.buffers[static_cast<size_t>(step.buffer)].layout;
  const Op& op = network.ops[static_cast<size_t>(step.op)];
  return static_cast<double>(
      std::max<int64_t>(1, Shifts(network, op, static_cast<size_t>(step.operand), wanted)));
}

// Of the transfers of an operator that runs from DRAM to DRAM.
double StreamSeconds(const Network& network, const Machine& machine, const Op& op) {
  int64_t results = 0, operands = 0;
  for (TensorId result : op.results) {
    results += network.tensors[static_cast<size_t>(result)].Bytes();
  }
  for (ExprId input : op.inputs) {
    const Expr& expr = network.exprs[static_cast<size_t>(input)];
    operands += Elements(expr.dimensions) * std::max<int64_t>(1, BytesOf(expr.type));
  }
  if (ReadsFromDram(network, op)) operands = results;  // what it yields
  const int64_t once = operands + results;
  const MovedAgain again = MovedAgainOf(network, machine, op, once);
  return static_cast<double>(once + again.loaded + again.stored) / machine.dram_bytes_per_second +
         machine.transfer_latency_seconds;
}

}  // namespace

double EstimateSeconds(const Network& network, const Machine& machine, const Plan& plan) {
  double seconds = 0;
  for (const Block& block : plan.blocks) {
    double transfers = 0, engines = 0;
    for (const Step& step : block.steps) {
      for (size_t t = 0; t < step.boxes.size(); ++t) {
        const Box& box = step.boxes[t];
        if (IsEmpty(box)) continue;
        switch (step.kind) {
          case StepKind::kLoad:
          case StepKind::kStore:
            transfers += TransferSeconds(machine, network.tensors[static_cast<size_t>(step.tensor)],
                                         box, plan.DramOrder(step.tensor));
            break;
          case StepKind::kCopy:
            engines += machine.instruction_seconds + static_cast<double>(Elements(box)) /
                                                         machine.vector_elements_per_second *
                                                         TimesCopied(network, plan, step);
            break;
          case StepKind::kStream:
            transfers += StreamSeconds(network, machine, network.ops[static_cast<size_t>(step.op)]);
            [[fallthrough]];
          case StepKind::kCompute:
            engines +=
                machine.instruction_seconds +
                ComputeSeconds(network, machine, network.ops[static_cast<size_t>(step.op)], box) *
                    ShareOfSum(network, step, t);
            break;
        }
      }
    }
    seconds += std::max(transfers, engines);
  }
  return seconds;
}

}  // namespace hone::memory
