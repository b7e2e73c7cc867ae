#include "memory/layout/assign_layouts.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "memory/access.h"
#include "memory/deadline.h"
#include "memory/layout/labelling.h"
#include "memory/layout/requirements.h"

namespace hone::memory {
namespace {

// What takes more than this share of the scratchpad will be cut into tiles.
constexpr int64_t kCutShare = 8;
constexpr double kMostWaste = 1.1;  // of room, for a layout that can be cut along more dimensions

int64_t PartitionBytes(const Machine& machine, const Tensor& tensor, const Layout& layout) {
  return Placement(machine, tensor.dimensions, layout, WholeBox(tensor.dimensions),
                   tensor.element_bytes)
      .bytes_per_partition();
}

// A box that is cut along a dimension inside the range that lies across the partitions takes the
// room of all that lies between its ends. So what will be cut lies across no more dimensions than
// it takes to fill the partitions.
void DropWide(const Machine& machine, const Tensor& tensor, std::vector<Layout>& layouts) {
  if (tensor.Bytes() * kCutShare < machine.ScratchpadBytes()) return;
  const std::vector<Layout> all = layouts;
  std::erase_if(layouts, [&](const Layout& wide) {
    return std::any_of(all.begin(), all.end(), [&](const Layout& narrow) {
      return !wide.replicated && !narrow.replicated && !(narrow == wide) &&
             narrow.end > narrow.begin && narrow.begin >= wide.begin && narrow.end <= wide.end &&
             static_cast<double>(PartitionBytes(machine, tensor, narrow)) <=
                 kMostWaste * static_cast<double>(PartitionBytes(machine, tensor, wide));
    });
  });
}

// Of layouts in which every element lies in the same partition, the one with the fewest dimensions.
void DropEqual(const Machine& machine, const Tensor& tensor, std::vector<Layout>& layouts) {
  std::stable_sort(layouts.begin(), layouts.end(), [](const Layout& a, const Layout& b) {
    return a.end - a.begin < b.end - b.begin;
  });
  std::vector<Layout> kept;
  for (const Layout& layout : layouts) {
    if (std::none_of(kept.begin(), kept.end(), [&](const Layout& other) {
          return layout.replicated == other.replicated &&
                 Satisfies(other, layout, tensor.dimensions, machine.partitions);
        })) {
      kept.push_back(layout);
    }
  }
  if (kept.size() > kMostLabels) kept.resize(kMostLabels);
  layouts = std::move(kept);
}

// The most that any one operator reads of each tensor, in bytes.
std::vector<int64_t> MostRead(const Network& network) {
  std::vector<int64_t> most(network.tensors.size(), 0);
  for (const Op& op : network.ops) {
    const Box out = WholeBox(network.tensors[static_cast<size_t>(op.results[0])].dimensions);
    ForEachRead(network, op, out, [&](TensorId tensor, const Box& box) {
      auto& bytes = most[static_cast<size_t>(tensor)];
      bytes = std::max(bytes,
                       Elements(box) * network.tensors[static_cast<size_t>(tensor)].element_bytes);
    });
  }
  return most;
}

// Bytes of a tensor that lie in one partition and are reduced at once: no tile of what goes on with
// the result takes less, however finely it is cut.
int64_t ReducedBytes(const Network& network, const Op& op, TensorId id, const Layout& layout) {
  if (op.opcode != "reduce" || layout.replicated) return 0;
  const Expr* expr = &network.exprs[static_cast<size_t>(op.inputs[0])];
  while (expr->movement == Movement::kSlice) {
    expr = &network.exprs[static_cast<size_t>(expr->inputs[0])];
  }
  if (expr->movement != Movement::kTensor || expr->tensor != id) return 0;
  const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
  int64_t bytes = tensor.element_bytes;
  for (int64_t d : ListOf(op, "dimensions")) {
    if (d < layout.begin || d >= layout.end) bytes *= tensor.dimensions[static_cast<size_t>(d)];
  }
  return bytes;
}

// The layout with the smallest footprint; of equals the first, which has the leading dimensions.
Layout Densest(const Machine& machine, const Tensor& tensor, const std::vector<Layout>& layouts) {
  Layout best = layouts[0];
  for (const Layout& layout : layouts) {
    if (PartitionBytes(machine, tensor, layout) < PartitionBytes(machine, tensor, best)) {
      best = layout;
    }
  }
  return best;
}

// How full the scratchpad is at most while each tensor is alive, if nothing goes to DRAM in the
// meantime, and no room is wasted or what these layouts waste. 1: full.
std::vector<double> MostAlive(const Network& network, const Machine& machine,
                              const std::vector<Layout>* layouts) {
  const size_t count = network.ops.size();
  constexpr size_t kNoUse = std::numeric_limits<size_t>::max();
  std::vector<size_t> first(network.tensors.size(), kNoUse), last(network.tensors.size(), 0);
  const auto use = [&](TensorId tensor, size_t o) {
    const auto t = static_cast<size_t>(tensor);
    first[t] = std::min(first[t], o);
    last[t] = o;
  };
  for (size_t o = 0; o < count; ++o) {
    for (TensorId result : network.ops[o].results) use(result, o);
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) use(tensor, o);
    }
  }
  // The most over 2^k operators from each on, so that any range is covered by two.
  std::vector<std::vector<double>> most(1, std::vector<double>(count + 1, 0));
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    if (first[t] == kNoUse) continue;
    const Tensor& tensor = network.tensors[t];
    const int64_t bytes = layouts == nullptr
                              ? tensor.Bytes()
                              : PartitionBytes(machine, tensor, (*layouts)[t]) * machine.partitions;
    const double share =
        static_cast<double>(bytes) / static_cast<double>(machine.ScratchpadBytes());
    most[0][first[t]] += share;
    most[0][last[t] + 1] -= share;
  }
  for (size_t o = 1; o <= count; ++o) most[0][o] += most[0][o - 1];
  for (size_t length = 1; 2 * length <= count; length *= 2) {
    const std::vector<double>& half = most.back();
    std::vector<double> whole(count + 1 - 2 * length + 1, 0);
    for (size_t o = 0; o + 2 * length <= count; ++o) {
      whole[o] = std::max(half[o], half[o + length]);
    }
    most.push_back(std::move(whole));
  }
  std::vector<double> alive(network.tensors.size(), 0);
  for (size_t t = 0; t < alive.size(); ++t) {
    if (first[t] == kNoUse) continue;
    const size_t length = last[t] + 1 - first[t];
    const auto k = static_cast<size_t>(std::bit_width(length)) - 1;
    alive[t] = std::max(most[k][first[t]], most[k][last[t] + 1 - (size_t{1} << k)]);
  }
  return alive;
}

