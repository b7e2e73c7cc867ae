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
#include "cli/options.h"

namespace hone::cli {
namespace {

struct BenchFlags {
  CommonOptions common;
  jobs::BenchOptions job;
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

std::string Sentence(const jobs::Benched& benched, bool planned) {
  const RaceReport& race = benched.race;
  if (race.same_executable) {
    const std::string time = benched.runs == 0
                                 ? ""
                                 : fmt::format("stock {:.4g} ms, the median of {} runs; ",
                                               1000 * race.seconds_a, benched.runs);
    return time + (planned ? "the same executable: the plan decides nothing here\n"
                           : "no plan is given\n");
  }
  std::string sentence = fmt::format("stock {:.4g} ms, under the plan {:.4g} ms",
                                     1000 * race.seconds_a, 1000 * race.seconds_b);
  if (benched.estimated) {
    return sentence +
           fmt::format(
               ": {:.3f} times as low, estimated by XLA's own model of {}: nothing was run there\n",
               race.speedup, benched.opened.programs->pool().target());
  }
  return sentence +
         fmt::format(": {:.3f} times as fast, 95 % interval [{:.3f}, {:.3f}] of {} pairs\n",
                     race.speedup, race.low, race.high, race.pairs);
}

int RunBench(const BenchFlags& flags) {
  CommandEvents events(flags.common);
  const auto benched = jobs::Bench(flags.job, flags.common, events);
  if (!benched) return Fail(benched.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*benched, flags.job), kFine);
  std::string text = Sentence(*benched, !flags.job.plan.empty());
  for (const auto& [title, kernels] : {std::pair("STOCK", &benched->kernels_of_stock),
                                       std::pair("PLAN", &benched->kernels_of_plan)}) {
    if (!kernels->empty()) text += KernelTable(title, *kernels, flags.job.kernels);
  }
  return Finish(text, kFine);
}

}  // namespace

Run AddBench(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("--plan", flags->job.plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  AddDeviceOption(app, flags->job.device,
                  "measure on a PJRT plugin's device: pjrt:/path/to/plugin.so");
  AddDuration(app, "--budget", flags->job.seconds, "of measuring (10s)");
  app.add_option("--seed", flags->job.seed, "of the inputs")->capture_default_str();
  app.add_option("--kernels", flags->job.kernels, "also where the time goes: the dearest so many")
      ->type_name("N");
  app.add_option("--inputs", flags->job.inputs.texts,
                 "arrays of your own to run on: numpy.savez's, one for each parameter")
      ->type_name("FILE.npz")
      ->expected(1)
      ->check(CLI::ExistingFile);
  AddProgramOptions(app, flags->common);
  return [flags] { return RunBench(*flags); };
}

}  // namespace hone::cli
