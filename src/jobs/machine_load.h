// The load that other processes put on a machine.
#ifndef HONE_JOBS_MACHINE_LOAD_H_
#define HONE_JOBS_MACHINE_LOAD_H_

#include <chrono>
#include <optional>
#include <string>

namespace hone::jobs {

// Processor time of all cores together, since the machine was started.
struct ProcessorTicks {
  double busy = 0;  // what the host gave to other machines counts
  double idle = 0;
  double stolen = 0;  // that part of `busy`
};
// From the text of Linux's /proc/stat (proc(5)); nothing where it does not say.
std::optional<ProcessorTicks> ReadProcessorTicks(const std::string& stat);

// Begins to look when it is made. Linux's /proc/stat against what this process and all that it
// started have used.
class MachineLoad {
 public:
  MachineLoad();
  // How many cores all other processes kept busy since, on average. Nothing where /proc does not
  // tell, or of less than a tenth of a second.
  std::optional<double> OthersCores() const;

 private:
  const std::chrono::steady_clock::time_point start_;
  const std::optional<double> others_;  // seconds of processor time until then
};

// A warning for times that were measured beside them; empty where they hardly matter.
std::string BesideOthers(double others_cores);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MACHINE_LOAD_H_
