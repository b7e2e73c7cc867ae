// A worker and the connection to it, used by one thread at a time: calls with deadlines, restarts.
#ifndef HONE_WIRE_WORKER_LINK_H_
#define HONE_WIRE_WORKER_LINK_H_

#include <capnp/message.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/timing.h"
#include "wire/awake.h"
#include "wire/channel.h"
#include "wire/worker_process.h"

namespace hone::wire {

struct LinkOptions {
  std::string worker_path;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // WorkerProcess::Start
  std::string name = "XLA's process";    // in messages
  size_t memory_limit_bytes = 0;
  size_t headroom_bytes = 0;  // beside the bare library; 0 is no limit
  // How long to look for an answer without sleeping; 0 where there is no processor to spare.
  std::chrono::milliseconds awake{0};
};

constexpr double kStopPatience = 2;   // seconds that a pass may still run after a stop or the end
constexpr double kLastPatience = 10;  // that a call may run that began after a stop

// How long a call may take, and whether it may be given up.
struct Patience {
  double seconds = 0;
  bool since_last_tick = false;  // measured from the heartbeat's last change, not from the start
  const std::atomic<bool>* stop = nullptr;
  // Seconds that the worker has to answer with what it has, once `stop` becomes true after the call
  // began. 0: the call is given up. One that began when `stop` was true is what somebody needs to
  // conclude: it has longer (kLastPatience, or all that is allowed).
  double answer_seconds = 0;
  // A search's end: once it is over, calls that still run are given up as after a stop.
  std::optional<std::chrono::steady_clock::time_point> until = std::nullopt;
};

class WorkerLink {
 public:
  explicit WorkerLink(LinkOptions options) : options_(std::move(options)), awake_(options_.awake) {}
  ~WorkerLink() { Disconnect(); }

  // Starts a worker where none runs. True where a new one was started.
  StatusOr<bool> Connect();

  // Sends what `make` fills in, a `Params::Builder`, and waits for the answer. On an Error the
  // worker is gone; the next call to Connect starts another.
  template <class C, class Make>
  StatusOr<Reply<C>> Call(const Patience& patience, Make make) {
    capnp::MallocMessageBuilder message;
    make(message.initRoot<typename C::Params>());
    Received received;
    if (!Exchange(patience, C::kMethod, message, received)) return tl::unexpected(Lost());
    return Reply<C>(std::move(received));
  }

  // Which pass of the last request was running when the worker was lost.
  uint32_t last_step() const { return last_step_; }
  // Whether somebody else killed the last worker that was lost.
  bool killed_from_outside() const { return from_outside_; }
  Heartbeat* heartbeat() { return process_ ? &process_->heartbeat() : nullptr; }
  // Times of this worker and its predecessors. Between calls only.
  Timing timing() const { return process_ ? Timing(past_) += process_->heartbeat().timing : past_; }
  // The running worker's process; 0 where none runs.
  size_t bare_bytes() const { return process_ ? process_->heartbeat().bare_bytes.load() : 0; }
  size_t ResidentBytes() const { return process_ ? process_->ResidentBytes() : 0; }
  int pid() const { return process_ ? process_->pid() : -1; }

  // Ends the worker, if one runs.
  void Disconnect();

 private:
  using Clock = std::chrono::steady_clock;

  bool Exchange(const Patience& patience, Method method, capnp::MessageBuilder& message,
                Received& received);
  // Kills a worker that has run out of patience or memory.
  void Look(const Patience& patience);
  // Handles an interrupt of the call in hand, `waited` seconds on.
  void Stop(const Patience& patience, double waited);
  Error Lost();
  size_t MemoryLimit() const;

  const LinkOptions options_;
  std::unique_ptr<WorkerProcess> process_;
  int socket_ = -1;
  Timing past_;
  uint32_t last_step_ = Heartbeat::kReplaying;
  bool from_outside_ = false;
  Awake awake_;
  // The call in hand: when it began, and when it last ticked.
  Clock::time_point started_;
  Clock::time_point ticked_;
  bool stopped_before_ = false;            // `stop` was true when it began
  std::optional<Clock::time_point> told_;  // the worker to stop
  uint64_t ticks_ = 0;
  std::optional<Error> verdict_;  // why it was killed
};

}  // namespace hone::wire

#endif  // HONE_WIRE_WORKER_LINK_H_
