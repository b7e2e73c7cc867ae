#include "tune/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::tune {
namespace {

constexpr double kTraceSeconds = 0.2;
constexpr double kOfCompiling = 0.3;  // what compiling again takes: machine code is kept

}  // namespace

Trace TraceStock(Measurer& measurer, const TuneOptions& options, const Compiled& stock,
                 double most_seconds) {
  Trace trace;
  if (kOfCompiling * stock.seconds > most_seconds) return trace;
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
  if (const auto graph = measurer.Describe(stock.text)) {
    trace.shares = KernelShares(*kernels, *graph);
  }
  return trace;
}

}  // namespace hone::tune
