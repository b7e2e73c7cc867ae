// hone bench: a program as the stock compiler makes it against the same under a plan, in pairs.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/tuned_program.h"

namespace hone::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
  std::string plan;
  double seconds = 10;
  uint64_t seed = 1;
};

int RunBench(const Options& options) {
  const bool json = options.common.json;
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const OpenedProgram program = OpenProgram(options.common, options.file, options.seed);
  if (program.evaluator == nullptr) return program.exit_code;
  if (program.evaluator->program().elided_constants) {
    return Fail({ErrorCode::kUnsupported,
                 "its text has elided constants, {...}, so it cannot be "
                 "run; dump it again with large constants"},
                options.file, json);
  }
  RaceOptions racing;
  racing.budget_seconds = options.seconds;
  racing.least_pairs = 20;
  racing.indifferent = 0;
  racing.seed = options.seed;
  StatusOr<RaceReport> race = tl::unexpected(Error());
  {
    const Waiting waiting(options.common.ShowProgress(), "measuring " + options.file);
    race = program.evaluator->Race({}, *plan, racing);
  }
  if (!race) return Fail(race.error(), options.file, json);
  if (json) {
    return Finish(Json{{"file", options.file},
                       {"stock_ms", 1000 * race->seconds_a},
                       {"tuned_ms", 1000 * race->seconds_b},
                       {"speedup", race->speedup},
                       {"speedup_ci",
                        {race->low, std::isfinite(race->high) ? Json(race->high) : Json(nullptr)}},
                       {"pairs", race->pairs},
                       {"same_executable", race->same_executable},
                       {"compile_seconds", {race->compile_seconds_a, race->compile_seconds_b}}},
                  kFine);
  }
  if (race->same_executable) {
    return Finish(std::string("the same executable: the plan decides nothing here\n"), kFine);
  }
  return Finish(fmt::format("stock {:.4g} ms, under the plan {:.4g} ms: {:.3f} times as fast, 95 % "
                            "interval [{:.3f}, {:.3f}] of {} pairs\n",
                            1000 * race->seconds_a, 1000 * race->seconds_b, race->speedup,
                            race->low, race->high, race->pairs),
                kFine);
}

}  // namespace

Run AddBench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--plan", options->plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  AddDuration(app, "--budget", options->seconds, "of measuring (10s)");
  app.add_option("--seed", options->seed, "of the inputs")->capture_default_str();
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunBench(*options); };
}

}  // namespace hone::cli
