// When a search ends, and in which words that is told.
#ifndef HONE_TUNE_ENDED_H_
#define HONE_TUNE_ENDED_H_

#include <string>

#include "tune/measurer.h"
#include "tune/tune_program.h"

namespace hone::tune {

// Seconds of the budget that verifying and confirming need. Once there is something to conclude:
// races of a few plans, two comparisons' worth of compiling and running. Before: what a plan needs
// at least that is found just then.
double ReserveSeconds(const Measurer& measurer, bool something_found, const TuneOptions& options);

struct SearchEnd {
  double prepared = 0;  // seconds from the start: there was a space to search
  double searched = 0;  // the search was over
  double next = 0;      // that another plan takes; 0 where none was measured
  double reserve = 0;   // that were kept
};

// Of what the compiler answered: it may have said already that it cannot compile it.
std::string WhyNotCompiled(const Error& error, const TuneOptions& options);
// That the stock compiler may take to say what there is to decide, by the budget.
double ListingPatience(const TuneOptions& options);
// That two programs may take to be compiled before they are compared (CompareOptions::grace_seconds).
double ComparingGrace(const Measurer& measurer, const TuneOptions& options);
// How a new best is compared during the search.
CompareOptions QuickComparison(const Measurer& measurer, const TuneOptions& options);

// That another plan is going to take, judged by those so far; 0 where there was none.
double SecondsAPlan(const Measurer& measurer, const SearchEnd& end);

// A sentence without its stop, of a result whose other fields are filled.
std::string HowItEnded(const TuneResult& result, const TuneOptions& options, const SearchEnd& end);

// Why nothing is kept where there is nothing to conclude, and what to do. `error`: of the last plan
// that failed.
std::string WhyNothing(const TuneResult& result, const TuneOptions& options, const SearchEnd& end,
                       const std::string& error);

// Behind "the machine is too noisy to decide": what would help, for a program that runs so long.
std::string AgainstNoise(double run_seconds);

}  // namespace hone::tune

#endif  // HONE_TUNE_ENDED_H_
