#include "memory/layout/labelling.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/mix_bits.h"
#include "memory/deadline.h"

namespace hone::memory {
namespace {

constexpr double kLess = 1e-9;  // less than that is no improvement

size_t U(int32_t id) { return static_cast<size_t>(id); }

bool Meets(const Ask& ask, uint8_t label) { return (ask.met_by >> label & 1) != 0; }

double PaidFor(const Factor& factor, const std::vector<uint8_t>& labels) {
  double least = std::numeric_limits<double>::infinity();
  for (const LabelMode& mode : factor.modes[labels[U(factor.results[0])]]) {
    double cost = 0;
    for (const Request& request : mode) {
      const bool met = std::all_of(
          request.asks.begin(), request.asks.end(),
          [&](const Ask& ask) { return Meets(ask, labels[U(ask.variable)]); });
      if (!met) cost += request.cost;
    }
    least = std::min(least, cost);
  }
  return least;
}

template <class Visit>
void ForEachAsk(const Factor& factor, Visit visit) {
  for (const auto& modes : factor.modes) {
    for (const LabelMode& mode : modes) {
      for (const Request& request : mode) {
        for (const Ask& ask : request.asks) visit(ask.variable, mode);
      }
    }
  }
}

// A label's part of a hash.
uint64_t HashOf(int32_t variable, uint8_t label) {
  return MixBits((U(variable) * kMostLabels + label + 1) * kSplitMixStep);
}

class Search {
 public:
  // Relaxed: of too many states none is given up, but variables are: whatever asks for them is met.
  Search(const LabellingProblem& problem, const LabellingOptions& options, bool relaxed)
      : problem_(problem),
        options_(options),
        relaxed_(relaxed),
        most_states_(options.most_states),
        slot_(problem.costs.size(), kNone),
        last_use_(problem.costs.size(), -1),
        alone_(problem.costs.size(), false),
        known_(problem.costs.size(), false),
        given_up_(problem.costs.size(), false) {
    FindUses();
    for (size_t v = 0; v < problem.costs.size(); ++v) {
      const auto& costs = problem.costs[v];
      cheapest_.push_back(
          static_cast<uint8_t>(std::min_element(costs.begin(), costs.end()) - costs.begin()));
    }
  }

  Labelling Run() {
    states_.push_back({});
    const Deadline deadline(options_.budget_seconds);
    for (size_t f = 0; f < problem_.factors.size(); ++f) {
      Step(f);
      if (!relaxed_ && f % kBetweenLooks == 0) Hurry(f, deadline.Spent());
    }
    const auto best =
        std::min_element(states_.begin(), states_.end(),
                         [](const State& a, const State& b) { return a.cost < b.cost; });
    Labelling found{cheapest_, best->cost, optimal_};
    for (int32_t n = best->node; n != kNone; n = nodes_[U(n)].parent) {
      for (size_t k = nodes_[U(n)].begin; k < nodes_[U(n)].end; ++k) {
        found.labels[U(chosen_[k].variable)] = chosen_[k].label;
      }
    }
    for (size_t v = 0; v < known_.size(); ++v) {
      if (!known_[v]) found.cost += problem_.costs[v][cheapest_[v]];
    }
    return found;
  }

 private:
  static constexpr int32_t kNone = -1;
  static constexpr size_t kBetweenLooks = 32;  // factors

  // As many states as the rest has time for, if it takes as long for each as it did so far.
  void Hurry(size_t f, double spent) {
    const double share =
        static_cast<double>(f + 1) / static_cast<double>(problem_.factors.size());
    const bool late = spent > share * options_.budget_seconds;
    most_states_ = late ? std::max<size_t>(1, most_states_ / 2)
                        : std::min(options_.most_states, most_states_ * 2);
  }
  struct Choice {
    int32_t variable;
    uint8_t label;
  };
  struct Node {  // what a state has chosen in one step
    int32_t parent;
    size_t begin, end;  // of chosen_
  };
  struct State {
    double cost = 0;
    uint64_t hash = 0;  // of what tells it from others
    int32_t node = kNone;
    std::vector<uint8_t> labels;  // by slot
  };
  struct Candidate {
    double cost;
    uint64_t hash;
    size_t state;
    uint8_t label;  // of the variable that comes into being
  };

