// Do two programs compute the same? The question and the answer.
#ifndef HONE_CORE_COMPARISON_H_
#define HONE_CORE_COMPARISON_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

enum class Verdict { kEqual, kDifferent, kCannotTell };

struct CompareOptions {
  int inputs = 3;  // generated input sets, each of another distribution
  uint64_t seed = 1;
  // When it is spent, the verdict rests on what was seen so far, or is kCannotTell. Compiling the
  // reference once more, with rounding noise, is not counted.
  double budget_seconds = 120;
  // Compiling cannot be stopped from inside: it may take one and a half times the budget and this
  // long in addition; then the comparison ends in kDeadline.
  double grace_seconds = 30;
  int64_t most_bytes = int64_t{6} << 30;  // of parameters and results together, else kCannotTell
  // Input sets that somebody gave, tried before generated ones: of each the parameters' arrays in
  // flattened order, row-major, in the machine's own byte order.
  std::vector<std::vector<std::string>> given;
  // For a target that is not here: b is not the program itself, but the result of the target's own
  // pipeline under its plan, rewritten as plain HLO.
  bool pipeline = false;
  // When it becomes true after the comparison began, what was seen so far decides, or kCannotTell.
  const std::atomic<bool>* stop = nullptr;
};

struct OutputError {
  int output = 0;  // flat index among the entry's result leaves
  std::string shape;
  double worst_error = 0;  // largest |a-b| as a multiple of that element's tolerance; <= 1 passes
  double worst_absolute = 0;
  int64_t elements_over = 0;  // how many exceed their tolerance
};

struct ComparisonReport {
  Verdict verdict = Verdict::kCannotTell;
  std::string method;       // how it was compared, in words
  std::string reason;       // why kDifferent or kCannotTell: what, where; empty when equal
  int inputs = 0;           // input sets on which both were held against each other
  double worst_error = 0;   // the largest OutputError::worst_error
  double finite_share = 0;  // share of the compared floating-point elements that were finite
  double seconds = 0;
  double compile_seconds = 0;       // of them, compiling the two programs
  double processor_seconds = 0;     // of the process, for all but compiling the two programs
  std::vector<OutputError> errors;  // of the outputs that differ, worst first, at most 16
};

}  // namespace hone

#endif  // HONE_CORE_COMPARISON_H_
