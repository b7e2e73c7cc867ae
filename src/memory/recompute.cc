#include "memory/recompute.h"

#include <algorithm>
#include <utility>

namespace hone::memory {
namespace {

constexpr int64_t kCheap = 8;       // times fewer bytes in its operands than in its result
constexpr size_t kMostReaders = 8;  // that get a copy of their own
constexpr size_t kMostGrowth = 4;   // one more operator for so many of the program
constexpr size_t kMostGrowthFromRoots = 2;

size_t U(int32_t id) { return static_cast<size_t>(id); }

bool IsCheap(const Network& network, const Op& op, int64_t large_bytes) {
  if (!IsElementwise(op.opcode)) return false;
  const Tensor& result = network.tensors[U(op.results[0])];
  if (result.Bytes() < large_bytes) return false;
  int64_t bytes = 0;
  for (ExprId input : op.inputs) {
    for (TensorId tensor : LeavesOf(network, input)) bytes += network.tensors[U(tensor)].Bytes();
  }
  return bytes * kCheap <= result.Bytes();
}

}  // namespace

Recomputation::Recomputation(Network network)
    : network_(std::move(network)), count_(network_.ops.size()), readers_(network_.tensors.size()) {
  for (size_t o = 0; o < count_; ++o) {
    place_.push_back(o);
    AddReader(o);
  }
}

void Recomputation::AddReader(size_t op) {
  for (ExprId input : network_.ops[op].inputs) {
    for (TensorId tensor : LeavesOf(network_, input)) {
      auto& readers = readers_[U(tensor)];
      if (readers.empty() || readers.back() != op) readers.push_back(op);
    }
  }
}

void Recomputation::Again(size_t op, const std::vector<size_t>& readers) {
  const TensorId id = network_.ops[op].results[0];
  Tensor tensor = network_.tensors[U(id)];
  tensor.part_of = tensor.part_of == kNone ? id : tensor.part_of;
  tensor.name += ".again";
  const auto copy = static_cast<TensorId>(network_.tensors.size());
  Expr leaf;
  leaf.tensor = copy;
  leaf.type = tensor.type;
  leaf.dimensions = tensor.dimensions;
  network_.tensors.push_back(std::move(tensor));
  readers_.push_back(readers);
  network_.exprs.push_back(std::move(leaf));
  replaced_.clear();
  replacement_ = static_cast<ExprId>(network_.exprs.size() - 1);
  size_t place = count_;
  for (size_t reader : readers) {
    place = std::min(place, place_[reader]);
    std::erase(readers_[U(id)], reader);
    for (size_t i = 0; i < network_.ops[reader].inputs.size(); ++i) {
      const ExprId input = Replace(network_.ops[reader].inputs[i], id);
      network_.ops[reader].inputs[i] = input;
    }
  }
  Op again = network_.ops[op];
  again.results = {copy};
  network_.ops.push_back(std::move(again));
  place_.push_back(place);
  AddReader(network_.ops.size() - 1);
}

ExprId Recomputation::Replace(ExprId id, TensorId tensor) {
  if (const auto found = replaced_.find(id); found != replaced_.end()) return found->second;
  const Expr expr = network_.exprs[U(id)];
  ExprId result = id;
  if (expr.movement == Movement::kTensor) {
    if (expr.tensor == tensor) result = replacement_;
  } else {
    Expr other = expr;
    for (ExprId& input : other.inputs) input = Replace(input, tensor);
    if (other.inputs != expr.inputs) {
      network_.exprs.push_back(std::move(other));
      result = static_cast<ExprId>(network_.exprs.size() - 1);
    }
  }
  replaced_[id] = result;
  return result;
}

Network Recomputation::Finish() && {
  if (network_.ops.size() == count_) return std::move(network_);
  // A copy goes right before its first reader; of several, those that were made later.
  std::vector<size_t> order(network_.ops.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return place_[a] != place_[b] ? place_[a] < place_[b] : a > b;
  });
  std::vector<Op> ops;
  for (size_t k : order) ops.push_back(std::move(network_.ops[k]));
  network_.ops = std::move(ops);
  DropDeadOps(network_);
  return std::move(network_);
}

namespace {

// Whether an elementwise result is made of one large tensor, of no more bytes, and else of little.
bool HasRoot(const Network& network, size_t o, int64_t large_bytes) {
  const Op& op = network.ops[o];
  if (!IsElementwise(op.opcode)) return false;
  const int64_t bytes = network.tensors[U(op.results[0])].Bytes();
  if (bytes < large_bytes) return false;
  TensorId root = kNone;
  for (ExprId input : op.inputs) {
    for (TensorId tensor : LeavesOf(network, input)) {
      if (tensor == root || network.tensors[U(tensor)].Bytes() * kCheap <= bytes) continue;
      if (root != kNone) return false;
      root = tensor;
    }
  }
  return root != kNone && network.tensors[U(root)].Bytes() <= bytes;
}

// Gives every reader of the results of operators that `chosen` names a copy of its own.
template <class Chosen>
Network CopyForReaders(Network network, size_t least_growth, Chosen chosen) {
  Recomputation again(std::move(network));
  const size_t count = again.network().ops.size();
  const size_t most = std::max<size_t>(16, count / least_growth);
  for (size_t o = count; o-- > 0;) {
    if (again.network().ops.size() - count >= most) break;
    if (!chosen(again.network(), o)) continue;
    std::vector<size_t> readers = again.Readers(again.network().ops[o].results[0]);
    if (readers.size() < 2 || readers.size() > kMostReaders) continue;
    std::sort(readers.begin(), readers.end(),
              [&](size_t a, size_t b) { return again.Place(a) < again.Place(b); });
    for (size_t k = 1; k < readers.size(); ++k) again.Again(o, {readers[k]});
  }
  return std::move(again).Finish();
}

}  // namespace

Network RecomputeFromRoots(Network network, int64_t large_bytes) {
  return CopyForReaders(std::move(network), kMostGrowthFromRoots,
                        [&](const Network& at, size_t o) { return HasRoot(at, o, large_bytes); });
}

Network RecomputeCheap(Network network, int64_t large_bytes) {
  return CopyForReaders(std::move(network), kMostGrowth, [&](const Network& at, size_t o) {
    return IsCheap(at, at.ops[o], large_bytes);
  });
}

}  // namespace hone::memory
