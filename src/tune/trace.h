// Where the time of a run of the stock executable goes, found out once at the beginning.
#ifndef HONE_TUNE_TRACE_H_
#define HONE_TUNE_TRACE_H_

#include <optional>
#include <string>

#include "tune/kernel_shares.h"
#include "tune/measurer.h"

namespace hone::tune {

struct Trace {
  KernelShares shares;                  // nothing is known where XLA does not tell
  std::optional<std::string> too_long;  // why the program is left alone, if so
};

// `optimised`: Compiled::text of the stock module. Given up after `most_seconds`.
Trace TraceStock(Measurer& measurer, const TuneOptions& options, const std::string& optimised,
                 double most_seconds);

}  // namespace hone::tune

#endif  // HONE_TUNE_TRACE_H_
