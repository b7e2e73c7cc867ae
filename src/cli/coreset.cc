// hone coreset: a few sequences of passes that together do well on many programs.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/make_coreset.h"

namespace hone::cli {
namespace {

struct CoresetFlags {
  CommonOptions common;
  jobs::CoresetOptions job;
};

int RunCoreset(const CoresetFlags& flags) {
  CommandEvents events(flags.common);
  const auto result = jobs::MakeCoreset(flags.job, flags.common, events);
  if (!result) {
    return events.stopped() ? int{kInterrupted} : Fail(result.error(), flags.common.json);
  }
  const int code = events.CodeOr(kFine);
  if (flags.common.json) return Finish(ToJson(*result, flags.job), code);
  const std::vector<double>& coverage = result->coreset.coverage;
  return Finish(
      fmt::format("{} sequences of {}, which reach {:.4f} of XLA's own order's gain on "
                  "{} programs (mean of the best of them; one alone {:.4f}); written to {}\n",
                  result->coreset.sequences.size(), result->candidates, coverage.back(),
                  result->programs, coverage.front(), flags.job.output),
      code);
}

}  // namespace

Run AddCoreset(CLI::App& app) {
  auto flags = std::make_shared<CoresetFlags>();
  AddProgramSet(app, flags->job.programs);
  AddObjectiveOptions(app, flags->job.objective, flags->job.actions);
  AddDuration(app, "--budget", flags->job.seconds, "of the search on each program (5s)");
  app.add_option("--size", flags->job.size, "sequences, at most")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option("--seed", flags->job.seed, "of the searches")->capture_default_str();
  app.add_option("-o,--output", flags->job.output, "write the coreset here")
      ->required()
      ->type_name("OUT");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunCoreset(*flags); };
}

}  // namespace hone::cli
