#include "memory/planning/on_chip.h"

namespace hone::memory {

void OnChip::Put(PieceId id, BufferId buffer) {
  At(id).buffer = buffer;
  Enter(id);
  used_ += writer_.Bytes(buffer);
}

BufferId OnChip::Take(PieceId id) {
  const BufferId buffer = At(id).buffer;
  used_ -= writer_.Bytes(buffer);
  Leave(id);
  At(id).buffer = kNone;
  return buffer;
}

void OnChip::Drop(PieceId id) {
  if (At(id).buffer != kNone) writer_.Close(Take(id));
}

void OnChip::Evict(PieceId id) {
  Piece& piece = At(id);
  if (!piece.in_dram) {
    writer_.StoreWhole(piece.tensor, piece.box, piece.buffer);
    writer_.AccountSpilled(piece.tensor, piece.box);
    SetInDram(id);
  }
  Drop(id);
}

void OnChip::Use(PieceId id, int32_t group) {
  Piece& piece = At(id);
  Leave(id);
  while (piece.used_later() && piece.uses[piece.next] <= group) ++piece.next;
  Enter(id);
}

void OnChip::SetInDram(PieceId id) {
  Leave(id);
  At(id).in_dram = true;
  Enter(id);
}

bool OnChip::MakeRoom(int64_t bytes, const std::unordered_set<PieceId>& pinned, int32_t group) {
  while (used_ + bytes > capacity_) {
    PieceId victim = kNone;
    int64_t farthest = -1;
    for (const auto* pieces : {&clean_, &dirty_}) {
      auto last = pieces->rbegin();
      while (last != pieces->rend() && pinned.contains(last->second)) ++last;
      if (last == pieces->rend()) continue;
      const int64_t score = (last->first - group) * (pieces == &clean_ ? 2 : 1);
      if (score > farthest) {
        farthest = score;
        victim = last->second;
      }
    }
    if (victim == kNone) return false;
    Evict(victim);
  }
  return true;
}

}  // namespace hone::memory
