#include "search/local.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/rng.h"

namespace hone {
namespace {

constexpr size_t kCleaners = 6;         // actions in the clean-up
constexpr int kDriftTrials = 60;        // trials without a new best before it returns to the best
constexpr double kLatePositions = 1.6;  // exponent: how much likelier late positions are

// What is known of an action on this program.
struct Record {
  double taken = 0;
  double changed = 0;
  double lowered = 0;
  double credited = 0;  // new bests that came of trying it
};

class LocalSearcher final : public Searcher {
 public:
  LocalSearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem), rng_(seed), best_{problem.initial_value, {}}, here_(best_) {
    for (const Sequence& start : problem.starts) planned_.push_back({start, {}});
    for (size_t i = 0; i < problem_.actions.size(); ++i) index_[problem_.actions[i]] = i;
    records_.resize(problem_.actions.size());
  }

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (planned_.empty()) Plan();
      asked_.push_back(std::move(planned_.front()));
      planned_.pop_front();
      sequences.push_back(asked_.back().sequence);
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    const Proposal proposal = std::move(asked_.front());
    asked_.pop_front();
    Learn(trial);
    Prefix prefix = BestPrefix(trial, problem_.initial_value);
    const bool better = prefix.value < best_.value;
    const bool shorter =
        prefix.value == best_.value && prefix.sequence.size() < best_.sequence.size();
    if (better || shorter) {
      best_ = prefix;
      if (better) {
        for (Action action : proposal.tried) records_[index_.at(action)].credited += 1;
        swept_ = 0;
        idle_ = 0;
      }
    }
    if (prefix.value <= here_.value) here_ = std::move(prefix);
    if (++idle_ % kDriftTrials == 0) here_ = best_;
  }

 private:
  struct Proposal {
    Sequence sequence;
    Sequence tried;  // the actions that make it other than what it came from
  };

  void Learn(const Trial& trial) {
    double value = problem_.initial_value;
    for (const ActionResult& result : trial.results) {
      const auto found = index_.find(result.action);
      if (found == index_.end()) continue;
      Record& record = records_[found->second];
      record.taken += 1;
      record.changed += result.changed;
      record.lowered += result.value < value;
      value = result.value;
    }
  }

  // How likely an action is drawn: what never does anything is tried now and then only.
  double Weight(const Record& record) const {
    return 0.05 + (record.changed + 0.5) / (record.taken + 1) +
           2 * record.lowered / (record.taken + 1) + std::sqrt(record.credited);
  }

  Sequence Cleaners() const {
    std::vector<size_t> order(records_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return records_[a].lowered > records_[b].lowered;
    });
    Sequence cleaners;
    for (size_t i : order) {
      if (cleaners.size() == kCleaners || records_[i].lowered == 0) break;
      cleaners.push_back(problem_.actions[i]);
    }
    return cleaners;
  }

  void Plan() {
    if (swept_ < problem_.actions.size()) {
      const Action action = problem_.actions[(sweep_from_ + swept_++) % problem_.actions.size()];
      if (swept_ == problem_.actions.size()) sweep_from_ = rng_.Below(problem_.actions.size());
      Sequence sequence = best_.sequence;
      sequence.push_back(action);
      Propose(std::move(sequence), {action});
      return;
    }
    Sequence sequence = here_.sequence;
    Sequence tried;
    const size_t edits = 1 + (rng_.Unit() < 0.3) + (rng_.Unit() < 0.1);
    for (size_t i = 0; i < edits; ++i) Edit(sequence, tried);
    Propose(std::move(sequence), std::move(tried));
  }

  void Propose(Sequence sequence, Sequence tried) {
    const Sequence cleaners = Cleaners();
    sequence.insert(sequence.end(), cleaners.begin(), cleaners.end());
    if (sequence.size() > problem_.longest) sequence.resize(problem_.longest);
    planned_.push_back({std::move(sequence), std::move(tried)});
  }

  Action Draw() {
    std::vector<double> weights;
    weights.reserve(records_.size());
    for (const Record& record : records_) weights.push_back(Weight(record));
    return problem_.actions[rng_.Weighted(weights)];
  }

  // A position in [0, size).
  size_t Position(size_t size) {
    const double late = 1 - std::pow(rng_.Unit(), kLatePositions);
    return std::min(size - 1, static_cast<size_t>(late * static_cast<double>(size)));
  }

  void Edit(Sequence& sequence, Sequence& tried) {
    const double what = rng_.Unit();
    const auto at = [&sequence](size_t i) {
      return sequence.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (what < 0.45 || sequence.size() < 2) {
      const Action action = Draw();
      sequence.insert(at(Position(sequence.size() + 1)), action);
      tried.push_back(action);
    } else if (what < 0.6) {
      sequence.erase(at(Position(sequence.size())));
    } else if (what < 0.75) {
      const Action action = Draw();
      sequence[Position(sequence.size())] = action;
      tried.push_back(action);
    } else if (what < 0.9) {
      std::swap(sequence[Position(sequence.size())], sequence[Position(sequence.size())]);
    } else {
      // Move a stretch of up to a quarter elsewhere.
      const size_t length = 1 + rng_.Below(std::max<size_t>(1, sequence.size() / 4));
      const size_t from = rng_.Below(sequence.size() - length + 1);
      const Sequence stretch(at(from), at(from + length));
      sequence.erase(at(from), at(from + length));
      sequence.insert(at(Position(sequence.size() + 1)), stretch.begin(), stretch.end());
    }
  }

  const SearchProblem problem_;
  Rng rng_;
  std::unordered_map<Action, size_t> index_;
  std::vector<Record> records_;
  Prefix best_;
  Prefix here_;
  std::deque<Proposal> planned_;
  std::deque<Proposal> asked_;
  size_t swept_ = 0;  // actions tried behind the best sequence since it was found
  size_t sweep_from_ = 0;
  int idle_ = 0;  // trials since the last new best
};

}  // namespace

std::unique_ptr<Searcher> MakeLocalSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<LocalSearcher>(problem, seed);
}

}  // namespace hone
