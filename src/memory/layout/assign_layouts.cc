#include "memory/layout/assign_layouts.h"

#include <algorithm>

#include "memory/layout/requirements.h"

namespace hone::memory {
namespace {

constexpr int kSweeps = 4;
// What takes more than this share of the scratchpad will be cut into tiles.
constexpr int64_t kCutShare = 8;
constexpr double kMostWaste = 1.1;  // of room, for a layout that can be cut along more dimensions

struct Choices {
  std::vector<std::vector<Layout>> layouts;  // of each tensor
  std::vector<std::vector<OpId>> users;      // producer and consumers
};

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

Choices MakeChoices(const Network& network, const Machine& machine) {
  Choices choices;
  choices.layouts.resize(network.tensors.size());
  choices.users.resize(network.tensors.size());
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const Tensor& tensor = network.tensors[t];
    const bool first =
        tensor.producer != kNone &&
        network.ops[static_cast<size_t>(tensor.producer)].results[0] == static_cast<TensorId>(t);
    choices.layouts[t] =
        first ? ResultLayouts(network, machine, network.ops[static_cast<size_t>(tensor.producer)])
              : AllLayouts(machine, tensor.dimensions, tensor.element_bytes);
    DropWide(machine, tensor, choices.layouts[t]);
    if (tensor.producer != kNone) choices.users[t].push_back(tensor.producer);
  }
  for (size_t o = 0; o < network.ops.size(); ++o) {
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        auto& users = choices.users[static_cast<size_t>(tensor)];
        if (users.empty() || users.back() != static_cast<OpId>(o)) {
          users.push_back(static_cast<OpId>(o));
        }
      }
    }
  }
  return choices;
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

}  // namespace

LayoutAssignment AssignLayouts(const Network& network, const Machine& machine) {
  LayoutAssignment assignment;
  assignment.layouts.resize(network.tensors.size());
  if (!machine.engines_are_partitioned) return assignment;
  const Choices choices = MakeChoices(network, machine);
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    assignment.layouts[t] = Densest(machine, network.tensors[t], choices.layouts[t]);
  }
  // A disagreement costs a copy; a layout that leaves most partitions empty costs room, which in
  // the end costs more than a copy where the tensor is large.
  const auto cost = [&](size_t t) {
    double sum = 0;
    for (OpId op : choices.users[t]) {
      const auto reduced =
          static_cast<double>(ReducedBytes(network, network.ops[static_cast<size_t>(op)],
                                           static_cast<TensorId>(t), assignment.layouts[t]));
      sum += 8 * std::max(0.0, reduced / static_cast<double>(machine.bytes_per_partition) - 0.125);
      for (const Mismatch& copy :
           Mismatches(network, machine, network.ops[static_cast<size_t>(op)], assignment.layouts)) {
        sum += 1;
        if (!copy.wanted.replicated) continue;
        const ExprId input = network.ops[static_cast<size_t>(op)].inputs[copy.operand];
        sum += static_cast<double>(Elements(network.exprs[static_cast<size_t>(input)].dimensions)) /
               static_cast<double>(machine.bytes_per_partition);
      }
    }
    const double share =
        static_cast<double>(PartitionBytes(machine, network.tensors[t], assignment.layouts[t])) /
        static_cast<double>(machine.bytes_per_partition);
    const double dense = static_cast<double>(network.tensors[t].Bytes()) /
                         static_cast<double>(machine.ScratchpadBytes());
    return sum + 4 * std::max(0.0, share - std::max(0.25, 2 * dense)) + 0.01 * share;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (size_t k = 0; k < network.tensors.size(); ++k) {
      const size_t t = sweep % 2 == 0 ? k : network.tensors.size() - 1 - k;
      if (choices.layouts[t].size() < 2 || choices.users[t].empty()) continue;
      const Layout before = assignment.layouts[t];
      Layout best = before;
      double least = cost(t);
      for (const Layout& layout : choices.layouts[t]) {
        if (layout == before) continue;
        assignment.layouts[t] = layout;
        if (const double c = cost(t); c < least - 1e-12) {
          least = c;
          best = layout;
        }
      }
      assignment.layouts[t] = best;
      changed = changed || !(best == before);
    }
    if (!changed) break;
  }
  for (const Op& op : network.ops) {
    assignment.copies +=
        static_cast<int64_t>(Mismatches(network, machine, op, assignment.layouts).size());
  }
  return assignment;
}

LayoutAssignment LocalLayouts(const Network& network, const Machine& machine) {
  LayoutAssignment assignment;
  assignment.layouts.resize(network.tensors.size());
  if (!machine.engines_are_partitioned) return assignment;
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const Tensor& tensor = network.tensors[t];
    assignment.layouts[t] =
        Densest(machine, tensor, AllLayouts(machine, tensor.dimensions, tensor.element_bytes));
  }
  for (const Op& op : network.ops) {
    const auto fit = ResultLayouts(network, machine, op);
    Layout& layout = assignment.layouts[static_cast<size_t>(op.results[0])];
    if (std::find(fit.begin(), fit.end(), layout) == fit.end()) {
      layout = Densest(machine, network.tensors[static_cast<size_t>(op.results[0])], fit);
    }
    assignment.copies +=
        static_cast<int64_t>(Mismatches(network, machine, op, assignment.layouts).size());
  }
  return assignment;
}

}  // namespace hone::memory
