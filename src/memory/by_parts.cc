#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "memory/network.h"
#include "memory/recompute.h"
#include "memory/wide_sums.h"

namespace hone::memory {
namespace {

// So many times smaller than what counts as large is no burden to anyone as a whole.
constexpr int64_t kSmall = 64;
// Of sixteenths of the scratchpad: what does not stay there as a whole, and what all that stays may
// take together.
constexpr int64_t kHuge = 3;
constexpr int64_t kRoom = 12;
constexpr size_t kMostOpsToKeep = 512;  // of a program that UpdateOrder::kKeeping is tried for

size_t U(int32_t id) { return static_cast<size_t>(id); }

class Parts {
 public:
  Parts(const Network& program, int64_t least_bytes)
      : network_(program),
        least_bytes_(least_bytes),
        slices_(program.tensors.size()),
        other_uses_(program.tensors.size(), 0),
        first_use_(program.exprs.size(), kNone) {}

  Network Run() {
    for (size_t o = 0; o < network_.ops.size(); ++o) {
      for (ExprId input : network_.ops[o].inputs) UseRoot(input, static_cast<int32_t>(o));
    }
    const auto end = static_cast<int32_t>(network_.ops.size());
    for (ExprId output : network_.outputs) UseRoot(output, end);
    for (TensorId output : network_.output_tensors) ++other_uses_[U(output)];
    for (size_t o = network_.ops.size(); o-- > 0;) {
      if (network_.ops[o].opcode == "gather") GatherFirst(o);
      if (IsElementwise(network_.ops[o].opcode)) SliceFirst(o);
    }
    if (fresh_.empty()) return std::move(network_);
    Merge();
    DropDeadOps(network_);
    return std::move(network_);
  }

 private:
  struct Fresh {
    size_t before = 0;  // the operator of the program that it goes in front of
    Op op;
  };

  bool IsLeaf(ExprId id) const { return network_.exprs[U(id)].movement == Movement::kTensor; }

  void UseRoot(ExprId id, int32_t op) {
    if (IsLeaf(id)) ++other_uses_[U(network_.exprs[U(id)].tensor)];
    Visit(id, op);
  }

  // Each expression once, with the first operator that looks through it.
  void Visit(ExprId id, int32_t op) {
    if (first_use_[U(id)] != kNone) return;
    first_use_[U(id)] = op;
    const Expr& expr = network_.exprs[U(id)];
    for (ExprId input : expr.inputs) {
      if (IsLeaf(input)) {
        const TensorId tensor = network_.exprs[U(input)].tensor;
        const bool plain = expr.movement == Movement::kSlice &&
                           std::all_of(expr.strides.begin(), expr.strides.end(),
                                       [](int64_t stride) { return stride == 1; });
        if (plain) {
          slices_[U(tensor)].push_back(id);
        } else {
          ++other_uses_[U(tensor)];
        }
      }
      Visit(input, op);
    }
  }

  ExprId Add(Expr expr, int32_t first_use) {
    network_.exprs.push_back(std::move(expr));
    first_use_.push_back(first_use);
    return static_cast<ExprId>(network_.exprs.size() - 1);
  }

  TensorId AddTensor(Tensor tensor) {
    network_.tensors.push_back(std::move(tensor));
    slices_.emplace_back();
    other_uses_.push_back(0);
    return static_cast<TensorId>(network_.tensors.size() - 1);
  }

  Expr LeafOf(TensorId id) const {
    const Tensor& tensor = network_.tensors[U(id)];
    Expr leaf;
    leaf.tensor = id;
    leaf.type = tensor.type;
    leaf.dimensions = tensor.dimensions;
    return leaf;
  }

  static Tensor PartOf(const Tensor& whole, TensorId id, std::vector<int64_t> dimensions) {
    Tensor part = whole;
    part.name += ".part";
    part.dimensions = std::move(dimensions);
    part.part_of = whole.part_of == kNone ? id : whole.part_of;
    return part;
  }

