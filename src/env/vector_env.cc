#include "env/vector_env.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone {

VectorEnv::VectorEnv(std::shared_ptr<Session> session, size_t count, Autoreset autoreset)
    : session_(std::move(session)), autoreset_(autoreset) {
  for (size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<Slot>(Slot{PassOrderEnv(session_, i, count)}));
  }
}

VectorEnv::~VectorEnv() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return posted_ == 0; });
}

std::unique_ptr<VectorEnv> VectorEnv::Fork() {
  (void)Collect();
  auto forked = std::make_unique<VectorEnv>(session_, 0, autoreset_);
  for (const auto& slot : slots_) {
    auto copy = std::make_unique<Slot>(Slot{slot->env.Fork()});
    copy->outcome = slot->outcome;
    copy->over = slot->over;
    copy->was_reset = slot->was_reset;
    forked->slots_.push_back(std::move(copy));
  }
  return forked;
}

template <class Ready>
bool VectorEnv::Wait(std::unique_lock<std::mutex>& lock, Ready ready) {
  while (!wake_.wait_for(lock, std::chrono::milliseconds(100), ready)) {
    if (interrupted_ == nullptr) continue;
    lock.unlock();
    const bool interrupted = interrupted_();
    lock.lock();
    if (interrupted) return false;
  }
  return true;
}

void VectorEnv::Send(size_t env, int64_t action) {
  Slot& slot = *slots_[env];
  if (slot.over && autoreset_ == Autoreset::kNextStep) return SendReset(env, {});
  slot.busy = true;
  slot.error = {};
  slot.has_final = false;
  slot.was_reset = false;
  Go(env, slot.env.BeginStep(action));
}

void VectorEnv::SendReset(size_t env, std::optional<uint64_t> seed,
                          std::optional<size_t> program) {
  Slot& slot = *slots_[env];
  slot.busy = true;
  slot.error = {};
  slot.has_final = false;
  slot.was_reset = true;
  BeginReset(env, seed, program);
}

void VectorEnv::BeginReset(size_t env, std::optional<uint64_t> seed,
                           std::optional<size_t> program) {
  slots_[env]->resetting = true;
  Go(env, slots_[env]->env.BeginReset(seed, program));
}

void VectorEnv::Go(size_t env, const StatusOr<bool>& more) {
  Slot& slot = *slots_[env];
  if (!more) {
    slot.error = tl::unexpected(more.error());
    slot.busy = slot.resetting = false;
    done_.push_back(env);
    return;
  }
  if (!*more) return Land(env);
  {
    std::lock_guard lock(mutex_);
    ++posted_;
  }
  session_->pool().Post(slot.env.worker(), [this, env](RemoteWorker& remote) {
    slots_[env]->env.Work(remote);
    // Told under the lock: once nothing is posted, this may be destroyed.
    std::lock_guard lock(mutex_);
    worked_.push_back(env);
    --posted_;
    wake_.notify_one();
  });
}

void VectorEnv::Land(size_t env) {
  Slot& slot = *slots_[env];
  const bool was_a_step = !std::exchange(slot.resetting, false);
  if (was_a_step || !slot.has_final) slot.outcome = slot.env.outcome();
  slot.over = was_a_step && (slot.outcome.terminated || slot.outcome.truncated);
  if (slot.over && autoreset_ == Autoreset::kSameStep) {
    slot.has_final = true;
    slot.final_outcome = slot.outcome;
    slot.final_view = slot.env.view();
    return BeginReset(env, {}, {});
  }
  slot.busy = false;
  done_.push_back(env);
}

std::vector<size_t> VectorEnv::Receive(size_t least) {
  // Also where enough are done by look-up: those that workers are done with are not to starve.
  do {
    std::deque<size_t> worked;
    {
      std::unique_lock lock(mutex_);
      const bool waits = done_.size() < least;
      if (waits && worked_.empty() && posted_ == 0) break;
      if (waits && !Wait(lock, [this] { return !worked_.empty(); })) break;
      worked.swap(worked_);
    }
    for (size_t env : worked) Go(env, slots_[env]->env.Continue());
  } while (done_.size() < least);
  const std::vector<size_t> done(done_.begin(), done_.end());
  done_.clear();
  return done;
}

bool VectorEnv::Collect() {
  for (;;) {
    std::deque<size_t> worked;
    {
      std::unique_lock lock(mutex_);
      if (!Wait(lock, [this] { return posted_ == 0; })) return false;
      worked.swap(worked_);
    }
    if (worked.empty()) break;
    std::sort(worked.begin(), worked.end());
    for (size_t env : worked) Go(env, slots_[env]->env.Continue());
  }
  done_.clear();
  return true;
}

Status VectorEnv::FirstError() const {
  for (const auto& slot : slots_) {
    if (!slot->error) return slot->error;
  }
  return {};
}

Status VectorEnv::Reset(std::span<const std::optional<uint64_t>> seeds,
                        std::span<const bool> which, std::optional<size_t> program) {
  const auto interrupted = [] { return MakeError(ErrorCode::kInterrupted, "interrupted"); };
  if (!Collect()) return interrupted();
  for (const auto& slot : slots_) slot->error = {};
  for (size_t i = 0; i < size(); ++i) {
    if (!which.empty() && !which[i]) continue;
    SendReset(i, i < seeds.size() ? seeds[i] : std::nullopt, program);
  }
  return Collect() ? FirstError() : interrupted();
}

Status VectorEnv::Step(std::span<const int64_t> actions) {
  const auto interrupted = [] { return MakeError(ErrorCode::kInterrupted, "interrupted"); };
  if (!Collect()) return interrupted();
  if (actions.size() != size()) {
    return MakeError(ErrorCode::kInvalidInput, std::to_string(size()) + " environments need " +
                                                   std::to_string(size()) + " actions, not " +
                                                   std::to_string(actions.size()));
  }
  for (size_t i = 0; i < size(); ++i) Send(i, actions[i]);
  return Collect() ? FirstError() : interrupted();
}

}  // namespace hone
