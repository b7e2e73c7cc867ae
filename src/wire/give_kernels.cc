// What a worker lacks to run a program that calls kernels of hone-loops.
#include "wire/codec.h"
#include "wire/remote_worker.h"
#include "wire/worker_link.h"

namespace hone {

Status RemoteWorker::GiveKernels(const std::vector<std::string>& tasks) {
  for (const std::string& task : tasks) {
    const StatusOr<loops::NativeKernel> kernel = memory_->options.kernels(task);
    if (!kernel) return tl::unexpected(kernel.error());
    const auto response = link_->Call<wire::GiveKernelCall>(
        Calling(), [&](wire::Worker::GiveKernelParams::Builder request) {
          request.setName(kernel->name);
          request.setObject(kj::arrayPtr(reinterpret_cast<const kj::byte*>(kernel->object.data()),
                                         kernel->object.size()));
          auto bytes = request.initBytes(static_cast<unsigned>(kernel->bytes.size()));
          for (unsigned i = 0; i < bytes.size(); ++i) bytes.set(i, kernel->bytes[i]);
        });
    if (!response) {
      Mourn(response.error(), "give a kernel");
      return tl::unexpected(response.error());
    }
    Error error;
    if (wire::FromWire(response->getFailure(), error)) return tl::unexpected(error);
  }
  return {};
}

}  // namespace hone
