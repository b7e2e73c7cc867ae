#include "memory/planning/pieces.h"

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
    std::map<TensorId, Box> first;
    for (size_t t = 0; t < groups[g].tiles(); ++t) {
      for (const auto& [tensor, box] : ExternalNeeds(target, groups[g], t)) {
        Need& need = needs[tensor];
        need.hull = t == 0 || need.hull.low.size() != box.low.size() ? box : Hull(need.hull, box);
        const auto [place, fresh] = first.try_emplace(tensor, box);
        if (!fresh && !(place->second == box)) need.varies = true;
      }
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
