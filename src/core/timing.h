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
  // Kernels whose machine code XLA has made; those that were there already; of the former, those that
  // were made to be compared with what was there, and that were not the same.
  int64_t kernels_compiled = 0;
  int64_t kernels_reused = 0;
  int64_t kernels_checked = 0;
  int64_t kernels_differed = 0;

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
    kernels_compiled += o.kernels_compiled;
    kernels_reused += o.kernels_reused;
    kernels_checked += o.kernels_checked;
    kernels_differed += o.kernels_differed;
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
    a.kernels_compiled -= b.kernels_compiled;
    a.kernels_reused -= b.kernels_reused;
    a.kernels_checked -= b.kernels_checked;
    a.kernels_differed -= b.kernels_differed;
    return a;
  }
};

}  // namespace hone

#endif  // HONE_CORE_TIMING_H_
