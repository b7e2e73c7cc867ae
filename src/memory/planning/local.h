// The space on the chip that one tile of a group needs for itself.
#ifndef HONE_MEMORY_PLANNING_LOCAL_H_
#define HONE_MEMORY_PLANNING_LOCAL_H_

#include <unordered_set>
#include <vector>

#include "memory/layout/requirements.h"
#include "memory/planning/groups.h"

namespace hone::memory {

// Operands that must be copied for their engine, of each operator; what is read from DRAM where it
// lies need not be. FindCopies finds them once, for Target::copies.
std::vector<std::vector<Mismatch>> FindCopies(const Target& target);
const std::vector<Mismatch>& CopiesOf(const Target& target, const Op& op);

// Bytes per partition of such a copy, for a box of the operator's results.
int64_t CopyBytes(const Target& target, const Op& op, const Mismatch& copy, const Box& out,
                  const Box& sum);

// Whether the result of an elementwise operator may lie where one of its operands lies that dies
// with it: the same elements in the same places, and looked at in no other way.
bool CanTakeOver(const Target& target, const Op& op, TensorId operand);

// Operands whose room the result of ops[at] takes over within a tile, of those made in the group
// and not `resident`.
struct TakenOver {
  size_t at = 0;
  TensorId operand = kNone;
};
std::vector<TakenOver> TakenOverIn(const Target& target, const Group& group,
                                   const std::unordered_set<TensorId>& resident);

// What each tile stores of a result of ops[p]: its box without what an earlier tile has stored,
// where they overlap only along one side (a halo is computed twice but stored once); of a sum in
// parts, the box with the last part.
std::vector<Box> StoredShares(const Network& network, const Group& group, size_t p,
                              TensorId result);

// The most bytes per partition that results and copies take at once within a tile; `resident`
// results lie elsewhere, as a whole.
int64_t LocalPeak(const Target& target, const Group& group,
                  const std::unordered_set<TensorId>& resident);

// Bytes per partition without which the group cannot run: whatever can be loaded or stored tile by
// tile is. Looks at every tile.
int64_t LeastRoom(const Target& target, const Group& group);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_LOCAL_H_
