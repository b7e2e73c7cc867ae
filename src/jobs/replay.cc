#include "jobs/replay.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "jobs/input.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRecipeBytes = size_t{16} << 20;

FileOr<Recipe> ReadRecipe(const std::string& file) {
  const StatusOr<std::string> text = ReadInput(file, kMostRecipeBytes);
  if (!text) return Wrong(file, text.error());
  return About(file, RecipeFromJson(*text));
}

// As the recipe names it, or else beside the recipe's file.
StatusOr<std::string> FindProgramOf(const Recipe& recipe, const std::string& recipe_file) {
  const fs::path given = recipe.program.file;
  const fs::path folder = fs::path(recipe_file).parent_path();
  std::error_code error;
  for (const fs::path& place : {given, folder / given, folder / given.filename()}) {
    if (fs::is_regular_file(place, error)) return place.string();
  }
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("its program '{}' is neither here nor beside the recipe; give it "
                               "with --program",
                               given.string()));
}

}  // namespace

FileOr<ReplayedRecipe> ReplayRecipe(const ReplayOptions& options, const WorkerOptions& workers,
                                    Events& events) {
  if (auto fine = CheckAllWritable({options.output}); !fine) return tl::unexpected(fine.error());
  FileOr<Recipe> read = ReadRecipe(options.recipe);
  if (!read) return tl::unexpected(read.error());
  const Recipe& recipe = *read;
  const StatusOr<std::string> found =
      options.program.empty() ? FindProgramOf(recipe, options.recipe) : options.program;
  if (!found) return Wrong(options.recipe, found.error());
  const std::string& file = *found;
  FileOr<std::string> data = ReadNamed(file, workers);
  if (!data) return tl::unexpected(data.error());
  const auto started = StartPool(workers, events);
  if (!started) return Wrong("", started.error());
  Pool& pool = **started;
  if (recipe.xla_version != pool.version()) {
    events.Warn(options.recipe,
                fmt::format("the recipe is of {}, this is {}: the result may differ",
                            recipe.xla_version, pool.version()));
  }
  if (const auto passes = FindPasses(pool.passes(), recipe.passes); !passes) {
    return Wrong(options.recipe, passes.error());
  }
  FileOr<ProgramInfo> program = LoadNamed(pool, *std::move(data), file, events);
  if (!program) return tl::unexpected(program.error());
  if (recipe.flags.count(kStandInsFlag) > 0 &&
      program->fingerprint.ToHex() != recipe.program.fingerprint) {
    events.Warn(file, "the recipe was found with made-up constants; this program has its own");
  }
  StatusOr<Replayed> replayed = MakeError(ErrorCode::kInternal, "not replayed");
  {
    const auto waiting = events.During("replaying");
    replayed = Replay(pool, *program, recipe, FormatFor(options.output));
  }
  if (!replayed) return Wrong(file, replayed.error());
  if (!replayed->as_recorded) {
    events.Warn(options.recipe,
                fmt::format("its passes end at another program than it says, {} instead of {}; "
                            "that was compared with '{}' and computes the same",
                            replayed->result.state.ToHex(), recipe.result_fingerprint, file));
  }
  if (auto wrote = WriteProgram(options.output, replayed->result.bytes, workers); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return ReplayedRecipe{*std::move(read), file, *std::move(program), *std::move(replayed)};
}

Json ToJson(const ReplayedRecipe& done, const ReplayOptions& options) {
  Json json{{"recipe", options.recipe},
            {"file", done.file},
            {"passes", done.recipe.passes},
            {"initial", done.program.metrics.op_count},
            {"result", done.replayed.metrics.op_count},
            {"fingerprint", done.replayed.result.state.ToHex()},
            {"as_recorded", done.replayed.as_recorded}};
  if (options.output.empty()) {
    json["hlo"] = done.replayed.result.bytes;
  } else {
    json["output"] = options.output;
  }
  return json;
}

}  // namespace hone::jobs
