// The answer of `hone tune` for a program: a line of the table, or JSON.
#ifndef HONE_CLI_TUNE_ROW_H_
#define HONE_CLI_TUNE_ROW_H_

#include <cstddef>
#include <optional>
#include <string>

#include "cli/common.h"
#include "core/result.h"
#include "jobs/tune.h"

namespace hone::cli {

// One file's outcome: a result or an error.
struct TuneRow {
  std::string file;
  std::optional<Error> error;
  jobs::TunedProgram tuned;
  std::string plan_file;
  std::string output;
  std::string report;
};

Json TuneRowJson(const TuneRow& row);
// The table, its first column so wide.
std::string TuneHeader(size_t width);
std::string TuneLine(const TuneRow& row, size_t width);
// The lines below: what the plan decides, and what did not stand up.
std::string TuneDetails(const TuneRow& row);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNE_ROW_H_
