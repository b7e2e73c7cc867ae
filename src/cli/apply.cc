// hone apply: the optimised program that the compiler makes under a plan.
#include "jobs/apply.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"

namespace hone::cli {
namespace {

struct ApplyFlags {
  CommonOptions common;
  jobs::ApplyOptions job;
};

int RunApply(const ApplyFlags& flags) {
  CommandEvents events(flags.common);
  const auto compiled = jobs::Apply(flags.job, flags.common, events);
  if (!compiled) return Fail(compiled.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*compiled, flags.job), kFine);
  return Finish(fmt::format("{} instructions; decided otherwise in {} place{}; written to {}\n",
                            Grouped(compiled->instructions), compiled->applied,
                            compiled->applied == 1 ? "" : "s", flags.job.output),
                kFine);
}

}  // namespace

Run AddApply(CLI::App& app) {
  auto flags = std::make_shared<ApplyFlags>();
  AddWord(app, "PLAN", flags->job.plan, "what `hone tune --plan` wrote");
  AddWord(app, "FILE", flags->job.file, "the program, or one like it");
  app.add_option("-o,--output", flags->job.output, "the optimised program, as text")
      ->required()
      ->type_name("OUT");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunApply(*flags); };
}

}  // namespace hone::cli
