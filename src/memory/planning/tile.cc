#include "memory/planning/tile.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "memory/access.h"
#include "memory/planning/local.h"
#include "memory/planning/space.h"

namespace hone::memory {
namespace {

constexpr size_t kAllSampled = 6;  // of so many tiles or fewer all are looked at

size_t U(int32_t id) { return static_cast<size_t>(id); }

// What `op` reads of `tensor` for a box of its space.
Box ReadOf(const Network& network, const Op& op, TensorId tensor, const Box& out, const Box& sum) {
  Box hull;
  bool any = false;
  const auto need = [&](TensorId read, const Box& box) {
    if (read != tensor) return;
    hull = any ? Hull(hull, box) : box;
    any = true;
  };
  ForEachRead(network, op, out, need, sum);
  return hull;
}

}  // namespace

int64_t TiledGroup::Room() const {
  return static_cast<int64_t>(options_->tile_share *
                              static_cast<double>(target_->machine.bytes_per_partition));
}

// Cuts once more, again and again, along the dimension that frees most room for the traffic that it
// costs, until a tile fits.
bool TiledGroup::TryCounts(bool with_sums, std::optional<size_t> first) {
  const std::vector<int64_t> space = Space(target_->network, members_[0].op);
  const size_t rank = ResultDimensions(target_->network, members_[0].op).size();
  std::vector<int64_t> counts(space.size(), 1);
  first_fastest_ = false;
  Cut(counts);
  int64_t footprint = Footprint(), traffic = Traffic();
  while (footprint > Room()) {
    if (options_->deadline.Passed()) return false;
    double best_score = 0;
    std::vector<int64_t> best;
    for (size_t d = 0; d < (with_sums ? space.size() : rank); ++d) {
      if (counts[d] >= space[d]) continue;
      if (first && d != *first && counts[*first] < space[*first]) continue;
      // Two tiles of halves, loaded in turns, take as much as one whole: then into quarters.
      for (const int64_t factor : {2, 4}) {
        std::vector<int64_t> finer = counts;
        finer[d] = std::min(space[d], counts[d] * factor);
        int64_t tiles = 1;
        for (int64_t count : finer) tiles *= count;
        if (tiles > static_cast<int64_t>(options_->most_tiles)) break;
        Cut(finer);
        const auto freed = static_cast<double>(footprint - Footprint());
        const auto cost = static_cast<double>(std::max<int64_t>(0, Traffic() - traffic));
        const double score = freed / (cost + 1);
        if ((freed > 0 || first == d) && (best.empty() || score > best_score)) {
          best_score = score;
          best = finer;
        }
        if (freed > 0) break;
      }
    }
    if (best.empty()) return false;
    counts = best;
    Cut(counts);
    footprint = Footprint();
    traffic = Traffic();
  }
  // What stays the same from one tile to the next is not loaded again: the order of loops decides.
  if (!members_[0].sums.empty()) return true;
  first_fastest_ = true;
  Cut(counts);
  if (Traffic() >= traffic) {
    first_fastest_ = false;
    Cut(counts);
  }
  return true;
}

std::vector<TiledGroup> TiledGroup::Starts(const Target& target, const GroupOptions& options,
                                           OpId op) {
  const Network& network = target.network;
  std::vector<TiledGroup> starts;
  if (!CanTile(network, network.ops[U(op)])) return starts;
  TiledGroup group(target, options);
  Member member;
  member.op = op;
  group.members_.push_back(std::move(member));
  group.place_[op] = 0;
  group.order_ = {0};
  const auto attempt = [&](bool with_sums, std::optional<size_t> first) {
    TiledGroup cut = group;
    if (!cut.TryCounts(with_sums, first)) return;
    for (const TiledGroup& other : starts) {
      if (other.counts_ == cut.counts_) return;
    }
    starts.push_back(std::move(cut));
  };
  attempt(false, std::nullopt);
  if (!options.try_all && !starts.empty()) return starts;
  const std::vector<int64_t>& dimensions = ResultDimensions(network, op);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] > 1) attempt(false, d);
  }
  if (!SumDimensions(network, network.ops[U(op)]).empty()) attempt(true, std::nullopt);
  return starts;
}

std::vector<OpId> TiledGroup::ops() const {
  std::vector<OpId> ops;
  for (const Member& member : members_) ops.push_back(member.op);
  return ops;
}

