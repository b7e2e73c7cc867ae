// The fastest verified schedule of a task, by any of hone's searchers.
#ifndef HONE_LOOPS_TUNE_H_
#define HONE_LOOPS_TUNE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/comparison.h"
#include "core/race.h"
#include "loops/catalogue.h"
#include "loops/cost_model.h"
#include "loops/generator.h"
#include "loops/search.h"

namespace hone::loops {

struct TuneOptions {
  SearchOptions search;
  double budget_seconds = 30;        // of searching
  int64_t budget_steps = INT64_MAX;  // schedules that are compiled
  Machine machine;
  // With one, what the searcher proposes is valued by it, and the best of many are timed.
  std::shared_ptr<const LoopsCostModel> cost_model;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int64_t tried, int64_t rejected, double best)> progress;
};

struct TuneReport {
  Schedule schedule;          // the best; the rules of thumb's where nothing is better
  RaceReport race;            // a: the rules of thumb's schedule
  ComparisonReport verified;  // of the best
  int64_t tried = 0;          // compiled and timed
  int64_t rejected = 0;       // by MLIR, by a deadline, or because they compute something else
  std::string last_rejection;
  double seconds = 0;
};

// Errors: SearchSchedules; the task's own default cannot be compiled.
StatusOr<TuneReport> Tune(Generator& generator, const Task& task, const TuneOptions& options);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TUNE_H_
