// Which of two programs runs faster? The question and the answer.
#ifndef HONE_CORE_RACE_H_
#define HONE_CORE_RACE_H_

#include <cstdint>

#include "core/fingerprint.h"

namespace hone {

struct RaceOptions {
  // Of measuring, compiling not counted; looked at between pairs. Four times as much where
  // least_pairs are not reached.
  double budget_seconds = 20;
  // A sample is a run, repeated until it takes this long: clocks and schedulers are coarse.
  double least_sample_seconds = 0.002;
  int least_pairs = 6;  // the fewest that give a 95 % interval without assumptions
  int most_pairs = 400;
  double indifferent = 0.01;  // an interval within 1 +- this is decided too
  uint64_t seed = 0;          // of the inputs
  // Where above 1, for those who look for something faster, also before there are least_pairs: six
  // pairs that all say that a takes so many times as long end the race; and unless they are
  // patient, three that all say that b takes longer, and budget_seconds where half of six or more
  // say so.
  double clear = 0;
  bool patient = false;
  // An interval decides nothing before: what disturbs a machine comes and goes, and pairs that follow
  // each other see the same of it.
  double least_seconds = 0;
  // The race is given up when compiling a takes longer than the first, or when compiling b, or a
  // sample of either once b is compiled, takes longer than the second.
  double compile_seconds = 120;
  double candidate_seconds = 120;
  // Where the target is not here, XLA's own estimates will do; else that is an error.
  bool estimate = false;
};

// Paired: each sample of `a` is taken next to one of `b`, in alternating order, on the same inputs,
// in one process, so that what disturbs the machine disturbs both.
struct RaceReport {
  // The compiler made the same program of both: nothing was measured, the speedup is 1.
  bool same_executable = false;
  double seconds_a = 0;  // medians, of one run
  double seconds_b = 0;
  double speedup = 1;  // median over the pairs of a's time by b's: above 1 where b is faster
  double low = 1;      // 95 % interval of that median, from order statistics (no distribution
  double high = 1;     // assumed): Conover, Practical Nonparametric Statistics, 3.2.
                       // 0 and infinity where there are fewer than 6 pairs
  int pairs = 0;
  double compile_seconds_a = 0;
  double compile_seconds_b = 0;
  // Equal for equal executables; empty where XLA does not tell.
  Fingerprint executable_a;
  Fingerprint executable_b;
};

}  // namespace hone

#endif  // HONE_CORE_RACE_H_
