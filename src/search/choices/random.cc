// Leaps from the stock assignment. Memoryless.
#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

class Random final : public Strategy {
 public:
  Assignment Propose(const History& history, int, Rng& rng) override {
    Assignment assignment = history.stock();
    Leap(history.variables(), kEveryGroup, rng, assignment);
    return assignment;
  }
};

}  // namespace

std::unique_ptr<Chooser> MakeRandom(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Random>(), FirstAsks::kStockAndStarts);
}

}  // namespace hone::choices
