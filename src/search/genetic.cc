// A population of sequences.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "search/edit_searcher.h"
#include "search/searcher.h"

namespace hone {
namespace {

constexpr size_t kPopulation = 12;
constexpr size_t kElite = 4;
constexpr size_t kTournament = 3;
constexpr size_t kRandomLength = 6;
constexpr double kCrossover = 0.3;  // of the children; the others are edits only
constexpr double kEditedToo = 0.5;  // of those that came of a crossover
constexpr int kPatience = 200;      // trials without a new best before room is made
constexpr double kLate = 4;         // see Edits
constexpr double kExtended = 0.8;   // of the edits: one action more, nothing else
constexpr size_t kNeutralTail = 4;  // changing actions kept behind the best prefix
constexpr int kAttempts = 8;        // at a child that is not known already

class GeneticSearcher final : public EditSearcher {
 public:
  GeneticSearcher(const SearchProblem& problem, uint64_t seed)
      : EditSearcher(problem, kLate, seed, /*teaches_graph=*/true), best_(problem.initial_value) {}

 private:
  void Learn(const Trial& trial, const Sequence& tried) override {
    if (newcomers_ > 0) --newcomers_;
    if (trial.results.empty()) return;
    const Prefix prefix = BestPrefix(trial, problem_.initial_value);
    Individual individual;
    individual.value = prefix.value;
    individual.sequence = Changing(trial, prefix, kNeutralTail);
    individual.states.push_back(StateGraph::kRoot);
    for (size_t i = 1; i <= individual.sequence.size(); ++i) {
      const auto begin = individual.sequence.begin();
      individual.states.push_back(
          graph_.Walk(Sequence(begin, begin + static_cast<std::ptrdiff_t>(i))));
    }
    Admit(std::move(individual));
    if (prefix.value < best_) {
      best_ = prefix.value;
      edits_.Credit(tried);
      stale_ = 0;
    } else if (++stale_ >= kPatience) {
      stale_ = 0;
      population_.resize(std::min(population_.size(), kElite));
      newcomers_ = kPopulation - population_.size();
    }
  }

  struct Individual {
    double value = 0;
    Sequence sequence;                     // changing actions only
    std::vector<StateGraph::Node> states;  // before the first action, and after each
  };

  static bool Better(const Individual& a, const Individual& b) {
    return a.value != b.value ? a.value < b.value : a.sequence.size() < b.sequence.size();
  }

  // Sorted, best first.
  void Admit(Individual individual) {
    const auto same = std::find_if(population_.begin(), population_.end(), [&](const auto& other) {
      return other.states.back() == individual.states.back();
    });
    if (same != population_.end()) {
      if (!Better(individual, *same)) return;
      population_.erase(same);
    }
    population_.insert(std::upper_bound(population_.begin(), population_.end(), individual, Better),
                       std::move(individual));
    if (population_.size() > kPopulation) population_.pop_back();
  }

  const Individual& Parent() {
    size_t winner = population_.size();
    for (size_t i = 0; i < kTournament; ++i) {
      winner = std::min(winner, edits_.rng().Below(population_.size()));
    }
    return population_[winner];
  }

  Proposal Plan() override {
    Proposal child;
    for (int i = 0; i < kAttempts; ++i) {
      child = Make();
      if (child.sequence.size() > problem_.longest) child.sequence.resize(problem_.longest);
      if (!Known(child.sequence)) break;
    }
    return child;
  }

  Proposal Make() {
    Proposal child;
    if (population_.size() < 2 || newcomers_ > open()) {
      for (size_t i = 0; i < kRandomLength; ++i) {
        child.sequence.push_back(edits_.Draw(child.sequence, child.sequence.size()));
      }
      return child;
    }
    const Individual& parent = Parent();
    const bool cross = edits_.rng().Unit() < kCrossover;
    child.sequence = cross ? Cross(parent, Parent()) : parent.sequence;
    if (!cross || edits_.rng().Unit() < kEditedToo) {
      if (child.sequence.size() < problem_.longest && edits_.rng().Unit() < kExtended) {
        edits_.Extend(child.sequence, child.tried);
        return child;
      }
      const size_t edits = 1 + edits_.rng().Below(2);
      for (size_t i = 0; i < edits; ++i) edits_.Edit(child.sequence, child.tried);
      child.sequence = edits_.Cleaned(std::move(child.sequence));
    }
    return child;
  }

  // A prefix of `a`, known therefore, and behind it the tail of `b` from the last state that `a`
  // passes through as well: what `b` did from there on, on top of what `a` did.
  Sequence Cross(const Individual& a, const Individual& b) {
    std::unordered_map<StateGraph::Node, size_t> position;
    for (size_t i = 0; i < a.states.size(); ++i) position[a.states[i]] = i;
    size_t shared = 0;
    size_t from = 0;
    for (size_t i = 0; i < b.states.size(); ++i) {
      const auto found = position.find(b.states[i]);
      if (found == position.end()) continue;
      shared = found->second;
      from = i;
    }
    // The cut is behind the shared state: at it, the child would be `b` by another way.
    const size_t own = a.sequence.size() - shared;
    const size_t cut = shared + (own == 0 ? 0 : 1 + edits_.Position(own));
    Sequence child(a.sequence.begin(), a.sequence.begin() + static_cast<std::ptrdiff_t>(cut));
    child.insert(child.end(), b.sequence.begin() + static_cast<std::ptrdiff_t>(from),
                 b.sequence.end());
    return child;
  }

  bool Known(const Sequence& sequence) const {
    StateGraph::Node here = StateGraph::kRoot;
    for (Action action : sequence) {
      const StateGraph::Node next = graph_.Next(here, graph_.Index(action));
      if (next == StateGraph::kIdle) continue;
      if (!StateGraph::IsNode(next)) return false;
      here = next;
    }
    return true;
  }

  std::vector<Individual> population_;
  double best_;
  int stale_ = 0;                   // trials since the last new best
  size_t newcomers_ = kPopulation;  // random sequences still to come
};

}  // namespace

// The starts and random sequences; then children of parents that win tournaments, one at a time, in
// place of the worst. A child takes most of one parent and behind it what the other did since the
// last state that both passed through, so that nearly all but the tail is known; or it is an edit
// (edits.h) of one parent; or both. No two of the population end in the same state. Where nothing
// better comes for long, all but the best few make room for random sequences.
std::unique_ptr<Searcher> MakeGeneticSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<GeneticSearcher>(problem, seed);
}

}  // namespace hone
