// index.tsv made of what XLA says of a folder's programs, and held to it: `hone dataset index` and
// `hone dataset check`.
#ifndef HONE_JOBS_INDEX_DATASET_H_
#define HONE_JOBS_INDEX_DATASET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dataset/index.h"
#include "dataset/similarity.h"
#include "jobs/json.h"
#include "jobs/survey.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct UpdatedIndex {
  dataset::Index index;
  std::vector<std::string> added;
  std::vector<std::string> gone;
  std::vector<FileError> failures;  // the files are relative to the folder
};

// Rows of `old` in their order, then the new files, filled in from the survey of `files`. Files
// that it could not read are left out.
UpdatedIndex UpdateIndex(dataset::Index old, const std::vector<std::string>& files,
                         const std::vector<StatusOr<Surveyed>>& surveyed,
                         double threshold = dataset::kNearDuplicate);

// Writes the folder's index.tsv, or brings it up to date; `left_out` is called for each program
// that XLA does not read. Errors: it reads none.
FileOr<UpdatedIndex> IndexFolder(const std::string& folder, double threshold,
                                 const WorkerOptions& workers, Events& events,
                                 const std::function<void(const FileError&)>& left_out);

// By the name of the group.
std::map<std::string, std::vector<std::string>> GroupMembers(const dataset::Index& index);

Json ToJson(const UpdatedIndex& updated, const std::string& folder, double threshold);

struct IndexFinding {
  std::string file;  // relative to the folder
  std::string message;
};

struct CheckedIndex {
  size_t programs = 0;
  std::vector<IndexFinding> findings;
};

// Where the folder's index.tsv and the folder differ.
FileOr<CheckedIndex> CheckIndex(const std::string& folder, const WorkerOptions& workers,
                                Events& events);

Json ToJson(const CheckedIndex& checked, const std::string& folder);

}  // namespace hone::jobs

#endif  // HONE_JOBS_INDEX_DATASET_H_
