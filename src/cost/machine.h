// A machine's peak rates.
#ifndef HONE_COST_MACHINE_H_
#define HONE_COST_MACHINE_H_

namespace hone::cost {

struct Machine {
  double flops_per_second = 2e10;  // of one core
  double bytes_per_second = 1e10;  // that one core moves to and from memory, read and written
  double cores = 2;
  double kernel_seconds = 5e-7;     // to begin one
  double partition_seconds = 2e-6;  // to hand a piece to another core and to wait for it
};

// Peaks of this machine, one core, in about a tenth of a second: a product of matrices that fit the
// cache, and a sum of arrays that do not. The time to start a kernel is not measured.
Machine MeasureMachine();

}  // namespace hone::cost

#endif  // HONE_COST_MACHINE_H_
