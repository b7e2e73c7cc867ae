// A program as it was loaded, and what the stock compiler does to it.
#ifndef HONE_CORE_PROGRAM_H_
#define HONE_CORE_PROGRAM_H_

#include <string>

#include "core/fingerprint.h"
#include "core/metrics.h"
#include "core/state.h"

namespace hone {

struct ProgramInfo {
  ProgramId id = 0;
  Fingerprint fingerprint;
  std::string name;
  std::string format;  // "HLO text", "HloProto", …, with ", gzip" behind it
  Metrics metrics;     // all but peak_memory and estimated_seconds
  // The text had constants written as {...}: their values are lost, so it cannot be run.
  bool elided_constants = false;
  // So many had, and PoolOptions::stand_in_constants let made-up values take their place.
  int stand_in_constants = 0;
  OpcodeCounts opcodes;
};

struct StockPass {
  std::string name;      // XLA's own pass name
  std::string pipeline;  // the pipeline that ran it
  bool changed = false;
};

// A pass class of the wheel that is not registered, and why.
struct ExcludedPass {
  std::string class_name;
  std::string reason;
};

}  // namespace hone

#endif  // HONE_CORE_PROGRAM_H_
