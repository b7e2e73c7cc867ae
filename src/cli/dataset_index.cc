// hone dataset index: writes what is known of a folder's programs into its index.tsv.
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
#include "cli/output.h"
#include "cli/survey.h"
#include "dataset/index.h"
#include "dataset/programs.h"
#include "dataset/similarity.h"
#include "dataset/split.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string folder;
  double threshold = dataset::kNearDuplicate;
};

struct Failure {
  std::string file;
  Error error;
};

struct Outcome {
  dataset::Index index;
  std::vector<std::string> added;
  std::vector<std::string> gone;
  std::vector<Failure> failures;
};

// The index that is there, or an empty one.
StatusOr<dataset::Index> OldIndex(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(dataset::IndexPath(folder), error)) return dataset::Index{};
  return dataset::ReadIndex(folder);
}

// Rows as before, in their order, then the new files; with what the survey found filled in.
Outcome Update(dataset::Index old, const std::vector<std::string>& files,
               const std::vector<StatusOr<Surveyed>>& surveyed, double threshold) {
  Outcome outcome;
  std::map<std::string, size_t> found;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!dataset::FitsIndex(files[i])) {
      outcome.failures.push_back(
          {files[i], {ErrorCode::kInvalidInput, "its name has a tab or a line's end; rename it"}});
    } else if (!surveyed[i]) {
      outcome.failures.push_back({files[i], surveyed[i].error()});
    } else {
      found[files[i]] = i;
    }
  }
  const std::set<std::string> listed(files.begin(), files.end());
  outcome.index.columns = std::move(old.columns);
  std::vector<dataset::Sketched> sketched;
  const auto add = [&](dataset::Row row, size_t i) {
    row.fingerprint = surveyed[i]->fingerprint;
    row.instructions = surveyed[i]->instructions;
    if (row.family.empty()) row.family = dataset::GuessFamily(row.file);
    if (row.phase.empty()) row.phase = dataset::GuessPhase(row.file);
    sketched.push_back({row.fingerprint, surveyed[i]->sketch});
    outcome.index.rows.push_back(std::move(row));
  };
  for (dataset::Row& row : old.rows) {
    const std::string file = fs::path(row.file).lexically_normal().string();
    if (const auto here = found.find(file); here != found.end()) {
      const size_t i = here->second;
      found.erase(here);
      add(std::move(row), i);
    } else if (!listed.contains(file)) {
      outcome.gone.push_back(row.file);
    }
  }
  for (const auto& [file, i] : found) {
    dataset::Row row;
    row.file = file;
    add(std::move(row), i);
    outcome.added.push_back(file);
  }
  const std::vector<std::string> groups = dataset::NearDuplicateGroups(sketched, threshold);
  for (size_t i = 0; i < groups.size(); ++i) outcome.index.rows[i].group = groups[i];
  return outcome;
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

Json ToJson(const Options& options, const Outcome& outcome) {
  Json json;
  json["folder"] = options.folder;
  json["programs"] = outcome.index.rows.size();
  json["threshold"] = options.threshold;
  json["added"] = outcome.added;
  json["gone"] = outcome.gone;
  json["failed"] = Json::array();
  for (const Failure& failure : outcome.failures) {
    json["failed"].push_back({{"file", failure.file}, {"error", ErrorJson(failure.error, "")}});
  }
  json["groups"] = Json::array();
  for (const auto& [group, files] : GroupMembers(outcome.index)) {
    json["groups"].push_back({{"group", group}, {"files", files}});
  }
  return json;
}

std::string Text(const std::string& path, const Outcome& outcome) {
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

int RunIndex(const Options& options) {
  const bool json = options.common.json;
  const std::string path = dataset::IndexPath(options.folder);
  const auto files = dataset::ListPrograms(options.folder);
  if (!files) return Fail(files.error(), options.folder, json);
  StatusOr<dataset::Index> old = OldIndex(options.folder);
  if (!old) return Fail(old.error(), path, json);
  if (Status fine = CheckWritable(path); !fine) return Fail(fine.error(), path, json);
  const auto surveyed = Survey(options.common, options.folder, *files, /*sketch=*/true);
  if (!surveyed) return Fail(surveyed.error(), json);
  const Outcome outcome = Update(*std::move(old), *files, *surveyed, options.threshold);
  for (const Failure& failure : outcome.failures) {
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

Run AddDatasetIndex(CLI::App& app) {
  auto options = std::make_shared<Options>();
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