  // Which variables each factor reads, and where each is forgotten.
  void FindUses() {
    const size_t count = problem_.factors.size();
    reads_.resize(count);
    forgets_.resize(count);
    drops_.resize(count);
    std::vector<int64_t>& last = last_use_;
    std::vector<int64_t> apart(problem_.costs.size(), -1);
    std::vector<const LabelMode*> asked(problem_.costs.size(), nullptr);
    for (size_t f = 0; f < count; ++f) {
      const Factor& factor = problem_.factors[f];
      std::vector<int32_t>& reads = reads_[f];
      ForEachAsk(factor, [&](int32_t v, const LabelMode& mode) {
        if (std::find(reads.begin(), reads.end(), v) == reads.end()) {
          reads.push_back(v);
          alone_[U(v)] = last[U(v)] < 0;
        } else if (asked[U(v)] == &mode) {
          alone_[U(v)] = false;
        }
        asked[U(v)] = &mode;
      });
      const auto use = [&](int32_t v) {
        const int64_t then = last[U(v)];
        last[U(v)] = static_cast<int64_t>(f);
        if (relaxed_ || then < 0 || apart[U(v)] >= 0) return;
        if (static_cast<int64_t>(f) - then > static_cast<int64_t>(options_.horizon)) {
          apart[U(v)] = then;
          optimal_ = false;
        }
      };
      for (int32_t v : factor.results) use(v);
      for (int32_t v : reads) use(v);
    }
    for (size_t v = 0; v < last.size(); ++v) {
      if (last[v] < 0) continue;
      drops_[U(static_cast<int32_t>(last[v]))].push_back(static_cast<int32_t>(v));
      const int64_t at = apart[v] >= 0 ? apart[v] : last[v];
      forgets_[static_cast<size_t>(at)].push_back(static_cast<int32_t>(v));
    }
  }

  uint8_t LabelIn(const State& state, int32_t v) const { return state.labels[U(slot_[U(v)])]; }

  void TakeSlot(int32_t v) {
    known_[U(v)] = true;
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(slots_++));
      for (State& state : states_) state.labels.resize(slots_, 0);
    }
    slot_[U(v)] = free_.back();
    free_.pop_back();
    live_.push_back(v);
  }

  // What the factor costs in a state with this label for its result. Variables that are asked for
  // nowhere else take the label that is best for them: to `choices`, if any.
  double Paid(const Factor& factor, const State& state, uint8_t label,
              std::vector<Choice>* choices) const {
    double least = std::numeric_limits<double>::infinity();
    std::vector<Choice> now;
    for (const LabelMode& mode : factor.modes[label]) {
      double sum = 0;
      now.clear();
      for (const Request& request : mode) {
        double met = 0;
        for (const Ask& ask : request.asks) {
          if (given_up_[U(ask.variable)]) continue;
          if (!alone_[U(ask.variable)]) {
            if (!Meets(ask, LabelIn(state, ask.variable))) met = kNever;
            continue;
          }
          // Above what the variable costs in any case.
          const auto& costs = problem_.costs[U(ask.variable)];
          const uint8_t best = BestOf(ask);
          met += best < kMostLabels ? costs[best] - costs[cheapest_[U(ask.variable)]] : kNever;
        }
        sum += std::min(met, request.cost);
        if (choices == nullptr) continue;
        for (const Ask& ask : request.asks) {
          if (!alone_[U(ask.variable)]) continue;
          const uint8_t best = met <= request.cost ? BestOf(ask) : cheapest_[U(ask.variable)];
          now.push_back({ask.variable, best});
        }
      }
      if (sum < least) {
        least = sum;
        if (choices != nullptr) *choices = now;
      }
    }
    return least;
  }

