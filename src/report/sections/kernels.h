// Where the time of a run goes: kernels on a roofline, and measured against predicted.
#ifndef HONE_REPORT_SECTIONS_KERNELS_H_
#define HONE_REPORT_SECTIONS_KERNELS_H_

#include <cstdint>
#include <string>
#include <utility>
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

inline Json ToSection(const Kernels& kernels) {
  Json runs = Json::array();
  for (const KernelRun& run : kernels.runs) {
    Json rows = Json::array();
    for (const Kernel& kernel : run.kernels) {
      rows.push_back({kernel.name, kernel.opcode, kernel.calls, kernel.seconds, kernel.flops,
                      kernel.bytes, kernel.predicted_seconds});
    }
    runs.push_back({{"label", run.label}, {"kernels", std::move(rows)}});
  }
  return {{"kind", "kernels"},
          {"note", kernels.note},
          {"flops_per_second", kernels.flops_per_second},
          {"bytes_per_second", kernels.bytes_per_second},
          {"runs", std::move(runs)}};
}

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_KERNELS_H_
