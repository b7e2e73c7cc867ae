// What `hone tune` says of a program: a line of the table, or JSON.
#ifndef HONE_CLI_TUNE_ROW_H_
#define HONE_CLI_TUNE_ROW_H_

#include <cstddef>
#include <optional>
#include <string>

#include "cli/common.h"
#include "core/result.h"
#include "tune/tune_program.h"

namespace hone::cli {

// One file's outcome: a result or an error.
struct TuneRow {
  std::string file;
  std::optional<Error> error;
  tune::TuneResult result;
  int stand_ins = 0;        // elided constants with made-up values
  Json device;              // null where workers measured
  double others_cores = 0;  // that other processes kept busy meanwhile
  std::string plan_file;
  std::string output;
  std::string report;

  double StockMilliseconds() const {
    return 1000 * (result.kept ? result.race.seconds_a : result.stock_seconds);
  }
  double TunedMilliseconds() const {
    return result.kept ? 1000 * result.race.seconds_b : StockMilliseconds();
  }
};

Json TuneRowJson(const TuneRow& row);
// The table, its first column so wide.
std::string TuneHeader(size_t width);
std::string TuneLine(const TuneRow& row, size_t width);
// The lines below: what the plan decides, and what did not stand up.
std::string TuneDetails(const TuneRow& row);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNE_ROW_H_
