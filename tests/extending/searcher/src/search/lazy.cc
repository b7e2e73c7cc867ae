// Asks for nothing but where it begins.
#include "search/searcher.h"

namespace hone {
namespace {

class LazySearcher final : public Searcher {
 public:
  explicit LazySearcher(const SearchProblem& problem) : starts_(problem.starts) {}

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most && next_ < starts_.size()) {
      sequences.push_back(starts_[next_++]);
    }
    return sequences;
  }

  void Tell(const Trial&) override {}

 private:
  const std::vector<Sequence> starts_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> MakeLazySearcher(const SearchProblem& problem, uint64_t /*seed*/) {
  return std::make_unique<LazySearcher>(problem);
}

}  // namespace hone