bool TiledGroup::Cut(const std::vector<int64_t>& counts) {
  counts_ = counts;
  const Network& network = target_->network;
  for (size_t p = 0; p < members_.size();) {
    size_t reader = p;
    while (reader + 1 < members_.size() && members_[reader].for_readers) ++reader;
    Member& member = members_[reader];
    if (member.from == kNone) {
      const std::vector<int64_t> space = Space(network, member.op);
      Split(space, ResultDimensions(network, member.op).size(), Grid(space, counts, first_fastest_),
            member.own, member.sums);
      member.in_a_row = member.sums.empty() || InARow(member.own);
    } else if (!Follow(member)) {
      return false;
    }
    for (size_t q = reader; q-- > p;) {
      if (!Provide(q, reader)) return false;
    }
    p = reader + 1;
  }
  // What is summed part by part is finished only after the last tile.
  for (const Member& member : members_) {
    for (size_t from : member.reads_from) {
      if (!members_[from].sums.empty()) return false;
    }
  }
  Sample();
  return true;
}

// Along which dimension of its space a cut narrows which dimension of the source: by trying.
bool TiledGroup::Follow(Member& member) const {
  const Network& network = target_->network;
  const Op& op = network.ops[U(member.op)];
  const std::vector<int64_t> space = Space(network, member.op);
  const size_t rank = ResultDimensions(network, member.op).size();
  const std::vector<int64_t>& in = network.tensors[U(member.from)].dimensions;
  const Member& producer = members_[place_.at(network.tensors[U(member.from)].producer)];
  const std::vector<Box>& source = producer.own;
  const auto read_of = [&](const Box& box) {
    std::vector<Box> own, sums;
    Split(space, rank, {box}, own, sums);
    return ReadOf(network, op, member.from, own[0], sums.empty() ? Box{} : sums[0]);
  };
  const Box whole = read_of(WholeBox(space));
  std::vector<int> follows(in.size(), -1);
  for (size_t e = 0; e < space.size(); ++e) {
    if (space[e] < 2) continue;
    Box half = WholeBox(space);
    half.high[e] = space[e] / 2;
    const Box narrowed = read_of(half);
    if (narrowed.low.empty()) continue;
    for (size_t d = 0; d < in.size(); ++d) {
      if (Extent(narrowed, d) < Extent(whole, d) && follows[d] < 0)
        follows[d] = static_cast<int>(e);
    }
  }
  std::vector<Box> boxes(source.size(), WholeBox(space));
  for (size_t d = 0; d < in.size(); ++d) {
    bool cut = false;
    for (const Box& box : source) cut = cut || Extent(box, d) != in[d];
    if (!cut) continue;
    if (follows[d] < 0) return false;
    const auto e = static_cast<size_t>(follows[d]);
    // The same shares, in proportion: the end of a share is the next one's beginning.
    const auto place = [&](int64_t at) { return at * space[e] / in[d]; };
    for (size_t t = 0; t < source.size(); ++t) {
      boxes[t].low[e] = std::max(boxes[t].low[e], place(source[t].low[d]));
      boxes[t].high[e] = std::min(boxes[t].high[e], place(source[t].high[d]));
      if (boxes[t].low[e] >= boxes[t].high[e]) return false;
    }
  }
  Split(space, rank, boxes, member.own, member.sums);
  member.in_a_row = member.sums.empty() || InARow(member.own);
  int64_t together = 0;
  for (const Box& box : boxes) together += Elements(box);
  // Sums must take each part once; results may be made twice, but none may be left out.
  return member.sums.empty() ? Covers(member.own, ResultDimensions(network, member.op))
                             : together == Elements(space) && InOrder(member.own, member.sums);
}

bool TiledGroup::Provide(size_t p, size_t reader) {
  const Network& network = target_->network;
  Member& member = members_[p];
  const std::vector<int64_t>& dimensions = ResultDimensions(network, member.op);
  member.own.assign(tiles(), Box{});
  member.sums.clear();
  for (size_t q = p + 1; q <= reader; ++q) {
    const Member& by = members_[q];
    for (size_t t = 0; t < tiles(); ++t) {
      const auto need = [&](TensorId tensor, const Box& box) {
        if (network.tensors[U(tensor)].producer != member.op || IsEmpty(box)) return;
        member.own[t] = member.own[t].low.size() == box.low.size() ? Hull(member.own[t], box) : box;
      };
      ForEachRead(network, OpOf(q), by.own[t], need, by.sums.empty() ? Box{} : by.sums[t]);
    }
  }
  for (const Box& box : member.own) {
    if (box.low.size() != dimensions.size() || IsEmpty(box)) return false;
  }
  return !member.whole || Covers(member.own, dimensions);
}

