// Uniformly random sequences: the baseline that every other searcher must beat.
#include <algorithm>

#include "core/rng.h"
#include "search/searcher.h"

namespace hone {
namespace {

constexpr size_t kShortest = 8;
constexpr size_t kLongest = 64;

class RandomSearcher final : public Searcher {
 public:
  RandomSearcher(const SearchProblem& problem, uint64_t seed) : problem_(problem), rng_(seed) {}

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (next_start_ < problem_.starts.size()) {
        sequences.push_back(Usable(problem_, problem_.starts[next_start_++]));
        continue;
      }
      Sequence sequence(
          std::min(kShortest + rng_.Below(kLongest - kShortest + 1), problem_.longest));
      for (Action& action : sequence) action = rng_.Pick(problem_.actions);
      sequences.push_back(std::move(sequence));
    }
    return sequences;
  }

  void Tell(const Trial&) override {}

 private:
  const SearchProblem problem_;
  Rng rng_;
  size_t next_start_ = 0;
};

}  // namespace

// The starts first; then sequences of 8 to 64 actions, each drawn uniformly.
std::unique_ptr<Searcher> MakeRandomSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<RandomSearcher>(problem, seed);
}

}  // namespace hone
