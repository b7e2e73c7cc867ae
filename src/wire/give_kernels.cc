// What a worker lacks to run a program that calls kernels of hone-loops.
#include "wire/codec.h"
#include "wire/remote_worker.h"
#include "wire/remote_worker_ask.h"
#include "wire/worker_link.h"

namespace hone {

Status RemoteWorker::GiveKernels(const std::vector<std::string>& tasks) {
  const StatusOr<std::vector<loops::NativeKernel>> kernels = memory_->options.kernels(tasks);
  if (!kernels) return tl::unexpected(kernels.error());
  for (const loops::NativeKernel& kernel : *kernels) {
    const auto response = link_->Call<wire::GiveKernelCall>(Calling(), [&](auto params) {
      wire::ToWire(GiveKernelRequest{kernel.name, kernel.object, kernel.bytes}, params);
    });
    if (!response) {
      Mourn(response.error(), "give a kernel");
      return tl::unexpected(response.error());
    }
    if (Status given = OutcomeOf(response); !given) return given;
  }
  return {};
}

}  // namespace hone