void TiledGroup::Sample() {
  const size_t count = tiles();
  sample_.clear();
  for (size_t t = 0; t < count; ++t) {
    if (count <= kAllSampled || t < 2 || t == count / 2 || t + 2 >= count) sample_.push_back(t);
  }
  for (Member& member : members_) {
    member.at.boxes.clear();
    for (size_t t : sample_) member.at.boxes.push_back(member.own[t]);
    ReadBoxes(member);
  }
  Infer();
}

void TiledGroup::ReadBoxes(Member& member) const {
  const Network& network = target_->network;
  const Op& op = network.ops[U(member.op)];
  member.at.reads.clear();
  std::unordered_map<TensorId, size_t> place;
  for (size_t s = 0; s < sample_.size(); ++s) {
    const auto need = [&](TensorId tensor, const Box& box) {
      const auto [found, fresh] = place.try_emplace(tensor, member.at.reads.size());
      if (fresh) member.at.reads.push_back({tensor, std::vector<Box>(sample_.size())});
      Box& known = member.at.reads[found->second].boxes[s];
      known = known.low.size() == box.low.size() ? Hull(known, box) : box;
    };
    ForEachRead(network, op, member.at.boxes[s], need,
                member.sums.empty() ? Box{} : member.sums[sample_[s]]);
  }
  member.at.result_bytes.assign(op.results.size(), 0);
  for (size_t r = 0; r < op.results.size(); ++r) {
    for (const Box& box : member.at.boxes) {
      member.at.result_bytes[r] =
          std::max(member.at.result_bytes[r],
                   target_->BufferBytes(op.results[r], ResultBox(network, op, r, box)));
    }
  }
  member.at.copy_bytes = 0;
  for (const Mismatch& copy : CopiesOf(*target_, op)) {
    int64_t most = 0;
    for (size_t s = 0; s < sample_.size(); ++s) {
      const Box sum = member.sums.empty() ? Box{} : member.sums[sample_[s]];
      most = std::max(most, CopyBytes(*target_, op, copy, member.at.boxes[s], sum));
    }
    member.at.copy_bytes += most;
  }
}

// Halos, backwards from what each operator's consumers in the group need.
void TiledGroup::Infer(std::vector<std::pair<size_t, Sampled>>* before) {
  std::vector<bool> stale(members_.size(), false);
  for (size_t p = members_.size(); p-- > 0;) {
    if (stale[p]) ReadBoxes(members_[p]);
    for (const Read& read : members_[p].at.reads) {
      const OpId producer = target_->network.tensors[U(read.tensor)].producer;
      const auto found = place_.find(producer);
      if (producer == kNone || found == place_.end()) continue;
      for (size_t s = 0; s < sample_.size(); ++s) {
        if (read.boxes[s].low.size() != members_[found->second].at.boxes[s].low.size()) continue;
        Box& needed = members_[found->second].at.boxes[s];
        if (memory::Contains(needed, read.boxes[s])) continue;
        if (before != nullptr && !stale[found->second]) {
          before->emplace_back(found->second, members_[found->second].at);
        }
        needed = Hull(needed, read.boxes[s]);
        stale[found->second] = true;
      }
    }
  }
}

bool TiledGroup::RecomputesTooMuch() const {
  for (const Member& member : members_) {
    int64_t computed = 0, once = 0, all = 0;
    for (const Box& box : member.at.boxes) computed += Elements(box);
    for (size_t t : sample_) once += Elements(member.own[t]);
    if (static_cast<double>(computed) > options_->most_recomputed * static_cast<double>(once)) {
      return true;
    }
    if (!member.for_readers || !member.sums.empty()) continue;
    for (const Box& box : member.own) all += Elements(box);
    const int64_t whole = Elements(ResultDimensions(target_->network, member.op));
    if (static_cast<double>(all) > options_->most_recomputed * static_cast<double>(whole)) {
      return true;
    }
  }
  return false;
}

