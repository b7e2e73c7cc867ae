#include "memory/planning/tile.h"

#include <algorithm>
#include <unordered_map>

#include "memory/access.h"

namespace hone::memory {
namespace {

// Boxes in row-major order of their place in the grid of counts, or in the order in which the first
// dimension changes fastest.
std::vector<Box> Grid(const std::vector<int64_t>& dimensions, const std::vector<int64_t>& counts,
                      bool first_fastest) {
  std::vector<int64_t> chunk(dimensions.size()), cells(dimensions.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    chunk[d] = (dimensions[d] + counts[d] - 1) / counts[d];
    cells[d] = (dimensions[d] + chunk[d] - 1) / chunk[d];
  }
  std::vector<Box> boxes;
  if (first_fastest) std::reverse(cells.begin(), cells.end());
  ForEach(WholeBox(cells), [&](std::vector<int64_t> cell, int64_t) {
    if (first_fastest) std::reverse(cell.begin(), cell.end());
    Box box = WholeBox(dimensions);
    for (size_t d = 0; d < dimensions.size(); ++d) {
      box.low[d] = cell[d] * chunk[d];
      box.high[d] = std::min(dimensions[d], box.low[d] + chunk[d]);
    }
    boxes.push_back(std::move(box));
  });
  return boxes;
}

const std::vector<int64_t>& ResultDimensions(const Network& network, OpId op) {
  const TensorId result = network.ops[static_cast<size_t>(op)].results[0];
  return network.tensors[static_cast<size_t>(result)].dimensions;
}

// What `op` reads of `tensor` for a box of its results.
Box ReadOf(const Network& network, const Op& op, TensorId tensor, const Box& out) {
  Box hull;
  bool any = false;
  ForEachRead(network, op, out, [&](TensorId read, const Box& box) {
    if (read != tensor) return;
    hull = any ? Hull(hull, box) : box;
    any = true;
  });
  return hull;
}

}  // namespace

std::optional<TiledGroup> TiledGroup::Start(const Target& target, const GroupOptions& options,
                                            OpId op) {
  TiledGroup group(target, options);
  if (!CanTile(target.network, target.network.ops[static_cast<size_t>(op)])) return std::nullopt;
  group.members_list_.push_back({op, kNone, {}});
  group.members_.insert(op);
  const std::vector<int64_t>& dimensions = ResultDimensions(target.network, op);
  std::vector<int64_t> counts(dimensions.size(), 1);
  const auto share = static_cast<int64_t>(options.tile_share *
                                          static_cast<double>(target.machine.bytes_per_partition));
  group.Cut(counts);
  int64_t footprint = group.Footprint(), traffic = group.Traffic();
  while (footprint > share) {
    // Cut once more along the dimension that frees most room for the traffic that it costs.
    double best_score = 0;
    std::vector<int64_t> best;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (counts[d] >= dimensions[d]) continue;
      std::vector<int64_t> finer = counts;
      finer[d] = std::min(dimensions[d], counts[d] * 2);
      if (!group.Cut(finer) || group.boxes_[0].size() > options.most_tiles) continue;
      const auto freed = static_cast<double>(footprint - group.Footprint());
      const auto cost = static_cast<double>(std::max<int64_t>(0, group.Traffic() - traffic));
      const double score = freed / (cost + 1);
      if (freed > 0 && (best.empty() || score > best_score)) {
        best_score = score;
        best = finer;
      }
    }
    if (best.empty()) return std::nullopt;
    counts = best;
    group.Cut(counts);
    footprint = group.Footprint();
    traffic = group.Traffic();
  }
  // What stays the same from one tile to the next is not loaded again: the order of loops decides.
  group.first_fastest_ = true;
  group.Cut(counts);
  if (group.Traffic() >= traffic) {
    group.first_fastest_ = false;
    group.Cut(counts);
  }
  return group;
}

bool TiledGroup::Cut(const std::vector<int64_t>& counts) {
  counts_ = counts;
  std::unordered_map<TensorId, const std::vector<Box>*> own;
  for (Member& member : members_list_) {
    if (member.from == kNone) {
      member.own = Grid(ResultDimensions(target_->network, member.op), counts, first_fastest_);
    } else if (!Follow(member, *own.at(member.from))) {
      return false;
    }
    for (TensorId result : target_->network.ops[static_cast<size_t>(member.op)].results) {
      own[result] = &member.own;
    }
  }
  Infer();
  return true;
}

