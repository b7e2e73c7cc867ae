// Names the rewrites that a pass offers, weighs them, and has each decided once.
#ifndef HONE_COMPILER_SITES_DECIDER_H_
#define HONE_COMPILER_SITES_DECIDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/sites/intercept.h"
#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_sharding.h"
#include "xla/service/hlo_cost_analysis.h"
#include "xla/shape.h"

namespace hone::compiler {

// A rewrite's own effect.
struct Effect {
  int64_t op_count = 0;
  double flops = 0;
  double bytes = 0;
  std::vector<const xla::HloInstruction*> added;    // operands first
  std::vector<const xla::HloInstruction*> removed;  // the original first
};

class Decider final : public RewriteObserver {
 public:
  struct Site {
    const Offer& offer;
    SiteKey place;
    SiteKey content;
    bool enabled;  // its original was made by an earlier rewrite of this run
  };
  // Asked once a site; may use EffectOf.
  using Decide = std::function<bool(Decider& decider, const Site& site)>;

  // Before the pass runs. Without `places` instructions are numbered as the module lists them:
  // cheaper, and enough where nothing is chosen by place.
  Decider(const xla::HloModule& module, bool places, Decide decide);

  Answer Ask(const Offer& offer) override;
  bool IsOriginal(const xla::HloInstruction* instruction) const override;
  int64_t made() const override { return made_; }
  int64_t declined() const { return declined_; }

  // The number of an original instruction; -1 for others.
  int64_t NumberOf(const xla::HloInstruction* instruction) const;
  Effect EffectOf(const Offer& offer);

  // After the pass: removes what declined rewrites have left without users.
  void CleanUp(xla::HloModule* module) const;

 private:
  struct Known {
    uint32_t number;
    uint64_t name;  // hashed: an address may be used again during a pass
  };
  // Broadcasts are changed in place, for a rewrite that is offered only then.
  struct Broadcast {
    xla::Shape shape;
    std::vector<int64_t> dimensions;
    std::shared_ptr<const xla::HloSharding> sharding;
  };
  struct Cost {
    double flops;
    double bytes;
  };

  Answer Decided(const Offer& offer);
  Answer AskNew(const Offer& offer);
  std::optional<bool> AsBefore(const Offer& offer);
  void Idle(const Offer& offer);  // notes what a declined rewrite leaves
  void PutBack(const Offer& offer);  // what a pass has changed in place before it asked
  std::vector<xla::HloInstruction*> ChangedFor(const Offer& offer) const;
  SiteKey ContentOf(const Offer& offer) const;
  Cost CostOf(const xla::HloInstruction* instruction);
  Effect FusionEffect(const Offer& offer);

  const Decide decide_;
  const int64_t most_offers_;
  absl::flat_hash_map<const xla::HloInstruction*, Known> originals_;
  absl::flat_hash_map<const xla::HloInstruction*, Broadcast> broadcasts_;
  absl::flat_hash_set<const xla::HloComputation*> computations_;
  absl::flat_hash_map<SiteKey, bool> decided_;  // by place
  absl::flat_hash_map<SiteKey, uint32_t> made_contents_;  // of instructions that are not original
  // Made for declined rewrites: as users they do not count.
  absl::flat_hash_set<const xla::HloInstruction*> idle_;
  xla::HloCostAnalysis costs_;
  // Instructions whose changes are decided together, and how: see AsBefore.
  std::vector<const xla::HloInstruction*> together_;
  bool together_made_ = false;
  absl::flat_hash_set<const xla::HloInstruction*> replaced_;  // everywhere: removing them follows
  bool fuses_ = false;   // a fusion pass: what follows upon a fusion is part of it
  int64_t made_ = 0;
  int64_t declined_ = 0;
  int64_t repeats_ = 0;  // declined sites offered again, since the last one that was new
  int64_t offers_ = 0;   // since the first that was declined
};

// The decision that a plan makes about a site.
bool Chosen(const Decisions& decisions, Decider& decider, const Decider::Site& site);

// HLO text of one instruction, without what differs between equal ones.
std::string ShortText(const xla::HloInstruction& instruction);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_DECIDER_H_