  // The cheapest of the labels that meet it; kMostLabels where there is none.
  uint8_t BestOf(const Ask& ask) const {
    uint8_t best = kMostLabels;
    const auto& costs = problem_.costs[U(ask.variable)];
    for (uint8_t label = 0; label < costs.size(); ++label) {
      if (Meets(ask, label) && (best == kMostLabels || costs[label] < costs[best])) best = label;
    }
    return best;
  }

  void Step(size_t f) {
    const Factor& factor = problem_.factors[f];
    for (int32_t v : reads_[f]) {
      if (!known_[U(v)] && !alone_[U(v)]) Introduce(v, nullptr, {});
    }
    for (size_t k = 1; k < factor.results.size(); ++k) Introduce(factor.results[k], nullptr, {});
    Introduce(factor.results[0], &factor, forgets_[f]);
    for (int32_t v : drops_[f]) {
      if (slot_[U(v)] == kNone) continue;
      free_.push_back(slot_[U(v)]);
      std::erase(live_, v);
    }
  }

  // Every state with every label of a new variable; then `forgotten` tell none apart any more.
  void Introduce(int32_t v, const Factor* factor, const std::vector<int32_t>& forgotten) {
    if (!known_[U(v)]) TakeSlot(v);
    const auto& costs = problem_.costs[U(v)];
    std::vector<Candidate> candidates;
    for (size_t s = 0; s < states_.size(); ++s) {
      State& state = states_[s];
      for (uint8_t label = 0; label < costs.size(); ++label) {
        state.labels[U(slot_[U(v)])] = label;
        Candidate candidate{state.cost + costs[label], state.hash ^ HashOf(v, label), s, label};
        if (factor != nullptr) candidate.cost += Paid(*factor, state, label, nullptr);
        for (int32_t old : forgotten) {
          if (alone_[U(old)] || given_up_[U(old)]) continue;
          candidate.hash ^= HashOf(old, LabelIn(state, old));
        }
        candidates.push_back(candidate);
      }
    }
    Work::Add(static_cast<int64_t>(candidates.size()));
    KeepCheapest(candidates);
    for (int32_t old : forgotten) {
      if (relaxed_) given_up_[U(old)] = true;
    }
    // Before a factor has told them apart, more are kept.
    const size_t most = factor == nullptr ? most_states_ * 8 : most_states_;
    if (relaxed_) {
      while (candidates.size() > most) GiveUp(v, candidates);
    } else if (candidates.size() > most) {
      optimal_ = false;
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
      candidates.resize(most);
    }
    std::vector<State> next;
    next.reserve(candidates.size());
    std::vector<Choice> choices;
    for (const Candidate& candidate : candidates) {
      State state = states_[candidate.state];
      state.labels[U(slot_[U(v)])] = candidate.label;
      choices.clear();
      if (factor != nullptr && !relaxed_) Paid(*factor, state, candidate.label, &choices);
      choices.push_back({v, candidate.label});
      nodes_.push_back({state.node, chosen_.size(), chosen_.size() + choices.size()});
      chosen_.insert(chosen_.end(), choices.begin(), choices.end());
      state.node = static_cast<int32_t>(nodes_.size() - 1);
      state.cost = candidate.cost;
      state.hash = candidate.hash;
      next.push_back(std::move(state));
    }
    states_ = std::move(next);
  }

  // Of candidates that nothing tells apart.
  static void KeepCheapest(std::vector<Candidate>& candidates) {
    std::unordered_map<uint64_t, size_t> same;
    std::vector<Candidate> kept;
    for (const Candidate& candidate : candidates) {
      const auto [place, fresh] = same.try_emplace(candidate.hash, kept.size());
      if (fresh) {
        kept.push_back(candidate);
      } else if (candidate.cost < kept[place->second].cost - kLess) {
        kept[place->second] = candidate;
      }
    }
    candidates = std::move(kept);
  }

