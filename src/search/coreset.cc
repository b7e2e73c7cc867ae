// What did well elsewhere.
#include "search/searcher.h"

namespace hone {
namespace {

class CoresetSearcher final : public Searcher {
 public:
  explicit CoresetSearcher(const SearchProblem& problem) : problem_(problem) {}

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most && next_ < problem_.coreset.size()) {
      sequences.push_back(Usable(problem_, problem_.coreset[next_++]));
    }
    return sequences;
  }

  void Tell(const Trial&) override {}

 private:
  const SearchProblem problem_;
  size_t next_ = 0;
};

}  // namespace

// The problem's coreset in its order; then exhausted. (Liang et al.: "Learning compiler pass orders
// using coreset and normalized value prediction", 2023.)
std::unique_ptr<Searcher> MakeCoresetSearcher(const SearchProblem& problem, uint64_t /*seed*/) {
  return std::make_unique<CoresetSearcher>(problem);
}

}  // namespace hone