  void SliceFirst(size_t o) {
    const TensorId id = network_.ops[o].results[0];
    const Tensor whole = network_.tensors[U(id)];
    if (other_uses_[U(id)] > 0 || whole.Bytes() < least_bytes_) return;
    std::map<std::vector<int64_t>, std::vector<ExprId>> boxes;  // starts, then sizes
    for (ExprId slice : slices_[U(id)]) {
      const Expr& expr = network_.exprs[U(slice)];
      std::vector<int64_t> box = expr.numbers;
      box.insert(box.end(), expr.dimensions.begin(), expr.dimensions.end());
      boxes[box].push_back(slice);
    }
    if (boxes.size() < 2) return;
    int64_t together = 0;
    for (const auto& [box, slices] : boxes) {
      together += Elements(network_.exprs[U(slices[0])].dimensions);
    }
    if (together > Elements(whole.dimensions)) return;
    for (ExprId input : network_.ops[o].inputs) {  // the whole looks at them no more
      if (IsLeaf(input)) --other_uses_[U(network_.exprs[U(input)].tensor)];
    }
    for (const auto& [box, slices] : boxes) {
      const Expr slice = network_.exprs[U(slices[0])];
      int32_t first = first_use_[U(slices[0])];
      for (ExprId other : slices) first = std::min(first, first_use_[U(other)]);
      const TensorId part = AddTensor(PartOf(whole, id, slice.dimensions));
      Op op = network_.ops[o];
      op.results = {part};
      for (ExprId& input : op.inputs) {
        const Expr& expr = network_.exprs[U(input)];
        if (expr.dimensions.size() != whole.dimensions.size()) {
          if (IsLeaf(input)) ++other_uses_[U(expr.tensor)];
          continue;
        }
        Expr narrow = slice;
        narrow.type = expr.type;
        narrow.inputs = {input};
        const bool leaf = IsLeaf(input);
        const TensorId tensor = expr.tensor;
        input = Add(std::move(narrow), first);
        if (leaf) slices_[U(tensor)].push_back(input);
      }
      for (ExprId other : slices) network_.exprs[U(other)] = LeafOf(part);
      other_uses_[U(part)] = 1;
      fresh_.push_back({U(first), std::move(op)});
    }
  }

  // What an elementwise operator with one operand that is more than a broadcast scalar computes
  // from; kNone for others.
  ExprId OnlyOperand(const Op& op) const {
    ExprId only = kNone;
    for (ExprId input : op.inputs) {
      const Expr& expr = network_.exprs[U(input)];
      if (expr.dimensions.empty()) continue;
      if (expr.movement == Movement::kBroadcast &&
          network_.exprs[U(expr.inputs[0])].dimensions.empty()) {
        continue;
      }
      if (only != kNone || expr.movement != Movement::kTensor) return kNone;
      only = input;
    }
    return only;
  }

  void GatherFirst(size_t o) {
    std::vector<Op> chain;  // from the gather back
    ExprId at = network_.ops[o].inputs[0];
    while (IsLeaf(at)) {
      const OpId producer = network_.tensors[U(network_.exprs[U(at)].tensor)].producer;
      if (producer == kNone) break;
      const Op& op = network_.ops[U(producer)];
      if (!IsElementwise(op.opcode)) return;
      at = OnlyOperand(op);
      if (at == kNone) return;
      chain.push_back(op);
    }
    const TensorId result = network_.ops[o].results[0];
    const Tensor whole = network_.tensors[U(result)];
    if (chain.empty() || !IsLeaf(at)) return;
    const TensorId table = network_.exprs[U(at)].tensor;
    if (network_.tensors[U(table)].Bytes() <= whole.Bytes()) return;
    const TensorId before = network_.exprs[U(network_.ops[o].inputs[0])].tensor;
    --other_uses_[U(before)];
    ++other_uses_[U(table)];
    Tensor gathered = PartOf(network_.tensors[U(table)], before, whole.dimensions);
    gathered.parameter = gathered.constant_computation = gathered.constant_instruction = kNone;
    TensorId from = AddTensor(gathered);
    network_.ops[o].inputs[0] = at;
    network_.ops[o].results[0] = from;
    const auto after = static_cast<int32_t>(o) + 1;
    std::vector<Op> made;
    for (size_t k = chain.size(); k-- > 0;) {
      Op op = chain[k];
      const TensorId had = op.results[0];
      for (ExprId& input : op.inputs) {
        const Expr expr = network_.exprs[U(input)];
        if (expr.dimensions.empty()) continue;
        Expr narrow = LeafOf(from);
        if (expr.movement == Movement::kBroadcast) {
          narrow = expr;
          narrow.dimensions = whole.dimensions;
        }
        input = Add(std::move(narrow), after);
      }
      from = k == 0 ? result : AddTensor(PartOf(network_.tensors[U(had)], had, whole.dimensions));
      op.results = {from};
      made.push_back(std::move(op));
    }
    for (size_t k = made.size(); k-- > 0;) fresh_.push_back({U(after), std::move(made[k])});
  }

  // Later ones first: what was made for an operator that was made itself goes before it.
  void Merge() {
    std::reverse(fresh_.begin(), fresh_.end());
    std::stable_sort(fresh_.begin(), fresh_.end(),
                     [](const Fresh& a, const Fresh& b) { return a.before < b.before; });
    std::vector<Op> ops;
    size_t next = 0;
    for (size_t o = 0; o <= network_.ops.size(); ++o) {
      while (next < fresh_.size() && fresh_[next].before == o) {
        ops.push_back(std::move(fresh_[next++].op));
      }
      if (o < network_.ops.size()) ops.push_back(std::move(network_.ops[o]));
    }
    network_.ops = std::move(ops);
  }

