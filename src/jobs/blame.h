// The causes of a slower or different result, found, and told as JSON and as bug reports: `hone
// blame`.
#ifndef HONE_JOBS_BLAME_H_
#define HONE_JOBS_BLAME_H_

#include <string>

#include "blame/blame.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
#include "wire/pool.h"

namespace hone::jobs {

struct BlameOptions {
  std::string file;
  std::string other;         // a program that is held against it; "" where plans and flags are
  std::string plan, plan_a;  // files; what is to blame, and what it is held against
  std::string flags_a, flags_b;
  std::string question = "both";  // or "slower", or "different"
  std::string output;         // a folder for BugReports, made where it is not there; "" for none
  blame::BlameOptions blame;  // but for the plans, the questions, progress and interrupts
};

struct Blamed {
  ProgramInfo program;
  blame::BlameResult result;
};
FileOr<Blamed> Blame(BlameOptions options, const WorkerOptions& workers, Events& events);

// blame::BlamePrograms, told of and interrupted by events.
StatusOr<blame::BlameResult> BlamePrograms(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                           blame::BlameOptions options, Events& events);

// `other` is the program that `file` was held against; "" where plans and flags were.
Json ToJson(const std::string& file, const std::string& other, const blame::BlameResult& result);
Json ToJson(const Blamed& blamed, const BlameOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_BLAME_H_
