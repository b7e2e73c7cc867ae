// hone replay: a recipe's result again, to the byte.
#include "jobs/replay.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"

namespace hone::cli {
namespace {

struct ReplayFlags {
  CommonOptions common;
  jobs::ReplayOptions job;
};

int RunReplay(const ReplayFlags& flags) {
  const std::string& output = flags.job.output;
  CommandEvents events(flags.common);
  const auto done = jobs::ReplayRecipe(flags.job, flags.common, events);
  if (!done) return Fail(done.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*done, flags.job), kFine);
  const Replayed& replayed = done->replayed;
  if (output.empty()) return Finish(replayed.result.bytes, kFine);
  return Finish(fmt::format("{}: {} passes, {} -> {} instructions, {}; written to {}\n", done->file,
                            done->recipe.passes.size(), Grouped(done->program.metrics.op_count),
                            Grouped(replayed.metrics.op_count),
                            replayed.as_recorded ? "as in the recipe" : "verified", output),
                kFine);
}

}  // namespace

Run AddReplay(CLI::App& app) {
  auto flags = std::make_shared<ReplayFlags>();
  AddWord(app, "RECIPE", flags->job.recipe, "what `hone optimize --recipe` wrote");
  app.add_option("--program", flags->job.program, "the program, where it has moved")
      ->type_name("FILE");
  app.add_option("-o,--output", flags->job.output, "write it here (.pb is binary), not to stdout")
      ->type_name("OUT");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunReplay(*flags); };
}

}  // namespace hone::cli
