// Which operators run together, tile by tile, so that what passes between them stays small.
#ifndef HONE_MEMORY_PLANNING_GROUPS_H_
#define HONE_MEMORY_PLANNING_GROUPS_H_

#include <map>
#include <vector>

#include "memory/deadline.h"
#include "memory/layout/requirements.h"
#include "memory/network.h"

namespace hone::memory {

// A network on a machine, with what every part of the planner asks about it.
struct Target {
  const Network& network;
  const Machine& machine;
  std::vector<Layout> layouts;

  // Of each operator: operands that must be copied for their engine (local.h).
  std::vector<std::vector<Mismatch>> copies;

  // Bytes per partition of a buffer for a box of a tensor, rounded up to the machine's alignment.
  int64_t BufferBytes(TensorId tensor, const Box& box) const;
};

struct Group {
  std::vector<OpId> ops;  // in order of execution
  // boxes[p][t]: what tile t computes of the results of ops[p]. Tiles may overlap: what a halo
  // needs twice is computed twice.
  std::vector<std::vector<Box>> boxes;
  // sums[p][t]: which part of its sum it adds to them (access.h); empty where it is no part.
  std::vector<std::vector<Box>> sums;
  std::vector<bool> in_a_row;  // whether tiles with the same box of ops[p] follow upon each other
  // Too large for the scratchpad however it is cut, or accesses unknown: run from DRAM to DRAM.
  bool streamed = false;

  size_t tiles() const { return boxes.empty() ? 1 : boxes[0].size(); }
  bool IsSum(size_t p) const { return p < sums.size() && !sums[p].empty(); }
  Box Sum(size_t p, size_t tile) const { return IsSum(p) ? sums[p][tile] : Box{}; }
};

struct GroupOptions {
  // Operators whose operands and results together take more than this share of the scratchpad are
  // cut into tiles.
  double tile_above = 0.6;
  // Tiles are made to fit into this share.
  double tile_share = 0.45;
  // Whether every way to cut a group's first operator is tried, and the one kept whose group keeps
  // most bytes on the chip; else the one that costs the operator least.
  bool try_all = true;
  // Whether large operators may go before a group that waits for no more than small results of
  // them, and what makes a group load more again than it saves stays out of it, where that keeps
  // more bytes on the chip within the group: often less moves then, but not always.
  bool wait = false;
  size_t most_ops = 512;  // of a tiled group
  size_t most_tiles = 1024;
  double most_recomputed = 1.3;  // work of a group's operator over its work untiled
  // From then on each group is cut in the first way that fits, with its nearest neighbours; and
  // after these seconds operators go alone, those that are too large from DRAM to DRAM.
  Deadline deadline;
  double late_seconds = 0;
};

// Cuts the order of operators into groups; a group's operators follow upon each other, and every
// operator comes after those that it depends on. Cost: linear in operators, but for tiled groups,
// where it is operators × tiles for every operator that is tried. `wait_matters` says whether the
// groups may be others with GroupOptions::wait; may be null.
std::vector<Group> MakeGroups(const Target& target, const std::vector<OpId>& order,
                              const GroupOptions& options, bool* wait_matters = nullptr);

// What a tile needs of tensors from outside the group: (tensor, hull of boxes).
using Needs = std::map<TensorId, Box>;
Needs ExternalNeeds(const Target& target, const Group& group, size_t tile);

// All results of an operator have `out`'s box, or are whole where their dimensions differ.
Box ResultBox(const Network& network, const Op& op, size_t result, const Box& out);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_GROUPS_H_
