#include "jobs/workers.h"

#include <utility>

#include "jobs/cache_folder.h"
#include "jobs/input.h"
#include "jobs/json.h"
#include "jobs/kernels.h"
#include "jobs/ready_worker.h"

namespace hone::jobs {

std::string WorkerOptions::KernelFolder() const {
  if (kernel_bytes == 0 || kernel_folder == "none") return "";
  return kernel_folder.empty() ? jobs::KernelFolder() : kernel_folder;
}

StatusOr<PoolOptions> PoolOptionsFor(const WorkerOptions& options, Events& events) {
  StatusOr<std::string> worker = ReadyWorker(options.quiet, options.target);
  if (!worker) return tl::unexpected(worker.error());
  PoolOptions pool;
  pool.worker_path = *std::move(worker);
  pool.workers = options.workers;
  pool.target = options.target;
  pool.pass_deadline_seconds = options.pass_deadline_seconds;
  pool.memory_limit_bytes = options.memory_limit_bytes;
  pool.cache_bytes = options.cache_bytes;
  pool.kernel_bytes = options.kernel_bytes;
  pool.kernel_folder = options.KernelFolder();
  pool.rule_files = options.rules;
  pool.sandbox = !options.no_sandbox;
  if (options.no_sandbox) {
    events.Warn(
        "", "workers are not locked up (--no-sandbox): a program that breaks XLA has your rights");
  }
  pool.stand_in_constants = options.stand_in_constants;
  pool.kernels = KernelMaker(pool.sandbox, pool.kernel_folder);
  return pool;
}

StatusOr<std::unique_ptr<Pool>> StartPool(const WorkerOptions& options, Events& events,
                                          const std::atomic<bool>* stop) {
  StatusOr<PoolOptions> pool = PoolOptionsFor(options, events);
  if (!pool) return tl::unexpected(pool.error());
  pool->stop = stop;
  return Pool::Start(*pool);
}

device::DeviceOptions DeviceOptionsFor(const WorkerOptions& options, const std::string& device) {
  device::DeviceOptions whole;
  whole.name = *device::ParseDeviceName(device);
  whole.memory_limit_bytes = options.memory_limit_bytes;
  whole.sandbox = !options.no_sandbox;
  return whole;
}

StatusOr<std::unique_ptr<device::RemoteDevice>> StartDevice(const WorkerOptions& options,
                                                            const std::string& device,
                                                            Events& events) {
  if (device.empty()) return std::unique_ptr<device::RemoteDevice>();
  const std::shared_ptr<void> waiting = events.During("loading the plugin");
  return device::RemoteDevice::Start(DeviceOptionsFor(options, device));
}

FileOr<std::string> ReadNamed(const std::string& given, const WorkerOptions& options) {
  return About(given, ReadInput(given, options.MostInputBytes(), options.datasets));
}

ReadProgram ReaderFor(const WorkerOptions& options) {
  return
      [most = options.MostInputBytes()](const std::string& file) { return ReadInput(file, most); };
}

void WarnOfStandIns(const std::string& file, const ProgramInfo& program, Events& events) {
  if (const std::string about = AboutStandIns(program); !about.empty()) events.Warn(file, about);
}

FileOr<ProgramInfo> LoadNamed(Pool& pool, std::string data, const std::string& file,
                              Events& events) {
  FileOr<ProgramInfo> program = About(file, pool.Load(std::move(data)));
  if (program) WarnOfStandIns(file, *program, events);
  return program;
}

}  // namespace hone::jobs
