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

// `stock` with its text. Given up after `most_seconds`; none where compiling took so long that it
// would be.
Trace TraceStock(Measurer& measurer, const TuneOptions& options, const Compiled& stock,
                 double most_seconds);

}  // namespace hone::tune

#endif  // HONE_TUNE_TRACE_H_
