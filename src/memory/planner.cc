#include "memory/planner.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "memory/access.h"
#include "memory/allocation/allocation.h"
#include "memory/deadline.h"
#include "memory/layout/assign_layouts.h"
#include "memory/planning/dram_orders.h"
#include "memory/planning/local.h"
#include "memory/planning/order.h"
#include "memory/planning/schedule.h"
#include "memory/planning/work.h"

namespace hone::memory {
namespace {

Status AssignOffsets(const Machine& machine, Plan& plan, double budget_seconds) {
  AllocationProblem problem;
  problem.capacity = machine.bytes_per_partition;
  for (const Buffer& buffer : plan.buffers) {
    problem.buffers.push_back({buffer.start, buffer.end, buffer.bytes * buffer.slots});
  }
  SearchOptions search;
  search.budget_seconds = budget_seconds;
  StatusOr<Allocation> allocation = Allocate(problem, search);
  if (!allocation) return tl::unexpected(allocation.error());
  if (Status valid = Validate(problem, *allocation); !valid) return valid;
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    plan.buffers[b].offset = allocation->offsets[b];
  }
  plan.figures.peak_bytes_per_partition = allocation->height;
  return {};
}

// How what the plan alone puts into DRAM lies there, and how long it takes then; once.
void Arrange(const Network& network, const Machine& machine, Plan& plan) {
  if (plan.figures.seconds > 0) return;
  plan.dram_orders = OrdersInDram(network, machine, plan);
  plan.figures.seconds = EstimateSeconds(network, machine, plan);
}

// Whether they have the same operators in the same tiles.
bool Same(const std::vector<Group>& a, const std::vector<Group>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Group& x, const Group& y) {
    return x.streamed == y.streamed && x.ops == y.ops && x.boxes == y.boxes && x.sums == y.sums;
  });
}

// Tensors that the plan brings back from DRAM.
std::set<TensorId> Reloaded(const Network& network, const Plan& plan) {
  std::set<TensorId> reloaded;
  const auto add = [&](TensorId tensor) {
    const TensorId whole = network.tensors[static_cast<size_t>(tensor)].part_of;
    reloaded.insert(whole == kNone ? tensor : whole);
  };
  for (const Block& block : plan.blocks) {
    for (const Step& step : block.steps) {
      if (step.kind == StepKind::kLoad) add(step.tensor);
      if (step.kind != StepKind::kStream) continue;
      for (ExprId input : network.ops[static_cast<size_t>(step.op)].inputs) {
        for (TensorId tensor : LeavesOf(network, input)) add(tensor);
      }
    }
  }
  return reloaded;
}

// A way to group, scheduled for a share of the scratchpad.
struct Candidate {
  size_t target = 0;  // whose network and layouts it has
  std::vector<Group> groups;
  double share = 1;
  Plan plan;
};
constexpr double kLeastShare = 0.6;
constexpr double kLeastInAHurry = 0.1;
// Of the time that is left, as much for layouts and for schedules; and of the whole, so much for
// the end.
constexpr double kForLayouts = 0.2;
// And so much for a look at each network, where there are several, and for a second at two.
constexpr double kForFirstLook = 0.1;
constexpr double kForSecondLook = 0.1;
constexpr double kForSchedules = 0.7;
constexpr double kLeastLeft = 0.2;
// What is left of the first groups when their time is over has so much of it more.
constexpr double kForLateGroups = 0.2;
// An order that moves so many times what another does is not cut in further ways.
constexpr double kHopeless = 1.5;
// What a scratchpad's worth of wasted room counts when layouts are chosen: first only copies do,
// then, where that moves more than it must, room does as well.
constexpr double kRoomInCopies[] = {0, 100, 800};
// Of layouts that move so little more than others, those that need fewer copies are taken.
constexpr double kForFewerCopies = 1.05;
// What moves so little more than it must is not tried with other layouts.
constexpr double kEnough = 1.01;

ScheduleOptions OptionsFor(const Machine& machine, double share) {
  return {static_cast<int64_t>(share * static_cast<double>(machine.bytes_per_partition))};
}

struct CutOptions {
  double tile_above, tile_share;
  bool try_all;
};
constexpr CutOptions kCuts[] = {{0.9, 0.45, true},  {0.6, 0.8, true},   {0.35, 0.95, true},
                                {0.9, 0.45, false}, {0.6, 0.45, true},  {0.35, 0.45, false},
                                {0.15, 0.8, true},  {0.35, 0.45, true}, {0.6, 0.25, false},
                                {0.35, 0.25, true}, {0.6, 0.12, true}};

