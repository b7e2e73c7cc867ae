// Where a worker's time went.
#ifndef HONE_CORE_TIMING_H_
#define HONE_CORE_TIMING_H_

#include <cstdint>

namespace hone {

// Seconds and counts since the worker was first started.
struct Timing {
  double passes = 0;        // inside XLA's passes
  double clones = 0;        // XLA copying and freeing modules
  double metrics = 0;       // XLA's cost analysis and memory scheduler
  double verifier = 0;      // XLA's HLO verifier
  double fingerprints = 0;  // hone's own
  double other = 0;         // the rest of the calls: parsing, printing, comparing, look-ups
  int64_t passes_run = 0;
  int64_t clones_made = 0;

  double InXla() const { return passes + clones + metrics + verifier; }

  Timing& operator+=(const Timing& o) {
    passes += o.passes;
    clones += o.clones;
    metrics += o.metrics;
    verifier += o.verifier;
    fingerprints += o.fingerprints;
    other += o.other;
    passes_run += o.passes_run;
    clones_made += o.clones_made;
    return *this;
  }
  friend Timing operator-(Timing a, const Timing& b) {
    a.passes -= b.passes;
    a.clones -= b.clones;
    a.metrics -= b.metrics;
    a.verifier -= b.verifier;
    a.fingerprints -= b.fingerprints;
    a.other -= b.other;
    a.passes_run -= b.passes_run;
    a.clones_made -= b.clones_made;
    return a;
  }
};

}  // namespace hone

#endif  // HONE_CORE_TIMING_H_
