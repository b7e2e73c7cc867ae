#include "wire/worker_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace hone::wire {
namespace {

constexpr int kLookMilliseconds = 20;  // between two looks at a busy worker

double Since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

StatusOr<bool> WorkerLink::Connect() {
  if (process_ != nullptr) return false;
  auto process =
      WorkerProcess::Start(options_.worker_path, options_.arguments, options_.environment);
  if (!process) return tl::unexpected(process.error());
  process_ = *std::move(process);
  socket_ = process_->TakeSocket();
  ticks_ = 0;
  return true;
}

size_t WorkerLink::MemoryLimit() const {
  const size_t bare = bare_bytes();
  if (options_.headroom_bytes == 0 || bare == 0) return options_.memory_limit_bytes;
  return std::min(options_.memory_limit_bytes, bare + options_.headroom_bytes);
}

bool WorkerLink::Exchange(const Patience& patience, Method method, capnp::MessageBuilder& message,
                          Received& received) {
  started_ = Clock::now();
  ticked_ = started_;
  told_.reset();
  stopped_before_ = patience.stop != nullptr && *patience.stop;
  process_->heartbeat().stop = false;
  process_->heartbeat().patience = 0;
  verdict_.reset();
  if (!Send(socket_, method, message)) return false;
  awake_.Begin();
  const auto wait = [&] {
    if (awake_.Pause()) return true;
    // Once it was killed, the socket closes and reading ends.
    if (!Readable(socket_, kLookMilliseconds) && !verdict_) Look(patience);
    return true;
  };
  return Receive(socket_, wait, received) && received.method == method;
}

void WorkerLink::Look(const Patience& patience) {
  const Clock::time_point now = Clock::now();
  const uint64_t ticks = process_->heartbeat().ticks;
  if (std::exchange(ticks_, ticks) != ticks) ticked_ = now;
  const double waited = Since(patience.since_last_tick ? ticked_ : started_);
  const double own = process_->heartbeat().patience;
  const double most =
      patience.since_last_tick && own > 0 ? std::min(own, patience.seconds) : patience.seconds;
  const size_t resident = process_->ResidentBytes();
  if (waited > most) {
    verdict_ = {ErrorCode::kDeadline,
                fmt::format("ran past the deadline of {:.0f} s and was killed", most)};
  } else if (resident > MemoryLimit()) {
    verdict_ = {ErrorCode::kMemory,
                fmt::format("took {} MiB, more than the limit of {} MiB, and was killed",
                            resident >> 20, MemoryLimit() >> 20)};
  } else if (patience.stop != nullptr && *patience.stop) {
    Stop(patience, waited);
  } else if (patience.until && now > *patience.until && waited > kStopPatience) {
    verdict_ = {ErrorCode::kInterrupted, "given up: the budget is over"};
  }
  if (verdict_) process_->Kill();
}

void WorkerLink::Stop(const Patience& patience, double waited) {
  constexpr const char* kWhy = "given up: interrupted";
  if (patience.answer_seconds == 0) {
    const double most = stopped_before_ ? kLastPatience : kStopPatience;
    if (waited > most) verdict_ = {ErrorCode::kInterrupted, kWhy};
    return;
  }
  if (stopped_before_) return;
  if (!told_) told_ = Clock::now();
  process_->heartbeat().stop = true;
  if (Since(*told_) > patience.answer_seconds) verdict_ = {ErrorCode::kInterrupted, kWhy};
}

Error WorkerLink::Lost() {
  Error error = verdict_.value_or(Error{ErrorCode::kWorkerDied, ""});
  const WorkerProcess::End end = process_ ? process_->Bury() : WorkerProcess::End{};
  from_outside_ = !verdict_ && end.from_outside;
  if (error.message.empty()) error.message = options_.name + " was " + end.how;
  Disconnect();
  return error;
}

void WorkerLink::Disconnect() {
  if (process_ != nullptr) {
    past_ += process_->heartbeat().timing;
    last_step_ = process_->heartbeat().step;
  }
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  process_.reset();
}

}  // namespace hone::wire
