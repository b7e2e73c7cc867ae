// Results of methods on programs: what `hone eval` stores and the leaderboard is made of.
#ifndef HONE_REPORT_EVALUATION_H_
#define HONE_REPORT_EVALUATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::report {

// A best value so far.
struct CurvePoint {
  int64_t evaluated = 0;  // steps that had not been taken before from the same state
  double seconds = 0;
  double value = 0;
};

// One method on one program with one seed.
struct Evaluation {
  std::string method;
  std::string program;
  std::string objective;
  std::string actions;
  uint64_t seed = 0;
  bool from_default = false;  // the search began with the default order and falls back on it
  double initial = 0;         // I, the objective of the program as loaded
  double by_default = 0;      // D, after the stock compiler's order
  double value = 0;           // R, of the method's result
  int64_t evaluated = 0;
  double seconds = 0;    // of the search
  std::string verified;  // "true", "false", "skipped"
  std::string stop_reason;
  std::vector<CurvePoint> curve;
  std::vector<std::string> passes;  // that lead to the result, what changed nothing left out
  // Compiled by the stock compiler and run: the program as loaded, and the result. -1 where it was
  // not measured, instructions and seconds.
  int64_t stock_instructions = -1;
  int64_t final_instructions = -1;
  double stock_run_seconds = -1;
  double final_run_seconds = -1;

  // (I - R) / (I - D) (Ganai et al. 2023, section 4); nothing where D is no better than I.
  std::optional<double> Ratio() const { return RatioOf(value); }
  std::optional<double> RatioOf(double r) const;
  // The best value by then; the initial one before the first improvement.
  double ValueAt(int64_t evaluated_steps) const;
  double ValueAfter(double search_seconds) const;
};

std::string EvaluationToJsonLine(const Evaluation& evaluation);
// A line each; empty lines are passed over. The error names the line.
StatusOr<std::vector<Evaluation>> EvaluationsFromJsonLines(std::string_view text);

// A ratio below counts as this in a geometric mean: a method that finds nothing on one program is
// not worth nothing.
inline constexpr double kLeastRatio = 0.01;

struct Sample {
  std::string program;
  double value = 0;  // positive
};

struct Mean {
  double mean = 0;
  double low = 0;  // the 95 % interval
  double high = 0;
  size_t programs = 0;
};

// The geometric mean over programs of the geometric mean over a program's samples (its seeds), with
// a percentile bootstrap (Efron, Tibshirani 1993, section 13.3): programs are drawn with
// replacement, and of each as many of its samples. Deterministic.
Mean GeometricMean(const std::vector<Sample>& samples, int resamples = 2000);

struct Summary {
  std::string method;
  Mean ratio;
  int better = 0;  // than the default order: programs, by the mean of R over seeds
  int equal = 0;
  int worse = 0;
  int without_ratio = 0;  // programs where the default order is no better than nothing
  size_t seeds = 0;
  double seconds = 0;  // a run, the mean
  double evaluated = 0;
  int verified = 0;  // runs
  int different = 0;
  int unverified = 0;       // verification gave no verdict or was skipped
  Mean final_instructions;  // stock / result, where measured: above 1 is smaller
  Mean run_time;            // stock / result: above 1 is faster
};

// Summarises the rows of one method. With `at_steps` above 0 the value is that of the curve at so
// many steps.
Summary Summarise(const std::vector<Evaluation>& rows, int64_t at_steps = 0);

}  // namespace hone::report

#endif  // HONE_REPORT_EVALUATION_H_
