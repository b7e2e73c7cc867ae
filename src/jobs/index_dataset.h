// index.tsv made of what XLA says of a folder's programs, and held to it: `hone dataset index` and
// `hone dataset check`.
#ifndef HONE_JOBS_INDEX_DATASET_H_
#define HONE_JOBS_INDEX_DATASET_H_

#include <string>
#include <vector>

#include "dataset/index.h"
#include "dataset/similarity.h"
#include "jobs/json.h"
#include "jobs/survey.h"

namespace hone::jobs {

struct UpdatedIndex {
  dataset::Index index;
  std::vector<std::string> added;
  std::vector<std::string> gone;
  std::vector<FileError> failures;
};

// Rows of `old` in their order, then the new files; with what the survey of `files` found filled
// in. What it could not read is left out.
UpdatedIndex UpdateIndex(dataset::Index old, const std::vector<std::string>& files,
                         const std::vector<StatusOr<Surveyed>>& surveyed,
                         double threshold = dataset::kNearDuplicate);

struct IndexFinding {
  std::string file;  // relative to the folder
  std::string message;
};

// Where the index and the folder differ. `survey.files` and `survey.sketch` are set by the job;
// `survey.read` is asked for files relative to the folder.
StatusOr<std::vector<IndexFinding>> CheckIndex(const std::string& folder,
                                               const dataset::Index& index, SurveyOptions survey,
                                               Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_INDEX_DATASET_H_
