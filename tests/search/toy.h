// Small problems with known optima.
#ifndef HONE_TESTS_SEARCH_TOY_H_
#define HONE_TESTS_SEARCH_TOY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "search/searcher.h"

namespace hone {

// A state is a set of bits.
struct Toy {
  std::function<uint64_t(uint64_t, Action)> next;  // the state itself: the action is idle there
  std::function<double(uint64_t)> value;
  SearchProblem problem;
};

inline Fingerprint Name(uint64_t state) { return {state * 0x9e3779b97f4a7c15ull, state + 1}; }

// The opcodes are the bits that are on.
inline Observed Look(uint64_t state, const std::vector<uint16_t>& passes) {
  Observed observed{{}, passes, nullptr};
  for (uint16_t bit = 0; bit < 64; ++bit) {
    if ((state >> bit & 1) != 0) observed.opcodes.push_back({bit, 1});
  }
  return observed;
}

inline Toy MakeToy(Action actions, std::function<uint64_t(uint64_t, Action)> next,
                   std::function<double(uint64_t)> value) {
  Toy toy{std::move(next), std::move(value), {}};
  for (Action action = 0; action < actions; ++action) toy.problem.actions.push_back(action);
  toy.problem.initial_value = toy.value(0);
  toy.problem.initial_state = Name(0);
  toy.problem.initial_observed = Look(0, {});
  return toy;
}

inline Trial Evaluate(const Toy& toy, const Sequence& sequence) {
  Trial trial{sequence, {}};
  uint64_t state = 0;
  std::vector<uint16_t> passes;
  for (Action action : sequence) {
    const uint64_t after = toy.next(state, action);
    ActionResult result{action, after != state, false, toy.value(after), Name(after), {}};
    if (result.changed) passes.push_back(action);
    state = after;
    if (toy.problem.prior != nullptr) result.observed = Look(state, passes);
    trial.results.push_back(std::move(result));
  }
  if (toy.problem.prior != nullptr && toy.problem.prior->NeedsArrays() && !trial.results.empty()) {
    trial.results.back().observed.arrays = std::make_shared<ProgramArrays>();
  }
  return trial;
}

// Switches that turn on once, 0 to 9. Switch 3 lowers the value by 5, but only after 7 has been
// turned on; 1 and 4 lower it by 1; 8 and 9 do nothing, the rest nothing good.
inline constexpr double kInitial = 20;
inline constexpr double kOptimum = 20 - 5 - 1 - 1;

inline Toy Switches() {
  Toy toy = MakeToy(
      10,
      [](uint64_t state, Action action) {
        const bool works = action < 8 && (action != 3 || (state >> 7 & 1) != 0);
        return works ? state | uint64_t{1} << action : state;
      },
      [](uint64_t state) {
        return kInitial - 5.0 * (state >> 3 & 1) - (state >> 1 & 1) - (state >> 4 & 1);
      });
  toy.problem.starts = {{1, 2}};
  return toy;
}

// Chain: action i works after action i - 1; each lowers the value by one. The rest are neutral
// switches that work always, and idle actions.
inline Toy Chain(Action links, Action neutral, Action idle) {
  return MakeToy(
      links + neutral + idle,
      [=](uint64_t state, Action action) {
        const bool works = action < links + neutral &&
                           (action == 0 || action >= links || (state >> (action - 1) & 1) != 0);
        return works ? state | uint64_t{1} << action : state;
      },
      [=](uint64_t state) {
        double value = 100;
        for (Action i = 0; i < links; ++i) value -= static_cast<double>(state >> i & 1);
        return value;
      });
}

// Finds the first of `good` that is not on likely, and the rest equal.
class ToyPrior final : public Prior {
 public:
  ToyPrior(std::vector<Action> good, size_t actions, bool gain, bool arrays = false)
      : good_(std::move(good)), actions_(actions), gain_(gain), arrays_(arrays) {}

  Opinion Of(const Observed& state) const override {
    if (arrays_ && state.arrays == nullptr) ++blind_;
    std::set<uint16_t> on;
    for (const OpcodeCount& opcode : state.opcodes) on.insert(opcode.opcode);
    Opinion opinion{std::vector<double>(actions_, 0.4 / static_cast<double>(actions_)), {}};
    double left = 0;
    for (Action action : good_) {
      if (on.count(action) != 0) continue;
      if (left == 0) opinion.probabilities[action] += 0.6;
      left += 1;
    }
    if (left == 0) opinion.probabilities.assign(actions_, 1 / static_cast<double>(actions_));
    if (gain_) opinion.gain = left / kInitial;
    return opinion;
  }
  bool NeedsArrays() const override { return arrays_; }
  int blind() const { return blind_; }  // asked without its arrays

 private:
  const std::vector<Action> good_;
  const size_t actions_;
  const bool gain_;
  const bool arrays_;
  mutable int blind_ = 0;
};

struct Outcome {
  double best = 0;
  int trials = 0;  // until the best was found
  int steps = 0;   // (state, action) pairs that were not known, until then
  int all_trials = 0;
  bool exhausted = false;
};

// Asks and tells until `target` is reached, the searcher is exhausted, or so many trials are made.
inline Outcome Drive(const Toy& toy, Searcher& searcher, int most_trials, double target,
                     size_t batch = 4) {
  Outcome outcome;
  outcome.best = toy.problem.initial_value;
  std::set<std::pair<uint64_t, Action>> known;
  while (outcome.all_trials < most_trials && outcome.best > target) {
    const std::vector<Sequence> asked = searcher.Ask(batch);
    if (asked.empty()) {
      outcome.exhausted = true;
      break;
    }
    for (const Sequence& sequence : asked) {
      uint64_t state = 0;
      for (Action action : sequence) {
        known.insert({state, action});
        state = toy.next(state, action);
      }
      ++outcome.all_trials;
      const Trial trial = Evaluate(toy, sequence);
      const double value = BestPrefix(trial, toy.problem.initial_value).value;
      if (value < outcome.best) {
        outcome.best = value;
        outcome.trials = outcome.all_trials;
        outcome.steps = static_cast<int>(known.size());
      }
      searcher.Tell(trial);
    }
  }
  return outcome;
}

inline std::unique_ptr<Searcher> Make(std::string_view name, const SearchProblem& problem,
                                      uint64_t seed) {
  return FindSearcher(name)->make(problem, seed);
}

}  // namespace hone

#endif  // HONE_TESTS_SEARCH_TOY_H_
