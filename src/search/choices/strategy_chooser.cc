// What all choosers do alike.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

constexpr int kProposals = 16;    // of the strategy, before it is helped
constexpr int kMutations = 64;    // of the best, before counting
constexpr int kCounted = 100000;  // assignments looked at by counting
constexpr double kWorth = 0.002;  // alone, to be tried on top of the best
constexpr double kMuch = 0.01;    // to be promised, for a flip to come before turns
constexpr int kMuchAlone = 12;    // such flips before leaps come between them

class StrategyChooser final : public Chooser {
 public:
  StrategyChooser(const Problem& problem, uint64_t seed, std::unique_ptr<Strategy> strategy,
                  FirstAsks first)
      : history_(problem.variables), rng_(seed), strategy_(std::move(strategy)) {
    first_.push_back(history_.stock());
    for (const Assignment& start : problem.starts) {
      if (start.size() == problem.variables.size()) first_.push_back(start);
    }
    if (first == FirstAsks::kSingles) PlanSingles(problem);
    counter_ = history_.stock();
  }

  std::vector<Assignment> Ask(size_t most, int group) override {
    std::vector<Assignment> asked;
    while (asked.size() < most && static_cast<double>(history_.seen()) < history_.size()) {
      std::optional<Assignment> next = FirstAsk();
      if (!next) next = Opening(group);
      if (!next) next = Fresh(group);
      if (!next) break;
      asked.push_back(*std::move(next));
    }
    return asked;
  }

  void Tell(const Trial& trial) override {
    history_.Add(trial);
    strategy_->Learn(history_, trial, rng_);
  }

 private:
  // A variable, or all of a family, changed to one choice.
  struct Flip {
    std::vector<size_t> variables;
    uint32_t choice = 0;
    double weight = 0;
    bool first = false;
    double promise = 0;
    bool tried = false;
    bool combined = false;  // of `first`: tried on top of the best
  };

  // Variable::first or what promises most, then the weightiest: a family is as weighty as all its
  // variables.
  void PlanSingles(const Problem& problem) {
    const std::vector<Variable>& variables = history_.variables();
    std::map<std::tuple<int, int, uint32_t>, Flip> families;  // by group, family and choice
    for (size_t i = 0; i < variables.size(); ++i) {
      const Variable& variable = variables[i];
      for (uint32_t choice = 0; choice < variable.choices; ++choice) {
        if (!variable.single || choice == variable.stock) continue;
        singles_.push_back({{i}, choice, variable.weight, variable.first});
        Flip& family = families[{variable.group, variable.family, choice}];
        family.variables.push_back(i);
        family.choice = choice;
        family.weight += variable.weight;
      }
    }
    for (auto& [key, family] : families) {
      if (family.variables.size() > 1) singles_.push_back(std::move(family));
    }
    if (problem.promise) {
      for (Flip& flip : singles_) {
        flip.first = false;
        flip.promise = problem.promise(flip.variables, flip.choice);
      }
    }
    std::stable_sort(singles_.begin(), singles_.end(), [&](const Flip& a, const Flip& b) {
      return std::tie(a.first, a.promise, a.weight) > std::tie(b.first, b.promise, b.weight);
    });
    if (singles_.size() > problem.singles) singles_.resize(problem.singles);
  }

  std::optional<Assignment> FirstAsk() {
    while (next_first_ < first_.size()) {
      const Assignment& start = first_[next_first_++];
      if (history_.MarkSeen(start)) return start;
    }
    return std::nullopt;
  }

  // Singles and leaps in turn, until the singles are over: a single shows clearly what is worth
  // much by itself; of what is worth little, or only together, leaps find more at a time.
  std::optional<Assignment> Opening(int group) {
    if (std::optional<Assignment> combined = Combined()) return combined;
    if (leap_is_due_) {
      leap_is_due_ = false;
      for (int i = 0; i < kProposals; ++i) {
        Assignment leap = history_.best();
        Leap(history_.variables(), kEveryGroup, rng_, leap);
        if (history_.MarkSeen(leap)) return leap;
      }
    }
    return Single(group);
  }

  std::optional<Assignment> Single(int group) {
    for (Flip& flip : singles_) {
      if (flip.tried) continue;
      const bool much = flip.promise >= kMuch;
      const bool asked = group == kEveryGroup || flip.first || much ||
                         history_.variables()[flip.variables[0]].group == group;
      if (!asked) continue;
      flip.tried = true;
      // The best so far may be what leaves it nothing to do.
      Assignment assignment = With(flip, flip.first ? history_.stock() : history_.best());
      if (!history_.MarkSeen(assignment)) continue;
      leap_is_due_ = !flip.first && (!much || ++much_asked_ > kMuchAlone);
      return assignment;
    }
    return std::nullopt;
  }

  static Assignment With(const Flip& flip, Assignment assignment) {
    for (size_t i : flip.variables) assignment[i] = flip.choice;
    return assignment;
  }

  // What came first and was good alone, on top of the best.
  std::optional<Assignment> Combined() {
    for (Flip& flip : singles_) {
      if (!flip.first || !flip.tried || flip.combined) continue;
      const std::optional<double> alone = history_.ValueOf(With(flip, history_.stock()));
      if (!alone) continue;  // not told yet
      flip.combined = true;
      if (*alone > -kWorth) continue;
      Assignment assignment = With(flip, history_.best());
      if (history_.MarkSeen(assignment)) return assignment;
    }
    return std::nullopt;
  }

  std::optional<Assignment> Fresh(int group) {
    for (int i = 0; i < kProposals; ++i) {
      Assignment proposed = strategy_->Propose(history_, group, rng_);
      if (history_.MarkSeen(proposed)) return proposed;
    }
    for (int i = 0; i < kMutations; ++i) {
      Assignment mutated = history_.best();
      for (int j = 0; j <= i / 16; ++j) {
        MutateSomehow(history_.variables(), group, rng_, mutated);
      }
      if (history_.MarkSeen(mutated)) return mutated;
    }
    for (int i = 0; i < kCounted && !counted_; ++i) {
      const Assignment here = counter_;
      Count();
      if (history_.MarkSeen(here)) return here;
    }
    return std::nullopt;
  }

  // To the next assignment of all, around once from the stock one.
  void Count() {
    for (size_t i = 0; i < counter_.size(); ++i) {
      const Variable& variable = history_.variables()[i];
      counter_[i] = (counter_[i] + 1) % variable.choices;
      if (counter_[i] != variable.stock) return;
    }
    counted_ = true;
  }

  History history_;
  Rng rng_;
  const std::unique_ptr<Strategy> strategy_;
  std::vector<Assignment> first_;
  size_t next_first_ = 0;
  std::vector<Flip> singles_;
  bool leap_is_due_ = false;
  int much_asked_ = 0;
  Assignment counter_;
  bool counted_ = false;
};

}  // namespace

std::unique_ptr<Chooser> MakeStrategyChooser(const Problem& problem, uint64_t seed,
                                             std::unique_ptr<Strategy> strategy, FirstAsks first) {
  return std::make_unique<StrategyChooser>(problem, seed, std::move(strategy), first);
}

}  // namespace hone::choices
