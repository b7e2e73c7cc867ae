#include <algorithm>
#include <unordered_map>

#include "memory/network.h"

namespace hone::memory {
namespace {

constexpr int64_t kCheap = 8;       // times fewer bytes in its operands than in its result
constexpr size_t kMostReaders = 8;  // that get a copy of their own
constexpr size_t kMostGrowth = 4;   // one more operator for so many of the program

size_t U(int32_t id) { return static_cast<size_t>(id); }

class Recompute {
 public:
  Recompute(Network network, int64_t large_bytes)
      : network_(std::move(network)),
        large_bytes_(large_bytes),
        readers_(network_.tensors.size()) {}

  Network Run() {
    const size_t count = network_.ops.size();
    for (size_t o = 0; o < count; ++o) {
      before_.push_back(o);
      AddReader(o);
    }
    for (size_t o = count; o-- > 0;) {
      if (network_.ops.size() - count >= std::max<size_t>(16, count / kMostGrowth)) break;
      if (IsCheap(network_.ops[o])) GiveEachItsOwn(o);
    }
    if (network_.ops.size() == count) return std::move(network_);
    // A copy goes right before its reader; of several, those that were made later.
    std::vector<size_t> order(network_.ops.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return before_[a] != before_[b] ? before_[a] < before_[b] : a > b;
    });
    std::vector<Op> ops;
    for (size_t k : order) ops.push_back(std::move(network_.ops[k]));
    network_.ops = std::move(ops);
    DropDeadOps(network_);
    return std::move(network_);
  }

 private:
  void AddReader(size_t o) {
    for (ExprId input : network_.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network_, input)) {
        auto& readers = readers_[U(tensor)];
        if (readers.empty() || readers.back() != o) readers.push_back(o);
      }
    }
  }

  bool IsCheap(const Op& op) const {
    if (!IsElementwise(op.opcode)) return false;
    const Tensor& result = network_.tensors[U(op.results[0])];
    if (result.Bytes() < large_bytes_) return false;
    int64_t bytes = 0;
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(network_, input)) {
        bytes += network_.tensors[U(tensor)].Bytes();
      }
    }
    return bytes * kCheap <= result.Bytes();
  }

  void GiveEachItsOwn(size_t o) {
    const TensorId id = network_.ops[o].results[0];
    std::vector<size_t> readers = readers_[U(id)];
    if (readers.size() < 2 || readers.size() > kMostReaders) return;
    std::sort(readers.begin(), readers.end(),
              [&](size_t a, size_t b) { return before_[a] < before_[b]; });
    for (size_t k = 1; k < readers.size(); ++k) {
      Tensor tensor = network_.tensors[U(id)];
      tensor.part_of = tensor.part_of == kNone ? id : tensor.part_of;
      tensor.name += ".again";
      const auto copy = static_cast<TensorId>(network_.tensors.size());
      Expr leaf;
      leaf.tensor = copy;
      leaf.type = tensor.type;
      leaf.dimensions = tensor.dimensions;
      network_.tensors.push_back(std::move(tensor));
      readers_.emplace_back();
      network_.exprs.push_back(std::move(leaf));
      replaced_.clear();
      replacement_ = static_cast<ExprId>(network_.exprs.size() - 1);
      for (size_t i = 0; i < network_.ops[readers[k]].inputs.size(); ++i) {
        const ExprId input = Replace(network_.ops[readers[k]].inputs[i], id);
        network_.ops[readers[k]].inputs[i] = input;
      }
      Op op = network_.ops[o];
      op.results = {copy};
      network_.ops.push_back(std::move(op));
      before_.push_back(before_[readers[k]]);
      readers_[U(copy)].push_back(readers[k]);
      AddReader(network_.ops.size() - 1);
    }
  }

  // The same expression over another tensor.
  ExprId Replace(ExprId id, TensorId tensor) {
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

  Network network_;
  const int64_t large_bytes_;
  std::vector<std::vector<size_t>> readers_;  // operators, of each tensor
  std::vector<size_t> before_;  // of each operator: its place, or that of the reader it is made for
  std::unordered_map<ExprId, ExprId> replaced_;
  ExprId replacement_ = kNone;
};

}  // namespace

Network RecomputeCheap(Network network, int64_t large_bytes) {
  return Recompute(std::move(network), large_bytes).Run();
}

}  // namespace hone::memory