bool TiledGroup::Join(const std::vector<OpId>& with, OpId id,
                      const std::function<bool(OpId)>& whole) {
  const Network& network = target_->network;
  if (members_.size() + with.size() >= options_->most_ops) return false;
  TensorId from = kNone;
  std::vector<OpId> all = with;
  all.push_back(id);
  for (OpId op : all) {
    if (!CanTile(network, network.ops[U(op)])) return false;
    for (ExprId input : network.ops[U(op)].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        const OpId producer = network.tensors[U(tensor)].producer;
        const auto found = producer == kNone ? place_.end() : place_.find(producer);
        if (found == place_.end()) continue;
        if (!members_[found->second].sums.empty()) return false;  // finished after the last tile
        if (op == id && (from == kNone ||
                         network.tensors[U(tensor)].Bytes() > network.tensors[U(from)].Bytes())) {
          from = tensor;
        }
      }
    }
  }
  if (from == kNone) return false;
  const size_t before = members_.size();
  const std::vector<size_t> old_order = order_;
  for (OpId op : all) {
    Member member;
    member.op = op;
    for (ExprId input : network.ops[U(op)].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        const auto found = place_.find(network.tensors[U(tensor)].producer);
        if (found != place_.end()) member.reads_from.push_back(found->second);
      }
    }
    for (ExprId input : network.ops[U(op)].inputs) {
      const TensorId operand = network.exprs[U(input)].tensor;
      if (operand == kNone || !CanTakeOver(*target_, network.ops[U(op)], operand)) continue;
      member.takes_over.push_back(operand);
    }
    member.from = op == id ? from : kNone;
    member.for_readers = op != id;
    member.whole = !member.for_readers || whole(op);
    place_[op] = members_.size();
    order_.push_back(members_.size());
    members_.push_back(std::move(member));
  }
  const std::vector<int64_t> old_counts = counts_;
  std::vector<std::pair<size_t, Sampled>> old;
  bool fits = false;
  // As it is cut, only the new members are looked at; what is needed more of the others follows.
  if (Follow(members_.back())) {
    bool provided = true;
    for (size_t q = members_.size() - 1; provided && q-- > before;) {
      provided = Provide(q, members_.size() - 1);
    }
    if (provided) {
      for (size_t p = before; p < members_.size(); ++p) {
        members_[p].at.boxes.clear();
        for (size_t t : sample_) members_[p].at.boxes.push_back(members_[p].own[t]);
        ReadBoxes(members_[p]);
      }
      Infer(&old);
      fits = !RecomputesTooMuch();
      for (int finer_cuts = 0; fits && !Fits(); ++finer_cuts) {
        // Finer along the dimension that is cut already, or the first that can be.
        const std::vector<int64_t> space = Space(network, members_[0].op);
        size_t finer = space.size();
        std::vector<int64_t> counts = counts_;
        for (size_t d = 0; d < space.size(); ++d) {
          if (d >= ResultDimensions(network, members_[0].op).size() && counts[d] == 1) continue;
          if (counts[d] * 2 <= space[d] && (finer == space.size() || counts[d] > counts[finer])) {
            finer = d;
          }
        }
        if (finer == space.size() || finer_cuts == 2 || tiles() * 2 > options_->most_tiles) {
          fits = false;
          break;
        }
        counts[finer] *= 2;
        fits = Cut(counts) && !RecomputesTooMuch();
      }
    }
  }
  if (fits) return true;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(before), members_.end());
  for (OpId op : all) place_.erase(op);
  order_ = old_order;
  if (counts_ != old_counts) {
    Cut(old_counts);
    return false;
  }
  for (auto& [p, sampled] : old) {
    if (p < before) members_[p].at = std::move(sampled);
  }
  return false;
}

Group TiledGroup::Finish() && {
  sample_.clear();
  for (size_t t = 0; t < tiles(); ++t) sample_.push_back(t);
  for (Member& member : members_) {
    member.at.boxes = member.own;
    ReadBoxes(member);
  }
  Infer();
  Group group;
  for (size_t p : order_) {
    Member& member = members_[p];
    group.ops.push_back(member.op);
    group.boxes.push_back(std::move(member.at.boxes));
    group.sums.push_back(std::move(member.sums));
    group.in_a_row.push_back(member.in_a_row);
  }
  return group;
}

}  // namespace hone::memory
