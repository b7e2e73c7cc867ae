// How VectorOf does what it does: for those that instantiate it.
#ifndef HONE_ENV_VECTOR_OF_DEFINITIONS_H_
#define HONE_ENV_VECTOR_OF_DEFINITIONS_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "env/vector_of.h"

namespace hone {

template <class Env>
VectorOf<Env>::VectorOf(std::shared_ptr<Session> session, std::vector<Env> envs,
                        Autoreset autoreset)
    : session_(std::move(session)), autoreset_(autoreset) {
  for (Env& env : envs) slots_.push_back(std::make_unique<Slot>(Slot{std::move(env)}));
}

template <class Env>
VectorOf<Env>::VectorOf(std::shared_ptr<Session> session, size_t count,
                        Autoreset autoreset) requires
    std::constructible_from<Env, std::shared_ptr<Session>, size_t, size_t>
    : session_(std::move(session)), autoreset_(autoreset) {
  for (size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<Slot>(Slot{Env(session_, i, count)}));
  }
}

template <class Env>
VectorOf<Env>::~VectorOf() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return posted_ == 0; });
}

template <class Env>
std::unique_ptr<VectorOf<Env>> VectorOf<Env>::Fork() {
  (void)Collect();
  auto forked = std::make_unique<VectorOf>(session_, std::vector<Env>(), autoreset_);
  for (const auto& slot : slots_) {
    auto copy = std::make_unique<Slot>(Slot{slot->env.Fork()});
    copy->outcome = slot->outcome;
    copy->over = slot->over;
    copy->was_reset = slot->was_reset;
    forked->slots_.push_back(std::move(copy));
  }
  return forked;
}

template <class Env>
template <class Ready>
bool VectorOf<Env>::Wait(std::unique_lock<std::mutex>& lock, Ready ready) {
  while (!wake_.wait_for(lock, std::chrono::milliseconds(100), ready)) {
    if (interrupted_ == nullptr) continue;
    lock.unlock();
    const bool interrupted = interrupted_();
    lock.lock();
    if (interrupted) return false;
  }
  return true;
}

template <class Env>
void VectorOf<Env>::Send(size_t env, const Action& action) {
  Slot& slot = *slots_[env];
  if (slot.over && autoreset_ == Autoreset::kNextStep) return SendReset(env, {});
  slot.busy = true;
  slot.error = {};
  slot.has_final = false;
  slot.was_reset = false;
  Go(env, slot.env.BeginStep(action));
}

template <class Env>
void VectorOf<Env>::SendReset(size_t env, std::optional<uint64_t> seed,
                              std::optional<size_t> program) {
  Slot& slot = *slots_[env];
  slot.busy = true;
  slot.error = {};
  slot.has_final = false;
  slot.was_reset = true;
  BeginReset(env, seed, program);
}

template <class Env>
void VectorOf<Env>::BeginReset(size_t env, std::optional<uint64_t> seed,
                               std::optional<size_t> program) {
  slots_[env]->resetting = true;
  Go(env, slots_[env]->env.BeginReset(seed, program));
}

template <class Env>
void VectorOf<Env>::Go(size_t env, const StatusOr<bool>& more) {
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
  session_->Post(slot.env.worker(), [this, env](typename Env::Worker& worker) {
    slots_[env]->env.Work(worker);
    // Told under the lock: once nothing is posted, this may be destroyed.
    std::lock_guard lock(mutex_);
    worked_.push_back(env);
    --posted_;
    wake_.notify_one();
  });
}

template <class Env>
void VectorOf<Env>::Land(size_t env) {
  Slot& slot = *slots_[env];
  const bool was_a_step = !std::exchange(slot.resetting, false);
  if (was_a_step || !slot.has_final) slot.outcome = slot.env.outcome();
  slot.over = was_a_step && (slot.outcome.terminated || slot.outcome.truncated);
  if (slot.over && autoreset_ == Autoreset::kSameStep) {
    slot.has_final = true;
    slot.final_outcome = slot.outcome;
    slot.final_view = slot.env.Seen();
    return BeginReset(env, {}, {});
  }
  slot.busy = false;
  done_.push_back(env);
}

template <class Env>
std::vector<size_t> VectorOf<Env>::Receive(size_t least) {
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

template <class Env>
bool VectorOf<Env>::Collect() {
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

template <class Env>
Status VectorOf<Env>::FirstError() const {
  for (const auto& slot : slots_) {
    if (!slot->error) return slot->error;
  }
  return {};
}

template <class Env>
Status VectorOf<Env>::Reset(std::span<const std::optional<uint64_t>> seeds,
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

template <class Env>
Status VectorOf<Env>::Step(std::span<const Action> actions) {
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

#endif  // HONE_ENV_VECTOR_OF_DEFINITIONS_H_
