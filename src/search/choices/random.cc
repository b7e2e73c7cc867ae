// Random assignments, most of them close to the stock one: the number of changed variables is
// uniform in its logarithm. Memoryless.
#include <algorithm>
#include <cmath>

#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

class Random final : public Strategy {
 public:
  Assignment Propose(const History& history, int, Rng& rng) override {
    Assignment assignment = history.stock();
    const size_t all = assignment.size();
    if (all == 0) return assignment;
    const double most = std::log(static_cast<double>(all) + 1);
    const size_t changes =
        std::clamp<size_t>(static_cast<size_t>(std::exp(rng.Unit() * most)), size_t{1}, all);
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = rng.Below(all);
      assignment[at] = static_cast<uint32_t>(rng.Below(history.variables()[at].choices));
    }
    return assignment;
  }
  void Learn(const History&, const Trial&, Rng&) override {}
};

}  // namespace

std::unique_ptr<Chooser> MakeRandom(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Random>(), FirstAsks::kStockAndStarts);
}

}  // namespace hone::choices
