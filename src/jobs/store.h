// What a store has found out, told, and learnt from: `hone store`.
#ifndef HONE_JOBS_STORE_H_
#define HONE_JOBS_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "store/store.h"
#include "tune/change_policy.h"

namespace hone::jobs {

// Made where there is none; null where `path` is empty.
FileOr<std::unique_ptr<store::Store>> OpenStore(const std::string& path);

// What came of tuning programs, and the answers of other jobs.
struct StoreList {
  std::vector<store::ListedOutcome> outcomes;
  std::vector<std::string>
      plans;  // of the outcomes; "" where there is none, or they are not wanted
  std::vector<store::ListedAnswer> answers;
};
FileOr<StoreList> ListStore(const std::string& path);
// Of the programs whose fingerprint begins so, with their plans. Errors: there is none.
FileOr<StoreList> ShowStore(const std::string& path, const std::string& program);
// An array; with `texts` also plans and recipes.
Json ToJson(const StoreList& list, bool texts);

// All rows as lines of JSON.
FileOr<std::string> ExportStore(const std::string& path);
// Adds what ExportStore made, in a file; the number of rows.
FileOr<int64_t> ImportIntoStore(const std::string& path, const std::string& lines_file);
// The number of measurements that were forgotten.
FileOr<int64_t> PruneStore(const std::string& path, double older_than_seconds);

// The figures of a policy for tuning, learnt from the programs in a store.
struct LearntChanges {
  size_t programs = 0;
  size_t examples = 0;
  size_t changes = 0;
  tune::ChangePolicyQuality quality;
};
// Writes the policy to the file `output`, together with what the policy of the file `with` knows,
// unless that is "". Errors: no two plans differ in one change.
FileOr<LearntChanges> LearnFromStore(const std::string& path, const std::string& output,
                                     const std::string& with = "");
Json ToJson(const LearntChanges& learnt, const std::string& output);

}  // namespace hone::jobs

#endif  // HONE_JOBS_STORE_H_
