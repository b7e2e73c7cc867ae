// hone kernels: what XLA:GPU's back end makes of a program, without a GPU.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/inspect_kernels.h"

namespace hone::cli {
namespace {

using jobs::KernelCode;

struct KernelsFlags {
  CommonOptions common;
  jobs::InspectOptions job;
};

std::string Table(const std::vector<KernelCode>& kernels) {
  std::string table =
      fmt::format("{:<48} {:>12} {:>7} {:>8} {:>9} {:>13} {:>8}\n", "KERNEL", "ESTIMATED ms",
                  "CALLS", "THREADS", "REGISTERS", "SPILLED BYTES", "SHARED");
  for (const KernelCode& kernel : kernels) {
    const auto& of = kernel.resources;
    table +=
        fmt::format("{:<48} {:>12} {:>7} {:>8} {:>9} {:>13} {:>8}\n", kernel.name,
                    kernel.estimate ? fmt::format("{:.4g}", 1000 * kernel.estimate->seconds) : "",
                    kernel.estimate ? fmt::to_string(kernel.estimate->calls) : "",
                    kernel.threads > 0 ? fmt::to_string(kernel.threads) : "",
                    of ? fmt::to_string(of->registers) : "",
                    of ? fmt::to_string(of->spill_stores + of->spill_loads) : "",
                    of ? fmt::to_string(of->shared_bytes) : "");
  }
  return table;
}

int RunKernels(const KernelsFlags& flags) {
  CommandEvents events(flags.common);
  const auto inspected = jobs::InspectKernels(flags.job, flags.common, events);
  if (!inspected) return Fail(inspected.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*inspected, flags.job.file), kFine);
  std::string text = Table(inspected->kernels);
  text += fmt::format(
      "{} kernels for {}; times are estimated by XLA's own model, calls of libraries are left "
      "out\n",
      inspected->kernels.size(), inspected->target);
  text += inspected->not_assembled.empty()
              ? fmt::format("{} spill registers\n", inspected->spilling)
              : "registers and spills are not known: " + inspected->not_assembled + "\n";
  return Finish(text, kFine);
}

}  // namespace

Run AddKernels(CLI::App& app) {
  auto flags = std::make_shared<KernelsFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("--plan", flags->job.plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  app.add_option("--ptx", flags->job.ptx, "write the kernels' PTX here")->type_name("OUT");
  app.add_option("--ptxas", flags->job.ptxas,
                 "NVIDIA's assembler (what `setup/install --ptxas` fetched, or PATH's)")
      ->type_name("PATH");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunKernels(*flags); };
}

}  // namespace hone::cli
