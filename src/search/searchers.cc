// The list of searchers: adding one is a file and a line here.
#include "search/greedy.h"
#include "search/local.h"
#include "search/random.h"
#include "search/searcher.h"

namespace hone {

const std::vector<SearcherInfo>& Searchers() {
  static const std::vector<SearcherInfo> searchers = {
      {"local", "hill climbing from the best order: mutate, insert, delete, swap, then clean up",
       Needs::kNothing, MakeLocalSearcher},
      {"greedy", "the one pass that helps most, again and again, looking two ahead when stuck",
       Needs::kNothing, MakeGreedySearcher},
      {"random", "sequences of uniformly random passes", Needs::kNothing, MakeRandomSearcher},
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

}  // namespace hone
