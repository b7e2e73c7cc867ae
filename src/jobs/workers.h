// Workers and devices as a user asks for them, and the programs that are named beside.
#ifndef HONE_JOBS_WORKERS_H_
#define HONE_JOBS_WORKERS_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/program.h"
#include "device/remote_device.h"
#include "jobs/events.h"
#include "wire/pool.h"

namespace hone::jobs {

struct WorkerOptions {
  int workers = 1;
  std::string target = "cpu";  // PoolOptions::target
  bool stand_in_constants = false;
  double pass_deadline_seconds = 60;
  size_t memory_limit_bytes = 0;
  size_t cache_bytes = size_t{1} << 30;
  size_t kernel_bytes = size_t{1} << 28;
  std::string kernel_folder;  // "" is jobs::KernelFolder(), "none" is none
  size_t most_input_mb = 128;
  std::vector<std::string> rules;     // files, beside hone's own
  std::vector<std::string> datasets;  // folders
  bool no_sandbox = false;            // workers may do what this user may
  bool quiet = false;                 // nothing is said where XLA is fetched first

  // PoolOptions::kernel_folder.
  std::string KernelFolder() const;
  size_t MostInputBytes() const { return most_input_mb << 20; }
};

// With a worker that can be started: of an installed hone, XLA is fetched first where it is
// missing. Warns where workers are not locked up.
StatusOr<PoolOptions> PoolOptionsFor(const WorkerOptions& options, Events& events);

// Pool::Start with these options; `stop` may be null (PoolOptions::stop).
StatusOr<std::unique_ptr<Pool>> StartPool(const WorkerOptions& options, Events& events,
                                          const std::atomic<bool>* stop = nullptr);

// For a device whose name device::ParseDeviceName can read.
device::DeviceOptions DeviceOptionsFor(const WorkerOptions& options, const std::string& device);

// A process with the plugin loaded; null where `device` is empty.
StatusOr<std::unique_ptr<device::RemoteDevice>> StartDevice(const WorkerOptions& options,
                                                            const std::string& device,
                                                            Events& events);

// ReadInput of what a user named, a path or a URI in one of the data sets.
FileOr<std::string> ReadNamed(const std::string& given, const WorkerOptions& options);

// ReadInput of a file that ExpandInputs found.
ReadProgram ReaderFor(const WorkerOptions& options);

// Warns where made-up values stand in for the program's constants.
void WarnOfStandIns(const std::string& file, const ProgramInfo& program, Events& events);

// The program of a file that has been read, with that warning.
FileOr<ProgramInfo> LoadNamed(Pool& pool, std::string data, const std::string& file,
                              Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_WORKERS_H_