// The choice of layouts as one of labels.
struct Problem {
  Problem(const Network& network, const Machine& machine, double room_in_copies,
          const std::vector<Layout>* before)
      : network(network), machine(machine) {
    FindLayouts(room_in_copies, before);
    for (const Op& op : network.ops) labelling.factors.push_back(FactorOf(op));
  }

  const Network& network;
  const Machine& machine;
  std::vector<std::vector<Layout>> layouts;  // of each tensor
  LabellingProblem labelling;

 private:
  double Share(int64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(machine.bytes_per_partition);
  }

  void FindLayouts(double room_in_copies, const std::vector<Layout>* before) {
    const std::vector<int64_t> most_read = MostRead(network);
    std::vector<double> alive = MostAlive(network, machine, nullptr);
    const bool fits =
        std::all_of(alive.begin(), alive.end(), [](double share) { return share <= 1; });
    // Where the bytes alone would fit, it can only be waste that crowds them.
    if (before != nullptr && fits) alive = MostAlive(network, machine, before);
    layouts.resize(network.tensors.size());
    labelling.costs.resize(network.tensors.size());
    for (size_t t = 0; t < network.tensors.size(); ++t) {
      const Tensor& tensor = network.tensors[t];
      const Op* producer =
          tensor.producer == kNone ? nullptr : &network.ops[static_cast<size_t>(tensor.producer)];
      const bool first = producer != nullptr && producer->results[0] == static_cast<TensorId>(t);
      layouts[t] = first ? ResultLayouts(network, machine, *producer)
                         : AllLayouts(machine, tensor.dimensions, tensor.element_bytes);
      DropWide(machine, tensor, layouts[t]);
      // What is loaded slice by slice may lie in every partition slice by slice; a transfer writes
      // it there from DRAM.
      const bool in_parts =
          producer == nullptr && most_read[t] > 0 && Share(most_read[t]) * kReplicatedShare <= 1;
      if (in_parts) layouts[t].push_back({0, 0, true});
      DropEqual(machine, tensor, layouts[t]);
      const double dense =
          static_cast<double>(tensor.Bytes()) / static_cast<double>(machine.ScratchpadBytes());
      const double crowded = room_in_copies * std::clamp(2 * alive[t] - 1, 0.0, 1.0);
      // A layout that leaves most partitions empty costs room, which in the end costs more than a
      // copy where the tensor is large.
      for (const Layout& layout : layouts[t]) {
        const double share = layout.replicated && in_parts
                                 ? Share(most_read[t])
                                 : Share(PartitionBytes(machine, tensor, layout));
        labelling.costs[t].push_back(4 * std::max(0.0, share - std::max(0.25, 2 * dense)) +
                                     (layout.replicated ? 4 : 0.01) * share +
                                     crowded * (std::min(share, 1.0) - std::min(dense, 1.0)));
      }
    }
    for (const Op& op : network.ops) {
      if (op.opcode != "reduce") continue;
      for (TensorId tensor : LeavesOf(network, op.inputs[0])) {
        const auto t = static_cast<size_t>(tensor);
        for (size_t l = 0; l < layouts[t].size(); ++l) {
          const double reduced = Share(ReducedBytes(network, op, tensor, layouts[t][l]));
          labelling.costs[t][l] += 8 * std::max(0.0, reduced - 0.125);
        }
      }
    }
  }

