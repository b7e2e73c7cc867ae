#include "env/rewrites_env.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "env/alternatives.h"
#include "env/pass_order.h"

namespace hone {

StatusOr<std::unique_ptr<RewritesEnv>> RewritesEnv::Make(std::shared_ptr<Session> session,
                                                         const RewritesEnvOptions& options,
                                                         size_t index, size_t count) {
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
  return std::unique_ptr<RewritesEnv>(
      new RewritesEnv(std::move(session), options, std::move(pipeline), index, count));
}

RewritesEnv::RewritesEnv(std::shared_ptr<Session> session, const RewritesEnvOptions& options,
                         std::vector<PassId> pipeline, size_t index, size_t count)
    : Episode(std::move(session), index, count),
      options_(options),
      pipeline_(std::move(pipeline)),
      listing_(std::make_shared<const Rewrites>()) {}

Status RewritesEnv::Reset(std::optional<uint64_t> seed, std::optional<size_t> program) {
  if (Status begun = Begin(seed, program); !begun) return begun;
  position_ = 0;
  loop_ = 0;
  changed_in_loop_ = false;
  idle_.clear();
  failed_.clear();
  return session_->pool().On(worker(), [&](RemoteWorker& remote) -> Status {
    for (;;) {
      const StatusOr<bool> entered = Enter();
      if (!entered) return tl::unexpected(entered.error());
      if (*entered) break;
      (void)session_->Load(view_.program,
                           remote);  // Enter says why it cannot be
    }
    running_ = true;
    Look(remote);
    Settle(remote, /*listed=*/false);
    // An episode has at least one step, for a reset cannot end it.
    nothing_ = !std::exchange(running_, true);
    return {};
  });
}

StatusOr<Outcome> RewritesEnv::Step(int64_t action) {
  if (options_.mode != RewriteMode::kSites || action < 0 || action > options_.max_sites) {
    return MakeError(ErrorCode::kInvalidInput, options_.mode != RewriteMode::kSites
                                                   ? "an action is one answer for each site here"
                                                   : "there is no action " +
                                                         std::to_string(action) + ": there are " +
                                                         std::to_string(options_.max_sites + 1));
  }
  if (Status begun = BeginStep(action); !begun) return tl::unexpected(begun.error());
  if (action == options_.max_sites) return Act(nullptr, /*go_on=*/true);
  const auto site = static_cast<size_t>(action);
  if (!Offered(site)) {
    outcome_.looked = true;
    return Act(nullptr, /*go_on=*/false);
  }
  auto decisions = std::make_shared<Decisions>();
  decisions->otherwise = Otherwise::kDecline;
  decisions->choices.push_back({listing_->sites[site].place, true});
  return Act(std::move(decisions), /*go_on=*/false);
}

StatusOr<Outcome> RewritesEnv::Step(const std::vector<bool>& accept) {
  if (options_.mode != RewriteMode::kBatch ||
      accept.size() != static_cast<size_t>(options_.max_sites)) {
    return MakeError(ErrorCode::kInvalidInput,
                     options_.mode != RewriteMode::kBatch
                         ? "an action is the number of a site here"
                         : "an action has " + std::to_string(options_.max_sites) +
                               " answers, not " + std::to_string(accept.size()));
  }
  const auto accepted = std::count(accept.begin(), accept.end(), true);
  if (Status begun = BeginStep(accepted); !begun) return tl::unexpected(begun.error());
  return Act(Decide(accept), /*go_on=*/true);
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
StatusOr<Outcome> RewritesEnv::Act(const DecisionsPtr& decisions, bool go_on) {
  bool failed = false;
  session_->pool().On(worker(), [&](RemoteWorker& remote) {
    if (decisions != nullptr) {
      Apply(remote, decisions);
      failed = !outcome_.error.empty();
    }
    if (go_on) NextPass();
    if (nothing_) running_ = false;
    if (outcome_.changed) Look(remote);
    Settle(remote, /*listed=*/!go_on && !outcome_.changed);
    EndStep(/*terminated=*/!running_);
    if (NeedsRunTime()) TakeRunTime(remote.RunTime(view_.state, {}));
  });
  Pay(failed);
  return outcome_;
}

void RewritesEnv::Apply(RemoteWorker& remote, const DecisionsPtr& decisions) {
  const PassId pass = pipeline_[position_];
  hone::Step step;
  if (const auto known =
          session_->Find(view_.program, view_.fingerprint, pass, decisions->Hash())) {
    step = known->step;
    outcome_.looked = true;
  } else {
    step = Take(pass, decisions, remote.Apply(Request(pass, decisions)));
  }
  Arrive(step, decisions);
  if (step.changed) {
    changed_in_loop_ = true;
    idle_.clear();
    return;
  }
  for (const SiteChoice& choice : decisions->choices) {
    if (!choice.accept) continue;
    idle_.insert(choice.key);
    if (step.failure.empty()) continue;
    for (const RewriteSite& site : listing_->sites) {
      if (site.place == choice.key) failed_.insert(site.content);
    }
  }
}

// What the pass whose turn it is would do. Where it cannot tell, that is nothing.
void RewritesEnv::List(RemoteWorker& remote) {
  const PassId pass = pipeline_[position_];
  const bool graph = view_.arrays != nullptr;
  // A listing names instructions, and states of equal fingerprint may have given them other names:
  // where names are looked up, a listing is of the very state.
  nodes_.clear();
  if (!graph) {
    if (auto known = session_->FindListing(view_.program, view_.fingerprint, pass)) {
      listing_ = std::move(known);
      return;
    }
  }
  RewritesOptions options;
  options.texts = options_.texts;
  StatusOr<Rewrites> rewrites = remote.ListRewrites(view_.state, pass, options);
  if (!rewrites) {
    const std::string& name = session_->pool().passes()[pass].name;
    if (outcome_.error.empty()) {
      outcome_.error = "the rewrites of " + name + ": " + rewrites.error().message;
    }
    rewrites = Rewrites();
    rewrites->state = view_.fingerprint;
  }
  listing_ = std::make_shared<const Rewrites>(*std::move(rewrites));
  if (!graph) session_->RecordListing(view_.program, view_.fingerprint, pass, listing_);
  if (graph && !listing_->sites.empty()) {
    if (const StatusOr<ProgramGraph> described = remote.Describe(view_.state)) {
      nodes_ = NodesOfSites(*described, *listing_);
    }
  }
}

void RewritesEnv::NextPass() {
  idle_.clear();
  failed_.clear();
  if (++position_ < pipeline_.size()) return;
  position_ = 0;
  if (++loop_ >= options_.loops || !std::exchange(changed_in_loop_, false)) running_ = false;
}

// Lists, unless that is done, and goes on while nothing is offered.
void RewritesEnv::Settle(RemoteWorker& remote, bool listed) {
  while (running_) {
    if (!std::exchange(listed, false)) List(remote);
    const size_t shown = std::min(listing_->sites.size(), static_cast<size_t>(options_.max_sites));
    for (size_t site = 0; site < shown; ++site) {
      if (Offered(site)) return;
    }
    NextPass();
  }
  listing_ = std::make_shared<const Rewrites>();
  nodes_.clear();
}

void RewritesEnv::Look(RemoteWorker& remote) {
  if (!session_->options().observation.graph) return;
  if (StatusOr<ProgramArrays> arrays = remote.Arrays(view_.state)) {
    view_.arrays = std::make_shared<const ProgramArrays>(*std::move(arrays));
  } else {
    outcome_.error = arrays.error().message;
  }
}

bool RewritesEnv::Offered(size_t site) const {
  if (site >= listing_->sites.size() || site >= static_cast<size_t>(options_.max_sites)) {
    return false;
  }
  const RewriteSite& named = listing_->sites[site];
  return !idle_.contains(named.place) && !failed_.contains(named.content);
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
  const auto rows = static_cast<size_t>(options_.max_sites);
  std::vector<float> features(rows * kSiteFeatureCount);
  const EnvProgram* program = session_->Loaded(view_.program);
  if (program == nullptr) return features;
  const std::vector<std::string>& opcodes = session_->pool().opcodes();
  const auto number = [&](std::string_view opcode) {
    const auto found = std::find(opcodes.begin(), opcodes.end(), opcode);
    return static_cast<float>(found == opcodes.end() ? -1 : found - opcodes.begin());
  };
  std::vector<int> conflicts(listing_->sites.size());
  for (const auto& [i, j] : listing_->conflicts) {
    ++conflicts[i];
    ++conflicts[j];
  }
  const Metrics& first = program->info.metrics;
  const size_t shown = std::min(rows, listing_->sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const RewriteSite& site = listing_->sites[i];
    const float row[kSiteFeatureCount] = {
        static_cast<float>(site.kind),
        static_cast<float>(site.status),
        number(site.opcode),
        number(RootOpcode(site.replacement)),
        static_cast<float>(static_cast<double>(site.delta_op_count) /
                           static_cast<double>(std::max<int64_t>(1, first.op_count))),
        static_cast<float>(site.delta_flops / std::max(1.0, first.flops)),
        static_cast<float>(site.delta_bytes / std::max(1.0, first.bytes_accessed)),
        static_cast<float>(conflicts[i]) / static_cast<float>(listing_->sites.size()),
        static_cast<float>(i < nodes_.size() ? nodes_[i] : -1)};
    std::copy(std::begin(row), std::end(row),
              features.begin() + static_cast<long>(i * kSiteFeatureCount));
  }
  return features;
}

}  // namespace hone
