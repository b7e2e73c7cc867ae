#include "env/rewrites_env.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "env/alternatives.h"
#include "env/pass_order.h"

namespace hone {

StatusOr<RewritesEnv> RewritesEnv::Make(std::shared_ptr<Session> session,
                                        const RewritesEnvOptions& options, size_t index,
                                        size_t count) {
  if (options.max_sites < 1) {
    return MakeError(ErrorCode::kInvalidInput, "max_sites must be at least 1");
  }
  if (options.loops < 1) return MakeError(ErrorCode::kInvalidInput, "loops must be at least 1");
  std::vector<PassId> pipeline;
  if (options.pipeline.empty()) pipeline = session->actions();
  std::stringstream names(options.pipeline);
  for (std::string name; std::getline(names, name, ',');) {
    const StatusOr<std::vector<PassId>> passes = ActionSet(session->pool().passes(), name);
    if (!passes) return tl::unexpected(passes.error());
    pipeline.insert(pipeline.end(), passes->begin(), passes->end());
  }
  return RewritesEnv(std::move(session), options, std::move(pipeline), index, count);
}

StatusOr<std::vector<RewritesEnv>> RewritesEnv::MakeMany(const std::shared_ptr<Session>& session,
                                                         const RewritesEnvOptions& options,
                                                         size_t count) {
  std::vector<RewritesEnv> made;
  for (size_t i = 0; i < count; ++i) {
    StatusOr<RewritesEnv> env = Make(session, options, i, count);
    if (!env) return tl::unexpected(env.error());
    made.push_back(*std::move(env));
  }
  return made;
}

RewritesEnv::RewritesEnv(std::shared_ptr<Session> session, const RewritesEnvOptions& options,
                         std::vector<PassId> pipeline, size_t index, size_t count)
    : EnvBase(std::move(session), index, count),
      options_(options),
      pipeline_(std::move(pipeline)),
      listing_(std::make_shared<const Rewrites>()) {}

StatusOr<bool> RewritesEnv::BeginReset(std::optional<uint64_t> seed,
                                       std::optional<size_t> program) {
  if (Status begun = Begin(seed, program); !begun) return tl::unexpected(begun.error());
  resetting_ = true;
  step_failed_ = false;
  nothing_ = false;
  taken_.clear();
  position_ = 0;
  loop_ = 0;
  changed_in_loop_ = false;
  idle_.clear();
  failed_.clear();
  return EnterSeen();
}

// Begins the episode, or finds what has to be loaded for it.
StatusOr<bool> RewritesEnv::EnterSeen() {
  const StatusOr<bool> entered = Enter();
  if (!entered) return entered;
  if (!*entered) return Wait(Phase::kLoading);
  running_ = true;
  unseen_ = session_->options().observation.graph;
  listed_ = false;
  return Settle();
}

Status RewritesEnv::Check(const RewriteAction& action) const {
  const auto bad = [](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput, what);
  };
  const bool sites = options_.mode == RewriteMode::kSites;
  if (const auto* site = std::get_if<int64_t>(&action)) {
    if (!sites) return bad("an action is one answer for each site here");
    if (*site >= 0 && *site <= options_.max_sites) return {};
    return bad("there is no action " + std::to_string(*site) + ": there are " +
               std::to_string(options_.max_sites + 1));
  }
  if (sites) return bad("an action is the number of a site here");
  const size_t answers = std::get<std::vector<bool>>(action).size();
  if (answers == static_cast<size_t>(options_.max_sites)) return {};
  return bad("an action has " + std::to_string(options_.max_sites) + " answers, not " +
             std::to_string(answers));
}

StatusOr<bool> RewritesEnv::BeginStep(const RewriteAction& action) {
  if (Status fine = Check(action); !fine) return tl::unexpected(fine.error());
  const auto* site = std::get_if<int64_t>(&action);
  const auto* accept = std::get_if<std::vector<bool>>(&action);
  const int64_t number = site != nullptr ? *site : std::count(accept->begin(), accept->end(), true);
  if (Status begun = Episode::BeginStep(number); !begun) return tl::unexpected(begun.error());
  taken_.push_back(action);
  if (accept != nullptr) return Act(Decide(*accept), /*go_on=*/true);
  return Act(DecideOne(*site), /*go_on=*/*site == options_.max_sites);
}

