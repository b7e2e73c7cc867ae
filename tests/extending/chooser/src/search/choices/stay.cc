// Stays with what the stock compiler does.
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

class Stay final : public Strategy {
 public:
  Assignment Propose(const History& history, int, Rng&) override { return history.stock(); }
  void Learn(const History&, const Trial&, Rng&) override {}
};

}  // namespace

std::unique_ptr<Chooser> MakeStay(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Stay>(), FirstAsks::kSingles);
}

}  // namespace hone::choices
