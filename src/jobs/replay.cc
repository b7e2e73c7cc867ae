#include "jobs/replay.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "jobs/input.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRecipeBytes = size_t{16} << 20;

}  // namespace

StatusOr<Recipe> ReadRecipe(const std::string& file) {
  const StatusOr<std::string> text = ReadInput(file, kMostRecipeBytes);
  if (!text) return tl::unexpected(text.error());
  return RecipeFromJson(*text);
}

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

tl::expected<ReplayedRecipe, FileError> ReplayRecipe(Pool& pool, const Recipe& recipe,
                                                     std::string data, const ReplayOptions& options,
                                                     Events& events) {
  const auto wrong = [](const std::string& file, const Error& error) {
    return tl::unexpected(FileError{file, error});
  };
  if (recipe.xla_version != pool.version()) {
    events.Warn(options.recipe_file,
                fmt::format("the recipe is of {}, this is {}: the result may differ",
                            recipe.xla_version, pool.version()));
  }
  const auto passes = FindPasses(pool.passes(), recipe.passes);
  if (!passes) return wrong(options.recipe_file, passes.error());
  StatusOr<ProgramInfo> program = pool.Load(std::move(data));
  if (!program) return wrong(options.file, program.error());
  if (const std::string about = AboutStandIns(*program); !about.empty()) {
    events.Warn(options.file, about);
  }
  if (recipe.flags.count(kStandInsFlag) > 0 &&
      program->fingerprint.ToHex() != recipe.program.fingerprint) {
    events.Warn(options.file,
                "the recipe was found with made-up constants; this program has its own");
  }
  StatusOr<Replayed> replayed = MakeError(ErrorCode::kInternal, "not replayed");
  {
    const auto waiting = events.During("replaying");
    replayed = Replay(pool, *program, recipe, options.format);
  }
  if (!replayed) return wrong(options.file, replayed.error());
  if (!replayed->as_recorded) {
    events.Warn(
        options.recipe_file,
        fmt::format("its passes end at another program than it says, {} instead of {}; "
                    "that was compared with '{}' and computes the same",
                    replayed->result.state.ToHex(), recipe.result_fingerprint, options.file));
  }
  return ReplayedRecipe{*std::move(program), *std::move(replayed)};
}

Json ToJson(const ReplayedRecipe& done, const Recipe& recipe, const ReplayOptions& options) {
  return {{"recipe", options.recipe_file},
          {"file", options.file},
          {"passes", recipe.passes},
          {"initial", done.program.metrics.op_count},
          {"result", done.replayed.metrics.op_count},
          {"fingerprint", done.replayed.result.state.ToHex()},
          {"as_recorded", done.replayed.as_recorded}};
}

}  // namespace hone::jobs
