// What XLA says of many programs, asked by several workers at once.
#ifndef HONE_CLI_SURVEY_H_
#define HONE_CLI_SURVEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/common.h"
#include "core/result.h"
#include "dataset/similarity.h"

namespace hone::cli {

struct Surveyed {
  std::string fingerprint;
  int64_t instructions = 0;
  dataset::Sketch sketch{};  // where it was asked for
};

// One for each of the files, which are relative to the folder; what went wrong with one of them is
// no harm to the others. `sketch` asks for the programs' graphs too.
StatusOr<std::vector<StatusOr<Surveyed>>> Survey(const CommonOptions& options,
                                                 const std::string& folder,
                                                 const std::vector<std::string>& files,
                                                 bool sketch);

}  // namespace hone::cli

#endif  // HONE_CLI_SURVEY_H_
