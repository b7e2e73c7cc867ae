// Which pieces lie on the chip, and which of them go where room is needed.
#ifndef HONE_MEMORY_PLANNING_ON_CHIP_H_
#define HONE_MEMORY_PLANNING_ON_CHIP_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "memory/planning/pieces.h"
#include "memory/planning/plan_writer.h"

namespace hone::memory {

class OnChip {
 public:
  // `pieces` and `writer` must outlive it; no piece lies on the chip yet. `capacity`: bytes per
  // partition.
  OnChip(std::vector<Piece>& pieces, int64_t capacity, PlanWriter& writer)
      : pieces_(pieces), capacity_(capacity), writer_(writer) {}

  // A piece lies in this buffer from now on.
  void Put(PieceId id, BufferId buffer);
  // Its buffer, in which it lies no longer, though others may.
  BufferId Take(PieceId id);
  // Ends its buffer, if it has one.
  void Drop(PieceId id);
  // The same, once it is stored where DRAM lacks it.
  void Evict(PieceId id);

  // This group is done with it.
  void Use(PieceId id, int32_t group);
  void SetInDram(PieceId id);

  // Makes room for `bytes` more, without touching what the group needs. False where it cannot.
  bool MakeRoom(int64_t bytes, const std::unordered_set<PieceId>& pinned, int32_t group);

 private:
  using ByNextUse = std::set<std::pair<int64_t, PieceId>>;

  static constexpr int64_t kNever = int64_t{1} << 40;

  Piece& At(PieceId piece) { return pieces_[static_cast<size_t>(piece)]; }
  int64_t NextUse(const Piece& piece) const {
    return piece.used_later() ? piece.uses[piece.next] : kNever;
  }
  ByNextUse& ClassOf(const Piece& piece) { return piece.in_dram ? clean_ : dirty_; }
  // Around every change of what the order of eviction depends on.
  void Leave(PieceId id) { ClassOf(At(id)).erase({NextUse(At(id)), id}); }
  void Enter(PieceId id) {
    if (At(id).buffer != kNone) ClassOf(At(id)).insert({NextUse(At(id)), id});
  }

  std::vector<Piece>& pieces_;
  const int64_t capacity_;
  PlanWriter& writer_;
  ByNextUse clean_, dirty_;  // what DRAM has, too, and what it lacks
  int64_t used_ = 0;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_ON_CHIP_H_
