#include "report/sections/kernels.h"

namespace hone::report {

Json ToSection(const Kernels& kernels) {
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
