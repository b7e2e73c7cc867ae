// hone dataset index: writes what is known of a folder's programs into its index.tsv.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/common.h"
#include "cli/dataset.h"
#include "cli/input.h"
#include "cli/output.h"
#include "dataset/index.h"
#include "dataset/programs.h"
#include "dataset/similarity.h"
#include "dataset/split.h"
#include "jobs/index_dataset.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct DatasetIndexOptions {
  CommonOptions common;
  std::string folder;
  double threshold = dataset::kNearDuplicate;
};

// The index that is there, or an empty one.
StatusOr<dataset::Index> OldIndex(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(dataset::IndexPath(folder), error)) return dataset::Index{};
  return dataset::ReadIndex(folder);
}

std::map<std::string, std::vector<std::string>> GroupMembers(const dataset::Index& index) {
  std::map<std::string, std::vector<std::string>> members;
  for (const dataset::Row& row : index.rows) members[row.group].push_back(row.file);
  return members;
}

// What the splits that are there are worth now; "" where all is well, or nothing was ever split.
std::string SplitNote(const dataset::Index& index) {
  const auto without = std::count_if(index.rows.begin(), index.rows.end(),
                                     [](const dataset::Row& row) { return row.split.empty(); });
  const size_t across = dataset::GroupsAcrossSplits(index).size();
  if (across == 0 && (without == 0 || static_cast<size_t>(without) == index.rows.size())) return "";
  return fmt::format(
      "{} programs have no split, {} groups lie across splits; "
      "`hone dataset split` sets them right",
      without, across);
}

Json ToJson(const DatasetIndexOptions& options, const jobs::UpdatedIndex& outcome) {
  Json json;
  json["folder"] = options.folder;
  json["programs"] = outcome.index.rows.size();
  json["threshold"] = options.threshold;
  json["added"] = outcome.added;
  json["gone"] = outcome.gone;
  json["failed"] = Json::array();
  for (const FileError& failure : outcome.failures) {
    json["failed"].push_back({{"file", failure.file}, {"error", ErrorJson(failure.error, "")}});
  }
  json["groups"] = Json::array();
  for (const auto& [group, files] : GroupMembers(outcome.index)) {
    json["groups"].push_back({{"group", group}, {"files", files}});
  }
  return json;
}

std::string Text(const std::string& path, const jobs::UpdatedIndex& outcome) {
  const auto groups = GroupMembers(outcome.index);
  size_t several = 0;
  size_t largest = 0;
  for (const auto& [group, files] : groups) {
    several += files.size() > 1;
    largest = std::max(largest, files.size());
  }
  return fmt::format(
      "{}: {} programs, {} of them new, in {} groups; {} groups hold near-duplicates, the largest "
      "{}\n",
      path, outcome.index.rows.size(), outcome.added.size(), groups.size(), several, largest);
}

int RunIndex(const DatasetIndexOptions& options) {
  const bool json = options.common.json;
  const std::string path = dataset::IndexPath(options.folder);
  const auto files = dataset::ListPrograms(options.folder);
  if (!files) return Fail(files.error(), options.folder, json);
  StatusOr<dataset::Index> old = OldIndex(options.folder);
  if (!old) return Fail(old.error(), path, json);
  if (Status fine = CheckWritable(path); !fine) return Fail(fine.error(), path, json);
  auto survey = SurveyOptionsFor(options.common, options.folder);
  if (!survey) return Fail(survey.error(), json);
  survey->files = *files;
  survey->sketch = true;
  CommandEvents events(options.common.ShowProgress());
  const auto surveyed = jobs::Survey(*survey, events);
  if (!surveyed) return Fail(surveyed.error(), json);
  const jobs::UpdatedIndex outcome =
      jobs::UpdateIndex(*std::move(old), *files, *surveyed, options.threshold);
  for (const FileError& failure : outcome.failures) {
    (void)Fail({failure.error.code, "left out of the index: " + failure.error.message},
               (fs::path(options.folder) / failure.file).string(), false);
  }
  if (outcome.index.rows.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 "XLA reads none of its programs; nothing is written. Is it the right folder?"},
                options.folder, json);
  }
  for (const std::string& file : outcome.gone) {
    Warn(path, fmt::format("'{}' is there no more; its line is removed", file));
  }
  if (const std::string note = SplitNote(outcome.index); !note.empty()) Warn(path, note);
  if (Status wrote = WriteFile(path, dataset::FormatIndex(outcome.index)); !wrote) {
    return Fail(wrote.error(), path, json);
  }
  const int code = outcome.failures.empty() ? kFine : kSomeFailed;
  return json ? Finish(ToJson(options, outcome), code) : Finish(Text(path, outcome), code);
}

}  // namespace

StatusOr<jobs::SurveyOptions> SurveyOptionsFor(const CommonOptions& options,
                                               const std::string& folder) {
  StatusOr<PoolOptions> pool = PoolOptionsFor(options);
  if (!pool) return tl::unexpected(pool.error());
  const auto read = [folder, read = ReaderFor(options)](const std::string& file) {
    return read((fs::path(folder) / file).string());
  };
  return jobs::SurveyOptions{{}, read, *std::move(pool), false};
}

Run AddDatasetIndex(CLI::App& app) {
  auto options = std::make_shared<DatasetIndexOptions>();
  app.add_option("FOLDER", options->folder, "a folder of programs")->required()->type_name("");
  app.add_option("--threshold", options->threshold,
                 fmt::format("programs at least as similar are near-duplicates, a group ({:g})",
                             options->threshold))
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("0..1");
  options->common.workers =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  AddCommonOptions(app, options->common);
  return [options] { return RunIndex(*options); };
}

}  // namespace hone::cli
