// Which method is better, beyond what chance explains: paired bootstrap intervals.
//
// Programs differ far more than methods do. So two methods are compared on the same programs: in
// every resample the same programs are drawn for all methods, and of each program as many of a
// method's own samples (its seeds) as it has (Efron, Tibshirani 1993, sections 8.3 and 13.3). The
// interval is that of the quotient of two methods' geometric means; one is called better only where
// it lies off 1.
#ifndef HONE_REPORT_PAIRED_H_
#define HONE_REPORT_PAIRED_H_

#include <cstdint>
#include <vector>

#include "report/evaluation.h"

namespace hone::report {

// Of fewer programs nothing is said: a bootstrap of so few draws is too narrow, of one it is a
// point.
inline constexpr size_t kLeastPrograms = 8;

enum class Standing { kBetter, kWorse, kUnclear };
const char* StandingName(Standing standing);  // "better", "worse", "unclear"

struct Pair {
  size_t a = 0;  // indices of methods, a < b
  size_t b = 0;
  Mean quotient;                           // of a's mean by b's, with its 95 % interval
  Standing standing = Standing::kUnclear;  // of a
};

// Every pair of methods, by a, then b. `methods[i]` are the samples of method i, positive; only
// programs that every method has samples of count. The same for the same samples and seed; the
// order of the samples is of no matter but within a program.
std::vector<Pair> ComparePairs(const std::vector<std::vector<Sample>>& methods, uint64_t seed = 1,
                               int resamples = 2000);

// The ratios of a method's rows that ComparePairs takes: those at so many steps, or after so many
// seconds; at the end where both are 0. Rows without a ratio are left out.
struct Moment {
  int64_t steps = 0;
  double seconds = 0;
};
std::vector<Sample> Ratios(const std::vector<Evaluation>& rows, const Moment& moment = {});

}  // namespace hone::report

#endif  // HONE_REPORT_PAIRED_H_
