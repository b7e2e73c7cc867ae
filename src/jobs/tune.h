// The fastest verified way to compile a program that a budget allows, with what a store knows:
// `hone tune`.
#ifndef HONE_JOBS_TUNE_H_
#define HONE_JOBS_TUNE_H_

#include <optional>
#include <string>

#include "jobs/events.h"
#include "jobs/given_inputs.h"
#include "jobs/json.h"
#include "jobs/open_program.h"
#include "store/store.h"
#include "tune/tune_program.h"

namespace hone::jobs {

// Processors that are not this machine's.
struct Processor {
  std::string name;
  int cores = 0;
};

struct TuneProgramOptions {
  std::string file;          // the program's name in messages and results
  tune::TuneOptions tuning;  // but for the program's name, progress and interrupts, and what a
                             // store knows; its seed counts for all
  // Says which choices to try first. Where it is not given: for XLA:CPU the one that comes with
  // hone, for other targets none.
  std::optional<tune::ChangePolicy> policy;
  GivenInputs inputs;
  store::Store* store = nullptr;            // what is found out goes there; may be null
  bool transfer = true;                     // begin with what other programs have taught it
  std::optional<Processor> workers_are_on;  // where it is not this machine
};

struct TunedProgram {
  tune::TuneResult result;
  int stand_ins = 0;        // elided constants with made-up values
  Json device;              // null where workers measured
  std::string target;       // a GPU that is not here, on which times are estimates; else empty
  double others_cores = 0;  // that other processes kept busy meanwhile
  int data_loops = 0;       // that end when data say so, where these are made up

  double StockMilliseconds() const {
    return 1000 * (result.kept ? result.race.seconds_a : result.stock_seconds);
  }
  double TunedMilliseconds() const {
    return result.kept ? 1000 * result.race.seconds_b : StockMilliseconds();
  }
};

// Errors: the inputs, the store. A program that cannot be tuned is one whose result says so.
StatusOr<TunedProgram> TuneProgram(const OpenedProgram& opened, const TuneProgramOptions& options,
                                   Events& events);

// The stages that are decided: the device's own where `device`. Errors: no such stage; one that is
// the plugin's.
StatusOr<tune::Stages> StagesFor(const std::string& text, bool device);
inline constexpr std::string_view kDefaultStages = "layout,fusion,tiles,implementation,flags,order";

// The answer of `hone tune --json` for a program: all but the files that are written.
Json ToJson(const std::string& file, const TunedProgram& tuned);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TUNE_H_
