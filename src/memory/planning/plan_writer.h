// A plan as it is written: its buffers and steps in the order of time, and the figures of what they
// move.
#ifndef HONE_MEMORY_PLANNING_PLAN_WRITER_H_
#define HONE_MEMORY_PLANNING_PLAN_WRITER_H_

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "memory/plan.h"

namespace hone::memory {

class PlanWriter {
 public:
  // Both must outlive it.
  PlanWriter(const Network& network, Plan& plan) : network_(network), plan_(plan) {}

  // Steps so far.
  int64_t now() const { return now_; }

  // A buffer from now on; until now.
  BufferId NewBuffer(TensorId tensor, const Layout& layout, Box box, int64_t bytes, int64_t slots);
  void Close(BufferId buffer) { plan_.buffers[static_cast<size_t>(buffer)].end = now_; }
  int64_t Bytes(BufferId buffer) const { return plan_.buffers[static_cast<size_t>(buffer)].bytes; }

  // A block that runs once: the last one, or a new one.
  Block& SingleBlock();
  void Emit(Block& block, Step step);
  void StoreWhole(TensorId tensor, const Box& box, BufferId buffer);

  // What is read one by one from DRAM: as many elements as the result has.
  void AccountElements(const Op& op, const std::vector<Box>& boxes);

  // What is stored or loaded again for want of room.
  void AccountSpilled(TensorId tensor, const Box& box);

  // Whether something of it has been loaded.
  bool Loaded(TensorId tensor) const { return loaded_.contains(tensor); }
  void SetLoaded(TensorId tensor) { loaded_.insert(tensor); }

 private:
  const Tensor& TensorOf(TensorId tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)];
  }
  void Account(const Step& step);

  const Network& network_;
  Plan& plan_;
  std::unordered_set<TensorId> loaded_;
  int64_t now_ = 0;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_PLAN_WRITER_H_
