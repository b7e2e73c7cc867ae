// The agent's memory of a program's states and transitions: no worker is asked.
#ifndef HONE_ENV_TRANSITION_TABLE_H_
#define HONE_ENV_TRANSITION_TABLE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/fingerprint.h"
#include "core/metrics.h"
#include "core/pass.h"
#include "core/rewrite.h"
#include "core/state.h"

namespace hone {

// Passes by their id; a registry is smaller than this.
using PassSet = std::bitset<1024>;

// (state, pass, decisions) → state', what is known of each state, and what passes would do there.
// It predicts: equal fingerprints can hide another instruction order, so what is reported as a
// result is replayed first. Decisions are named by their hash (HashOf); 0 is the pass as it is.
class TransitionTable {
 public:
  struct Transition {
    Fingerprint to;       // equal to the state it is from where nothing changed or the pass failed
    std::string failure;  // empty where it did not fail
  };
  struct State {
    Metrics metrics;
    OpcodeCounts opcodes;     // empty where nobody asked for them
    PassSet idle;             // known to change nothing here, or to fail
    double run_seconds = -1;  // median of a run on XLA:CPU; -1 where it was not measured
  };

  // Null where nothing is known.
  const Transition* Find(const Fingerprint& from, PassId pass, uint64_t decisions = 0) const {
    const auto found = transitions_.find({from, pass, decisions});
    return found == transitions_.end() ? nullptr : &found->second;
  }
  const State* Find(const Fingerprint& state) const {
    const auto found = states_.find(state);
    return found == states_.end() ? nullptr : &found->second;
  }

  // A pass's effect. Where it changed nothing, the step's metrics are those of `from` or not given.
  void Record(const Fingerprint& from, const Step& step, uint64_t decisions = 0) {
    transitions_[{from, step.pass, decisions}] = {step.state, step.failure};
    State& state = states_[step.state];
    if (step.metrics.op_count > 0) state.metrics = step.metrics;
    if (!step.opcodes.empty()) state.opcodes = step.opcodes;
    if (step.state == from && decisions == 0) state.idle.set(step.pass);
  }
  void RecordState(const Fingerprint& state, const Metrics& metrics, OpcodeCounts opcodes = {}) {
    State& known = states_[state];
    known.metrics = metrics;
    known.opcodes = std::move(opcodes);
  }
  void RecordRunTime(const Fingerprint& state, double seconds) {
    states_[state].run_seconds = seconds;
  }

  // The rewrites that a pass would make in a state. Null where nothing is known.
  std::shared_ptr<const Rewrites> FindListing(const Fingerprint& state, PassId pass) const {
    const auto found = listings_.find({state, pass});
    return found == listings_.end() ? nullptr : found->second;
  }
  void RecordListing(const Fingerprint& state, PassId pass,
                     std::shared_ptr<const Rewrites> listing) {
    listings_[{state, pass}] = std::move(listing);
  }

  // Transitions.
  size_t size() const { return transitions_.size(); }
  void Clear() {
    transitions_.clear();
    states_.clear();
  }
  void ClearListings() { listings_.clear(); }

 private:
  std::unordered_map<TransitionKey, Transition, TransitionHash> transitions_;
  std::unordered_map<Fingerprint, State> states_;
  std::unordered_map<TransitionKey, std::shared_ptr<const Rewrites>, TransitionHash> listings_;
};

}  // namespace hone

#endif  // HONE_ENV_TRANSITION_TABLE_H_
