// A plan: every load, store, copy and tile computation of a program, with addresses.
#ifndef HONE_MEMORY_PLAN_H_
#define HONE_MEMORY_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memory/layout/layout.h"
#include "memory/network.h"

namespace hone::memory {

using BufferId = int32_t;

// Room in the scratchpad, at the same offset of every partition.
struct Buffer {
  TensorId tensor =
      kNone;  // the first that lies in it; its operand's copy where `operand_of` is set
  Layout layout;
  // What lies in it: fixed, or empty where each step that writes says what it writes.
  Box box;
  int64_t bytes = 0;  // per partition, of one slot
  int64_t slots =
      1;  // 2: loads of a loop take turns, so that one is filled while the other is read
  int64_t offset = 0;
  int64_t start = 0;  // time of the first step that needs it, and after the last
  int64_t end = 0;
};

enum class StepKind : uint8_t {
  kLoad,     // DRAM to a buffer
  kStore,    // a buffer to DRAM
  kCopy,     // an operand of `op`, as its engine wants it, from buffers to a buffer
  kCompute,  // a tile of `op`, from buffers to buffers
  kStream,   // a whole operator from DRAM to DRAM: conservative, or too large
};

// Where operand `operand` finds a tensor; kNone as tensor: the operand itself, made by a copy;
// kNone as buffer: in DRAM, read element by element.
struct Source {
  int32_t operand = 0;
  TensorId tensor = kNone;
  BufferId buffer = kNone;
};

struct Step {
  StepKind kind = StepKind::kCompute;
  OpId op = kNone;
  TensorId tensor = kNone;        // loads and stores
  BufferId buffer = kNone;        // loaded, stored or copied to
  int32_t operand = 0;            // copies
  std::vector<BufferId> results;  // of a computation
  std::vector<Source> sources;
  // Tile by tile: of the tensor that is loaded or stored, of the operand that is copied, of the
  // operator's results. A load with an empty box is left out: the tile before has loaded it.
  std::vector<Box> boxes;
  // Of a computation whose sum is made in parts: the part of each tile (SumDimensions in access.h).
  // Parts that do not begin at the sum's beginning are added to what lies in the result's buffer.
  std::vector<Box> sums;
};

// Steps in order, run once for each tile.
struct Block {
  int64_t tiles = 1;
  std::vector<Step> steps;
};

struct Figures {
  int64_t pairs = 0;             // tensors that an operator stores and others load, run one by one
  int64_t pairs_eliminated = 0;  // of them those that the plan never loads
  int64_t loaded_bytes = 0;
  int64_t stored_bytes = 0;
  int64_t copies = 0;  // on the chip, for layouts; not counted once for each tile
  int64_t groups = 0;
  int64_t tiled_groups = 0;
  int64_t streamed = 0;       // operators run from DRAM to DRAM
  int64_t spilled_bytes = 0;  // of the traffic, what was stored or loaded again for want of room
  int64_t peak_bytes_per_partition = 0;
  double seconds = 0;  // estimated
  int64_t dram_bytes() const { return loaded_bytes + stored_bytes; }
};

// The order in which dimensions lie in DRAM, outermost first.
using DramOrders = std::map<TensorId, std::vector<int64_t>>;

struct Plan {
  std::vector<Layout> layouts;  // of each tensor of the network
  DramOrders dram_orders;       // of tensors that do not lie in the program's (OrdersInDram)
  std::vector<Buffer> buffers;
  std::vector<Block> blocks;
  Figures figures;

  // Empty where it is the program's.
  const std::vector<int64_t>& DramOrder(TensorId tensor) const {
    static const std::vector<int64_t> own;
    const auto found = dram_orders.find(tensor);
    return found == dram_orders.end() ? own : found->second;
  }
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLAN_H_
