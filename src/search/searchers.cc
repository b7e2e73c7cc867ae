// The list of searchers: adding one is a file and a line here.
#include <algorithm>

#include "search/anneal.h"
#include "search/beam.h"
#include "search/coreset.h"
#include "search/genetic.h"
#include "search/greedy.h"
#include "search/local.h"
#include "search/mcts.h"
#include "search/policy.h"
#include "search/policy_greedy.h"
#include "search/random.h"
#include "search/searcher.h"

namespace hone {

const std::vector<SearcherInfo>& Searchers() {
  static const std::vector<SearcherInfo> searchers = {
      {"local", "hill climbing from the best order: mutate, insert, delete, swap, then clean up",
       Needs::kNothing, MakeLocalSearcher},
      {"greedy",
       "the one pass that helps most, again and again, looking up to three ahead when stuck",
       Needs::kNothing, MakeGreedySearcher},
      {"beam",
       "the few best states, each with its most promising passes behind it; then more of both",
       Needs::kNothing, MakeBeamSearcher},
      {"mcts", "tree search over states: what paid so far against what was tried little",
       Needs::kNothing, MakeMctsSearcher},
      {"anneal", "edits of one order, worse ones taken less and less often as it cools",
       Needs::kNothing, MakeAnnealSearcher},
      {"genetic", "a population of orders: the tail of one behind a prefix of another, then edits",
       Needs::kNothing, MakeGeneticSearcher},
      {"random", "sequences of uniformly random passes", Needs::kNothing, MakeRandomSearcher},
      {"coreset", "orders that did well on other programs, one after the other", Needs::kCoreset,
       MakeCoresetSearcher},
      {"policy", "where a trained policy leads, and local search from there", Needs::kPrior,
       MakePolicySearcher},
      {"policy_greedy", "one walk, always the pass that a trained policy finds likeliest",
       Needs::kPrior, MakePolicyGreedySearcher},
  };
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