  Factor FactorOf(const Op& op) const {
    Factor factor;
    factor.results.assign(op.results.begin(), op.results.end());
    for (const Layout& result : layouts[static_cast<size_t>(op.results[0])]) {
      factor.modes.emplace_back();
      for (const OperandLayouts& mode : Modes(network, op, result)) {
        factor.modes.back().emplace_back();
        for (size_t k = 0; k < mode.size(); ++k) {
          if (!mode[k] || (k == 0 && ReadsFromDram(network, op))) continue;
          auto request = RequestOf(op.inputs[k], *mode[k]);
          if (Shifts(network, op, k, *mode[k]) > 0) {
            for (Ask& ask : request.asks) ask.met_by = 0;
          }
          if (!request.asks.empty()) {
            factor.modes.back().back().push_back(std::move(request));
          }
        }
      }
      if (factor.modes.back().empty()) factor.modes.back().emplace_back();
    }
    return factor;
  }

  // A disagreement costs a copy, and one into every partition as much as there are partitions.
  Request RequestOf(ExprId input, const Layout& wanted) const {
    const Expr& expr = network.exprs[static_cast<size_t>(input)];
    Request request;
    if (wanted.replicated) {
      request.cost +=
          64 * Share(Elements(expr.dimensions) * std::max<int64_t>(1, BytesOf(expr.type)));
    }
    std::vector<LeafRequirement> leaves;
    PullLayout(network, machine.partitions, input, wanted, leaves);
    for (const LeafRequirement& leaf : leaves) {
      const auto t = static_cast<size_t>(leaf.tensor);
      Ask ask{leaf.tensor, 0};
      for (size_t l = 0; l < layouts[t].size(); ++l) {
        const Layout& has = layouts[t][l];
        const bool met = has.replicated ||
                         (leaf.layout && Satisfies(has, *leaf.layout, network.tensors[t].dimensions,
                                                   machine.partitions));
        ask.met_by |= uint64_t{met} << l;
      }
      if (layouts[t].size() > 1 || ask.met_by == 0) request.asks.push_back(ask);
    }
    return request;
  }
};

}  // namespace

LayoutAssignment AssignLayouts(const Network& network, const Machine& machine,
                               double room_in_copies, double budget_seconds,
                               const std::vector<Layout>* before) {
  const Deadline deadline(budget_seconds);
  LayoutAssignment assignment;
  assignment.layouts.resize(network.tensors.size());
  if (!machine.engines_are_partitioned) return assignment;
  const Problem problem(network, machine, room_in_copies, before);
  LabellingOptions options;
  options.budget_seconds = std::max(0.0, deadline.Left());
  const Labelling labelling = Label(problem.labelling, options);
  assignment.cost = labelling.cost;
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    assignment.layouts[t] = problem.layouts[t][labelling.labels[t]];
  }
  return assignment;
}

double LeastLayoutCost(const Network& network, const Machine& machine, double room_in_copies) {
  if (!machine.engines_are_partitioned) return 0;
  return LeastCost(Problem(network, machine, room_in_copies, nullptr).labelling);
}

int64_t LocalCopies(const Network& network, const Machine& machine) {
  if (!machine.engines_are_partitioned) return 0;
  std::vector<Layout> layouts;
  for (const Tensor& tensor : network.tensors) {
    layouts.push_back(
        Densest(machine, tensor, AllLayouts(machine, tensor.dimensions, tensor.element_bytes)));
  }
  int64_t copies = 0;
  for (const Op& op : network.ops) {
    const auto fit = ResultLayouts(network, machine, op);
    Layout& layout = layouts[static_cast<size_t>(op.results[0])];
    if (std::find(fit.begin(), fit.end(), layout) == fit.end()) {
      layout = Densest(machine, network.tensors[static_cast<size_t>(op.results[0])], fit);
    }
    copies += static_cast<int64_t>(Mismatches(network, machine, op, layouts).size());
  }
  return copies;
}

}  // namespace hone::memory
