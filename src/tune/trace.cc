#include "tune/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::tune {
namespace {

constexpr double kTraceSeconds = 0.2;

}  // namespace

Trace TraceStock(Measurer& measurer, const TuneOptions& options, const std::string& optimised,
                 double most_seconds) {
  Trace trace;
  const auto kernels = measurer.Profile({}, kTraceSeconds, most_seconds);
  if (!kernels) return trace;
  double seconds = 0;
  for (const KernelTime& kernel : *kernels) seconds = std::max(seconds, kernel.seconds);
  if (seconds > options.most_run_seconds) {
    trace.too_long =
        fmt::format("a run takes {:.1f} s or more, more than {:.1f} s: too long to measure",
                    seconds, options.most_run_seconds);
    return trace;
  }
  if (const auto graph = measurer.Describe(optimised)) {
    trace.shares = KernelShares(*kernels, *graph);
  }
  return trace;
}

}  // namespace hone::tune
