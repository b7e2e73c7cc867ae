// Rewrites of a pipeline of passes as a reinforcement-learning environment (HloEnv, Oh et al. 2022:
// the AltPipeline, without its patched compiler).
//
// The passes of the pipeline have their turns, one after the other. Each lists what it would do to
// the program as it stands, and the agent says what of it is done. A pass that offers nothing is
// passed over. After the last one the pipeline begins again, `loops` times in all, or ends where a
// whole round changed nothing.
#ifndef HONE_ENV_REWRITES_ENV_H_
#define HONE_ENV_REWRITES_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/rewrite.h"
#include "env/episode.h"

namespace hone {

enum class RewriteMode {
  kSites,  // an action makes one rewrite, after which the pass lists anew; the last one goes on
  kBatch,  // an action says of every listed rewrite whether it is made, and goes on
};

struct RewritesEnvOptions {
  // Passes and sets (ActionSet) with commas between them, in order, repeats included; empty for
  // those of the session.
  std::string pipeline;
  int loops = 1;
  RewriteMode mode = RewriteMode::kSites;
  int max_sites = 128;  // of a listing that can be acted on; those beyond are declined
  bool texts = true;    // of the sites; the opcode of a replacement is read from them
  // kBatch: what comes up because of accepted rewrites, and was not listed, is made too. So to
  // accept all is to run the pass.
  bool enabled = true;
};

// A site in numbers, in this order.
inline constexpr const char* kSiteFeatures[] = {
    "kind",                // RewriteKind
    "status",              // SiteStatus
    "opcode",              // the original's, index into Pool::opcodes()
    "replacement_opcode",  // of the replacement's root; -1 where nothing takes its place, or
                           // unknown
    "delta_op_count",      // over the program's op count as loaded
    "delta_flops",         // over its flops
    "delta_bytes",         // over its bytes accessed
    "conflicts",           // pairs of Rewrites::conflicts that it is in, over the sites listed
    "node",                // of ProgramArrays; -1 without ObservationOptions::graph
};
inline constexpr size_t kSiteFeatureCount = std::size(kSiteFeatures);

class RewritesEnv : public Episode {
 public:
  // Number `index` of `count` environments that share the session; it works on one worker of it.
  // Errors: a bad option.
  static StatusOr<std::unique_ptr<RewritesEnv>> Make(std::shared_ptr<Session> session,
                                                     const RewritesEnvOptions& options,
                                                     size_t index = 0, size_t count = 1);

  // As PassOrderEnv. Where no pass offers anything, the episode ends with the first step.
  Status Reset(std::optional<uint64_t> seed = {}, std::optional<size_t> program = {});
  // kSites: a site's number, or max_sites to go on. A site that is not offered changes nothing.
  // Errors: an action that there is not, an episode that is over. What a compiler does is none.
  StatusOr<Outcome> Step(int64_t action);
  // kBatch: one for each site; those beyond the listing mean nothing.
  StatusOr<Outcome> Step(const std::vector<bool>& accept);

  const RewritesEnvOptions& options() const { return options_; }
  const std::vector<PassId>& pipeline() const { return pipeline_; }
  int64_t steps() const { return static_cast<int64_t>(view_.actions.size()); }
  size_t position() const { return position_; }  // of the pass whose turn it is
  int loop() const { return loop_; }             // from 0
  // What that pass offers; empty when the episode is over.
  const std::shared_ptr<const Rewrites>& listing() const { return listing_; }
  bool listing_truncated() const;  // it has more than max_sites
  // max_sites of them, and in kSites one more, to go on, that is always allowed.
  std::vector<bool> ActionMask() const;
  // [max_sites, kSiteFeatureCount], row-major; zeros beyond the listing.
  std::vector<float> SiteFeatures() const;

 private:
  RewritesEnv(std::shared_ptr<Session> session, const RewritesEnvOptions& options,
              std::vector<PassId> pipeline, size_t index, size_t count);

  StatusOr<Outcome> Act(const DecisionsPtr& decisions, bool go_on);
  void Apply(RemoteWorker& remote, const DecisionsPtr& decisions);
  void List(RemoteWorker& remote);
  void Settle(RemoteWorker& remote, bool listed);
  void Look(RemoteWorker& remote);
  void NextPass();
  bool Offered(size_t site) const;
  DecisionsPtr Decide(const std::vector<bool>& accept) const;

  const RewritesEnvOptions options_;
  const std::vector<PassId> pipeline_;
  bool nothing_ = false;  // no pass offered anything from the start
  size_t position_ = 0;
  int loop_ = 0;
  bool changed_in_loop_ = false;
  std::shared_ptr<const Rewrites> listing_;
  std::vector<int32_t> nodes_;  // of the listing's sites, where there are arrays
  // In this turn of this pass: places that changed nothing in this state, and the looks of what
  // failed in any. They are not offered again.
  std::set<SiteKey> idle_;
  std::set<SiteKey> failed_;
};

}  // namespace hone

#endif  // HONE_ENV_REWRITES_ENV_H_