// Along which dimension of the result a cut narrows which dimension of the source: by trying.
bool TiledGroup::Follow(Member& member, const std::vector<Box>& source) {
  const Network& network = target_->network;
  const Op& op = network.ops[static_cast<size_t>(member.op)];
  const std::vector<int64_t>& out = ResultDimensions(network, member.op);
  const std::vector<int64_t>& in = network.tensors[static_cast<size_t>(member.from)].dimensions;
  const Box whole = ReadOf(network, op, member.from, WholeBox(out));
  std::vector<int> follows(in.size(), -1);
  for (size_t e = 0; e < out.size(); ++e) {
    if (out[e] < 2) continue;
    Box half = WholeBox(out);
    half.high[e] = out[e] / 2;
    const Box narrowed = ReadOf(network, op, member.from, half);
    if (narrowed.low.empty()) continue;
    for (size_t d = 0; d < in.size(); ++d) {
      if (Extent(narrowed, d) < Extent(whole, d) && follows[d] < 0)
        follows[d] = static_cast<int>(e);
    }
  }
  member.own.assign(source.size(), WholeBox(out));
  for (size_t d = 0; d < in.size(); ++d) {
    bool cut = false;
    for (const Box& box : source) cut = cut || Extent(box, d) != in[d];
    if (!cut) continue;
    if (follows[d] < 0) return false;
    const auto e = static_cast<size_t>(follows[d]);
    // The same shares, in proportion: the end of a share is the next one's beginning.
    const auto place = [&](int64_t at) { return at * out[e] / in[d]; };
    for (size_t t = 0; t < source.size(); ++t) {
      member.own[t].low[e] = std::max(member.own[t].low[e], place(source[t].low[d]));
      member.own[t].high[e] = std::min(member.own[t].high[e], place(source[t].high[d]));
      if (member.own[t].low[e] >= member.own[t].high[e]) return false;
    }
  }
  return true;
}

void TiledGroup::Infer() {
  const Network& network = target_->network;
  boxes_.assign(members_list_.size(), {});
  const size_t tiles = members_list_[0].own.size();
  std::unordered_map<TensorId, size_t> producer;
  for (size_t p = 0; p < members_list_.size(); ++p) {
    boxes_[p] = members_list_[p].own;
    const Op& op = network.ops[static_cast<size_t>(members_list_[p].op)];
    for (TensorId result : op.results) producer[result] = p;
  }
  for (size_t p = members_list_.size(); p-- > 0;) {
    const Op& op = network.ops[static_cast<size_t>(members_list_[p].op)];
    for (size_t t = 0; t < tiles; ++t) {
      ForEachRead(network, op, boxes_[p][t], [&](TensorId tensor, const Box& box) {
        const auto found = producer.find(tensor);
        if (found == producer.end()) return;
        Box& needed = boxes_[found->second][t];
        needed = Hull(needed, box);
      });
    }
  }
}

bool TiledGroup::RecomputesTooMuch() const {
  for (size_t p = 0; p < boxes_.size(); ++p) {
    int64_t computed = 0;
    for (const Box& box : boxes_[p]) computed += Elements(box);
    const int64_t whole = Elements(ResultDimensions(target_->network, members_list_[p].op));
    if (static_cast<double>(computed) > options_->most_recomputed * static_cast<double>(whole)) {
      return true;
    }
  }
  return false;
}

