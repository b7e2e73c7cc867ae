#include "memory/simulator/scratchpad.h"

#include <algorithm>
#include <type_traits>

namespace hone::memory {
namespace {

size_t U(int64_t at) { return static_cast<size_t>(at); }

}  // namespace

Scratchpad::Scratchpad(const Machine& machine, const Plan& plan, bool bytes)
    : machine_(machine), plan_(plan), bytes_(bytes) {
  if (bytes) {
    data_.resize(static_cast<size_t>(machine.ScratchpadBytes()));
    const bool whole =
        machine.alignment > 0 && machine.bytes_per_partition % machine.alignment == 0;
    unit_ = whole ? machine.alignment : 1;
    owner_.resize(data_.size() / static_cast<size_t>(unit_) + 1, 0);
  }
  for (const Buffer& buffer : plan.buffers) {
    held_.emplace_back(static_cast<size_t>(std::max<int64_t>(1, buffer.slots)));
  }
  slot_.assign(plan.buffers.size(), 0);
}

void Scratchpad::Trap(const std::string& what) {
  if (trap_.empty()) trap_ = what;
}

void Scratchpad::NextSlot(BufferId buffer) {
  const auto b = static_cast<size_t>(buffer);
  slot_[b] = (slot_[b] + 1) % held_[b].size();
}

int64_t Scratchpad::Base(BufferId buffer) const {
  const auto b = static_cast<size_t>(buffer);
  return plan_.buffers[b].offset + static_cast<int64_t>(slot_[b]) * plan_.buffers[b].bytes;
}

bool Scratchpad::Fits(BufferId buffer, const Placement& placement) {
  const Buffer& room = plan_.buffers[static_cast<size_t>(buffer)];
  const int64_t end = Base(buffer) + room.bytes;
  highest_ = std::max(highest_, end);
  if (Base(buffer) < 0 || end > machine_.bytes_per_partition) {
    Trap("a buffer reaches out of the scratchpad");
    return false;
  }
  if (placement.bytes_per_partition() > room.bytes) {
    Trap("what is written does not fit into its buffer");
    return false;
  }
  return true;
}

void Scratchpad::Write(BufferId buffer, const Content& content, const Box& box,
                       const Array* values) {
  if (buffer < 0 || static_cast<size_t>(buffer) >= plan_.buffers.size()) {
    return Trap("there is no such buffer");
  }
  const Buffer& room = plan_.buffers[static_cast<size_t>(buffer)];
  Held& held = Slot(buffer);
  const bool fixed = !room.box.low.empty() && room.tensor == content.tensor;
  const bool same = held.owner != 0 && held.content.tensor == content.tensor &&
                    held.content.operand == content.operand;
  if (!fixed || !same) {
    held.content = content;
    held.box = fixed ? room.box : box;
    held.written = box;
    held.owner = ++owners_;
  } else {
    held.written = Hull(held.written, box);
  }
  if (!Contains(held.box, box)) return Trap("a write outside of its buffer's box");
  const Placement placement(machine_, content.dimensions, room.layout, held.box,
                            content.element_bytes);
  if (!Fits(buffer, placement) || !bytes_) return;
  const int64_t base = Base(buffer);
  // Of what lies in every partition, the first stands for all.
  placement.ForEachRun(box, [&](const Placement::Run& run) {
    const int64_t step = run.partition_step * machine_.bytes_per_partition + run.offset_step;
    const int64_t first = run.partition * machine_.bytes_per_partition + base + run.offset;
    if (values != nullptr) EncodeRun(*values, run.position, run.count, &data_[U(first)], step);
    ForEachOwned(first, step, run.count, content.element_bytes, [&](int64_t from, int64_t to) {
      std::fill(owner_.begin() + from, owner_.begin() + to + 1, held.owner);
    });
  });
}

Array Scratchpad::Read(BufferId buffer, const Content& content, const Box& box, Array* part) {
  Array result = MakeArray(bytes_ ? content.type : ElementType::kOther, box);
  if (buffer < 0 || static_cast<size_t>(buffer) >= plan_.buffers.size()) {
    Trap("there is no such buffer");
    return result;
  }
  const Buffer& room = plan_.buffers[static_cast<size_t>(buffer)];
  const Held& held = Slot(buffer);
  if (held.owner == 0 || held.content.tensor != content.tensor ||
      held.content.operand != content.operand) {
    Trap("a read of a tensor that does not lie in this buffer");
    return result;
  }
  if (!Contains(held.written, box)) {
    Trap("a read of elements that were never loaded: " + ToText(box) + " of tensor " +
         std::to_string(content.tensor) + ", where " + ToText(held.written) + " was written");
    return result;
  }
  if (!bytes_) return result;
  const Placement placement(machine_, content.dimensions, room.layout, held.box,
                            content.element_bytes);
  const int64_t base = Base(buffer);
  placement.ForEachRun(box, [&](const Placement::Run& run) {
    const int64_t step = run.partition_step * machine_.bytes_per_partition + run.offset_step;
    const int64_t first = run.partition * machine_.bytes_per_partition + base + run.offset;
    bool own = true;
    ForEachOwned(first, step, run.count, content.element_bytes, [&](int64_t from, int64_t to) {
      int32_t other = 0;
      for (int64_t unit = from; unit <= to; ++unit) other |= owner_[U(unit)] ^ held.owner;
      own = own && other == 0;
    });
    if (!own) Trap("a read of bytes that were never loaded or have been overwritten");
    DecodeRun(&data_[U(first)], step, run.count, result, run.position);
  });
  if (part != nullptr) *part = Partitions(buffer, content, box);
  return result;
}

Array Scratchpad::Partitions(BufferId buffer, const Content& content, const Box& box) const {
  Array part = MakeArray(content.type, box);
  const Layout& layout = plan_.buffers[static_cast<size_t>(buffer)].layout;
  const auto fill = [&](auto& numbers) {
    using Number = std::remove_cvref_t<decltype(numbers[0])>;
    if (numbers.empty()) return;
    if (layout.replicated) return std::fill(numbers.begin(), numbers.end(), Number(-1));
    const Placement placement(machine_, content.dimensions, layout, Slot(buffer).box,
                              content.element_bytes);
    placement.ForEachRun(box, [&](const Placement::Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        const auto where = static_cast<double>(run.partition + i * run.partition_step);
        numbers[U(run.position + i)] = static_cast<Number>(where);
      }
    });
  };
  fill(part.integers);
  fill(part.reals);
  fill(part.complexes);
  return part;
}

}  // namespace hone::memory
