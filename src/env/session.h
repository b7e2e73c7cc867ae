// Shared by environments of one kind: workers, programs, and the known transitions.
#ifndef HONE_ENV_SESSION_H_
#define HONE_ENV_SESSION_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "core/rng.h"
#include "env/options.h"
#include "env/transition_table.h"
#include "wire/pool.h"

namespace hone {

struct ProgramSource {
  std::string name;  // a path or URI, for people
  std::string data;  // the bytes of the file
};

// A program that has been loaded.
struct EnvProgram {
  ProgramInfo info;
  Metrics initial;            // with peak memory where the options need it
  double default_value = -1;  // the objective after the stock compiler's order; -1 if not needed
  double run_seconds = -1;    // median of a run as loaded; -1 if not needed or not to be had
};

// Thread-safe. Environments keep it alive.
class Session {
 public:
  // Starts the workers. Errors: no programs, a bad option, workers that do not start.
  static StatusOr<std::shared_ptr<Session>> Open(std::vector<ProgramSource> programs,
                                                 const EnvOptions& options,
                                                 const PoolOptions& pool_options);

  Pool& pool() const { return *pool_; }
  void Post(int worker, std::function<void(RemoteWorker&)> job) const {
    pool_->Post(worker, std::move(job));
  }
  const EnvOptions& options() const { return options_; }
  const std::vector<PassId>& actions() const { return actions_; }
  // How many actions there are: the passes, and `stop` where there is one.
  int64_t action_count() const {
    return static_cast<int64_t>(actions_.size()) + (options_.stop_action ? 1 : 0);
  }
  ApplyOptions apply_options() const;
  size_t programs() const { return slots_.size(); }
  const std::string& name(size_t program) const { return slots_[program].name; }

  // Null where it is not loaded yet.
  const EnvProgram* Loaded(size_t program) const;
  // Why a program cannot be used, once that is known.
  std::optional<std::string> WhyBad(size_t program) const;
  // On a worker's thread: loads it where it is not, and finds out what the options need of it.
  Status Load(size_t program, RemoteWorker& remote);
  // The program that the schedule takes: episode number `episode` of environment `index` of
  // `count`.
  size_t Scheduled(size_t index, size_t count, int64_t episode, Rng& rng) const;
  // Program indices by size, smallest first: by instructions where loaded, by bytes where not.
  const std::vector<size_t>& by_size() const { return by_size_; }

  // The transition table, by values, for it may be cleared at any time.
  struct Known {
    Step step;  // without opcodes and metrics where nothing changed
    double run_seconds = -1;
  };
  std::optional<Known> Find(size_t program, const Fingerprint& from, PassId pass,
                            uint64_t decisions = 0) const;
  void Record(size_t program, const Fingerprint& from, const Step& step, uint64_t decisions = 0);
  // Null where nothing is known.
  std::shared_ptr<const Rewrites> FindListing(size_t program, const Fingerprint& state,
                                              PassId pass) const;
  void RecordListing(size_t program, const Fingerprint& state, PassId pass,
                     std::shared_ptr<const Rewrites> listing);
  void RecordRunTime(size_t program, const Fingerprint& state, double seconds);
  std::optional<double> RunTime(size_t program, const Fingerprint& state) const;
  // Passes known to change nothing in this state.
  PassSet Idle(size_t program, const Fingerprint& state) const;
  size_t transitions() const;

  // Failed steps, by pass and message, each (state, pass) counted whenever it was run.
  std::map<std::pair<PassId, std::string>, int64_t> failures() const;

 private:
  struct Slot {
    std::string name;
    ProgramId id = 0;
    std::mutex loading;
    std::unique_ptr<EnvProgram> program;  // set once
    std::optional<std::string> bad;
    TransitionTable table;
  };

  Session() = default;
  StatusOr<EnvProgram> LoadNow(ProgramId id, RemoteWorker& remote);

  EnvOptions options_;
  std::vector<PassId> actions_;
  std::unique_ptr<Pool> pool_;
  std::deque<Slot> slots_;
  std::vector<size_t> by_size_;
  mutable std::mutex mutex_;  // of the slots' program, bad and table, and of what follows
  size_t transitions_ = 0;
  size_t listed_ = 0;  // listings and their sites
  std::map<std::pair<PassId, std::string>, int64_t> failures_;
};

}  // namespace hone

#endif  // HONE_ENV_SESSION_H_
