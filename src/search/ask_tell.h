// Ask/tell search: a searcher never calls what it searches. It is asked for points and told what
// came of them. Points are sequences (searcher.h) or assignments (choices/choices.h).
#ifndef HONE_SEARCH_ASK_TELL_H_
#define HONE_SEARCH_ASK_TELL_H_

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace hone {

template <class Point, class Trial>
class AskTell {
 public:
  virtual ~AskTell() = default;
  // At most `most` points to try next, at least one unless the search is exhausted.
  virtual std::vector<Point> Ask(size_t most) = 0;
  virtual void Tell(const Trial& trial) = 0;
};

// What a searcher remembers of points until their trials come back, in the order of asking:
// proposals are planned, then asked for, then told.
template <class Proposal>
class ProposalQueue {
 public:
  void Plan(Proposal proposal) { planned_.push_back(std::move(proposal)); }
  // The next planned one is asked for now.
  const Proposal& Ask() {
    asked_.push_back(std::move(planned_.front()));
    planned_.pop_front();
    return asked_.back();
  }
  // The first of those asked for: its trial has come back.
  Proposal Told() {
    Proposal proposal = std::move(asked_.front());
    asked_.pop_front();
    return proposal;
  }
  size_t planned() const { return planned_.size(); }
  size_t asked() const { return asked_.size(); }

 private:
  std::deque<Proposal> planned_;
  std::deque<Proposal> asked_;
};

}  // namespace hone

#endif  // HONE_SEARCH_ASK_TELL_H_
