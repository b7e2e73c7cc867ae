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
#include <variant>
#include <vector>

#include "core/rewrite.h"
#include "env/env_base.h"
#include "env/rewrites_view.h"

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

// kSites: a site's number, or max_sites to go on; a site that is not offered changes nothing.
// kBatch: whether each of max_sites sites is made; those beyond the listing mean nothing.
using RewriteAction = std::variant<int64_t, std::vector<bool>>;

// Where no pass offers anything, the episode ends with the first step.
class RewritesEnv : public EnvBase<RewritesEnv, RewriteAction> {
 public:
  // Number `index` of `count` environments that share the session; it works on one worker of it.
  // Errors: a bad option.
  static StatusOr<RewritesEnv> Make(std::shared_ptr<Session> session,
                                    const RewritesEnvOptions& options, size_t index = 0,
                                    size_t count = 1);
  // All `count` of them.
  static StatusOr<std::vector<RewritesEnv>> MakeMany(const std::shared_ptr<Session>& session,
                                                     const RewritesEnvOptions& options,
                                                     size_t count);

  // A reset or a step in parts. While they return true, Work is due on a thread of worker().
  StatusOr<bool> BeginReset(std::optional<uint64_t> seed, std::optional<size_t> program);
  StatusOr<bool> BeginStep(const RewriteAction& action);
  void Work(RemoteWorker& remote);
  StatusOr<bool> Continue();

  const std::vector<RewriteAction>& Taken() const { return taken_; }
  const RewritesEnvOptions& options() const { return options_; }
  const std::vector<PassId>& pipeline() const { return pipeline_; }
  int64_t steps() const { return static_cast<int64_t>(view_.actions.size()); }
  size_t position() const { return position_; }  // of the pass whose turn it is
  int loop() const { return loop_; }             // from 0
  // The rewrites that this pass offers; empty when the episode is over.
  const std::shared_ptr<const Rewrites>& listing() const { return listing_; }
  bool listing_truncated() const;  // it has more than max_sites
  // max_sites of them, and in kSites one more, to go on, that is always allowed.
  std::vector<bool> ActionMask() const;
  RewritesView Seen() const;
  std::vector<float> SiteFeatures() const;  // WriteSites, [max_sites, kSiteFeatureCount]

 private:
  enum class Phase { kIdle, kLoading, kApplying, kLooking, kListing, kTiming };

  RewritesEnv(std::shared_ptr<Session> session, const RewritesEnvOptions& options,
              std::vector<PassId> pipeline, size_t index, size_t count);

  StatusOr<bool> EnterSeen();
  StatusOr<bool> Act(DecisionsPtr decisions, bool go_on);
  void TakeStep(const hone::Step& step);
  bool GoOn();
  bool Settle();
  bool Finish();
  bool Wait(Phase phase);
  void TakeListing();
  void NextPass();
  bool Offered(size_t site) const;
  bool AnyOffered() const;
  Status Check(const RewriteAction& action) const;
  DecisionsPtr DecideOne(int64_t action) const;
  DecisionsPtr Decide(const std::vector<bool>& accept) const;

  RewritesEnvOptions options_;
  std::vector<PassId> pipeline_;
  std::vector<RewriteAction> taken_;
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

  // The step or reset in hand, and the answers that Work got for it.
  Phase phase_ = Phase::kIdle;
  bool resetting_ = false;
  bool step_failed_ = false;
  DecisionsPtr decisions_;
  bool go_on_ = false;   // to the next pass, once they are made
  bool unseen_ = false;  // the arrays are not of this state
  bool listed_ = false;  // the listing is of this state and pass
  StatusOr<Applied> applied_;
  StatusOr<ProgramArrays> arrays_;
  StatusOr<Rewrites> rewrites_;
  StatusOr<ProgramGraph> described_;
  StatusOr<RunTimeReport> timed_;
};

}  // namespace hone

#endif  // HONE_ENV_REWRITES_ENV_H_
