// Cutting operators into tiles, alone and together with their neighbours.
#ifndef HONE_MEMORY_PLANNING_TILE_H_
#define HONE_MEMORY_PLANNING_TILE_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "memory/access.h"
#include "memory/planning/groups.h"

namespace hone::memory {

// A group while it grows. Tiles are cut along dimensions of the first operator's result, and of
// what it sums over; other operators' tiles follow through the accesses that join them to the
// group. While it grows a few tiles stand for all: the first, the last, and some between.
class TiledGroup {
 public:
  // Ways to cut an operator: along each dimension alone as far as that will do, and as its own
  // traffic is least. Empty where no tiling fits.
  static std::vector<TiledGroup> Starts(const Target& target, const GroupOptions& options, OpId op);

  // Adds an operator that reads a tensor of the group, cutting finer where it must; and before it
  // those of `with`, in their order, which it reads but which have nothing to do with the group so
  // far: they are computed as far as each tile needs them. False, and no change, where its tiles do
  // not follow, too much would be computed twice, or it does not fit.
  // `whole`: whether all of an operator's result is needed, by others than these and the group.
  bool Join(const std::vector<OpId>& with, OpId op, const std::function<bool(OpId)>& whole);

  bool Contains(OpId op) const { return place_.contains(op); }
  const std::vector<int64_t>& counts() const { return counts_; }
  std::vector<OpId> ops() const;
  // Bytes from outside beyond what loading everything once would take, estimated from some tiles.
  double Excess() const;
  Group Finish() &&;

 private:
  // What a member reads of one tensor, in each sampled tile.
  struct Read {
    TensorId tensor = kNone;
    std::vector<Box> boxes;
  };
  struct Sampled {
    std::vector<Box> boxes;             // with halos
    std::vector<Read> reads;            // for these
    std::vector<int64_t> result_bytes;  // the most of all tiles
    int64_t copy_bytes = 0;             // of operands for its engine
  };
  struct Member {
    OpId op = kNone;
    TensorId from = kNone;  // the group's tensor that its tiles follow; kNone for the first
    std::vector<size_t> reads_from;    // members
    std::vector<TensorId> takes_over;  // operands where its result may lie
    bool for_readers = false;          // computed as far as the next member that is not so needs
    bool whole = true;                 // all of it, where it is for readers
    // Its share of the results and of its sum, tile by tile, before halos; `sums` is empty where
    // every tile has the whole sum.
    std::vector<Box> own;
    std::vector<Box> sums;
    bool in_a_row = true;  // tiles with the same share of the results follow upon each other
    Sampled at;
  };

  TiledGroup(const Target& target, const GroupOptions& options)
      : target_(&target), options_(&options) {}

  bool Cut(const std::vector<int64_t>& counts);
  bool Follow(Member& member) const;
  // The share of a member for readers, from those of the members up to `reader`.
  bool Provide(size_t member, size_t reader);
  void ReadBoxes(Member& member) const;
  void Sample();
  // Keeps what it changes in `before`, where that is given.
  void Infer(std::vector<std::pair<size_t, Sampled>>* before = nullptr);
  bool RecomputesTooMuch() const;
  int64_t Footprint() const { return Footprint(order_); }
  int64_t Footprint(const std::vector<size_t>& order) const;
  // Of the members that are ready, always the one that leaves least on the chip.
  std::vector<size_t> PeakAwareOrder() const;
  bool Fits();
  int64_t Traffic() const;
  int64_t Room() const;
  // `first`: the dimension of the first operator's space that is cut first, as far as it goes.
  bool TryCounts(bool with_sums, std::optional<size_t> first);
  const Op& OpOf(size_t member) const {
    return target_->network.ops[static_cast<size_t>(members_[member].op)];
  }
  size_t tiles() const { return members_[0].own.size(); }

  const Target* target_;
  const GroupOptions* options_;
  std::vector<int64_t> counts_;
  bool first_fastest_ = false;  // order of tiles
  std::vector<Member> members_;
  std::unordered_map<OpId, size_t> place_;  // in members_
  std::vector<size_t> order_;               // of execution
  std::vector<size_t> sample_;              // tiles
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_TILE_H_
