// hone memory: what lies where on a scratchpad, and when it moves. Its actions `simulate` and
// `machines` are in memory_actions.cc.
#include "cli/memory.h"

#include <fmt/format.h>

#include <CLI/Formatter.hpp>
#include <memory>
#include <string>
#include <utility>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/report.h"
#include "jobs/report_memory.h"
#include "memory/plan_file.h"
#include "memory/planning/work.h"

namespace hone::cli {
namespace {

struct MemoryOptions {
  CommonOptions common;
  std::string file;
  std::string machine = "neuroncore_v2";
  std::string output;
  std::string report;
  std::string store;
  jobs::PlanMemoryOptions job;
};

double Ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

std::string Text(const MemoryOptions& options, const memory::Network& network,
                 const memory::Machine& machine, const memory::Planned& planned,
                 const jobs::Verification& verification) {
  const memory::Figures& figures = planned.plan.figures;
  std::string text = fmt::format("{}: {} operators on {} ({})\n", options.file,
                                 Grouped(static_cast<int64_t>(network.ops.size())), machine.name,
                                 HumanBytes(static_cast<double>(machine.ScratchpadBytes())));
  text += fmt::format("  store/load pairs  {} of {} eliminated\n",
                      Grouped(figures.pairs_eliminated), Grouped(figures.pairs));
  text +=
      fmt::format("  {:<17} {:>14} {:>10} {:>14}\n", "", "DRAM BYTES", "COPIES", "ESTIMATED MS");
  const auto row = [&](const char* name, int64_t bytes, int64_t copies, double seconds) {
    text += fmt::format("  {:<17} {:>14} {:>10} {:>14.3f}\n", name, Grouped(bytes), Grouped(copies),
                        seconds * 1e3);
  };
  row("one by one", planned.by_operator.dram_bytes, planned.by_operator.copies,
      planned.by_operator.seconds);
  row("local groups", planned.local.dram_bytes, planned.local.copies, planned.local.seconds);
  row("hone", figures.dram_bytes(), figures.copies, figures.seconds);
  text += fmt::format("  {:<17} {:>14}   hone is at {:.3f} of it\n", "bound",
                      Grouped(planned.bound.dram_bytes()),
                      Ratio(figures.dram_bytes(), planned.bound.dram_bytes()));
  text += fmt::format("  peak              {} of {} per partition\n",
                      HumanBytes(static_cast<double>(figures.peak_bytes_per_partition)),
                      HumanBytes(static_cast<double>(machine.bytes_per_partition)));
  text += fmt::format("  groups            {}, of them {} in tiles, {} from DRAM to DRAM\n",
                      figures.groups, figures.tiled_groups, figures.streamed);
  text += fmt::format("  planned in        {:.2f} s{}\n", planned.seconds,
                      planned.known ? "; the plan is the store's" : "");
  text += fmt::format("  verified          {}\n", verification.what);
  for (const auto& [what, count] : network.conservative) {
    text += fmt::format("  bounded           {} x {}\n", count, what);
  }
  return text;
}

int RunMemory(MemoryOptions& options) {
  const bool json = options.common.json;
  if (options.file.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 "give a program, or an action: simulate or machines; see `hone memory --help`"},
                json);
  }
  auto machine = ReadMachine(options.machine);
  if (!machine) return Fail(machine.error(), json);
  if (Status writable = MayWrite(options.output); !writable) {
    return Fail(writable.error(), options.output, json);
  }
  if (Status fine = CheckReport(options.report); !fine) {
    return Fail(fine.error(), options.report, json);
  }
  const auto store = OpenStore(options.store);
  if (!store) return Fail(store.error(), options.store, json);
  options.job.store = store->get();
  options.job.file = options.file;
  auto loaded = LoadNetwork(options.common, options.file, *machine);
  if (!loaded) return Fail(loaded.error(), options.file, json);
  CommandEvents events(options.common.ShowProgress());
  const auto result = jobs::PlanMemory(*loaded, *machine, options.job, events);
  if (!result) return Fail(result.error(), options.file, json);
  const auto& [planned, verification] = *result;
  const memory::Network& network = loaded->network();
  if (!options.output.empty() && verification.ok) {
    memory::PlanFile file{options.file, loaded->fingerprint, *machine,
                          loaded->networks[loaded->planned].updates, planned.plan};
    if (Status written = WriteFile(options.output, memory::WritePlan(network, file)); !written) {
      return Fail(written.error(), options.output, json);
    }
  }
  if (!options.report.empty()) {
    const jobs::MemoryReport what{options.file, *machine, planned, verification};
    if (Status wrote = WriteReport(options.report, MakeReport(*loaded, what)); !wrote) {
      return Fail(wrote.error(), options.report, json);
    }
  }
  const int code = verification.ok ? kFine : kSomeFailed;
  if (!json) return Finish(Text(options, network, *machine, planned, verification), code);
  Json out{{"file", options.file}};
  out.update(jobs::ToJson(*loaded, *machine, *result));
  return Finish(out, code);
}

}  // namespace

Run AddMemory(CLI::App& app) {
  auto options = std::make_shared<MemoryOptions>();
  app.add_option("FILE", options->file, "a program, or one of the actions below")->type_name("");
  app.add_option("--machine", options->machine,
                 fmt::format("a preset or a file ({})", options->machine))
      ->type_name("NAME");
  AddDuration(app, "--budget", options->job.budget_seconds,
              fmt::format("time for planning ({:g}s)", options->job.budget_seconds));
  app.add_option("-o,--output", options->output, "write the plan: every step, with addresses")
      ->type_name("PLAN");
  AddStoreOption(app, options->store);
  AddReportOption(app, options->report);
  app.add_option("--verify-gflops", options->job.verify_gflops,
                 fmt::format("programs of more products are followed without numbers ({:g})",
                             options->job.verify_gflops))
      ->type_name("N");
  app.add_option("--seed", options->job.seed, fmt::format("of the inputs ({})", options->job.seed))
      ->type_name("N");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  Actions actions(app);
  actions.Add("simulate", "run a plan on the modelled machine",
              "  hone memory simulate plan.json\n", AddMemorySimulate);
  actions.Add("machines", "the machines that hone knows",
              "  hone memory machines\n  hone memory machines --json\n", AddMemoryMachines);
  return actions.Chosen([options] { return RunMemory(*options); });
}

}  // namespace hone::cli
