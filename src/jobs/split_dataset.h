// A data set's programs assigned to train, validation and test, near-duplicates together: `hone
// dataset split`.
#ifndef HONE_JOBS_SPLIT_DATASET_H_
#define HONE_JOBS_SPLIT_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"

namespace hone::jobs {

struct SplitOptions {
  std::string folder;       // with an index.tsv
  std::string by = "hash";  // or "family": what stays together
  std::string fractions = "0.7,0.15,0.15";
  uint64_t seed = 0;
};

struct SplitShare {
  std::string split;
  double fraction = 0;  // that was asked for
  size_t units = 0;     // groups, or families
  size_t programs = 0;
};
struct SplitIndex {
  std::vector<SplitShare> shares;  // in the order of dataset::Splits()
  size_t programs = 0;
};

// Writes the index. Warns where a split that was asked for gets no program.
FileOr<SplitIndex> SplitDataset(const SplitOptions& options, Events& events);

Json ToJson(const SplitIndex& split, const SplitOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_SPLIT_DATASET_H_
