// The list of choosers: adding one is a file and a line here.
#include "search/choices/choices.h"
#include "search/choices/strategy.h"

namespace hone::choices {

const std::vector<ChooserInfo>& Choosers() {
  static const std::vector<ChooserInfo> choosers = {
      {"anneal", "simulated annealing: one, several or all alike variables changed at a time",
       MakeAnneal},
      {"evolutionary", "the hundred best, crossed and mutated", MakeEvolutionary},
      {"ridge", "mutations, ranked by ridge regression on what was measured", MakeRidge},
      {"forest", "mutations, ranked by a random forest", MakeForest},
      {"boosting", "mutations, ranked by gradient boosted trees", MakeBoosting},
      {"ensemble", "mutations, ranked by a few small neural networks", MakeEnsemble},
      {"reinforce", "a policy for each variable, by its gradient", MakeReinforce},
      {"exhaustive", "everything, the fewest changes first", MakeExhaustive},
      {"random", "random assignments: the baseline", MakeRandom},
  };
  return choosers;
}

const ChooserInfo* FindChooser(std::string_view name) {
  for (const ChooserInfo& chooser : Choosers()) {
    if (chooser.name == name) return &chooser;
  }
  return nullptr;
}

}  // namespace hone::choices
