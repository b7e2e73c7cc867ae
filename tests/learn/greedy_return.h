// How good a learner's greedy policy is.
#ifndef HONE_TESTS_LEARN_GREEDY_RETURN_H_
#define HONE_TESTS_LEARN_GREEDY_RETURN_H_

#include "core/result.h"
#include "learn/learner.h"

namespace hone::learn {

// The mean return, not discounted, of the first episode in each environment of the task.
inline double GreedyReturn(Learner& learner, Task& task, uint64_t seed) {
  StatusOr<Observation> seen = task.Reset(seed);
  HONE_CHECK(seen.has_value());
  const int64_t count = task.shape().environments;
  std::vector<bool> over(static_cast<size_t>(count), false);
  double sum = 0;
  for (int64_t left = count; left > 0;) {
    const StatusOr<Transition> t = task.Step(learner.Act(*seen));
    HONE_CHECK(t.has_value());
    for (int64_t b = 0; b < count; ++b) {
      if (over[b]) continue;
      sum += t->reward.data_ptr<float>()[b];
      over[b] = t->terminated.data_ptr<bool>()[b] || t->truncated.data_ptr<bool>()[b];
      left -= over[b];
    }
    seen = t->next;
  }
  return sum / static_cast<double>(count);
}

}  // namespace hone::learn

#endif  // HONE_TESTS_LEARN_GREEDY_RETURN_H_
