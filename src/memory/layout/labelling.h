// Labels for variables, such that what is asked of them costs least.
//
// Variables come into being one after the other, most of them as the result of a factor that reads
// earlier ones. A factor has modes, which depend on the label of its result; a mode is a list of
// requests, each of which is met by some labels of some variables, or paid for.
#ifndef HONE_MEMORY_LAYOUT_LABELLING_H_
#define HONE_MEMORY_LAYOUT_LABELLING_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace hone::memory {

inline constexpr size_t kMostLabels = 64;

// Part of a request: the labels of a variable that meet it, as bits.
struct Ask {
  int32_t variable = 0;
  uint64_t met_by = 0;
};

// Paid where one of its asks is not met.
struct Request {
  double cost = 1;
  std::vector<Ask> asks;
};

using LabelMode = std::vector<Request>;

struct Factor {
  std::vector<int32_t> results;  // variables that come into being with it; the first decides
  std::vector<std::vector<LabelMode>> modes;  // for each label of results[0]; one of them is paid
};

struct LabellingProblem {
  std::vector<std::vector<double>> costs;  // of each variable's labels; at most kMostLabels
  std::vector<Factor> factors;
};

struct LabellingOptions {
  size_t most_states = 256;
  // So many factors after a use, a variable that is not used again sooner is no longer a reason to
  // tell states apart.
  size_t horizon = 128;
  int sweeps = 4;
  // Fewer states go on where this would not be enough.
  double budget_seconds = std::numeric_limits<double>::infinity();
};

struct Labelling {
  std::vector<uint8_t> labels;
  double cost = 0;
  bool optimal = false;  // no state was given up: nothing costs less
};

double CostOf(const LabellingProblem& problem, const std::vector<uint8_t>& labels);

// Dynamic programming over the factors in their order (Bertelè and Brioschi, Nonserial Dynamic
// Programming, 1972): of partial labellings that agree on all variables that are still used, the
// cheapest goes on; of more than `most_states`, the cheapest ones do. Then, where some were given
// up, variable by variable until nothing improves (Besag 1986, iterated conditional modes).
Labelling Label(const LabellingProblem& problem, const LabellingOptions& options = {});

// No labelling costs less: the same with, of too many states, the variables given up that are used
// longest, whose labels then meet whatever is asked (Dechter and Rish, Mini-buckets, 2003, give up
// dependences likewise). `horizon` is not used.
double LeastCost(const LabellingProblem& problem, const LabellingOptions& options = {});

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_LABELLING_H_
