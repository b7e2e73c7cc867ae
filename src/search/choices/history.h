// The trials so far: assignments that were asked, and their values.
#ifndef HONE_SEARCH_CHOICES_HISTORY_H_
#define HONE_SEARCH_CHOICES_HISTORY_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "search/choices/choices.h"

namespace hone::choices {

class History {
 public:
  explicit History(std::vector<Variable> variables);

  const std::vector<Variable>& variables() const { return variables_; }
  const Assignment& stock() const { return stock_; }
  // Those that did not fail, in the order of their first telling, with their last values.
  const std::vector<Trial>& trials() const { return trials_; }
  // The stock assignment where nothing was told; the first of equals.
  const Assignment& best() const { return trials_.empty() ? stock_ : trials_[best_].assignment; }
  double best_value() const { return trials_.empty() ? 0 : trials_[best_].value; }
  // The value of one of trials().
  std::optional<double> ValueOf(const Assignment& assignment) const {
    const auto found = index_.find(assignment);
    if (found == index_.end()) return std::nullopt;
    return trials_[found->second].value;
  }

  // How many assignments there are, at most 1e18.
  double size() const { return size_; }
  size_t seen() const { return seen_.size(); }
  bool Seen(const Assignment& assignment) const { return seen_.count(assignment) != 0; }
  // It will not be asked for again. False where it was seen before.
  bool MarkSeen(const Assignment& assignment) { return seen_.insert(assignment).second; }
  void Add(const Trial& trial);

 private:
  std::vector<Variable> variables_;
  Assignment stock_;
  double size_ = 1;
  std::vector<Trial> trials_;
  std::map<Assignment, size_t> index_;  // into trials_
  std::set<Assignment> seen_;
  size_t best_ = 0;
};

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_HISTORY_H_