std::vector<OpId> OwnOrder(const Network& network) {
  std::vector<OpId> order(network.ops.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Target MakeTarget(const Network& network, const Machine& machine, double room,
                  double budget_seconds, const std::vector<Layout>* before) {
  Target target{
      network, machine, AssignLayouts(network, machine, room, budget_seconds, before).layouts, {}};
  target.copies = FindCopies(target);
  return target;
}

std::vector<Group> MakeGroups(const Target& target, const std::vector<OpId>& order,
                              const CutOptions& cut, bool wait, const Deadline& deadline,
                              double late_seconds, bool* wait_matters) {
  GroupOptions options;
  options.deadline = deadline;
  options.late_seconds = late_seconds;
  options.wait = wait;
  options.tile_above = cut.tile_above;
  options.tile_share = cut.tile_share;
  options.try_all = cut.try_all;
  return MakeGroups(target, order, options, wait_matters);
}

// The ways to group that have been tried for a target.
struct Cutting {
  explicit Cutting(const Target& target)
      : orders{OwnOrder(target.network), PeakAwareOrder(target)},
        least(orders.size(), 0),
        wait(orders.size(), false) {}

  std::vector<std::vector<OpId>> orders;
  std::vector<int64_t> least;  // bytes moved, of each order; 0 while none is known
  // GroupOptions::wait, for each order: the first cut is tried without and, where that may be
  // another one, with it; the better way is gone on with.
  std::vector<bool> wait;
  bool both = false;                                     // the next one is the first cut with it
  size_t next = 0;                                       // of all cuts of all orders
  int64_t fewest = std::numeric_limits<int64_t>::max();  // bytes moved
};

// Goes on to try ways to group, each once, while `deadline` has not passed and leaves the time that
// the last one took. Of the first, something must come: it has `first_seconds`, and some time more.
void AddCandidates(const Target& target, size_t number, Cutting& cutting, int64_t bound,
                   const Deadline& deadline, double first_seconds, const PlanOptions& options,
                   std::vector<Candidate>& all) {
  const size_t orders = cutting.orders.size();
  const auto go_on = [&](bool both) {
    cutting.both = both;
    if (!both) ++cutting.next;
  };
  while (cutting.next < std::size(kCuts) * orders) {
    // What moves no more than it must cannot be beaten.
    if (cutting.fewest <= bound) return;
    const size_t o = cutting.next % orders;
    int64_t& least = cutting.least[o];
    const int64_t best = *std::min_element(cutting.least.begin(), cutting.least.end());
    const bool hopeless =
        best > 0 && static_cast<double>(least) > kHopeless * static_cast<double>(best);
    if (hopeless && !cutting.both) {
      go_on(false);
      continue;
    }
    const double before = deadline.Left();
    const bool wait = cutting.both || cutting.wait[o];
    const bool first = all.empty();
    bool wait_matters = false;
    Candidate candidate{number,
                        MakeGroups(target, cutting.orders[o], kCuts[cutting.next / orders], wait,
                                   first ? Deadline(first_seconds) : deadline,
                                   first ? kForLateGroups * first_seconds : 0, &wait_matters),
                        1,
                        {}};
    if (!first && deadline.Passed()) return;
    if (std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
          return other.target == number && Same(candidate.groups, other.groups);
        })) {
      go_on(cutting.next < orders && !cutting.both && wait_matters);
      continue;
    }
    candidate.plan = Schedule(target, candidate.groups, OptionsFor(target.machine, 1));
    const Figures& figures = candidate.plan.figures;
    if (options.trace) options.trace(figures);
    if (cutting.both) cutting.wait[o] = figures.dram_bytes() < least;
    if (least == 0 || figures.dram_bytes() < least) least = figures.dram_bytes();
    cutting.fewest = std::min(cutting.fewest, figures.dram_bytes());
    all.push_back(std::move(candidate));
    go_on(cutting.next < orders && !cutting.both && wait_matters);
    if (2 * deadline.Left() < before) return;
  }
}

