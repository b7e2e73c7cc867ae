#include "loops/kernel_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "core/processor.h"

namespace hone::loops {

std::string KernelFile(const std::vector<NativeKernel>& kernels) {
  std::string file = fmt::format("{}\nprocessor {}\n", kKernelFile, ProcessorName());
  for (const NativeKernel& kernel : kernels) {
    file += fmt::format("kernel {} {} {}\n", kernel.name, kernel.object.size(),
                        fmt::join(kernel.bytes, " "));
  }
  file += "objects\n";
  for (const NativeKernel& kernel : kernels) file += kernel.object;
  return file;
}

std::vector<std::string> TasksIn(std::string_view program) {
  std::set<std::string> tasks;
  for (size_t at = 0; (at = program.find(kKernelTaskBegin, at)) != program.npos;) {
    const size_t end = program.find_first_of("\"\\", at);
    if (end == program.npos) break;
    tasks.emplace(program.substr(at, end - at));
    at = end;
  }
  return {tasks.begin(), tasks.end()};
}

}  // namespace hone::loops
