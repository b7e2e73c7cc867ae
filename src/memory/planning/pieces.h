// What of each tensor the groups need from outside: the units that are kept on the chip or not.
#ifndef HONE_MEMORY_PLANNING_PIECES_H_
#define HONE_MEMORY_PLANNING_PIECES_H_

#include <map>
#include <vector>

#include "memory/plan.h"
#include "memory/planning/groups.h"

namespace hone::memory {

using PieceId = int32_t;

// A box of a parameter or constant that some groups need, or a whole tensor that one group computes
// and others need.
struct Piece {
  TensorId tensor = kNone;
  Box box;
  std::vector<int32_t> uses;  // groups, ascending
  size_t next = 0;            // into uses: the first that has not run yet
  bool in_dram = false;
  BufferId buffer = kNone;  // kNone: not on the chip

  bool used_later() const { return next < uses.size(); }
};

// A group's need of one piece.
struct Need {
  PieceId piece = kNone;
  Box hull;
  bool varies = false;     // from tile to tile
  std::vector<Box> boxes;  // of each tile, where it varies; of no dimensions where it needs nothing
  int64_t most_bytes = 0;  // per partition, of the largest of them
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<std::vector<Need>> needs;  // of each group
  std::vector<PieceId> of_tensor;        // of computed tensors; kNone where no other group needs it
};

Pieces FindPieces(const Target& target, const std::vector<Group>& groups);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_PIECES_H_