// Null for the action that goes on, and for a site that is not offered.
DecisionsPtr RewritesEnv::DecideOne(int64_t action) const {
  const auto site = static_cast<size_t>(action);
  if (!Offered(site)) return nullptr;
  auto decisions = std::make_shared<Decisions>();
  decisions->otherwise = Otherwise::kDecline;
  decisions->choices.push_back({listing_->sites[site].place, true});
  return decisions;
}

// Null where nothing is accepted.
DecisionsPtr RewritesEnv::Decide(const std::vector<bool>& accept) const {
  std::vector<bool> accepted(listing_->sites.size());
  for (size_t i = 0; i < accepted.size(); ++i) accepted[i] = i < accept.size() && accept[i];
  const auto count = static_cast<size_t>(std::count(accepted.begin(), accepted.end(), true));
  if (count == 0) return nullptr;
  auto decisions = std::make_shared<Decisions>();
  if (!options_.enabled) decisions->otherwise = Otherwise::kDecline;
  // All of a listing is the pass itself, unless what it enables is not wanted.
  for (size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i] != options_.enabled) {
      decisions->choices.push_back({listing_->sites[i].place, accepted[i]});
    }
  }
  std::sort(decisions->choices.begin(), decisions->choices.end(),
            [](const SiteChoice& a, const SiteChoice& b) { return a.key < b.key; });
  return decisions;
}

// Makes the rewrites, where there are any, and goes on to where the next decision is due.
StatusOr<bool> RewritesEnv::Act(DecisionsPtr decisions, bool go_on) {
  resetting_ = false;
  step_failed_ = false;
  decisions_ = std::move(decisions);
  go_on_ = go_on;
  if (decisions_ == nullptr) {
    outcome_.looked = !go_on;
    return GoOn();
  }
  const auto known =
      session_->Find(view_.program, view_.fingerprint, pipeline_[position_], decisions_->Hash());
  if (!known) return Wait(Phase::kApplying);
  outcome_.looked = true;
  TakeStep(known->step);
  return GoOn();
}

void RewritesEnv::TakeStep(const hone::Step& step) {
  Arrive(step, decisions_);
  step_failed_ = !step.failure.empty();
  if (step.changed) {
    changed_in_loop_ = true;
    idle_.clear();
    return;
  }
  for (const SiteChoice& choice : decisions_->choices) {
    if (!choice.accept) continue;
    idle_.insert(choice.key);
    if (!step_failed_) continue;
    for (const RewriteSite& site : listing_->sites) {
      if (site.place == choice.key) failed_.insert(site.content);
    }
  }
}

// After the rewrites are made.
bool RewritesEnv::GoOn() {
  listed_ = !go_on_ && !outcome_.changed;
  unseen_ = outcome_.changed && session_->options().observation.graph;
  if (go_on_) NextPass();
  if (nothing_) running_ = false;
  return Settle();
}

// Goes on while nothing is offered, and says whether a worker has to tell what is seen or offered.
bool RewritesEnv::Settle() {
  if (unseen_) return Wait(Phase::kLooking);
  while (running_) {
    if (!listed_) {
      nodes_.clear();
      // A listing names instructions, and states of equal fingerprint may have given them other
      // names: where names are looked up, a listing is of the very state.
      auto known = view_.arrays != nullptr ? nullptr
                                           : session_->FindListing(view_.program, view_.fingerprint,
                                                                   pipeline_[position_]);
      if (known == nullptr) return Wait(Phase::kListing);
      listing_ = std::move(known);
      listed_ = true;
    }
    if (AnyOffered()) return Finish();
    NextPass();
  }
  listing_ = std::make_shared<const Rewrites>();
  nodes_.clear();
  return Finish();
}

// Ends the reset or the step.
bool RewritesEnv::Finish() {
  if (resetting_) {
    // An episode has at least one step, for a reset cannot end it.
    nothing_ = !std::exchange(running_, true);
    return false;
  }
  EndStep(/*terminated=*/!running_);
  if (NeedsRunTime()) return Wait(Phase::kTiming);
  Pay(step_failed_);
  return false;
}

// Work is due.
bool RewritesEnv::Wait(Phase phase) {
  phase_ = phase;
  return true;
}

