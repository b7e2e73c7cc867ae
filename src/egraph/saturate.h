// Equality saturation: rewrites are searched and applied until nothing new comes of it or a limit
// is met.
//
// The scheduler is egg's BackoffScheduler (egg/src/run.rs): a rewrite that matches more often than
// its allowance in one iteration is banned for some iterations, and comes back with both doubled.
#ifndef HONE_EGRAPH_SATURATE_H_
#define HONE_EGRAPH_SATURATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "egraph/egraph.h"

namespace hone::egraph {

// Why a run ended.
enum class StopReason { kSaturated, kIterations, kNodes, kTime };
const char* ToString(StopReason reason);

// A place where a rewrite may apply, in words of its own.
using Match = std::vector<uint32_t>;

class Rewrite {
 public:
  virtual ~Rewrite() = default;
  // Appends matches, at most `most` of them. The graph is clean.
  virtual void Search(const EGraph& graph, size_t most, std::vector<Match>* matches) = 0;
  // Adds what the match says and merges it. The graph may have changed since the search, so ids
  // must be looked up again. Returns true where something new was learnt.
  virtual bool Apply(EGraph& graph, const Match& match) = 0;
};

struct Limits {
  size_t nodes = 10000;  // e-nodes; an iteration may end early
  int iterations = 12;
  // Results then depend on the machine: meant as a safety net. Seconds; 0 is none.
  double seconds = 0;
  // The allowance of matches and the length of the first ban, in iterations.
  size_t match_limit = 1000;
  int ban_length = 3;
};

struct RunReport {
  StopReason stop = StopReason::kSaturated;
  int iterations = 0;
  size_t nodes = 0;
  size_t classes = 0;
  size_t applied = 0;  // matches of which something new came
  double seconds = 0;
};

// Seconds since some moment; passed in, so that a test can be the clock.
using Clock = std::function<double()>;

// `before_search` (may be empty) is called with the clean graph at the start of every iteration, to
// make what the searches share.
RunReport Saturate(EGraph& graph, const std::vector<Rewrite*>& rewrites, const Limits& limits,
                   const Clock& clock,
                   const std::function<void(const EGraph&)>& before_search = {});

}  // namespace hone::egraph

#endif  // HONE_EGRAPH_SATURATE_H_
