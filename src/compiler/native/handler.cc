#include "compiler/native/handler.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/native/kernels.h"
#include "compiler/native/pool_runner.h"
#include "core/native_kernel.h"
#include "xla/ffi/api/ffi.h"

namespace hone::native {
namespace {

using xla::ffi::Dictionary;
using xla::ffi::Error;
using xla::ffi::Ffi;
using xla::ffi::RemainingArgs;
using xla::ffi::RemainingRets;
using xla::ffi::ThreadPool;

Error Run(RemainingArgs operands, RemainingRets results, Dictionary attributes, ThreadPool pool) {
  const auto name = attributes.get<std::string_view>(loops::kKernelName);
  if (!name.has_value()) {
    return Error::InvalidArgument("a custom call hone_loops names no kernel");
  }
  const Kernel* const kernel = FindKernel(*name);
  if (kernel == nullptr) {
    return Error(
        xla::ffi::ErrorCode::kNotFound,
        "the kernel " + std::string(*name) +
            " of a custom call hone_loops is not in this process: load the file of kernels "
            "that was written beside the program");
  }
  std::vector<void*> buffers;
  // The code believes its caller: what it reads and writes has the sizes that it was made for.
  const auto take = [&](const xla::ffi::AnyBuffer& buffer) {
    const size_t index = buffers.size();
    buffers.push_back(buffer.untyped_data());
    return index < kernel->bytes.size() &&
           static_cast<int64_t>(buffer.size_bytes()) == kernel->bytes[index];
  };
  bool fits = operands.size() + results.size() == kernel->bytes.size();
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto buffer = operands.get<xla::ffi::AnyBuffer>(i);
    if (!buffer.has_value()) return buffer.error();
    fits = take(*buffer) && fits;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    auto buffer = results.get<xla::ffi::AnyBuffer>(i);
    if (!buffer.has_value()) return buffer.error();
    fits = take(**buffer) && fits;
  }
  if (!fits) {
    return Error::InvalidArgument(
        "the arrays of a custom call hone_loops are not those of kernel " + std::string(*name));
  }
  const PoolRunner runner(pool);
  kernel->entry(buffers.data(), runner.threads() > 1 ? &runner : nullptr);
  return Error::Success();
}

}  // namespace

XLA_FFI_Error* RunKernel(XLA_FFI_CallFrame* frame) {
  static auto* const handler =
      Ffi::Bind().RemainingArgs().RemainingRets().Attrs().Ctx<ThreadPool>().To(Run).release();
  return handler->Call(frame);
}

}  // namespace hone::native