// The candidate that moves least, and of those the one that is estimated to take least time; or, of
// those that do for their layouts, one that moves little more and has fewer copies.
// `seconds` says how much, and is asked only of equals.
std::vector<Candidate>::iterator Best(std::vector<Candidate>& candidates,
                                      const std::function<double(Candidate&)>& seconds) {
  const auto bytes = [](const Candidate& candidate) { return candidate.plan.figures.dram_bytes(); };
  const auto better = [&](Candidate& a, Candidate& b, bool copies) {
    const auto rank = [&](const Candidate& of) {
      return std::pair(copies ? of.plan.figures.copies : 0, bytes(of));
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : seconds(a) < seconds(b);
  };
  std::map<size_t, std::vector<Candidate>::iterator> of_target;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
    const auto [place, fresh] = of_target.try_emplace(candidate->target, candidate);
    if (!fresh && better(*candidate, *place->second, false)) place->second = candidate;
    least = std::min(least, bytes(*candidate));
  }
  auto best = candidates.end();
  for (const auto& [target, candidate] : of_target) {
    if (static_cast<double>(bytes(*candidate)) > kForFewerCopies * static_cast<double>(least)) {
      continue;
    }
    if (best == candidates.end() || better(*candidate, *best, true)) best = candidate;
  }
  return best;
}

}  // namespace

const Baseline* FasterBaseline(const Planned& planned) {
  const Baseline* faster =
      planned.local.seconds <= planned.by_operator.seconds ? &planned.local : &planned.by_operator;
  return faster->seconds < planned.plan.figures.seconds ? faster : nullptr;
}

int64_t LargeBytes(const Machine& machine) { return machine.ScratchpadBytes() / 16; }

namespace {

// The targets of a program and what has been tried for each.
class Targets {
 public:
  Targets(const Network& program, const std::vector<const Network*>& networks,
          const Machine& machine, const PlanOptions& options, const Deadline& deadline)
      : networks_(networks), machine_(machine), options_(options), deadline_(deadline) {
    // Products made again need not be.
    const int64_t products = LowerBound(program, machine).products_bytes;
    for (const Network* network : networks) {
      bounds_.push_back(LowerBound(*network, machine));
      bounds_.back().products_bytes = products;
    }
  }

  std::vector<Candidate> Candidates() {
    const size_t network = networks_.size() > 1 ? LookAtEach() : 0;
    const auto bound = static_cast<double>(bounds_[network].dram_bytes());
    const size_t rooms = machine_.engines_are_partitioned ? std::size(kRoomInCopies) : 1;
    for (size_t room = 0; room < rooms; ++room) {
      // The first layouts, where the network has been looked at.
      const size_t target =
          room == 0 && !of_.empty()
              ? Find(network)
              : Add(network, kRoomInCopies[room], kForLayouts * std::max(0.0, deadline_.Left()));
      // Of what is left, a share for each target, and one for addresses.
      const auto more = static_cast<double>(rooms - 1 - room);
      const double left = std::max(0.0, kForSchedules * deadline_.Left());
      Continue(target, Deadline(left / (1 + more)), left);
      if (static_cast<double>(cuttings_[target].fewest) <= kEnough * bound) break;
      // What the last one took, the next one takes.
      if (deadline_.Left() < kLeastLeft * options_.budget_seconds) break;
    }
    return std::move(candidates_);
  }

  const Target& operator[](size_t target) const { return targets_[target]; }
  size_t NetworkOf(size_t target) const { return of_[target]; }
  const Bound& BoundOf(size_t network) const { return bounds_[network]; }

 private:
  size_t Add(size_t network, double room, double layout_seconds) {
    // Room has its price where the first layouts leave too little.
    const size_t first = Find(network);
    const std::vector<Layout>* const before =
        first < of_.size() ? &targets_[first].layouts : nullptr;
    targets_.push_back(MakeTarget(*networks_[network], machine_, room, layout_seconds, before));
    cuttings_.emplace_back(targets_.back());
    of_.push_back(network);
    return of_.size() - 1;
  }

  size_t Find(size_t network) const {
    return static_cast<size_t>(std::find(of_.begin(), of_.end(), network) - of_.begin());
  }

  void Continue(size_t target, const Deadline& deadline, double first_seconds) {
    AddCandidates(targets_[target], target, cuttings_[target], bounds_[of_[target]].dram_bytes(),
                  deadline, first_seconds, options_, candidates_);
  }

  // The network that is best after a look at each and a longer one at the better two; the first,
  // where there is no time for that.
  size_t LookAtEach() {
    std::vector<size_t> targets;
    for (size_t n = 0; n < networks_.size(); ++n) {
      const Deadline until(kForFirstLook * deadline_.Left());
      targets.push_back(Add(n, kRoomInCopies[0], kForLayouts * until.Left()));
      Continue(targets.back(), until, until.Left() / 2);
      if (candidates_.size() < 2 && until.Passed()) {
        // What was cut short says nothing.
        candidates_.clear();
        cuttings_[0] = Cutting(targets_[0]);
        return 0;
      }
    }
    const auto moves_less = [&](size_t a, size_t b) {
      return cuttings_[a].fewest < cuttings_[b].fewest;
    };
    std::stable_sort(targets.begin(), targets.end(), moves_less);
    for (size_t k = 0; k < 2; ++k) {
      const Deadline until(kForSecondLook * deadline_.Left());
      Continue(targets[k], until, until.Left());
    }
    return of_[*std::min_element(targets.begin(), targets.end(), moves_less)];
  }

