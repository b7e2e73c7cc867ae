// hone replay: a recipe's result again, to the byte.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRecipeBytes = size_t{16} << 20;

struct ReplayOptions {
  CommonOptions common;
  std::string recipe;
  std::string program;
  std::string output;
};

// As given, or else beside the recipe.
StatusOr<std::string> FindProgram(const ReplayOptions& options, const Recipe& recipe) {
  if (!options.program.empty()) return options.program;
  const fs::path given = recipe.program.file;
  const fs::path folder = fs::path(options.recipe).parent_path();
  std::error_code error;
  for (const fs::path& place : {given, folder / given, folder / given.filename()}) {
    if (fs::is_regular_file(place, error)) return place.string();
  }
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("its program '{}' is neither here nor beside the recipe; give it "
                               "with --program",
                               given.string()));
}

int RunReplay(const ReplayOptions& options) {
  const bool json = options.common.json;
  if (!options.output.empty()) {
    if (Status fine = CheckWritable(options.output); !fine) {
      return Fail(fine.error(), options.output, json);
    }
  }
  const StatusOr<std::string> text = ReadInput(options.recipe, kMostRecipeBytes);
  if (!text) return Fail(text.error(), options.recipe, json);
  const StatusOr<Recipe> recipe = RecipeFromJson(*text);
  if (!recipe) return Fail(recipe.error(), options.recipe, json);
  const StatusOr<std::string> file = FindProgram(options, *recipe);
  if (!file) return Fail(file.error(), options.recipe, json);
  auto data = ReadNamed(*file, options.common);
  if (!data) return Fail(data.error(), json);
  auto started = StartPool(options.common);
  if (!started) return Fail(started.error(), json);
  Pool& pool = **started;
  if (recipe->xla_version != pool.version()) {
    Warn(options.recipe, fmt::format("the recipe is of {}, this is {}: the result may differ",
                                     recipe->xla_version, pool.version()));
  }
  const auto passes = FindPasses(pool.passes(), recipe->passes);
  if (!passes) return Fail(passes.error(), options.recipe, json);
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(data));
  if (!program) return Fail(program.error(), *file, json);
  WarnOfStandIns(*file, *program);
  if (recipe->flags.count(kStandInsFlag) > 0 &&
      program->fingerprint.ToHex() != recipe->program.fingerprint) {
    Warn(*file, "the recipe was found with made-up constants; this program has its own");
  }
  const ExportFormat format = FormatFor(options.output);
  StatusOr<Replayed> replayed = MakeError(ErrorCode::kInternal, "not replayed");
  {
    const Waiting waiting(options.common.ShowProgress(), "replaying");
    replayed = Replay(pool, *program, *recipe, format);
  }
  if (!replayed) return Fail(replayed.error(), *file, json);
  const Exported& exported = replayed->result;
  if (!replayed->as_recorded) {
    Warn(options.recipe,
         fmt::format("its passes end at another program than it says, {} instead of {}; that was "
                     "compared with '{}' and computes the same",
                     exported.state.ToHex(), recipe->result_fingerprint, *file));
  }
  if (!options.output.empty()) {
    if (Status wrote = WriteProgram(options.output, exported.bytes, options.common); !wrote) {
      return Fail(wrote.error(), options.output, json);
    }
  }
  if (json) {
    Json result;
    result["recipe"] = options.recipe;
    result["file"] = *file;
    result["passes"] = recipe->passes;
    result["initial"] = program->metrics.op_count;
    result["result"] = replayed->metrics.op_count;
    result["fingerprint"] = exported.state.ToHex();
    result["as_recorded"] = replayed->as_recorded;
    if (options.output.empty()) {
      result["hlo"] = exported.bytes;
    } else {
      result["output"] = options.output;
    }
    return Finish(result, kFine);
  }
  if (options.output.empty()) return Finish(exported.bytes, kFine);
  return Finish(
      fmt::format("{}: {} passes, {} -> {} instructions, {}; written to {}\n", *file,
                  recipe->passes.size(), Grouped(program->metrics.op_count),
                  Grouped(replayed->metrics.op_count),
                  replayed->as_recorded ? "as in the recipe" : "verified", options.output),
      kFine);
}

}  // namespace

Run AddReplay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
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
