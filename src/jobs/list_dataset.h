// The programs of data sets by URI, family, phase and split: `hone dataset list`; and shares of
// splits.
#ifndef HONE_JOBS_LIST_DATASET_H_
#define HONE_JOBS_LIST_DATASET_H_

#include <array>
#include <string>
#include <vector>

#include "core/result.h"
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
tl::expected<std::vector<dataset::Program>, FileError> ListPrograms(const ListOptions& options);

Json ToJson(const dataset::Program& program);

// "0.7,0.15,0.15": of train, validation and test.
StatusOr<std::array<double, 3>> ParseFractions(const std::string& text);

}  // namespace hone::jobs

#endif  // HONE_JOBS_LIST_DATASET_H_
