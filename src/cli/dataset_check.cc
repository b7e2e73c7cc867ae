// hone dataset check: does a folder's index.tsv tell the truth?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/dataset.h"
#include "cli/survey.h"
#include "dataset/index.h"
#include "dataset/programs.h"
#include "dataset/split.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string folder;
};

struct Finding {
  std::string file;  // relative to the folder
  std::string message;
};

constexpr const char* kIndexAgain = "`hone dataset index` writes it anew";
constexpr const char* kSplitAgain = "`hone dataset split` assigns all anew";

// The files of the index that are there, and then those that the index lacks.
struct Files {
  std::vector<std::string> names;
  std::vector<const dataset::Row*> rows;  // null for those that the index lacks
};

Files FindFiles(const std::string& folder, const dataset::Index& index,
                std::vector<Finding>& findings) {
  Files files;
  std::set<std::string> indexed;
  for (const dataset::Row& row : index.rows) {
    std::error_code error;
    indexed.insert(fs::path(row.file).lexically_normal().string());
    if (!fs::is_regular_file(fs::path(folder) / row.file, error)) {
      findings.push_back({row.file, fmt::format("the file is not there; {}", kIndexAgain)});
      continue;
    }
    files.names.push_back(row.file);
    files.rows.push_back(&row);
  }
  const StatusOr<std::vector<std::string>> programs = dataset::ListPrograms(folder);
  for (const std::string& file : programs.value_or(std::vector<std::string>{})) {
    if (indexed.contains(file)) continue;
    files.names.push_back(file);
    files.rows.push_back(nullptr);
  }
  return files;
}

// What XLA cannot read is rightly left out of the index.
void CheckUnindexed(const std::string& file, const StatusOr<Surveyed>& surveyed,
                    std::vector<Finding>& findings) {
  if (!surveyed) return;
  findings.push_back({file, fmt::format("has no line in the index; {}", kIndexAgain)});
}

void CheckProgram(const dataset::Row& row, const StatusOr<Surveyed>& surveyed,
                  std::vector<Finding>& findings) {
  if (!surveyed) {
    findings.push_back({row.file, surveyed.error().message});
    return;
  }
  if (row.fingerprint != surveyed->fingerprint) {
    findings.push_back(
        {row.file, fmt::format("its fingerprint is {}, {} in the index; {}", surveyed->fingerprint,
                               row.fingerprint.empty() ? "none" : row.fingerprint, kIndexAgain)});
  }
  if (row.instructions != surveyed->instructions) {
    findings.push_back(
        {row.file, fmt::format("it has {} instructions, {} in the index; {}",
                               surveyed->instructions, row.instructions, kIndexAgain)});
  }
}

// Groups are named by their smallest fingerprint and lie in one split; all rows have a split or
// none has.
void CheckGroups(const dataset::Index& index, std::vector<Finding>& findings) {
  std::map<std::string, std::string> smallest;
  bool split = false;
  for (const dataset::Row& row : index.rows) {
    std::string& name = smallest.try_emplace(row.group, row.fingerprint).first->second;
    name = std::min(name, row.fingerprint);
    split = split || !row.split.empty();
  }
  for (const dataset::Row& row : index.rows) {
    if (row.group.empty() || row.group != smallest[row.group]) {
      findings.push_back({row.file, fmt::format("its group is not named by the smallest "
                                                "fingerprint in it; {}",
                                                kIndexAgain)});
    }
    if (split && row.split.empty()) {
      findings.push_back(
          {row.file, fmt::format("has no split, where others have; {}", kSplitAgain)});
    }
  }
  for (const std::string& group : dataset::GroupsAcrossSplits(index)) {
    std::vector<std::string> members;
    for (const dataset::Row& row : index.rows) {
      if (row.group == group) members.push_back(fmt::format("{} ({})", row.file, row.split));
    }
    findings.push_back({members.front().substr(0, members.front().rfind(" (")),
                        fmt::format("near-duplicates lie in different splits: {}; {}",
                                    fmt::join(members, ", "), kSplitAgain)});
  }
}

int RunCheckDataset(const Options& options) {
  const bool json = options.common.json;
  const std::string path = dataset::IndexPath(options.folder);
  const StatusOr<dataset::Index> index = dataset::ReadIndex(options.folder);
  if (!index) return Fail(index.error(), path, json);
  std::vector<Finding> findings;
  const Files files = FindFiles(options.folder, *index, findings);
  const auto surveyed = Survey(options.common, options.folder, files.names, /*sketch=*/false);
  if (!surveyed) return Fail(surveyed.error(), json);
  for (size_t i = 0; i < files.names.size(); ++i) {
    if (files.rows[i] == nullptr) {
      CheckUnindexed(files.names[i], (*surveyed)[i], findings);
    } else {
      CheckProgram(*files.rows[i], (*surveyed)[i], findings);
    }
  }
  CheckGroups(*index, findings);
  for (const Finding& finding : findings) {
    (void)Fail({ErrorCode::kInvalidInput, finding.message},
               (fs::path(options.folder) / finding.file).string(), false);
  }
  const int code = findings.empty() ? kFine : kSomeFailed;
  if (!json) {
    return Finish(fmt::format("{}: {} programs, {}\n", path, index->rows.size(),
                              findings.empty() ? "all as it says"
                                               : fmt::format("findings: {}", findings.size())),
                  code);
  }
  Json result = {{"folder", options.folder}, {"programs", index->rows.size()}};
  result["findings"] = Json::array();
  for (const Finding& finding : findings) {
    result["findings"].push_back({{"file", finding.file}, {"message", finding.message}});
  }
  return Finish(result, code);
}

}  // namespace

Run AddDatasetCheck(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FOLDER", options->folder, "a folder with an index.tsv")
      ->required()
      ->type_name("");
  options->common.workers =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  AddCommonOptions(app, options->common);
  return [options] { return RunCheckDataset(*options); };
}

}  // namespace hone::cli
