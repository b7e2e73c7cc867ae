// hone bench: a program as the stock compiler makes it against the same under a plan, in pairs, and
// where the time of each goes.
#include "jobs/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/parse.h"
#include "cli/tuned_program.h"

namespace hone::cli {
namespace {

struct BenchOptions {
  CommonOptions common;
  std::string file;
  std::string plan;
  std::string device;
  double seconds = 10;
  uint64_t seed = 1;
  size_t kernels = 0;  // the dearest so many are told
};

// Of all kernels' time, as a table of the dearest.
std::string KernelTable(const std::string& title, const std::vector<KernelTime>& kernels,
                        size_t most) {
  double sum = 0;
  for (const KernelTime& kernel : kernels) sum += HasKernelsInside(kernel) ? 0 : kernel.seconds;
  std::string table =
      fmt::format("\n{:<48} {:>16} {:>10} {:>6} {:>7}\n", title, "OPCODE", "ms", "SHARE", "CALLS");
  for (size_t i = 0; i < std::min(most, kernels.size()); ++i) {
    const KernelTime& kernel = kernels[i];
    table += fmt::format("{:<48} {:>16} {:>10.4g} {:>5.1f}% {:>7}\n", kernel.name, kernel.opcode,
                         1000 * kernel.seconds, 100 * kernel.seconds / sum, kernel.calls);
  }
  if (kernels.size() > most) {
    table +=
        fmt::format("and {} more; all of them: {:.4g} ms\n", kernels.size() - most, 1000 * sum);
  }
  return table;
}

std::string Sentence(const jobs::Benched& benched, const std::string& target) {
  const RaceReport& race = benched.race;
  if (race.same_executable) return "the same executable: the plan decides nothing here\n";
  std::string sentence = fmt::format("stock {:.4g} ms, under the plan {:.4g} ms",
                                     1000 * race.seconds_a, 1000 * race.seconds_b);
  if (benched.estimated) {
    return sentence +
           fmt::format(
               ": {:.3f} times as low, estimated by XLA's own model of {}: nothing was run there\n",
               race.speedup, target);
  }
  return sentence +
         fmt::format(": {:.3f} times as fast, 95 % interval [{:.3f}, {:.3f}] of {} pairs\n",
                     race.speedup, race.low, race.high, race.pairs);
}

int RunBench(const BenchOptions& options) {
  const bool json = options.common.json;
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto program = OpenProgram(options.common, options.file, options.device, options.seed);
  if (!program) return Fail(program.error(), json);
  CommandEvents events(options.common.ShowProgress());
  const auto benched = Bench(
      *program, {options.file, *plan, options.seconds, options.seed, options.kernels > 0}, events);
  if (!benched) return Fail(benched.error(), options.file, json);
  if (json) {
    Json out{{"file", options.file}};
    out.update(ToJson(*benched, *program, options.kernels));
    return Finish(out, kFine);
  }
  std::string text = Sentence(*benched, program->programs->pool().target());
  for (const auto& [title, kernels] : {std::pair("STOCK", &benched->kernels_of_stock),
                                       std::pair("PLAN", &benched->kernels_of_plan)}) {
    if (!kernels->empty()) text += KernelTable(title, *kernels, options.kernels);
  }
  return Finish(text, kFine);
}

}  // namespace

Run AddBench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--plan", options->plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  AddDeviceOption(app, options->device,
                  "measure on a PJRT plugin's device: pjrt:/path/to/plugin.so");
  AddDuration(app, "--budget", options->seconds, "of measuring (10s)");
  app.add_option("--seed", options->seed, "of the inputs")->capture_default_str();
  app.add_option("--kernels", options->kernels, "also where the time goes: the dearest so many")
      ->type_name("N");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunBench(*options); };
}

}  // namespace hone::cli
