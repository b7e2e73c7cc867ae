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

// Transfers and engines work side by side; in the order of blocks, the slower of the two decides.
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
            transfers +=
                TransferSeconds(machine, network.tensors[static_cast<size_t>(step.tensor)], box);
            break;
          case StepKind::kCopy:
            engines += static_cast<double>(Elements(box)) / machine.vector_elements_per_second *
                       TimesCopied(network, plan, step);
            break;
          case StepKind::kCompute:
          case StepKind::kStream:
            engines +=
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
  size_t target = 0;  // whose layouts it has
  std::vector<Group> groups;
  double share = 1;
  Plan plan;
};
constexpr double kLeastShare = 0.6;
constexpr double kLeastInAHurry = 0.1;
// Of the time that is left, as much for layouts and for schedules; and of the whole, so much for
// the end.
constexpr double kForLayouts = 0.2;
// And so much for a look at each network, where there are several.
constexpr double kForChoice = 0.08;
constexpr double kForSchedules = 0.7;
constexpr double kLeastLeft = 0.2;
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
                  double budget_seconds) {
  Target target{
      network, machine, AssignLayouts(network, machine, room, budget_seconds).layouts, {}};
  target.copies = FindCopies(target);
  return target;
}

std::vector<Group> MakeGroups(const Target& target, const std::vector<OpId>& order,
                              const CutOptions& cut, const Deadline& deadline) {
  GroupOptions options;
  options.deadline = deadline;
  options.tile_above = cut.tile_above;
  options.tile_share = cut.tile_share;
  options.try_all = cut.try_all;
  return MakeGroups(target, order, options);
}

// Every way to group for the last target that is tried, each once, while `deadline` has not passed
// and leaves the time that the last one took. The fewest bytes that one of them moves.
int64_t AddCandidates(const std::deque<Target>& targets, int64_t bound, const Deadline& deadline,
                      const PlanOptions& options, std::vector<Candidate>& all) {
  const Target& target = targets.back();
  const std::vector<std::vector<OpId>> orders = {OwnOrder(target.network), PeakAwareOrder(target)};
  const size_t earlier = all.size();
  std::vector<int64_t> least(orders.size(), 0);  // bytes moved, of each order
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const CutOptions& cut : kCuts) {
    for (size_t o = 0; o < orders.size(); ++o) {
      const std::vector<OpId>& order = orders[o];
      const int64_t best = *std::min_element(least.begin(), least.end());
      if (best > 0 && static_cast<double>(least[o]) > kHopeless * static_cast<double>(best)) {
        continue;
      }
      const double before = deadline.Left();
      // Of the first, something must come.
      const Deadline until = all.empty() ? Deadline(before / 2) : deadline;
      Candidate candidate{targets.size() - 1, MakeGroups(target, order, cut, until), 1, {}};
      if (std::any_of(
              all.begin() + static_cast<std::ptrdiff_t>(earlier), all.end(),
              [&](const Candidate& other) { return Same(candidate.groups, other.groups); })) {
        continue;
      }
      if (!all.empty() && deadline.Passed()) return fewest;
      candidate.plan = Schedule(target, candidate.groups, OptionsFor(target.machine, 1));
      const Figures& figures = candidate.plan.figures;
      if (options.trace) options.trace(figures);
      if (least[o] == 0 || figures.dram_bytes() < least[o]) least[o] = figures.dram_bytes();
      fewest = std::min(fewest, figures.dram_bytes());
      all.push_back(std::move(candidate));
      // What moves no more than it must cannot be beaten.
      if (fewest <= bound || 2 * deadline.Left() < before) return fewest;
    }
  }
  return fewest;
}

// The network of which a short look finds the schedule that moves the fewest bytes; of those that
// there is no time for, the first.
size_t Choose(const std::vector<const Network*>& networks, const Machine& machine,
              const Deadline& deadline) {
  size_t best = 0;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (size_t n = 0; n < networks.size() && networks.size() > 1; ++n) {
    const Deadline until(kForChoice * deadline.Left());
    std::deque<Target> targets;
    targets.push_back(
        MakeTarget(*networks[n], machine, kRoomInCopies[0], kForLayouts * until.Left()));
    std::vector<Candidate> candidates;
    const int64_t bytes = AddCandidates(targets, 0, until, {}, candidates);
    if (candidates.size() < 2) break;  // what was cut short says nothing
    if (bytes >= fewest) continue;
    fewest = bytes;
    best = n;
  }
  return best;
}

