// What made it slower, or different? Two ways of compiling a program are held against each other,
// and the decisions between them are declined, in halves, until those that do it are left.
#ifndef HONE_BLAME_BLAME_H_
#define HONE_BLAME_BLAME_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blame/decision.h"
#include "blame/kernels.h"
#include "blame/laboratory.h"
#include "blame/reduce.h"
#include "core/program.h"
#include "tune/tune_plan.h"

namespace hone::blame {

struct BlameOptions {
  tune::TunePlan a;  // the reference; empty is the stock compiler
  tune::TunePlan b;
  bool slower = true;     // ask what made it slower
  bool different = true;  // ask what made it compute something else
  // Slowdowns below this factor are not blamed on anything: where code and arrays lie in memory can
  // make as much.
  double least = 1.05;
  double budget_seconds = 300;
  bool reduce = true;  // make a small program that shows it
  uint64_t seed = 1;
  const std::atomic<bool>* interrupted = nullptr;    // then what was found is returned
  std::function<void(const std::string&)> progress;  // may be null
};

struct Cause {
  std::vector<Decision> decisions;  // more than one: only together
  // Both hold of a cause: `a` with it shows what was asked about, and `b` without it is the better.
  Finding with;                          // a with the decisions, against a
  Finding without;                       // b against b without them
  std::vector<std::string> source;       // of the instruction: op_name, file and line
  std::vector<KernelChange> kernels;     // kSlower: those whose time differs most, first
  std::optional<FirstDifference> first;  // kDifferent
  std::optional<Reduced> reduced;
};

struct Answer {
  Question question = Question::kSlower;
  Finding whole;  // b against a
  std::vector<Cause> causes;
  // Why nobody is accused, or nobody else: what is not sure is not said.
  std::string reason;
  // Of two programs that are held against each other, kSlower: where the time goes in each.
  std::vector<KernelChange> kernels;
  // All is explained: b does not show it, or no longer does without the causes.
  bool settled = false;
};

struct BlameResult {
  std::vector<Difference> differences;
  std::vector<Answer> answers;
  double seconds = 0;
  bool interrupted = false;
};

// Errors: the plans name a pass or flag that there is not, or the program does not compile as `a`.
StatusOr<BlameResult> Blame(Pool& pool, const ProgramInfo& program, const BlameOptions& options);

// The same of two programs of equal parameters and results, as the stock compiler makes them; the
// plans of the options do not count. They have no list of decisions between them, so nobody is
// accused: it is told whether it is so, and which kernels take the time.
StatusOr<BlameResult> BlamePrograms(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                    const BlameOptions& options);

}  // namespace hone::blame

#endif  // HONE_BLAME_BLAME_H_
