// A program with workers of its own, and a device where it is measured on one.
#ifndef HONE_JOBS_OPEN_PROGRAM_H_
#define HONE_JOBS_OPEN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "device/remote_device.h"
#include "jobs/events.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::jobs {

struct OpenOptions {
  // Without the flag that stops workers: what is found is still to be verified.
  tune::PoolEvaluator::StartPool start_pool;
  bool apart = false;  // the workers are on machines of their own
  std::optional<device::DeviceOptions> device;
  uint64_t seed = 1;
};

struct OpenedProgram {
  std::unique_ptr<tune::Evaluator> evaluator;
  tune::PoolEvaluator* programs = nullptr;       // that makes the programs: `evaluator`, or in it
  const device::RemoteDevice* device = nullptr;  // where `evaluator` measures, if not on workers

  const ProgramInfo& program() const { return programs->program(); }
};

// `data` are the bytes of the program's file. What `events` has to stop it outlives what is opened.
StatusOr<OpenedProgram> OpenProgram(std::string data, const OpenOptions& options, Events& events);

// The optimised module under the plan, with its text; on a device, the program as its plugin is
// given it.
StatusOr<Compiled> CompileUnder(tune::Evaluator& evaluator, const tune::TunePlan& plan);

}  // namespace hone::jobs

#endif  // HONE_JOBS_OPEN_PROGRAM_H_
