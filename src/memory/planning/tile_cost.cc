// What a group of tiles takes on the chip, and what it moves.
#include <algorithm>
#include <unordered_set>

#include "memory/access.h"
#include "memory/planning/tile.h"

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

}  // namespace

// Everything at once, as if nothing in a tile died before its end, is too much to ask; so results
// count from where they are computed to their last reader, and what comes from outside as twice its
// largest tile, or once where all tiles read the same. Sums of parts stay throughout: as a whole,
// where a tile goes on with what an earlier one has left.
int64_t TiledGroup::Footprint(const std::vector<size_t>& order) const {
  const size_t count = members_.size();
  struct Life {
    int64_t bytes = 0;
    size_t first = 0, last = 0;
    bool taken = false;  // by its last reader, whose result lies there then
  };
  struct Outside {
    int64_t bytes = 0;
    const Box* box = nullptr;
    bool varies = false;
  };
  std::unordered_map<TensorId, Life> inside;
  std::unordered_map<TensorId, Outside> outside;
  int64_t fixed = 0;
  std::vector<int64_t> copies(count, 0);
  for (size_t p = 0; p < count; ++p) {  // places in the order
    const Member& member = members_[order[p]];
    const Op& op = OpOf(order[p]);
    for (size_t r = 0; r < op.results.size(); ++r) {
      if (member.sums.empty()) {
        inside[op.results[r]] = {member.at.result_bytes[r], p, p, false};
      } else {
        const Box whole = WholeBox(target_->network.tensors[U(op.results[r])].dimensions);
        fixed += member.in_a_row ? member.at.result_bytes[r]
                                 : target_->BufferBytes(op.results[r], whole);
      }
    }
    copies[p] = member.at.copy_bytes;
    for (const Read& read : member.at.reads) {
      if (const auto found = inside.find(read.tensor); found != inside.end()) {
        found->second.last = p;
        found->second.taken = std::find(member.takes_over.begin(), member.takes_over.end(),
                                        read.tensor) != member.takes_over.end();
        continue;
      }
      Outside& from = outside[read.tensor];
      for (const Box& box : read.boxes) {
        if (box.low.empty()) continue;
        if (from.box != nullptr && !(*from.box == box)) from.varies = true;
        from.box = &box;
        from.bytes = std::max(from.bytes, target_->BufferBytes(read.tensor, box));
      }
    }
  }
  for (const auto& [tensor, from] : outside) fixed += from.bytes * (from.varies ? 2 : 1);
  std::vector<int64_t> change(count + 2, 0);
  std::unordered_set<size_t> takers;  // each takes over one operand
  for (const auto& [tensor, life] : inside) {
    change[life.first] += life.bytes;
    const bool taken = life.taken && takers.insert(life.last).second;
    change[life.last + (taken ? 0 : 1)] -= life.bytes;
  }
  for (size_t p = 0; p < count; ++p) {
    change[p] += copies[p];
    change[p + 1] -= copies[p];
  }
  int64_t live = 0, peak = 0;
  for (int64_t c : change) peak = std::max(peak, live += c);
  return fixed + peak;
}

std::vector<size_t> TiledGroup::PeakAwareOrder() const {
  const size_t count = members_.size();
  std::vector<std::vector<size_t>> reads(count), readers(count);
  std::vector<size_t> unread(count, 0), waiting_for(count, 0);
  std::vector<int64_t> bytes(count, 0);
  for (size_t p = 0; p < count; ++p) {
    for (int64_t result : members_[p].at.result_bytes) bytes[p] += result;
    if (!members_[p].sums.empty()) bytes[p] = 0;  // there throughout
    for (const Read& read : members_[p].at.reads) {
      const OpId producer = target_->network.tensors[U(read.tensor)].producer;
      const auto found = producer == kNone ? place_.end() : place_.find(producer);
      if (found == place_.end()) continue;
      const size_t from = found->second;
      if (std::find(reads[p].begin(), reads[p].end(), from) != reads[p].end()) continue;
      reads[p].push_back(from);
      readers[from].push_back(p);
      ++unread[from];
      ++waiting_for[p];
    }
  }
  std::vector<size_t> ready, order;
  for (size_t p = 0; p < count; ++p) {
    if (waiting_for[p] == 0) ready.push_back(p);
  }
  while (!ready.empty()) {
    size_t best = 0;
    int64_t least = 0;
    for (size_t k = 0; k < ready.size(); ++k) {
      int64_t growth = readers[ready[k]].empty() ? 0 : bytes[ready[k]];
      for (size_t from : reads[ready[k]]) growth -= unread[from] == 1 ? bytes[from] : 0;
      if (k > 0 && (growth > least || (growth == least && ready[k] > ready[best]))) continue;
      best = k;
      least = growth;
    }
    const size_t p = ready[best];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
    order.push_back(p);
    for (size_t from : reads[p]) --unread[from];
    for (size_t reader : readers[p]) {
      if (--waiting_for[reader] == 0) ready.push_back(reader);
    }
  }
  return order;
}

// Whether a tile fits into its share, in the order at hand or in one with a lower peak.
bool TiledGroup::Fits() {
  const int64_t footprint = Footprint();
  if (footprint <= Room()) return true;
  std::vector<size_t> order = PeakAwareOrder();
  if (Footprint(order) >= footprint) return false;
  order_ = std::move(order);
  return Footprint() <= Room();
}

// Of the first operator alone: bytes that come from outside, tile after tile; what stays the same
// from one to the next, once.
int64_t TiledGroup::Traffic() const {
  const Network& network = target_->network;
  const Member& member = members_[0];
  int64_t bytes = 0;
  Needs before;
  for (size_t t = 0; t < tiles(); ++t) {
    Needs now;
    const auto need = [&](TensorId tensor, const Box& box) {
      const auto [place, fresh] = now.try_emplace(tensor, box);
      if (!fresh) place->second = Hull(place->second, box);
    };
    ForEachRead(network, OpOf(0), member.own[t], need,
                member.sums.empty() ? Box{} : member.sums[t]);
    for (const auto& [tensor, box] : now) {
      const auto found = before.find(tensor);
      if (found != before.end() && found->second == box) continue;
      bytes += Elements(box) * network.tensors[U(tensor)].element_bytes;
    }
    before = std::move(now);
  }
  return bytes;
}

double TiledGroup::Excess() const {
  const Network& network = target_->network;
  // How many tiles follow upon each other with the same box, where two neighbours have it.
  const int64_t inner = first_fastest_ ? counts_.front() : counts_.back();
  double excess = 0;
  std::unordered_set<TensorId> seen;
  for (const Member& member : members_) {
    for (const Read& read : member.at.reads) {
      const OpId producer = network.tensors[U(read.tensor)].producer;
      if (producer != kNone && place_.contains(producer)) continue;
      if (!seen.insert(read.tensor).second) continue;
      int64_t elements = 0;
      Box hull;
      bool varies = false;
      for (const Box& box : read.boxes) {
        elements += Elements(box);
        varies = varies || !(box == read.boxes[0]);
        hull = hull.low.size() == box.low.size() ? Hull(hull, box) : box;
      }
      if (!varies) continue;
      const bool runs = read.boxes.size() > 1 && read.boxes[0] == read.boxes[1];
      const double all = static_cast<double>(elements) / static_cast<double>(sample_.size()) *
                         static_cast<double>(tiles()) / static_cast<double>(runs ? inner : 1);
      const double more = all - static_cast<double>(Elements(hull));
      excess +=
          std::max(0.0, more) * static_cast<double>(network.tensors[U(read.tensor)].element_bytes);
    }
  }
  return excess;
}

}  // namespace hone::memory
