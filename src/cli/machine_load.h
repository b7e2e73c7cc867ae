// What else a machine has to do.
#ifndef HONE_CLI_MACHINE_LOAD_H_
#define HONE_CLI_MACHINE_LOAD_H_

#include <chrono>
#include <optional>

namespace hone::cli {

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

}  // namespace hone::cli

#endif  // HONE_CLI_MACHINE_LOAD_H_
