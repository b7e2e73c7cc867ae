// hone coreset: a few sequences of passes that together do well on many programs.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "jobs/make_coreset.h"

namespace hone::cli {
namespace {

struct CoresetFlags {
  CommonOptions common;
  ProgramSet programs;
  std::string objective = "op_count";
  std::string actions = "simplify";
  double seconds = 5;
  size_t size = 32;
  uint64_t seed = 1;
  std::string output;
};

int RunCoreset(const CoresetFlags& options) {
  const bool json = options.common.json;
  auto chosen = ChooseInputs(options.programs, options.common.datasets);
  if (!chosen) return Fail(chosen.error(), json);
  if (Status fine = CheckWritable(options.output); !fine) {
    return Fail(fine.error(), options.output, json);
  }
  const std::atomic<bool>* const stop = StopOnInterrupt();
  auto pool = StartPool(options.common, stop);
  if (!pool) return Fail(pool.error(), json);
  jobs::CoresetOptions job;
  job.files = *std::move(chosen);
  job.read = ReaderFor(options.common);
  job.search.objective = *ObjectiveFromName(options.objective);
  job.search.actions = options.actions;
  job.search.budget_seconds = options.seconds;
  job.search.seed = options.seed;
  job.size = options.size;
  CommandEvents events(options.common.ShowProgress(), stop);
  const StatusOr<jobs::CoresetResult> result = jobs::MakeCoreset(**pool, job, events);
  if (!result) return *stop ? int{kInterrupted} : Fail(result.error(), json);
  if (Status wrote = WriteFile(options.output, CoresetToJson(result->coreset)); !wrote) {
    return Fail(wrote.error(), options.output, json);
  }
  const int code = *stop ? kInterrupted : kFine;
  const std::vector<double>& coverage = result->coreset.coverage;
  if (json) {
    return Finish(Json{{"output", options.output},
                       {"programs", result->programs},
                       {"candidates", result->candidates},
                       {"coverage", coverage}},
                  code);
  }
  return Finish(
      fmt::format("{} sequences of {}, which reach {:.4f} of XLA's own order's gain on "
                  "{} programs (mean of the best of them; one alone {:.4f}); written to {}\n",
                  result->coreset.sequences.size(), result->candidates, coverage.back(),
                  result->programs, coverage.front(), options.output),
      code);
}

}  // namespace

Run AddCoreset(CLI::App& app) {
  auto options = std::make_shared<CoresetFlags>();
  AddProgramSet(app, options->programs);
  AddObjectiveOption(app, options->objective);
  AddActionSetOption(app, options->actions);
  AddDuration(app, "--budget", options->seconds, "of the search on each program (5s)");
  app.add_option("--size", options->size, "sequences, at most")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the searches")->capture_default_str();
  app.add_option("-o,--output", options->output, "write the coreset here")
      ->required()
      ->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunCoreset(*options); };
}

}  // namespace hone::cli