void RewritesEnv::Work(RemoteWorker& remote) {
  switch (phase_) {
    case Phase::kIdle:
      return;
    case Phase::kLoading:
      (void)session_->Load(view_.program, remote);  // Enter says why it cannot be
      return;
    case Phase::kApplying:
      applied_ = remote.Apply(Request(pipeline_[position_], decisions_));
      return;
    case Phase::kLooking:
      arrays_ = remote.Arrays(view_.state);
      return;
    case Phase::kListing: {
      RewritesOptions options;
      options.texts = options_.texts;
      rewrites_ = remote.ListRewrites(view_.state, pipeline_[position_], options);
      const bool nodes = view_.arrays != nullptr && rewrites_ && !rewrites_->sites.empty();
      if (nodes) described_ = remote.Describe(view_.state);
      return;
    }
    case Phase::kTiming:
      timed_ = remote.RunTime(view_.state, {});
      return;
  }
}

StatusOr<bool> RewritesEnv::Continue() {
  switch (std::exchange(phase_, Phase::kIdle)) {
    case Phase::kIdle:
      return false;
    case Phase::kLoading:
      return EnterSeen();
    case Phase::kApplying:
      TakeStep(Take(pipeline_[position_], decisions_, std::move(applied_)));
      return GoOn();
    case Phase::kLooking:
      unseen_ = false;
      if (arrays_) {
        view_.arrays = std::make_shared<const ProgramArrays>(*std::move(arrays_));
      } else {
        outcome_.error = arrays_.error().message;
      }
      return Settle();
    case Phase::kListing:
      TakeListing();
      return Settle();
    case Phase::kTiming:
      TakeRunTime(timed_);
      Pay(step_failed_);
      return false;
  }
  return false;
}

// What the pass whose turn it is would do. Where it cannot tell, that is nothing.
void RewritesEnv::TakeListing() {
  const PassId pass = pipeline_[position_];
  if (!rewrites_) {
    const std::string& name = session_->pool().passes()[pass].name;
    if (outcome_.error.empty()) {
      outcome_.error = "the rewrites of " + name + ": " + rewrites_.error().message;
    }
    rewrites_ = Rewrites();
    rewrites_->state = view_.fingerprint;
  }
  listing_ = std::make_shared<const Rewrites>(*std::move(rewrites_));
  listed_ = true;
  if (view_.arrays == nullptr) {
    session_->RecordListing(view_.program, view_.fingerprint, pass, listing_);
  } else if (!listing_->sites.empty() && described_) {
    nodes_ = NodesOfSites(*described_, *listing_);
  }
}

void RewritesEnv::NextPass() {
  idle_.clear();
  failed_.clear();
  listed_ = false;
  if (++position_ < pipeline_.size()) return;
  position_ = 0;
  if (++loop_ >= options_.loops || !std::exchange(changed_in_loop_, false)) running_ = false;
}

bool RewritesEnv::Offered(size_t site) const {
  if (site >= listing_->sites.size() || site >= static_cast<size_t>(options_.max_sites)) {
    return false;
  }
  const RewriteSite& named = listing_->sites[site];
  return !idle_.contains(named.place) && !failed_.contains(named.content);
}

bool RewritesEnv::AnyOffered() const {
  for (size_t site = 0; site < listing_->sites.size(); ++site) {
    if (Offered(site)) return true;
  }
  return false;
}

bool RewritesEnv::listing_truncated() const {
  return listing_->sites.size() > static_cast<size_t>(options_.max_sites);
}

std::vector<bool> RewritesEnv::ActionMask() const {
  std::vector<bool> mask;
  for (size_t i = 0; i < static_cast<size_t>(options_.max_sites); ++i) mask.push_back(Offered(i));
  if (options_.mode == RewriteMode::kSites) mask.push_back(true);
  return mask;
}

std::vector<float> RewritesEnv::SiteFeatures() const {
  std::vector<float> features(static_cast<size_t>(options_.max_sites) * kSiteFeatureCount);
  WriteSites(*session_, Seen(), features);
  return features;
}

RewritesView RewritesEnv::Seen() const { return {view_, position_, loop_, listing_, nodes_}; }

}  // namespace hone