  const std::vector<const Network*>& networks_;
  const Machine& machine_;
  const PlanOptions& options_;
  const Deadline& deadline_;
  std::vector<Bound> bounds_;      // of each network
  std::deque<Target> targets_;     // candidates and cuttings refer to them
  std::vector<size_t> of_;         // of each target: its network
  std::vector<Cutting> cuttings_;  // of each target
  std::vector<Candidate> candidates_;
};

// While it lives, this thread's deadlines have passed where `stop` is true.
class StopDeadlines {
 public:
  explicit StopDeadlines(const std::atomic<bool>* stop) { Deadline::stop = stop; }
  ~StopDeadlines() { Deadline::stop = nullptr; }
  StopDeadlines(const StopDeadlines&) = delete;
  StopDeadlines& operator=(const StopDeadlines&) = delete;
};

StatusOr<Planned> MakePlan(const Network& program, const std::vector<const Network*>& networks,
                           const Machine& machine, const PlanOptions& options) {
  const double budget = options.budget_seconds;
  const StopDeadlines stops(options.stop);
  const Deadline deadline(budget);
  const double start = ProcessorSeconds();
  Planned planned;
  planned.by_operator = OperatorBaseline(program, machine);
  planned.local = LocalBaseline(program, machine);
  Targets targets(program, networks, machine, options, deadline);
  std::vector<Candidate> candidates = targets.Candidates();
  std::optional<Plan> best;
  while (!best && !candidates.empty()) {
    // Where it finds no addresses, once more with less room; what moves less then has its turn.
    const auto least = Best(candidates, [&](Candidate& of) {
      Arrange(targets[of.target].network, machine, of.plan);
      return of.plan.figures.seconds;
    });
    const double left = deadline.Left();
    const bool hurry = left < kLeastLeft * budget;
    if (AssignOffsets(machine, least->plan, std::clamp(left / 8, 0.0, 2.0))) {
      best = std::move(least->plan);
      planned.network = targets.NetworkOf(least->target);
      planned.bound = targets.BoundOf(planned.network);
      break;
    }
    if (left <= 0 && candidates.size() > 1) {  // only this one, with much less each time
      Candidate only = std::move(*least);
      candidates.clear();
      candidates.push_back(std::move(only));
      continue;
    }
    least->share *= left <= 0 ? 0.85 : hurry ? 0.9 : 0.97;
    if (least->share < (hurry ? kLeastInAHurry : kLeastShare)) {
      candidates.erase(least);
      continue;
    }
    least->plan =
        Schedule(targets[least->target], least->groups, OptionsFor(machine, least->share));
  }
  if (options.known &&
      (!best || options.known->plan.figures.dram_bytes() <= best->figures.dram_bytes())) {
    best = options.known->plan;
    planned.network = options.known->network;
    planned.bound = targets.BoundOf(planned.network);
    planned.known = true;
  }
  if (!best) {
    return MakeError(ErrorCode::kUnsupported,
                     "no plan was found that fits into the scratchpad of '" + machine.name + "'");
  }
  planned.plan = *std::move(best);
  const Network& network = *networks[planned.network];
  Figures& figures = planned.plan.figures;
  const Pairs pairs = StoreLoadPairs(program);
  const std::set<TensorId> reloaded = Reloaded(network, planned.plan);
  figures.pairs = pairs.all;
  figures.pairs_eliminated = pairs.moved;
  Arrange(network, machine, planned.plan);
  for (TensorId tensor : pairs.tensors) figures.pairs_eliminated += !reloaded.contains(tensor);
  planned.seconds = ProcessorSeconds() - start;
  return planned;
}

}  // namespace

StatusOr<Planned> MakePlan(const Network& program, const std::vector<OrderedNetwork>& networks,
                           const Machine& machine, const PlanOptions& options) {
  std::vector<const Network*> all;
  for (const OrderedNetwork& ordered : networks) all.push_back(&ordered.network);
  return MakePlan(program, all, machine, options);
}

StatusOr<Planned> MakePlan(const Network& program, const Network& network, const Machine& machine,
                           const PlanOptions& options) {
  return MakePlan(program, std::vector<const Network*>{&network}, machine, options);
}

}  // namespace hone::memory
