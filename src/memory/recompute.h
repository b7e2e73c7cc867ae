// Operators that are computed again, nearer to who reads them.
#ifndef HONE_MEMORY_RECOMPUTE_H_
#define HONE_MEMORY_RECOMPUTE_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "memory/network.h"

namespace hone::memory {

// A network while operators are copied. Operators keep their numbers; copies come after them.
class Recomputation {
 public:
  explicit Recomputation(Network network);

  const Network& network() const { return network_; }
  // Operators that look at a tensor, each once, copies among them.
  const std::vector<size_t>& Readers(TensorId tensor) const {
    return readers_[static_cast<size_t>(tensor)];
  }
  // The operator of the network at first before which this one goes: itself, or a copy's first
  // reader.
  size_t Place(size_t op) const { return place_[op]; }

  // A copy of an operator with one result, right before the first of `readers`, who look at the
  // copy's result from then on. Copies are made from the last operator to the first.
  void Again(size_t op, const std::vector<size_t>& readers);

  // In their order, without operators that nobody reads any more.
  Network Finish() &&;

 private:
  void AddReader(size_t op);
  // The same expression over another tensor.
  ExprId Replace(ExprId id, TensorId tensor);

  Network network_;
  const size_t count_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<size_t> place_;
  std::unordered_map<ExprId, ExprId> replaced_;
  ExprId replacement_ = kNone;
};

// Gives every reader of an elementwise result of at least `large_bytes`, made from an eighth of the
// bytes or fewer, a copy of its own, made right before it.
Network RecomputeCheap(Network network, int64_t large_bytes);

// Gives every reader of an elementwise result of at least `large_bytes` a copy of its own, where it
// is made of one tensor of no more bytes and otherwise of little: whoever has that one on the chip
// needs nothing else kept.
Network RecomputeFromRoots(Network network, int64_t large_bytes);

// What is too large to stay on the chip until a sum over it is finished, and is made of less than
// its own bytes, is made again after that sum: the logits of a large vocabulary for their maximum,
// for the sum of exponentials, and for the gradient (as FlashAttention does; Dao et al. 2022).
// Readers on the same side of every sum share one copy.
Network RecomputeAfterSums(Network network, int64_t huge_bytes);

// Elementwise operators that lead to nothing but outputs (the updates of weights, of moments) go
// right after the last product or sum that they wait for, so that no gradient is kept longer.
// Those that wait for none go where they are read, or where their parameter is loaded for another.
// With `huge_bytes`, whatever frees more bytes than it makes goes as soon as it can, together with
// what follows it: the gradient of a weight, and its update; but nothing that reads or makes so
// many, which never stay on the chip as a whole. With `shrink_from`, products and sums that read a
// tensor of so many bytes and make far fewer go right after what they wait for: the gradients of
// kernels, before what they read has left. n log n.
void UpdateAtOnce(Network& network, std::optional<int64_t> huge_bytes,
                  std::optional<int64_t> shrink_from = std::nullopt);

// Where more is alive than there is room for, elementwise results are made again after that point
// rather than kept: of all sets of tensors from which the rest can be recomputed, the one with the
// fewest bytes is kept, which is a minimum cut (as in PyTorch's min-cut rematerialization, Chen et
// al. 2016 before it). Again and again, at the highest point, while that lowers it; so
// much work at most that it takes a second or so, which is counted, not measured: who reads a plan
// must find the same network again.
Network RecomputeAtPeaks(Network network, int64_t room_bytes);

}  // namespace hone::memory

#endif  // HONE_MEMORY_RECOMPUTE_H_
