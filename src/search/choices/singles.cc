// One change of the best so far at a time, drawn at random: what each is worth by itself, for those
// who learn from it.
#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

class Singles final : public Strategy {
 public:
  Assignment Propose(const History& history, int, Rng& rng) override {
    Assignment assignment = history.best();
    Mutate(history.variables(), kEveryGroup,
           rng.Unit() < 0.5 ? Mutation::kSingle : Mutation::kFamily, rng, assignment);
    return assignment;
  }
};

}  // namespace

std::unique_ptr<Chooser> MakeSingles(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Singles>(),
                             FirstAsks::kStockAndStarts);
}

}  // namespace hone::choices
