// What two ways of compiling a program differ by, as a list of decisions, and what lies between
// them.
#ifndef HONE_BLAME_DIFFERENCES_H_
#define HONE_BLAME_DIFFERENCES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tune/tune_plan.h"

namespace hone::blame {

enum class DifferenceKind : uint8_t {
  kPass,    // run before the stock pipeline by one of them only
  kChoice,  // at a place within the stock pipeline
  kFlag,    // one of XLA's debug options
};
inline constexpr std::string_view kDifferenceKindNames[] = {"pass", "choice", "flag"};
inline constexpr std::string_view DifferenceKindName(DifferenceKind kind) {
  return kDifferenceKindNames[static_cast<int>(kind)];
}

struct Difference {
  DifferenceKind kind = DifferenceKind::kPass;
  std::string name;  // the pass's, the site's key, the flag's
  // The choice of each; "" is the stock compiler's. A pass has "run" or "".
  std::string from;
  std::string to;
};

// Plans between `a` and `b`.
class Differences {
 public:
  Differences(tune::TunePlan a, tune::TunePlan b);

  // Passes in their order, then choices by key, then flags by name.
  const std::vector<Difference>& list() const { return list_; }
  // `a` with these of the differences, ascending: with none it is `a`, with all `b`.
  tune::TunePlan With(const std::vector<size_t>& chosen) const;
  // Where the pass of a difference is in the plan With(chosen); it must be one that is run there.
  size_t PassIn(const std::vector<size_t>& chosen, size_t difference) const;

 private:
  struct Step {
    tune::PlannedPass pass;
    int difference = -1;  // of the list; -1: both have it
    bool added = false;   // by b, else only a has it
  };
  bool Runs(const Step& step, const std::vector<size_t>& chosen) const;

  tune::TunePlan a_;
  std::vector<Step> steps_;
  std::vector<Difference> list_;
};

}  // namespace hone::blame

#endif  // HONE_BLAME_DIFFERENCES_H_
