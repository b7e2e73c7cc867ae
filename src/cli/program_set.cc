#include "cli/program_set.h"

#include <iterator>

#include "core/metrics.h"

namespace hone::cli {

void AddProgramSet(CLI::App& app, ProgramSet& programs) {
  app.add_option("PROGRAM", programs.files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  app.add_option("--split", programs.split, "only those that index.tsv has in this split")
      ->type_name("NAME");
}

tl::expected<std::vector<std::string>, FileError> ChooseInputs(
    const ProgramSet& programs, const std::vector<std::string>& datasets) {
  const auto files = ExpandInputs(programs.files, datasets);
  if (!files) return tl::unexpected(files.error());
  auto chosen = jobs::InSplit(*files, programs.split);
  if (!chosen) return tl::unexpected(FileError{"", chosen.error()});
  return *std::move(chosen);
}

void AddObjectiveOption(CLI::App& app, std::string& objective) {
  const std::vector<std::string> names(std::begin(kObjectiveNames), std::end(kObjectiveNames));
  app.add_option("--objective", objective, "the metric to minimise")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

void AddActionSetOption(CLI::App& app, std::string& actions) {
  app.add_option("--actions", actions, "the passes to choose from")
      ->capture_default_str();
}

}  // namespace hone::cli
