// Cutting operators into tiles, alone and together with their neighbours.
#ifndef HONE_MEMORY_PLANNING_TILE_H_
#define HONE_MEMORY_PLANNING_TILE_H_

#include <optional>
#include <set>
#include <vector>

#include "memory/planning/groups.h"

namespace hone::memory {

// A group while it grows. Tiles are cut along dimensions of the first operator's result; every
// other operator's tiles follow through the accesses that join it to the group.
class TiledGroup {
 public:
  // Nothing where no tiling fits.
  static std::optional<TiledGroup> Start(const Target& target, const GroupOptions& options,
                                         OpId op);

  // Adds an operator that reads a tensor of the group, cutting finer where it must. False, and no
  // change, where its tiles do not follow, too much would be computed twice, or it does not fit.
  bool Join(OpId op);

  bool Contains(OpId op) const { return members_.contains(op); }
  Group Finish() &&;

 private:
  struct Member {
    OpId op;
    TensorId from = kNone;  // the group's tensor that its tiles follow; kNone for the first
    std::vector<Box> own;   // its share of the result, tile by tile, before halos
  };

  TiledGroup(const Target& target, const GroupOptions& options)
      : target_(&target), options_(&options) {}

  // Cuts everything by counts along the first operator's dimensions.
  bool Cut(const std::vector<int64_t>& counts);
  bool Follow(Member& member, const std::vector<Box>& source);
  // Halos, backwards from what each operator's consumers in the group need.
  void Infer();
  bool RecomputesTooMuch() const;
  int64_t Footprint() const;
  int64_t Traffic() const;

  const Target* target_;
  const GroupOptions* options_;
  std::vector<int64_t> counts_;
  bool first_fastest_ = false;  // order of tiles
  std::vector<Member> members_list_;
  std::set<OpId> members_;
  std::vector<std::vector<Box>> boxes_;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_TILE_H_
