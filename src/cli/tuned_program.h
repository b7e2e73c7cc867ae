// What the commands about tuned plans share.
#ifndef HONE_CLI_TUNED_PROGRAM_H_
#define HONE_CLI_TUNED_PROGRAM_H_

#include <atomic>
#include <memory>
#include <string>

#include "cli/cluster.h"
#include "cli/common.h"
#include "device/remote_device.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::cli {

// A program, workers of its own, and a device where one was named.
struct OpenedProgram {
  std::unique_ptr<tune::Evaluator> evaluator;
  tune::PoolEvaluator* programs = nullptr;       // that makes the programs: `evaluator`, or in it
  const device::RemoteDevice* device = nullptr;  // where `evaluator` measures, if not on workers
  int exit_code = kFine;                         // of OpenProgram, which has told what went wrong

  const ProgramInfo& program() const { return programs->program(); }
};
// `data` are the bytes of the program's file, `device` is --device's, "" for none. Workers are the
// cluster's where there is one, which outlives what is opened.
StatusOr<OpenedProgram> OpenData(const CommonOptions& options, std::string data,
                                 const std::string& device, uint64_t seed,
                                 const std::atomic<bool>* interrupted = nullptr,
                                 const Cluster* cluster = nullptr);
OpenedProgram OpenProgram(const CommonOptions& options, const std::string& file,
                          const std::string& device, uint64_t seed);

// Of a file; the empty plan where no file is named.
StatusOr<tune::TunePlan> ReadPlan(const std::string& file);

// The optimised module under the plan, as HLO text; on a device, the program as its plugin is given
// it.
StatusOr<std::string> OptimisedText(tune::Evaluator& evaluator, const tune::TunePlan& plan);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNED_PROGRAM_H_
