// Pass ordering on one program: what comes of a sequence of passes.
#ifndef HONE_ENV_PASS_ORDER_H_
#define HONE_ENV_PASS_ORDER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/objective.h"
#include "core/program.h"
#include "core/result.h"
#include "core/state.h"
#include "env/transition_table.h"
#include "wire/pool.h"

namespace hone {

// Those of the stock compiler's passes that are in `actions`, in order, repeats included.
std::vector<PassId> InActions(const std::vector<StockPass>& stock,
                              const std::vector<PassInfo>& passes,
                              const std::vector<PassId>& actions);

// The passes of the stock compiler's own order on this program that are in `actions`, in order,
// repeats included: the default order. Its names come from what the compiler records of itself.
StatusOr<std::vector<PassId>> DefaultOrder(Pool& pool, const ProgramInfo& program,
                                           const std::vector<PassId>& actions);

// The passes of an action set: "simplify", "all" (XLA's), "rewrites", "rules", "implementations",
// or names; several of these with "+" or commas between them.
StatusOr<std::vector<PassId>> ActionSet(const std::vector<PassInfo>& passes,
                                        const std::string& name);

// Whether the objective has a value on the pool's target. Error: kInvalidInput, with what to do.
Status CanHave(const Pool& pool, Objective objective);

// Evaluates sequences through the transition table, and asks the pool for what it does not know.
class PassOrder {
 public:
  // With `opcodes`, the counts of opcodes of every state are kept.
  PassOrder(Pool& pool, const ProgramInfo& program, Objective objective, bool opcodes = false);

  // The steps of each sequence, from the program. A pass that fails changes nothing. An Error is of
  // the whole sequence: its state could not be rebuilt, or it was interrupted.
  std::vector<StatusOr<std::vector<Step>>> Evaluate(std::span<const std::vector<PassId>> sequences);

  // Evaluating gives up what runs past the end of a search. Nothing: it takes its time.
  void EndAt(std::optional<std::chrono::steady_clock::time_point> until) { until_ = until; }

  // Whether XLA's verifier takes every state on the way that these steps go from the program, as it
  // will when the sequence is replayed; it looks at each once. Where it rejects one, the pass that
  // led there has failed: that is known from now on, and the sequence is to be evaluated again.
  // States that cannot be checked now are left to Replay.
  bool AreWellFormed(std::span<const Step> steps);

  // From a copy of the program, nothing looked up, with XLA's verifier after every change.
  StatusOr<std::vector<Step>> Replay(const std::vector<PassId>& sequence);

  double Value(const Metrics& metrics) const { return ObjectiveValue(objective_, metrics); }
  const Metrics& initial_metrics() const { return initial_; }
  double initial_value() const { return Value(initial_); }
  const ProgramInfo& program() const { return program_; }

  // The opcode counts of a state that was met; empty where they are not kept.
  const OpcodeCounts& Opcodes(const Fingerprint& state) const;

  int64_t steps() const { return steps_; }  // taken, by looking up or by running
  // Of them those that were not in the table before: what a search really costs. The same on any
  // number of workers.
  int64_t evaluated() const { return static_cast<int64_t>(table_.size()); }
  // Failures by pass and message, with the number of states on which each was met.
  const std::map<std::pair<PassId, std::string>, int64_t>& failures() const { return failures_; }

 private:
  ApplyOptions Options() const;
  // Walks as far as the table reaches; returns how many passes of the sequence that are.
  size_t Walk(std::span<const PassId> sequence, std::vector<Step>& steps, StateName& state) const;
  void Record(Fingerprint from, const std::vector<Step>& steps);

  Pool& pool_;
  const ProgramInfo program_;
  const Objective objective_;
  const bool opcodes_;
  Metrics initial_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  TransitionTable table_;
  std::unordered_set<Fingerprint> well_formed_;
  int64_t steps_ = 0;
  std::map<std::pair<PassId, std::string>, int64_t> failures_;
};

}  // namespace hone

#endif  // HONE_ENV_PASS_ORDER_H_
