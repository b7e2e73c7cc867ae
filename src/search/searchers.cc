// The list of searchers: adding one is a file, NAME.cc, and a line here.
#include <algorithm>

#include "search/searcher.h"

namespace hone {

// What makes it, in its file; its name; what it needs of the problem; its meaning.
#define HONE_SEARCHERS(X)                                                                    \
  X(MakeLocalSearcher, "local", kNothing,                                                    \
    "hill climbing from the best order: mutate, insert, delete, swap, then clean up")        \
  X(MakeGreedySearcher, "greedy", kNothing,                                                  \
    "the one pass that helps most, again and again, looking up to three ahead when stuck")   \
  X(MakeBeamSearcher, "beam", kNothing,                                                      \
    "the few best states, each with its most promising passes behind it; then more of both") \
  X(MakeMctsSearcher, "mcts", kNothing,                                                      \
    "tree search over states: what paid so far against what was tried little")               \
  X(MakeAnnealSearcher, "anneal", kNothing,                                                  \
    "edits of one order, worse ones taken less and less often as it cools")                  \
  X(MakeGeneticSearcher, "genetic", kNothing,                                                \
    "a population of orders: the tail of one behind a prefix of another, then edits")        \
  X(MakeRandomSearcher, "random", kNothing, "sequences of uniformly random passes")          \
  X(MakeCoresetSearcher, "coreset", kCoreset,                                                \
    "orders that did well on other programs, one after the other")                           \
  X(MakePolicySearcher, "policy", kPrior,                                                    \
    "where a trained policy leads, and local search from there")                             \
  X(MakePolicyGreedySearcher, "policy_greedy", kPrior,                                       \
    "one walk, always the pass that a trained policy finds likeliest")

#define HONE_DECLARE(make, name, needs, meaning) \
  std::unique_ptr<Searcher> make(const SearchProblem& problem, uint64_t seed);
HONE_SEARCHERS(HONE_DECLARE)
#undef HONE_DECLARE

const std::vector<SearcherInfo>& Searchers() {
#define HONE_ROW(make, name, needs, meaning) {name, meaning, Needs::needs, make},
  static const std::vector<SearcherInfo> searchers = {HONE_SEARCHERS(HONE_ROW)};
#undef HONE_ROW
  return searchers;
}

const SearcherInfo* FindSearcher(std::string_view name) {
  for (const SearcherInfo& searcher : Searchers()) {
    if (searcher.name == name) return &searcher;
  }
  return nullptr;
}

Prefix BestPrefix(const Trial& trial, double initial_value) {
  Prefix best{initial_value, {}};
  Sequence taken;
  for (const ActionResult& result : trial.results) {
    if (!result.changed) continue;
    taken.push_back(result.action);
    if (result.value < best.value) best = {result.value, taken};
  }
  return best;
}

Sequence Usable(const SearchProblem& problem, const Sequence& sequence) {
  Sequence usable;
  for (Action action : sequence) {
    if (usable.size() == problem.longest) break;
    const auto end = problem.actions.end();
    if (std::find(problem.actions.begin(), end, action) != end) usable.push_back(action);
  }
  return usable;
}

}  // namespace hone
