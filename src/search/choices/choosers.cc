// The list of choosers: adding one is a file, NAME.cc, and a line here.
#include "search/choices/choices.h"

namespace hone::choices {

// What makes it, in its file; its name; its meaning.
#define HONE_CHOOSERS(X)                                                              \
  X(MakeAnneal, "anneal",                                                             \
    "simulated annealing: one, several or all alike variables changed at a time")     \
  X(MakeEvolutionary, "evolutionary", "the hundred best, crossed and mutated")        \
  X(MakeRidge, "ridge", "mutations, ranked by ridge regression on what was measured") \
  X(MakeForest, "forest", "mutations, ranked by a random forest")                     \
  X(MakeBoosting, "boosting", "mutations, ranked by gradient boosted trees")          \
  X(MakeEnsemble, "ensemble", "mutations, ranked by a few small neural networks")     \
  X(MakeReinforce, "reinforce", "a policy for each variable, by its gradient")        \
  X(MakeExhaustive, "exhaustive", "everything, the fewest changes first")             \
  X(MakeSingles, "singles", "one change of the best at a time, drawn at random")      \
  X(MakeRandom, "random", "random assignments: the baseline")

#define HONE_DECLARE(make, name, meaning) \
  std::unique_ptr<Chooser> make(const Problem& problem, uint64_t seed);
HONE_CHOOSERS(HONE_DECLARE)
#undef HONE_DECLARE

const std::vector<ChooserInfo>& Choosers() {
#define HONE_ROW(make, name, meaning) {name, meaning, make},
  static const std::vector<ChooserInfo> choosers = {HONE_CHOOSERS(HONE_ROW)};
#undef HONE_ROW
  return choosers;
}

const ChooserInfo* FindChooser(std::string_view name) {
  for (const ChooserInfo& chooser : Choosers()) {
    if (chooser.name == name) return &chooser;
  }
  return nullptr;
}

}  // namespace hone::choices
