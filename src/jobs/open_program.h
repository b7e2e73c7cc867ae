// A program with workers of its own, and a device where it is measured on one; a plan for it.
#ifndef HONE_JOBS_OPEN_PROGRAM_H_
#define HONE_JOBS_OPEN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "device/remote_device.h"
#include "jobs/cluster.h"
#include "jobs/events.h"
#include "jobs/workers.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::jobs {

struct OpenOptions {
  // Its pools do not stop at an interrupt: results are still to be verified.
  tune::PoolEvaluator::StartPool start_pool;
  bool apart = false;  // the workers are on machines of their own
  std::optional<device::DeviceOptions> device;
  uint64_t seed = 1;
};

struct OpenedProgram {
  std::unique_ptr<tune::Evaluator> evaluator;
  tune::PoolEvaluator* programs = nullptr;       // makes the programs: `evaluator`, or a part of it
  const device::RemoteDevice* device = nullptr;  // where `evaluator` measures, if not on workers

  const ProgramInfo& program() const { return programs->program(); }
};

// `data` are the bytes of the program's file. The flag `events.stop()` must outlive the result.
StatusOr<OpenedProgram> OpenProgram(std::string data, const OpenOptions& options, Events& events);

// With the workers that are asked for, or the cluster's where there is one; the cluster must
// outlive the program. `device` is a name that device::ParseDeviceName can read; "": workers
// measure.
StatusOr<OpenOptions> OpenOptionsFor(const WorkerOptions& workers, const std::string& device,
                                     uint64_t seed, Events& events,
                                     const Cluster* cluster = nullptr);

// ReadNamed and OpenProgram.
FileOr<OpenedProgram> OpenNamed(const std::string& file, const WorkerOptions& workers,
                                const std::string& device, uint64_t seed, Events& events);

// A plan's file; the empty plan where none is named.
FileOr<tune::TunePlan> ReadPlan(const std::string& file);

// The optimised module under the plan, with its text; on a device, the program as its plugin is
// given it. `raced`: it has been, so its kernels' code is known and need not be made in a hurry.
StatusOr<Compiled> CompileUnder(tune::Evaluator& evaluator, const tune::TunePlan& plan,
                                bool raced = false);

}  // namespace hone::jobs

#endif  // HONE_JOBS_OPEN_PROGRAM_H_