  Network network_;
  const int64_t least_bytes_;
  std::vector<std::vector<ExprId>> slices_;  // of each tensor, that look at it alone
  std::vector<int64_t> other_uses_;
  std::vector<int32_t> first_use_;  // of each expression: the first operator of the program
  std::vector<Fresh> fresh_;
};

// About how many bytes must go to DRAM and back, three times: by how much what is alive rises above
// the room. What is huge counts only where it is kept, not where it is read within its tiles.
int64_t BytesTooMany(const Network& network, int64_t huge_bytes, int64_t room_bytes) {
  constexpr OpId kTogether = 32;
  std::vector<OpId> last(network.tensors.size(), kNone);
  for (size_t o = 0; o < network.ops.size(); ++o) {
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) last[U(tensor)] = static_cast<OpId>(o);
    }
  }
  std::vector<int64_t> change(network.ops.size() + 1, 0);
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const Tensor& tensor = network.tensors[t];
    if (tensor.producer == kNone || last[t] <= tensor.producer) continue;
    if (tensor.Bytes() >= huge_bytes && last[t] - tensor.producer <= kTogether) continue;
    change[U(tensor.producer)] += tensor.Bytes();
    change[U(last[t])] -= tensor.Bytes();
  }
  // Parameters and what layouts waste take some of the room, too: how much is known later.
  int64_t sum = 0;
  for (const int64_t room : {room_bytes, room_bytes * 3 / 4, room_bytes / 2}) {
    int64_t alive = 0, above = 0;
    for (int64_t c : change) {
      alive += c;
      const int64_t now = std::max<int64_t>(0, alive - room);
      sum += std::max<int64_t>(0, now - above);
      above = now;
    }
  }
  return sum;
}

}  // namespace

void DropDeadOps(Network& network) {
  std::vector<bool> used(network.tensors.size(), false);
  const auto use = [&](ExprId expr) {
    for (TensorId tensor : LeavesOf(network, expr)) used[static_cast<size_t>(tensor)] = true;
  };
  for (ExprId output : network.outputs) use(output);
  std::vector<bool> alive(network.ops.size(), false);
  for (size_t o = network.ops.size(); o-- > 0;) {
    for (TensorId result : network.ops[o].results) {
      alive[o] = alive[o] || used[static_cast<size_t>(result)];
    }
    if (!alive[o]) continue;
    for (ExprId input : network.ops[o].inputs) use(input);
  }
  std::vector<Op> ops;
  for (size_t o = 0; o < network.ops.size(); ++o) {
    for (TensorId result : network.ops[o].results) {
      network.tensors[static_cast<size_t>(result)].producer =
          alive[o] ? static_cast<OpId>(ops.size()) : kNone;
    }
    if (alive[o]) ops.push_back(std::move(network.ops[o]));
  }
  network.ops = std::move(ops);
}

std::vector<OrderedNetwork> ByParts(const Network& program, int64_t large_bytes) {
  Network network = SumWide(Parts(program, large_bytes / kSmall).Run(), kHuge * large_bytes);
  network = RecomputeCheap(std::move(network), large_bytes);
  const Network kept = network;
  network = RecomputeAfterSums(std::move(network), kHuge * large_bytes);
  std::vector<UpdateOrder> orders = {UpdateOrder::kAtOnce, UpdateOrder::kFreeing,
                                     UpdateOrder::kShrinking};
  if (network.ops.size() != kept.ops.size() && kept.ops.size() <= kMostOpsToKeep) {
    orders.push_back(UpdateOrder::kKeeping);
  }
  const int64_t huge = kHuge * large_bytes, room = kRoom * large_bytes;
  std::vector<OrderedNetwork> ordered;
  std::vector<int64_t> too_many;
  for (const UpdateOrder updates : orders) {
    Network other = updates == UpdateOrder::kKeeping ? kept : network;
    switch (updates) {
      case UpdateOrder::kAtOnce:
        UpdateAtOnce(other, std::nullopt);
        break;
      case UpdateOrder::kFreeing:
      case UpdateOrder::kKeeping:
        UpdateAtOnce(other, huge);
        break;
      case UpdateOrder::kShrinking:
        UpdateAtOnce(other, std::nullopt, large_bytes);
        other = RecomputeFromRoots(std::move(other), large_bytes);
        break;
    }
    other = RecomputeAtPeaks(std::move(other), room);
    too_many.push_back(BytesTooMany(other, huge, room));
    ordered.push_back({updates, std::move(other)});
    if (too_many.front() == 0) break;
  }
  std::stable_sort(
      ordered.begin(), ordered.end(), [&](const OrderedNetwork& a, const OrderedNetwork& b) {
        return too_many[static_cast<size_t>(a.updates)] < too_many[static_cast<size_t>(b.updates)];
      });
  return ordered;
}

}  // namespace hone::memory
