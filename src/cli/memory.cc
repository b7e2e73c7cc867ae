// hone memory: what lies where on a scratchpad, and when it moves.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/memory_files.h"

namespace hone::cli {
namespace {

struct MemoryFlags {
  CommonOptions common;
  jobs::PlanFileOptions job;
};

double Ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

std::string Text(const std::string& file, const jobs::PlannedFile& done) {
  const auto& [machine, loaded, result] = done;
  const auto& [planned, verification] = result;
  const memory::Network& network = loaded.network();
  const memory::Figures& figures = planned.plan.figures;
  std::string text = fmt::format("{}: {} operators on {} ({})\n", file,
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
  if (const memory::Baseline* faster = FasterBaseline(planned)) {
    const bool local = faster == &planned.local;
    text += fmt::format(
        "  least traffic     is not least time: {} are estimated to take {:.2f} of it\n",
        local ? "local groups" : "operators one by one", faster->seconds / figures.seconds);
  }
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

int RunMemory(const MemoryFlags& flags) {
  if (flags.job.file.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 "give a program, or an action: simulate or machines; see `hone memory --help`"},
                flags.common.json);
  }
  CommandEvents events(flags.common);
  const auto planned = jobs::PlanMemoryOf(flags.job, flags.common, events);
  if (!planned) return Fail(planned.error(), flags.common.json);
  const int code = events.CodeOr(planned->result.verification.ok ? kFine : kSomeFailed);
  return flags.common.json ? Finish(ToJson(*planned, flags.job), code)
                           : Finish(Text(flags.job.file, *planned), code);
}

struct SimulateFlags {
  CommonOptions common;
  jobs::SimulateOptions job;
};

int RunSimulate(const SimulateFlags& flags) {
  CommandEvents events(flags.common);
  const auto simulated = jobs::SimulatePlan(flags.job, flags.common, events);
  if (!simulated) return Fail(simulated.error(), flags.common.json);
  const jobs::Verification& verification = simulated->verification;
  const int code = events.CodeOr(verification.ok ? kFine : kDifferent);
  if (flags.common.json) return Finish(ToJson(*simulated, flags.job), code);
  return Finish(fmt::format("{}: {}\n  loaded  {}\n  stored  {}\n", flags.job.plan,
                            Printable(verification.what), Grouped(verification.loaded_bytes),
                            Grouped(verification.stored_bytes)),
                code);
}

Run AddSimulate(CLI::App& app) {
  auto flags = std::make_shared<SimulateFlags>();
  AddWord(app, "PLAN", flags->job.plan, "a plan that `hone memory -o` wrote");
  app.add_option("--program", flags->job.program, "the program, where it is not where it was")
      ->type_name("FILE");
  jobs::VerifyOptions& verify = flags->job.verify;
  AddNoFlag(app, "--no-numbers", verify.numbers, "only follow what lies where");
  AddDuration(app, "--verify-budget", verify.seconds,
              fmt::format("time for comparing numbers with XLA's ({:g}s)", verify.seconds));
  app.add_option("--seed", verify.seed, fmt::format("of the inputs ({})", verify.seed))
      ->type_name("N");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunSimulate(*flags); };
}

int RunMachines(bool json) {
  if (json) return Finish(jobs::MachinesJson(), kFine);
  std::string text;
  for (const memory::Machine& machine : memory::Machines()) {
    text +=
        fmt::format("{:<14} {:>9}  {}\n", machine.name,
                    HumanBytes(static_cast<double>(machine.ScratchpadBytes())), machine.meaning);
  }
  return Finish(text, kFine);
}

Run AddMachines(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON, for programs");
  return [json] { return RunMachines(*json); };
}

}  // namespace

Run AddMemory(CLI::App& app) {
  auto flags = std::make_shared<MemoryFlags>();
  app.add_option("FILE", flags->job.file, "a program, or one of the actions below")->type_name("");
  app.add_option("--machine", flags->job.machine,
                 fmt::format("a preset or a file ({})", flags->job.machine))
      ->type_name("NAME");
  AddDuration(
      app, "--budget", flags->job.job.budget_seconds,
      fmt::format("work for planning, in seconds of a usual core: counted, so that the same budget "
                  "makes the same plan ({:g}s)",
                  flags->job.job.budget_seconds));
  app.add_option("-o,--output", flags->job.output, "write the plan: every step, with addresses")
      ->type_name("PLAN");
  AddStoreOption(app, flags->job.store);
  AddReportOption(app, flags->job.report);
  AddDuration(app, "--verify-budget", flags->job.job.verify_seconds,
              "time for comparing numbers with XLA's (twice --budget, at least 20s)");
  app.add_option(
         "--verify-gflops", flags->job.job.verify_gflops,
         fmt::format(
             "larger programs are simulated without computing values, 10^9 operations ({:g})",
             flags->job.job.verify_gflops))
      ->type_name("N");
  app.add_option("--seed", flags->job.job.seed,
                 fmt::format("of the inputs ({})", flags->job.job.seed))
      ->type_name("N");
  AddProgramOptions(app, flags->common);
  Actions actions(app);
  actions.Add("simulate", "run a plan on the modelled machine",
              "  hone memory simulate plan.json\n", AddSimulate);
  actions.Add("machines", "the machines that hone knows",
              "  hone memory machines\n  hone memory machines --json\n", AddMachines);
  return actions.Chosen([flags] { return RunMemory(*flags); });
}

}  // namespace hone::cli
