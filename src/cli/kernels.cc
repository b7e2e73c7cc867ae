// hone kernels: what XLA:GPU's back end makes of a program, without a GPU.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/tuned_program.h"
#include "jobs/inspect_kernels.h"

namespace hone::cli {
namespace {

using jobs::KernelCode;

struct KernelsOptions {
  CommonOptions common;
  std::string file;
  std::string plan;
  std::string ptx;
  std::string ptxas;
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

int RunKernels(const KernelsOptions& options) {
  const bool json = options.common.json;
  if (options.common.target == "cpu") {
    return Fail({ErrorCode::kInvalidInput,
                 "which GPU? --target h100, say; for this processor, `hone bench FILE "
                 "--kernels N` measures kernels"},
                json);
  }
  if (Status writable = MayWrite(options.ptx); !writable) {
    return Fail(writable.error(), options.ptx, json);
  }
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto program = OpenProgram(options.common, options.file, "", 1);
  if (!program) return Fail(program.error(), json);
  CommandEvents events(options.common.ShowProgress());
  const auto inspected = InspectKernels(*program, options.file, *plan, options.ptxas, events);
  if (!inspected) return Fail(inspected.error(), options.file, json);
  if (Status wrote = WriteIfNamed(options.ptx, inspected->ptx); !wrote) {
    return Fail(wrote.error(), options.ptx, json);
  }
  if (json) return Finish(ToJson(*inspected, options.file), kFine);
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
  auto options = std::make_shared<KernelsOptions>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--plan", options->plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  app.add_option("--ptx", options->ptx, "write the kernels' PTX here")->type_name("OUT");
  app.add_option("--ptxas", options->ptxas,
                 "NVIDIA's assembler (what `setup/install --ptxas` fetched, or PATH's)")
      ->type_name("PATH");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunKernels(*options); };
}

}  // namespace hone::cli
