// What the agent knows of a program's states without asking a worker.
#ifndef HONE_ENV_TRANSITION_TABLE_H_
#define HONE_ENV_TRANSITION_TABLE_H_

#include <cstddef>
#include <string>
#include <unordered_map>

#include "core/fingerprint.h"
#include "core/metrics.h"
#include "core/pass.h"
#include "core/state.h"

namespace hone {

// (state, pass) → state', and what each state costs. It predicts: equal fingerprints can hide
// another instruction order, so what is reported as a result is replayed first.
class TransitionTable {
 public:
  struct Transition {
    Fingerprint to;       // equal to the state it is from where nothing changed or the pass failed
    std::string failure;  // empty where it did not fail
  };

  // Null where nothing is known.
  const Transition* Find(const Fingerprint& from, PassId pass) const {
    const auto found = transitions_.find({from, pass});
    return found == transitions_.end() ? nullptr : &found->second;
  }
  const Metrics* FindMetrics(const Fingerprint& state) const {
    const auto found = metrics_.find(state);
    return found == metrics_.end() ? nullptr : &found->second;
  }

  void Record(const Fingerprint& from, const Step& step) {
    transitions_[{from, step.pass}] = {step.state, step.failure};
    metrics_[step.state] = step.metrics;
  }
  void RecordMetrics(const Fingerprint& state, const Metrics& metrics) {
    metrics_[state] = metrics;
  }

 private:
  struct Key {
    Fingerprint state;
    PassId pass;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<Fingerprint>()(key.state) + key.pass * 0x9e3779b97f4a7c15ull;
    }
  };
  std::unordered_map<Key, Transition, KeyHash> transitions_;
  std::unordered_map<Fingerprint, Metrics> metrics_;
};

}  // namespace hone

#endif  // HONE_ENV_TRANSITION_TABLE_H_