  // The variable that is used longest tells candidates apart no more. `fresh` is not in the states.
  void GiveUp(int32_t fresh, std::vector<Candidate>& candidates) {
    optimal_ = false;
    int32_t longest = kNone;
    for (int32_t v : live_) {
      if (given_up_[U(v)]) continue;
      if (longest == kNone || last_use_[U(v)] > last_use_[U(longest)]) longest = v;
    }
    given_up_[U(longest)] = true;
    for (Candidate& candidate : candidates) {
      candidate.hash ^= HashOf(longest, longest == fresh
                                            ? candidate.label
                                            : LabelIn(states_[candidate.state], longest));
    }
    KeepCheapest(candidates);
  }

  static constexpr double kNever = 1e30;

  const LabellingProblem& problem_;
  const LabellingOptions options_;
  const bool relaxed_;
  size_t most_states_;
  std::vector<int32_t> slot_;      // of each variable that is live
  std::vector<int64_t> last_use_;  // factor
  std::vector<bool> alone_;  // asked for once in a mode, by one factor; no factor makes it
  std::vector<bool> known_;
  std::vector<bool> given_up_;
  std::vector<int32_t> live_;
  std::vector<uint8_t> cheapest_;
  std::vector<std::vector<int32_t>> reads_, forgets_, drops_;  // of each factor
  std::vector<int32_t> free_;
  size_t slots_ = 0;
  std::vector<State> states_;
  std::vector<Node> nodes_;
  std::vector<Choice> chosen_;
  bool optimal_ = true;
};

void Improve(const LabellingProblem& problem, int sweeps, const Deadline& deadline,
             std::vector<uint8_t>& labels) {
  std::vector<std::vector<size_t>> factors(labels.size());  // that each variable is part of
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    const auto add = [&](int32_t v) {
      if (factors[U(v)].empty() || factors[U(v)].back() != f) factors[U(v)].push_back(f);
    };
    add(problem.factors[f].results[0]);
    ForEachAsk(problem.factors[f], [&](int32_t v, const LabelMode&) { add(v); });
  }
  for (int sweep = 0; sweep < sweeps && !deadline.Passed(); ++sweep) {
    bool changed = false;
    for (size_t k = 0; k < labels.size(); ++k) {
      const size_t v = sweep % 2 == 0 ? labels.size() - 1 - k : k;
      const uint8_t before = labels[v];
      uint8_t best = before;
      double least = std::numeric_limits<double>::infinity();
      for (size_t l = 0; l <= problem.costs[v].size(); ++l) {
        labels[v] = l == 0 ? before : static_cast<uint8_t>(l - 1);
        double cost = problem.costs[v][labels[v]];
        for (size_t f : factors[v]) cost += PaidFor(problem.factors[f], labels);
        Work::Add(static_cast<int64_t>(factors[v].size()));
        if (cost < least - kLess) {
          least = cost;
          best = labels[v];
        }
      }
      labels[v] = best;
      changed = changed || best != before;
    }
    if (!changed) break;
  }
}

}  // namespace

double CostOf(const LabellingProblem& problem, const std::vector<uint8_t>& labels) {
  double cost = 0;
  for (size_t v = 0; v < labels.size(); ++v) cost += problem.costs[v][labels[v]];
  for (const Factor& factor : problem.factors) cost += PaidFor(factor, labels);
  return cost;
}

Labelling Label(const LabellingProblem& problem, const LabellingOptions& options) {
  const Deadline deadline(options.budget_seconds);
  Labelling labelling = Search(problem, options, false).Run();
  if (!labelling.optimal) Improve(problem, options.sweeps, deadline, labelling.labels);
  labelling.cost = CostOf(problem, labelling.labels);
  return labelling;
}

double LeastCost(const LabellingProblem& problem, const LabellingOptions& options) {
  return Search(problem, options, true).Run().cost;
}

}  // namespace hone::memory
