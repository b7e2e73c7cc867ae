// Mutants of the best, ranked by boosted trees.
#include "search/choices/boosted_trees.h"
#include "search/choices/model.h"

namespace hone::choices {
namespace {

class Boosting final : public Model {
 public:
  void Fit(const Examples& examples, Rng& rng) override {
    boosted_ = Boost(examples.rows, examples.values, {}, rng);
  }

  double Promise(const Features& features) const override { return boosted_.Predict(features); }

 private:
  BoostedTrees boosted_;
};

}  // namespace

std::unique_ptr<Chooser> MakeBoosting(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(
      problem, seed, MakeModelStrategy(problem, std::make_unique<Boosting>()), FirstAsks::kSingles);
}

}  // namespace hone::choices
