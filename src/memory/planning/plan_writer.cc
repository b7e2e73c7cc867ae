#include "memory/planning/plan_writer.h"

#include <utility>

namespace hone::memory {

BufferId PlanWriter::NewBuffer(TensorId tensor, const Layout& layout, Box box, int64_t bytes,
                               int64_t slots) {
  Buffer buffer{tensor, layout, std::move(box), bytes, slots, 0, now_, -1};
  plan_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(plan_.buffers.size() - 1);
}

Block& PlanWriter::SingleBlock() {
  if (plan_.blocks.empty() || plan_.blocks.back().tiles != 1) plan_.blocks.push_back({});
  return plan_.blocks.back();
}

void PlanWriter::Emit(Block& block, Step step) {
  Account(step);
  block.steps.push_back(std::move(step));
  ++now_;
}

void PlanWriter::StoreWhole(TensorId tensor, const Box& box, BufferId buffer) {
  Step step;
  step.kind = StepKind::kStore;
  step.tensor = tensor;
  step.buffer = buffer;
  step.boxes = {box};
  Emit(SingleBlock(), std::move(step));
}

void PlanWriter::AccountElements(const Op& op, const std::vector<Box>& boxes) {
  for (const Box& box : boxes) {
    plan_.figures.loaded_bytes += Elements(box) * TensorOf(op.results[0]).element_bytes;
  }
}

void PlanWriter::AccountSpilled(TensorId tensor, const Box& box) {
  plan_.figures.spilled_bytes += Elements(box) * TensorOf(tensor).element_bytes;
}

void PlanWriter::Account(const Step& step) {
  const auto bytes = [&](TensorId tensor) {
    int64_t sum = 0;
    for (const Box& box : step.boxes) sum += Elements(box) * TensorOf(tensor).element_bytes;
    return sum;
  };
  if (step.kind == StepKind::kLoad) {
    plan_.figures.loaded_bytes += bytes(step.tensor);
    loaded_.insert(step.tensor);
  } else if (step.kind == StepKind::kStore) {
    plan_.figures.stored_bytes += bytes(step.tensor);
  } else if (step.kind == StepKind::kCopy) {
    ++plan_.figures.copies;
  }
}

}  // namespace hone::memory
