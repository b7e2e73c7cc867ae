// hone replay: a recipe's result again, to the byte.
#include "jobs/replay.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"

namespace hone::cli {
namespace {

struct ReplayFlags {
  CommonOptions common;
  std::string recipe;
  std::string program;
  std::string output;
};

int RunReplay(const ReplayFlags& options) {
  const bool json = options.common.json;
  if (Status fine = MayWrite(options.output); !fine) {
    return Fail(fine.error(), options.output, json);
  }
  const StatusOr<Recipe> recipe = jobs::ReadRecipe(options.recipe);
  if (!recipe) return Fail(recipe.error(), options.recipe, json);
  const StatusOr<std::string> file =
      options.program.empty() ? jobs::FindProgramOf(*recipe, options.recipe) : options.program;
  if (!file) return Fail(file.error(), options.recipe, json);
  auto data = ReadNamed(*file, options.common);
  if (!data) return Fail(data.error(), json);
  const auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), json);
  const jobs::ReplayOptions job{options.recipe, *file, FormatFor(options.output)};
  CommandEvents events(options.common.ShowProgress());
  const auto done = ReplayRecipe(**pool, *recipe, *std::move(data), job, events);
  if (!done) return Fail(done.error(), json);
  const Replayed& replayed = done->replayed;
  if (!options.output.empty()) {
    if (Status wrote = WriteProgram(options.output, replayed.result.bytes, options.common);
        !wrote) {
      return Fail(wrote.error(), options.output, json);
    }
  }
  if (json) {
    Json out = ToJson(*done, *recipe, job);
    if (options.output.empty()) {
      out["hlo"] = replayed.result.bytes;
    } else {
      out["output"] = options.output;
    }
    return Finish(out, kFine);
  }
  if (options.output.empty()) return Finish(replayed.result.bytes, kFine);
  return Finish(fmt::format("{}: {} passes, {} -> {} instructions, {}; written to {}\n", *file,
                            recipe->passes.size(), Grouped(done->program.metrics.op_count),
                            Grouped(replayed.metrics.op_count),
                            replayed.as_recorded ? "as in the recipe" : "verified", options.output),
                kFine);
}

}  // namespace

Run AddReplay(CLI::App& app) {
  auto options = std::make_shared<ReplayFlags>();
  app.add_option("RECIPE", options->recipe, "what `hone optimize --recipe` wrote")
      ->required()
      ->type_name("");
  app.add_option("--program", options->program, "the program, where it has moved")
      ->type_name("FILE");
  app.add_option("-o,--output", options->output, "write it here (.pb is binary), not to stdout")
      ->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunReplay(*options); };
}

}  // namespace hone::cli
