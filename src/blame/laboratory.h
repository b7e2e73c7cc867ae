// Is one way of compiling a program slower than another, or does it compute something else? Asked
// of real workers, about the program and parts of it.
#ifndef HONE_BLAME_LABORATORY_H_
#define HONE_BLAME_LABORATORY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "blame/kernels.h"
#include "blame/minimise.h"
#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/rewrite.h"
#include "tune/tune_plan.h"
#include "wire/pool.h"

namespace hone::blame {

enum class Question : uint8_t { kSlower, kDifferent };
inline constexpr std::string_view kQuestionNames[] = {"slower", "different"};
inline constexpr std::string_view QuestionName(Question question) {
  return kQuestionNames[static_cast<int>(question)];
}

// b against a.
struct Finding {
  Shows shows = Shows::kUnsure;
  // kSlower: b's time by a's, and the 95 % interval (core/race.h).
  bool same_executable = false;
  double ratio = 1;
  double low = 1;
  double high = 1;
  int pairs = 0;
  double seconds_a = 0;
  double seconds_b = 0;
  ComparisonReport comparison;  // kDifferent
  std::string error;            // why there is no answer; "" where there is one
};

// The middle one, with an interval that holds those of all; it shows what all of them show. At
// least one.
Finding OfAll(std::vector<Finding> findings);

struct LaboratoryOptions {
  uint64_t seed = 1;  // of inputs
  double budget_seconds = 300;
  const std::atomic<bool>* interrupted = nullptr;
};

class Laboratory {
 public:
  // The pool must outlive it. The budget begins.
  Laboratory(Pool& pool, const LaboratoryOptions& options)
      : pool_(pool), options_(options), start_(std::chrono::steady_clock::now()) {}

  Pool& pool() { return pool_; }
  uint64_t seed() const { return options_.seed; }
  double Spent() const;
  double Left() const { return options_.budget_seconds - Spent(); }
  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }
  // Until they are spent things are tried; afterwards what is there is told.
  bool Over(double seconds = 0) const { return interrupted() || Left() <= seconds; }

  // kYes: the whole interval lies above `threshold`; kNo: it lies below. Races of about that many
  // seconds, three at most, until it is one or the other.
  Finding Slower(ProgramId program, const tune::TunePlan& a, const tune::TunePlan& b,
                 double threshold, double seconds) {
    return Slower({program, &a}, {program, &b}, threshold, seconds);
  }
  Finding Different(ProgramId program, const tune::TunePlan& a, const tune::TunePlan& b,
                    double seconds) {
    return Different({program, &a}, {program, &b}, seconds);
  }
  // The same of two programs of equal parameters and results.
  struct Way {
    ProgramId program = 0;
    const tune::TunePlan* plan = nullptr;  // never null
  };
  Finding Slower(const Way& a, const Way& b, double threshold, double seconds);
  Finding Different(const Way& a, const Way& b, double seconds);
  // All later calls run in a process that has done nothing yet.
  void Restart() { pool_.EndProcesses(); }

  StatusOr<Compiled> Compile(ProgramId program, const tune::TunePlan& plan, bool sites, bool text);
  // Where the time of each goes, matched; nothing where it is not found out.
  std::vector<KernelChange> Kernels(const Way& a, const Way& b);
  // The rewrites that the pass at `position` of the plan would make there.
  StatusOr<Rewrites> ListRewrites(ProgramId program, const tune::TunePlan& plan, size_t position);
  // After the plan's passes, before the stock pipeline.
  StatusOr<std::string> TextAfterPasses(ProgramId program, const tune::TunePlan& plan);

 private:
  StatusOr<StateName> Run(ProgramId program, const std::vector<tune::PlannedPass>& passes);

  Pool& pool_;
  const LaboratoryOptions options_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace hone::blame

#endif  // HONE_BLAME_LABORATORY_H_
