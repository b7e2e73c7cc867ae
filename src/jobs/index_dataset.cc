#include "jobs/index_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "dataset/programs.h"
#include "dataset/split.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexAgain = "`hone dataset index` writes it anew";
constexpr const char* kSplitAgain = "`hone dataset split` assigns all anew";

// The files of the index that are there, and then those that the index lacks.
struct Files {
  std::vector<std::string> names;
  std::vector<const dataset::Row*> rows;  // null for those that the index lacks
};

Files FindFiles(const std::string& folder, const dataset::Index& index,
                std::vector<IndexFinding>& findings) {
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
                    std::vector<IndexFinding>& findings) {
  if (!surveyed) return;
  findings.push_back({file, fmt::format("has no line in the index; {}", kIndexAgain)});
}

void CheckProgram(const dataset::Row& row, const StatusOr<Surveyed>& surveyed,
                  std::vector<IndexFinding>& findings) {
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
void CheckGroups(const dataset::Index& index, std::vector<IndexFinding>& findings) {
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

}  // namespace

UpdatedIndex UpdateIndex(dataset::Index old, const std::vector<std::string>& files,
                         const std::vector<StatusOr<Surveyed>>& surveyed, double threshold) {
  UpdatedIndex outcome;
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

namespace {

// For a survey of files of this folder.
StatusOr<SurveyOptions> SurveyOf(const std::string& folder, const WorkerOptions& workers,
                                 Events& events) {
  StatusOr<PoolOptions> pool = PoolOptionsFor(workers, events);
  if (!pool) return tl::unexpected(pool.error());
  const auto read = [folder, read = ReaderFor(workers)](const std::string& file) {
    return read((fs::path(folder) / file).string());
  };
  return SurveyOptions{{}, read, *std::move(pool), false};
}

// The index that is there, or an empty one.
StatusOr<dataset::Index> OldIndex(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(dataset::IndexPath(folder), error)) return dataset::Index{};
  return dataset::ReadIndex(folder);
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

}  // namespace

FileOr<UpdatedIndex> IndexFolder(const std::string& folder, double threshold,
                                 const WorkerOptions& workers, Events& events,
                                 const std::function<void(const FileError&)>& left_out) {
  const std::string path = dataset::IndexPath(folder);
  const auto files = dataset::ListPrograms(folder);
  if (!files) return Wrong(folder, files.error());
  StatusOr<dataset::Index> old = OldIndex(folder);
  if (!old) return Wrong(path, old.error());
  if (auto fine = CheckAllWritable({path}); !fine) return tl::unexpected(fine.error());
  auto survey = SurveyOf(folder, workers, events);
  if (!survey) return Wrong("", survey.error());
  survey->files = *files;
  survey->sketch = true;
  const auto surveyed = Survey(*survey, events);
  if (!surveyed) return Wrong("", surveyed.error());
  UpdatedIndex updated = UpdateIndex(*std::move(old), *files, *surveyed, threshold);
  for (const FileError& failure : updated.failures) left_out(failure);
  if (updated.index.rows.empty()) {
    return Wrong(folder, {ErrorCode::kInvalidInput,
                          "XLA reads none of its programs; nothing is written. Is it the right "
                          "folder?"});
  }
  for (const std::string& file : updated.gone) {
    events.Warn(path, fmt::format("'{}' is there no more; its line is removed", file));
  }
  if (const std::string note = SplitNote(updated.index); !note.empty()) events.Warn(path, note);
  if (auto wrote = WriteIfNamed(path, dataset::FormatIndex(updated.index)); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return updated;
}

std::map<std::string, std::vector<std::string>> GroupMembers(const dataset::Index& index) {
  std::map<std::string, std::vector<std::string>> members;
  for (const dataset::Row& row : index.rows) members[row.group].push_back(row.file);
  return members;
}

Json ToJson(const UpdatedIndex& updated, const std::string& folder, double threshold) {
  Json json;
  json["folder"] = folder;
  json["programs"] = updated.index.rows.size();
  json["threshold"] = threshold;
  json["added"] = updated.added;
  json["gone"] = updated.gone;
  json["failed"] = Json::array();
  for (const FileError& failure : updated.failures) {
    json["failed"].push_back({{"file", failure.file}, {"error", ErrorJson(failure.error, "")}});
  }
  json["groups"] = Json::array();
  for (const auto& [group, files] : GroupMembers(updated.index)) {
    json["groups"].push_back({{"group", group}, {"files", files}});
  }
  return json;
}

FileOr<CheckedIndex> CheckIndex(const std::string& folder, const WorkerOptions& workers,
                                Events& events) {
  const auto index = About(dataset::IndexPath(folder), dataset::ReadIndex(folder));
  if (!index) return tl::unexpected(index.error());
  auto survey = SurveyOf(folder, workers, events);
  if (!survey) return Wrong("", survey.error());
  std::vector<IndexFinding> findings;
  const Files files = FindFiles(folder, *index, findings);
  survey->files = files.names;
  const auto surveyed = Survey(*survey, events);
  if (!surveyed) return Wrong("", surveyed.error());
  for (size_t i = 0; i < files.names.size(); ++i) {
    if (files.rows[i] == nullptr) {
      CheckUnindexed(files.names[i], (*surveyed)[i], findings);
    } else {
      CheckProgram(*files.rows[i], (*surveyed)[i], findings);
    }
  }
  CheckGroups(*index, findings);
  return CheckedIndex{index->rows.size(), std::move(findings)};
}

Json ToJson(const CheckedIndex& checked, const std::string& folder) {
  Json json{{"folder", folder}, {"programs", checked.programs}, {"findings", Json::array()}};
  for (const IndexFinding& finding : checked.findings) {
    json["findings"].push_back({{"file", finding.file}, {"message", finding.message}});
  }
  return json;
}

}  // namespace hone::jobs
