// What XLA:GPU's back end makes of a program, without a GPU: its kernels, and what NVIDIA's
// assembler says of them.
#ifndef HONE_JOBS_INSPECT_KERNELS_H_
#define HONE_JOBS_INSPECT_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/kernel_code.h"
#include "jobs/open_program.h"

namespace hone::jobs {

struct InspectedKernels {
  std::vector<KernelCode> kernels;  // those that XLA's model thinks take longest first
  int64_t spilling = 0;             // how many spill registers
  std::string target;
  std::string ptx;
  double seconds = 0;         // of compiling
  std::string not_assembled;  // why registers and spills are not known, or empty
};

struct InspectOptions {
  std::string file;
  std::string plan;  // a file, or ""
  std::string ptx;   // where the kernels' PTX is written; "" writes none
  // The assembler; "" is the one that setup/install fetched, or else PATH's.
  std::string ptxas;
};

// Errors: the target is no GPU, XLA cannot compile the program, the assembler refuses it. That
// there is no assembler is none.
FileOr<InspectedKernels> InspectKernels(const InspectOptions& options, const WorkerOptions& workers,
                                        Events& events);

Json ToJson(const InspectedKernels& inspected, const std::string& file);

}  // namespace hone::jobs

#endif  // HONE_JOBS_INSPECT_KERNELS_H_
