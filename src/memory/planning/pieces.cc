#include "memory/planning/pieces.h"

#include <algorithm>
#include <unordered_map>

namespace hone::memory {
namespace {

// Boxes of one tensor become one piece where they overlap, or where little lies between them.
constexpr double kMostWaste = 1.2;

}  // namespace

Pieces FindPieces(const Target& target, const std::vector<Group>& groups) {
  Pieces found;
  found.needs.resize(groups.size());
  found.of_tensor.assign(target.network.tensors.size(), kNone);
  std::unordered_map<TensorId, std::vector<PieceId>> of_input;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::map<TensorId, Need> needs;
    const size_t tiles = groups[g].tiles();
    for (size_t t = 0; t < tiles; ++t) {
      for (const auto& [tensor, box] : ExternalNeeds(target, groups[g], t)) {
        const auto [place, fresh] = needs.try_emplace(tensor);
        Need& need = place->second;
        need.hull = fresh ? box : Hull(need.hull, box);
        if (fresh) need.boxes.resize(tiles);
        need.most_bytes = std::max(need.most_bytes, target.BufferBytes(tensor, box));
        need.boxes[t] = box;
      }
    }
    for (auto& [tensor, need] : needs) {
      for (const Box& box : need.boxes) need.varies = need.varies || !(box == need.boxes[0]);
      if (!need.varies) need.boxes.clear();
    }
    for (auto& [tensor, need] : needs) {
      const Tensor& info = target.network.tensors[static_cast<size_t>(tensor)];
      if (info.producer != kNone) {
        PieceId& piece = found.of_tensor[static_cast<size_t>(tensor)];
        if (piece == kNone) {
          piece = static_cast<PieceId>(found.pieces.size());
          found.pieces.push_back({tensor, WholeBox(info.dimensions)});
        }
        need.piece = piece;
      } else {
        auto& list = of_input[tensor];
        for (PieceId candidate : list) {
          Piece& piece = found.pieces[static_cast<size_t>(candidate)];
          const Box hull = Hull(piece.box, need.hull);
          const double together = static_cast<double>(Elements(piece.box) + Elements(need.hull) -
                                                      Elements(Intersect(piece.box, need.hull)));
          if (static_cast<double>(Elements(hull)) > kMostWaste * together) continue;
          // Slices that only lie side by side stay apart: each is loaded when it is needed.
          if (IsEmpty(Intersect(piece.box, need.hull))) continue;
          piece.box = hull;
          need.piece = candidate;
          break;
        }
        if (need.piece == kNone) {
          need.piece = static_cast<PieceId>(found.pieces.size());
          Piece piece{tensor, need.hull};
          piece.in_dram = true;
          found.pieces.push_back(std::move(piece));
          list.push_back(need.piece);
        }
      }
      found.pieces[static_cast<size_t>(need.piece)].uses.push_back(static_cast<int32_t>(g));
      found.needs[g].push_back(need);
    }
  }
  return found;
}

}  // namespace hone::memory
