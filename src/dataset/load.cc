#include "dataset/load.h"

#include <filesystem>
#include <utility>

#include "dataset/programs.h"

namespace hone::dataset {
namespace {

Program Named(const Dataset& dataset, Row row) {
  return {UriOf(dataset, row.file), (std::filesystem::path(dataset.folder) / row.file).string(),
          std::move(row)};
}

}  // namespace

StatusOr<std::vector<Program>> IndexedPrograms(const Dataset& dataset) {
  StatusOr<Index> index = ReadIndex(dataset.folder);
  if (!index) return tl::unexpected(index.error());
  std::vector<Program> programs;
  for (Row& row : index->rows) programs.push_back(Named(dataset, std::move(row)));
  return programs;
}

StatusOr<std::vector<Program>> FoundPrograms(const Dataset& dataset) {
  const StatusOr<std::vector<std::string>> files = ListPrograms(dataset.folder);
  if (!files) return tl::unexpected(files.error());
  std::vector<Program> programs;
  for (const std::string& file : *files) {
    Row row;
    row.file = file;
    row.family = GuessFamily(file);
    row.phase = GuessPhase(file);
    programs.push_back(Named(dataset, std::move(row)));
  }
  return programs;
}

}  // namespace hone::dataset
