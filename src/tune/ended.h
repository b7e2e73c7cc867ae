// When a search ends, and in which words that is told.
#ifndef HONE_TUNE_ENDED_H_
#define HONE_TUNE_ENDED_H_

#include <string>

#include "tune/measurer.h"
#include "tune/tune_program.h"

namespace hone::tune {

// Seconds of the budget that are kept for verifying and confirming. Once a faster plan is known:
// races of a few plans, and compiling and running for two comparisons. Before: the least that a
// plan needs that is found at the last moment.
double ReserveSeconds(const Measurer& measurer, bool something_found, const TuneOptions& options);

struct SearchEnd {
  double prepared = 0;  // seconds from the start: there was a space to search
  double searched = 0;  // the search was over
  double next = 0;      // another plan would take; 0 where none was measured
  double reserve = 0;   // kept for the end
};

// Why the program was not compiled, from the compiler's error.
std::string WhyNotCompiled(const Error& error, const TuneOptions& options);
// Seconds that the stock compiler may take to list the decisions.
double ListingPatience(const TuneOptions& options);
// Seconds for compiling two programs before they are compared (CompareOptions::grace_seconds).
double ComparingGrace(const Measurer& measurer, const TuneOptions& options);
// How a new best is compared during the search.
CompareOptions QuickComparison(const Measurer& measurer, const TuneOptions& options);

// Seconds that another plan will take, judged by those so far; 0 where there was none.
double SecondsAPlan(const Measurer& measurer, const SearchEnd& end);

// A sentence without its full stop; the other fields of the result must be filled.
std::string HowItEnded(const TuneResult& result, const TuneOptions& options, const SearchEnd& end);

// Why nothing is kept where there is nothing to conclude, and what to do. `error`: of the last plan
// that failed.
std::string WhyNothing(const TuneResult& result, const TuneOptions& options, const SearchEnd& end,
                       const std::string& error);

// Advice to follow "the machine is too noisy to decide", for a program that runs this long.
std::string AgainstNoise(double run_seconds);

}  // namespace hone::tune

#endif  // HONE_TUNE_ENDED_H_
