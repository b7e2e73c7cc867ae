#include "wire/worker_link.h"

#include <capnp/message.h>
#include <capnp/rpc-twoparty.capnp.h>
#include <fmt/format.h>

#include <algorithm>

namespace hone::wire {
namespace {

constexpr auto kLook = 20 * kj::MILLISECONDS;  // between two looks at a busy worker
constexpr double kStopPatience = 2;            // seconds that a pass may still run after a stop

capnp::ReaderOptions NoLimits() {
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = uint64_t{1} << 40;
  return limits;
}

}  // namespace

StatusOr<bool> WorkerLink::Connect() {
  if (process_ != nullptr) return false;
  auto process = 
      WorkerProcess::Start(options_.worker_path, options_.cache_bytes, options_.headroom_bytes);
  if (!process) return tl::unexpected(process.error());
  process_ = *std::move(process);
  stream_ = io_.lowLevelProvider->wrapSocketFd(process_->TakeSocket(),
                                               kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP);
  network_.emplace(*stream_, capnp::rpc::twoparty::Side::CLIENT, NoLimits());
  rpc_.emplace(capnp::makeRpcClient(*network_));
  capnp::MallocMessageBuilder message(4);
  auto server = message.getRoot<capnp::rpc::twoparty::VatId>();
  server.setSide(capnp::rpc::twoparty::Side::SERVER);
  client_.emplace(rpc_->bootstrap(server).castAs<Worker>());
  ticks_ = 0;
  return true;
}

size_t WorkerLink::MemoryLimit() const {
  const size_t bare = bare_bytes();
  if (options_.headroom_bytes == 0 || bare == 0) return options_.memory_limit_bytes;
  return std::min(options_.memory_limit_bytes, bare + options_.headroom_bytes);
}

// Never ends by itself: it kills a worker that ran out of patience or memory, and then the call
// breaks.
kj::Promise<void> WorkerLink::Watch(Patience patience) {
  return io_.provider->getTimer().afterDelay(kLook).then([this, patience]() {
    if (!verdict_) {
      const Clock::time_point now = Clock::now();
      const uint64_t ticks = process_->heartbeat().ticks;
      if (std::exchange(ticks_, ticks) != ticks) ticked_ = now;
      const double waited =
          std::chrono::duration<double>(now - (patience.since_last_tick ? ticked_ : started_))
              .count();
      const size_t resident = process_->ResidentBytes();
      if (waited > patience.seconds) {
        verdict_ = {
            ErrorCode::kDeadline,
            fmt::format("ran past the deadline of {:.0f} s and was killed", patience.seconds)};
      } else if (resident > MemoryLimit()) {
        verdict_ = {ErrorCode::kMemory,
                    fmt::format("took {} MiB, more than the limit of {} MiB, and was killed",
                                resident >> 20, MemoryLimit() >> 20)};
      } else if (patience.stop != nullptr && *patience.stop && waited > kStopPatience) {
        verdict_ = {ErrorCode::kInterrupted, "given up: interrupted"};
      }
      if (verdict_) process_->Kill();
    }
    return Watch(patience);
  });
}

Error WorkerLink::Lost(const kj::Exception& exception) {
  Error error = verdict_.value_or(Error{ErrorCode::kWorkerDied, ""});
  if (!verdict_ && exception.getType() != kj::Exception::Type::DISCONNECTED) {
    error = {ErrorCode::kInternal, exception.getDescription().cStr()};
  }
  const WorkerProcess::End end = process_ ? process_->Bury() : WorkerProcess::End{};
  from_outside_ = !verdict_ && end.from_outside;
  if (error.message.empty()) error.message = "XLA's process was " + end.how;
  Disconnect();
  return error;
}

void WorkerLink::Disconnect() {
  if (process_ != nullptr) {
    past_ += process_->heartbeat().timing;
    last_step_ = process_->heartbeat().step;
  }
  client_.reset();
  rpc_.reset();
  network_.reset();
  stream_ = nullptr;
  process_.reset();
}

}  // namespace hone::wire
