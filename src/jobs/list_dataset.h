// The programs of data sets by URI, family, phase and split: `hone dataset list`.
#ifndef HONE_JOBS_LIST_DATASET_H_
#define HONE_JOBS_LIST_DATASET_H_

#include <string>
#include <vector>

#include "dataset/load.h"
#include "jobs/events.h"
#include "jobs/json.h"

namespace hone::jobs {

struct ListOptions {
  std::string what;  // a folder, or what URIs begin with; "" is all data sets
  std::string family;
  std::string phase;
  std::string split;
  std::vector<std::string> datasets;  // folders beside the one that comes with hone
};

// Errors: no such folder or data set, an index that cannot be read, no program whose URI begins so.
FileOr<std::vector<dataset::Program>> ListPrograms(const ListOptions& options);

Json ToJson(const std::vector<dataset::Program>& programs);

}  // namespace hone::jobs

#endif  // HONE_JOBS_LIST_DATASET_H_
