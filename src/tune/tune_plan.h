// How to compile a program: passes before the stock pipeline, and decisions within it.
#ifndef HONE_TUNE_TUNE_PLAN_H_
#define HONE_TUNE_TUNE_PLAN_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"
#include "core/result.h"
#include "tune/plan.h"

namespace hone::tune {

using PlannedPass = Plan;  // by default the pass as it is

// Empty: the stock compiler.
struct TunePlan {
  std::vector<PlannedPass> passes;
  CompilePlan compile;

  bool empty() const { return passes.empty() && compile.empty(); }
  friend bool operator==(const TunePlan& a, const TunePlan& b) {
    return a.passes == b.passes && a.compile == b.compile;
  }
};

// 16 hexadecimal digits; equal for equal plans.
std::string HashText(const TunePlan& plan);

// {"format": "hone tuned plan", "version": 1,
//  "passes": ["NAME" or {"pass", "otherwise", "seed", "choices": {"<16 hex digits>": bool, …}}, …],
//  "choices": {"<16 hex digits>": "value", …}, "flags": {"name": "value", …}}
// Where so many of the program's constants had made-up values, "stand_in_constants" says so: the plan
// holds none of them.
std::string TunePlanToJson(const TunePlan& plan, int stand_in_constants = 0);
// The error names the field that is wrong.
StatusOr<TunePlan> TunePlanFromJson(std::string_view text);

}  // namespace hone::tune

#endif  // HONE_TUNE_TUNE_PLAN_H_
