#include "cli/kernels.h"

#include <memory>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "loops/kernel_file.h"
#include "loops/kernel_source.h"

namespace hone::cli {

std::function<StatusOr<loops::NativeKernel>(const std::string& task)> KernelMaker(bool sandbox) {
  if (!loops::FindGenerator()) return nullptr;
  // One for all pools: what was compiled is.
  static const auto source = [&] {
    loops::GeneratorOptions options;
    options.sandbox = sandbox;
    return std::make_shared<loops::KernelSource>(options);
  }();
  return [](const std::string& task) { return source->Get(task); };
}

Status WriteProgram(const std::string& path, std::string_view bytes, const CommonOptions& options) {
  std::vector<loops::NativeKernel> kernels;
  for (const std::string& task : loops::TasksIn(bytes)) {
    const auto make = KernelMaker(!options.no_sandbox);
    if (make == nullptr) return tl::unexpected(loops::FindGenerator().error());
    StatusOr<loops::NativeKernel> kernel = make(task);
    if (!kernel) return tl::unexpected(kernel.error());
    kernels.push_back(*std::move(kernel));
  }
  if (!kernels.empty()) {
    const std::string file = loops::KernelFile(kernels);
    if (Status wrote = WriteFile(loops::KernelPathOf(path), file); !wrote) return wrote;
  }
  return WriteFile(path, bytes);
}

}  // namespace hone::cli