// Everything at once, as if nothing in a tile died before its end, is too much to ask; so results
// count from where they are computed to their last reader, and what comes from outside as twice its
// largest tile, or once where all tiles read the same.
int64_t TiledGroup::Footprint() const {
  const Network& network = target_->network;
  const size_t count = members_list_.size(), tiles = boxes_[0].size();
  std::vector<size_t> sample;
  for (size_t t = 0; t < tiles; ++t) {
    if (tiles <= 6 || t < 2 || t == tiles / 2 || t + 2 >= tiles) sample.push_back(t);
  }
  std::unordered_map<TensorId, size_t> first, last;
  std::unordered_map<TensorId, int64_t> bytes;
  std::unordered_map<TensorId, Box> outside;
  std::unordered_map<TensorId, bool> varies;
  for (size_t t : sample) {
    std::unordered_map<TensorId, Box> now;
    for (size_t p = 0; p < count; ++p) {
      const Op& op = network.ops[static_cast<size_t>(members_list_[p].op)];
      for (size_t r = 0; r < op.results.size(); ++r) {
        first.try_emplace(op.results[r], p);
        last[op.results[r]] = std::max(last[op.results[r]], p);
        int64_t& most = bytes[op.results[r]];
        most = std::max(
            most, target_->BufferBytes(op.results[r], ResultBox(network, op, r, boxes_[p][t])));
      }
      ForEachRead(network, op, boxes_[p][t], [&](TensorId tensor, const Box& box) {
        if (first.contains(tensor)) {
          last[tensor] = std::max(last[tensor], p);
          return;
        }
        const auto [place, fresh] = now.try_emplace(tensor, box);
        if (!fresh) place->second = Hull(place->second, box);
      });
    }
    for (const auto& [tensor, box] : now) {
      const auto [place, fresh] = outside.try_emplace(tensor, box);
      if (!fresh && !(place->second == box)) varies[tensor] = true;
      int64_t& most = bytes[tensor];
      most = std::max(most, target_->BufferBytes(tensor, box));
    }
  }
  int64_t fixed = 0;
  for (const auto& [tensor, box] : outside) {
    fixed += bytes.at(tensor) * (varies.contains(tensor) ? 2 : 1);
  }
  std::vector<int64_t> change(count + 2, 0);
  for (const auto& [tensor, p] : first) {
    change[p] += bytes.at(tensor);
    change[last.at(tensor) + 1] -= bytes.at(tensor);
  }
  int64_t live = 0, peak = 0;
  for (int64_t c : change) peak = std::max(peak, live += c);
  return fixed + peak;
}

// Bytes that come from outside, tile after tile; what stays the same from one to the next, once.
int64_t TiledGroup::Traffic() const {
  const Network& network = target_->network;
  int64_t bytes = 0;
  std::unordered_map<TensorId, Box> before;
  for (size_t t = 0; t < boxes_[0].size(); ++t) {
    std::unordered_map<TensorId, Box> now;
    for (size_t p = 0; p < members_list_.size(); ++p) {
      const Op& op = network.ops[static_cast<size_t>(members_list_[p].op)];
      ForEachRead(network, op, boxes_[p][t], [&](TensorId tensor, const Box& box) {
        const OpId producer = network.tensors[static_cast<size_t>(tensor)].producer;
        if (producer != kNone && members_.contains(producer)) return;
        const auto [place, fresh] = now.try_emplace(tensor, box);
        if (!fresh) place->second = Hull(place->second, box);
      });
    }
    for (const auto& [tensor, box] : now) {
      if (before.contains(tensor) && before.at(tensor) == box) continue;
      bytes += Elements(box) * network.tensors[static_cast<size_t>(tensor)].element_bytes;
    }
    before = std::move(now);
  }
  return bytes;
}

bool TiledGroup::Join(OpId id) {
  const Network& network = target_->network;
  const Op& op = network.ops[static_cast<size_t>(id)];
  if (members_list_.size() >= options_->most_ops || !CanTile(network, op)) return false;
  TensorId from = kNone;
  for (ExprId input : op.inputs) {
    for (TensorId tensor : LeavesOf(network, input)) {
      const OpId producer = network.tensors[static_cast<size_t>(tensor)].producer;
      if (producer == kNone || !members_.contains(producer)) continue;
      if (from == kNone || network.tensors[static_cast<size_t>(tensor)].Bytes() >
                               network.tensors[static_cast<size_t>(from)].Bytes()) {
        from = tensor;
      }
    }
  }
  if (from == kNone) return false;
  const TiledGroup before = *this;
  members_list_.push_back({id, from, {}});
  members_.insert(id);
  const auto share = static_cast<int64_t>(
      options_->tile_share * static_cast<double>(target_->machine.bytes_per_partition));
  const std::vector<int64_t>& dimensions = ResultDimensions(network, members_list_[0].op);
  std::vector<int64_t> counts = counts_;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (!Cut(counts) || boxes_[0].size() > options_->most_tiles || RecomputesTooMuch()) break;
    if (Footprint() <= share) return true;
    // Finer along the dimension that is cut already, or the first that can be.
    size_t finer = dimensions.size();
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (counts[d] * 2 <= dimensions[d] &&
          (finer == dimensions.size() || counts[d] > counts[finer])) {
        finer = d;
      }
    }
    if (finer == dimensions.size()) break;
    counts[finer] *= 2;
  }
  *this = before;
  return false;
}

Group TiledGroup::Finish() && {
  Group group;
  for (const Member& member : members_list_) group.ops.push_back(member.op);
  group.boxes = std::move(boxes_);
  return group;
}

}  // namespace hone::memory
