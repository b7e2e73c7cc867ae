// Asks XLA about many programs, with several workers at once.
#ifndef HONE_JOBS_SURVEY_H_
#define HONE_JOBS_SURVEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/similarity.h"
#include "jobs/events.h"
#include "wire/pool.h"

namespace hone::jobs {

struct SurveyOptions {
  std::vector<std::string> files;
  ReadProgram read;
  PoolOptions pool;     // `workers` is how many programs are looked at at a time
  bool sketch = false;  // of the programs' graphs, too
};

struct Surveyed {
  std::string fingerprint;
  int64_t instructions = 0;
  dataset::Sketch sketch{};  // where it was asked for
};

// One for each of the files; an error of one of them leaves the others alone.
StatusOr<std::vector<StatusOr<Surveyed>>> Survey(const SurveyOptions& options, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_SURVEY_H_
