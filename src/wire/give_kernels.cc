// What a worker lacks to run a program that calls kernels of hone-loops.
#include "wire/codec.h"
#include "wire/remote_worker.h"
#include "wire/remote_worker_ask.h"
#include "wire/worker_link.h"

namespace hone {

Status RemoteWorker::GiveKernels(const std::vector<std::string>& tasks) {
  for (const std::string& task : tasks) {
    const StatusOr<loops::NativeKernel> kernel = memory_->options.kernels(task);
    if (!kernel) return tl::unexpected(kernel.error());
    const auto response = link_->Call<wire::GiveKernelCall>(Calling(), [&](auto params) {
      wire::ToWire(GiveKernelRequest{kernel->name, kernel->object, kernel->bytes}, params);
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
