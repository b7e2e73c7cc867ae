// The rewrites of a pass in a program, listed; some of them made, and the program, plan, recipe and
// page written: `hone rewrites`.
#ifndef HONE_JOBS_REWRITE_FILE_H_
#define HONE_JOBS_REWRITE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "jobs/rewrites.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct RewriteFileOptions {
  std::string file;  // a path or a URI
  std::string pass;
  std::string after;  // names of passes that are run first, commas between them
  std::string apply;  // which are made: as DecisionsFromText takes it, or
  std::string plan;   // a plan's file; where both are empty, they are only listed
  // Files; "" writes none.
  std::string plan_output;
  std::string output;
  std::string recipe;
  std::string report;
  uint64_t seed = 1;  // of the decision half
  bool texts = false;
  bool time_pass = false;
  bool verify = false;  // run both programs and compare the outputs
};

struct RewrittenFile {
  std::string file;  // path
  Rewrites rewrites;
  std::optional<MadeRewrites> made;  // where some were to be made
};

FileOr<RewrittenFile> RewriteFile(const RewriteFileOptions& options, const WorkerOptions& workers,
                                  Events& events);

// "true", "false" or "unknown".
const char* ComputesTheSame(const ComparisonReport& report);
Json ToJson(const RewrittenFile& done, const RewriteFileOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REWRITE_FILE_H_
