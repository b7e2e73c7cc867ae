// A PJRT plugin in a process of its own, used by one thread at a time: calls that always return,
// whatever the plugin does.
//
// A plugin that aborts, hangs past its deadline or takes too much memory costs its process. The
// next call starts another and brings back what it needs: programs are compiled and inputs placed
// again.
#ifndef HONE_DEVICE_REMOTE_DEVICE_H_
#define HONE_DEVICE_REMOTE_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/race_pairs.h"
#include "core/result.h"
#include "device/device_name.h"
#include "device/facts.h"
#include "device/messages.h"

namespace hone::wire {
class WorkerLink;
struct Patience;
template <class C>
class Reply;
}  // namespace hone::wire

namespace hone::device {

struct DeviceOptions {
  DeviceName name;
  std::string program_path;            // "" is the hone-device beside this executable
  double open_deadline_seconds = 120;  // of loading it: some look for their hardware for ever
  double call_deadline_seconds = 300;  // of everything else but compiling
  size_t memory_limit_bytes = 0;       // resident; 0 is three quarters of the machine's
  bool sandbox = true;                 // a plugin of the CPU is locked up
};

// A compiled program, and the name it is known by here.
struct DeviceProgram {
  std::string name;                           // equal for equal programs under equal flags
  std::shared_ptr<const std::string> module;  // a serialized HloModuleProto
  bool tupled_arguments = false;
  Flags flags;
};

struct DeviceInputs {
  std::string name;  // equal for equal arrays
  std::vector<DeviceArray> arrays;
};

class RemoteDevice {
 public:
  // Starts a process, loads the plugin in it and makes its client.
  static StatusOr<std::unique_ptr<RemoteDevice>> Start(const DeviceOptions& options);
  ~RemoteDevice();
  RemoteDevice(const RemoteDevice&) = delete;
  RemoteDevice& operator=(const RemoteDevice&) = delete;

  const PluginInfo& info() const { return info_; }
  const std::string& plugin() const { return options_.name.plugin; }
  const DeviceDetails& device() const { return info_.devices[options_.name.device]; }

  // The seconds that it took. Compiled once a process, as long as it is among the last few used.
  StatusOr<double> Compile(const DeviceProgram& program, double deadline_seconds);
  StatusOr<std::vector<DeviceArray>> Run(const DeviceProgram& program, const DeviceInputs& inputs);
  // Pairs of runs of both, in turns, each time the mean of `repeats`. Pair `first` begins with a
  // where it is even.
  StatusOr<std::vector<PairTimes>> Time(const DeviceProgram& a, const DeviceProgram& b,
                                        const DeviceInputs& inputs, int first, int pairs,
                                        int repeats);
  // All later calls run in a process that has done nothing yet.
  Status Restart();
  int pid() const;  // -1 where none runs

 private:
  struct Held {
    uint32_t id = 0;
    uint64_t used = 0;
    double seconds = 0;  // that compiling took
  };

  explicit RemoteDevice(DeviceOptions options);
  std::unique_ptr<wire::WorkerLink> MakeLink(bool sandbox) const;
  template <class C, class Make>
  StatusOr<wire::Reply<C>> Ask(const wire::Patience& patience, Make make);
  wire::Patience Calling() const;
  Status Connect();
  StatusOr<uint32_t> Placed(const DeviceInputs& inputs);
  void KeepFew();
  void Forget();

  const DeviceOptions options_;
  std::unique_ptr<wire::WorkerLink> link_;
  bool locked_up_ = false;  // each process, before it loads the plugin
  PluginInfo info_;
  // In the process that runs now.
  std::map<std::string, Held> executables_;
  std::map<std::string, Held> inputs_;
  uint32_t next_id_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace hone::device

#endif  // HONE_DEVICE_REMOTE_DEVICE_H_
