// Where the time of a run goes: kernels on a roofline, and measured against predicted.
#ifndef HONE_REPORT_SECTIONS_KERNELS_H_
#define HONE_REPORT_SECTIONS_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "report/json.h"

namespace hone::report {

// All figures are of one run of the program, over all of the kernel's calls.
struct Kernel {
  std::string name;  // of the instruction
  std::string opcode;
  int64_t calls = 0;
  double seconds = 0;
  // By the roofline model; 0 where it does not know the kernel.
  double flops = 0;
  double bytes = 0;
  double predicted_seconds = 0;
};

struct KernelRun {
  std::string label;  // "stock", "tuned"
  std::vector<Kernel> kernels;
};

struct Kernels {
  std::string note;
  double flops_per_second = 0;  // of all cores
  double bytes_per_second = 0;
  std::vector<KernelRun> runs;
};

Json ToSection(const Kernels& kernels);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_KERNELS_H_