// The candidate that moves least; or, of those that do for their layouts, one that moves little
// more and has fewer copies.
std::vector<Candidate>::iterator Best(std::vector<Candidate>& candidates) {
  const auto bytes = [](const Candidate& candidate) { return candidate.plan.figures.dram_bytes(); };
  std::map<size_t, std::vector<Candidate>::iterator> of_target;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
    const auto [place, fresh] = of_target.try_emplace(candidate->target, candidate);
    if (bytes(*candidate) < bytes(*place->second)) place->second = candidate;
    least = std::min(least, bytes(*candidate));
  }
  auto best = candidates.end();
  for (const auto& [target, candidate] : of_target) {
    const auto rank = [&](const Candidate& of) {
      return std::pair(of.plan.figures.copies, bytes(of));
    };
    if (static_cast<double>(bytes(*candidate)) > kForFewerCopies * static_cast<double>(least)) {
      continue;
    }
    if (best == candidates.end() || rank(*candidate) < rank(*best)) best = candidate;
  }
  return best;
}

}  // namespace

int64_t LargeBytes(const Machine& machine) { return machine.ScratchpadBytes() / 16; }

namespace {

StatusOr<Planned> MakePlan(const Network& program, const std::vector<const Network*>& networks,
                           const Machine& machine, const PlanOptions& options) {
  const double budget = options.budget_seconds;
  const Deadline deadline(budget - options.spent_seconds);
  Planned planned;
  planned.network = Choose(networks, machine, deadline);
  const Network& network = *networks[planned.network];
  planned.by_operator = OperatorBaseline(program, machine);
  planned.local = LocalBaseline(program, machine);
  planned.bound = LowerBound(network, machine);
  // Products made again need not be.
  planned.bound.products_bytes = LowerBound(program, machine).products_bytes;
  std::vector<Candidate> candidates;
  std::deque<Target> targets;
  const size_t most_targets = machine.engines_are_partitioned ? std::size(kRoomInCopies) : 1;
  while (targets.size() < most_targets) {
    const double room = kRoomInCopies[targets.size()];
    const double for_layouts = kForLayouts * std::max(0.0, deadline.Left());
    targets.push_back(MakeTarget(network, machine, room, for_layouts));
    // Of what is left, a share for each target, and one for addresses.
    const auto more = static_cast<double>(most_targets - targets.size());
    const Deadline until(std::max(0.0, kForSchedules * deadline.Left() / (1 + more)));
    const int64_t bytes =
        AddCandidates(targets, planned.bound.dram_bytes(), until, options, candidates);
    const auto bound = static_cast<double>(planned.bound.dram_bytes());
    if (static_cast<double>(bytes) <= kEnough * bound) break;
    // What the last one took, the next one takes.
    if (deadline.Left() < kLeastLeft * budget) break;
  }
  std::optional<Plan> best;
  while (!best && !candidates.empty()) {
    // Where it finds no addresses, once more with less room.
    const auto least = Best(candidates);
    const double left = deadline.Left();
    const bool hurry = left < kLeastLeft * budget;
    // In a hurry, only this one, with much less each time.
    if (hurry && candidates.size() > 1) {
      Candidate only = std::move(*least);
      candidates.clear();
      candidates.push_back(std::move(only));
      continue;
    }
    if (AssignOffsets(machine, least->plan, std::clamp(left / 8, 0.0, 2.0))) {
      best = std::move(least->plan);
      break;
    }
    least->share *= hurry ? 0.85 : 0.97;
    if (least->share < (hurry ? kLeastInAHurry : kLeastShare)) {
      candidates.erase(least);
      continue;
    }
    least->plan =
        Schedule(targets[least->target], least->groups, OptionsFor(machine, least->share));
  }
  if (!best) {
    return MakeError(ErrorCode::kUnsupported,
                     "no plan was found that fits into the scratchpad of '" + machine.name + "'");
  }
  planned.plan = *std::move(best);
  Figures& figures = planned.plan.figures;
  const Pairs pairs = StoreLoadPairs(program);
  const std::set<TensorId> reloaded = Reloaded(network, planned.plan);
  figures.pairs = pairs.all;
  figures.pairs_eliminated = pairs.moved;
  for (TensorId tensor : pairs.tensors) figures.pairs_eliminated += !reloaded.contains(tensor);
  figures.seconds = EstimateSeconds(network, machine, planned.plan);
  planned.seconds = options.spent_seconds + deadline.Spent();
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
