#include "jobs/kernels.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "loops/kernel_file.h"
#include "loops/kernel_source.h"

namespace hone::jobs {
namespace {

// One for all pools: what was compiled is.
loops::KernelSource& Source(bool sandbox, const std::string& program) {
  static loops::KernelSource source = [&] {
    loops::GeneratorOptions options;
    options.program_path = program;
    options.sandbox = sandbox;
    return loops::KernelSource(options);
  }();
  return source;
}

}  // namespace

MakeKernel KernelMaker(bool sandbox, const std::string& program) {
  std::error_code error;
  const bool found = program.empty() ? loops::FindGenerator().has_value()
                                     : std::filesystem::exists(program, error);
  if (!found) return nullptr;
  return [&source = Source(sandbox, program)](const std::string& task) { return source.Get(task); };
}

StatusOr<std::string> KernelsOf(std::string_view program, const MakeKernel& make) {
  std::vector<loops::NativeKernel> kernels;
  for (const std::string& task : loops::TasksIn(program)) {
    if (make == nullptr) return tl::unexpected(loops::FindGenerator().error());
    StatusOr<loops::NativeKernel> kernel = make(task);
    if (!kernel) return tl::unexpected(kernel.error());
    kernels.push_back(*std::move(kernel));
  }
  return kernels.empty() ? std::string() : loops::KernelFile(kernels);
}

}  // namespace hone::jobs
