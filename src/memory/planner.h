// The planner: layouts, order, groups, residence, addresses.
#ifndef HONE_MEMORY_PLANNER_H_
#define HONE_MEMORY_PLANNER_H_

#include <atomic>
#include <functional>
#include <optional>

#include "memory/baselines.h"
#include "memory/plan.h"

namespace hone::memory {

// A plan that was made before, and which of the networks it is of.
struct KnownPlan {
  size_t network = 0;
  Plan plan;
};

struct PlanOptions {
  double budget_seconds = 60;  // of counted work (deadline.h)
  // Told of every schedule that was made, in the order of trying.
  std::function<void(const Figures&)> trace;
  std::optional<KnownPlan> known;           // taken where nothing that is found moves less
  const std::atomic<bool>* stop = nullptr;  // once true, the budget is over; may be null
};

struct Planned {
  Plan plan;
  Baseline by_operator;
  Baseline local;
  Bound bound;
  size_t network = 0;  // which of the networks it is a plan of
  bool known = false;  // it is PlanOptions::known
  double seconds = 0;  // of processor time that planning took
};

// The baseline that is estimated to be faster than the plan, which is made to move least; the
// fastest of several. Null where there is none.
const Baseline* FasterBaseline(const Planned& planned);

// What is recomputed rather than kept: from this size on.
int64_t LargeBytes(const Machine& machine);

// Several orders and ways to group are scheduled; the one that moves the fewest bytes and fits is
// kept, and its buffers ordered. Deterministic but for the budget, which is kept wherever it is
// enough for one plan of single operators.
// Errors: kUnsupported where even one operator's smallest tile does not fit.
// `program` is what baselines and pairs are of; one of `networks` is planned, ByParts of it: where
// the budget allows, a short look at each says which. The bound on what products move is that
// of `program`, that on parameters of the network, which reads no more of them.
StatusOr<Planned> MakePlan(const Network& program, const std::vector<OrderedNetwork>& networks,
                           const Machine& machine, const PlanOptions& options);
// Plans this one network.
StatusOr<Planned> MakePlan(const Network& program, const Network& network, const Machine& machine,
                           const PlanOptions& options);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNER_H_
