#include "jobs/bench.h"

#include <utility>

#include "jobs/json.h"
#include "jobs/report.h"

namespace hone::jobs {
namespace {

constexpr double kProfileSeconds = 0.5;
constexpr int kLeastPairs = 20;

}  // namespace

StatusOr<Benched> Bench(const OpenedProgram& opened, const BenchOptions& options, Events& events) {
  if (opened.program().elided_constants) return tl::unexpected(ElidedConstants());
  if (const std::string about = AboutStandIns(opened.program()); !about.empty()) {
    events.Warn(options.file, about);
  }
  RaceOptions racing;
  racing.budget_seconds = options.seconds;
  racing.least_pairs = kLeastPairs;
  racing.indifferent = 0;
  racing.seed = options.seed;
  racing.estimate = opened.device == nullptr && opened.programs->pool().is_gpu();
  auto waiting = events.During((racing.estimate ? "estimating " : "measuring ") + options.file);
  StatusOr<RaceReport> race = opened.evaluator->Race({}, options.plan, racing);
  if (!race) return tl::unexpected(race.error());
  Benched benched{racing.estimate, *race, {}, {}};
  if (!options.kernels) return benched;
  waiting.reset();
  waiting = events.During("tracing " + options.file);
  auto stock = opened.evaluator->Profile({}, kProfileSeconds, kMostProfileSeconds);
  if (!stock) return tl::unexpected(stock.error());
  benched.kernels_of_stock = *std::move(stock);
  if (race->same_executable) return benched;
  auto planned = opened.evaluator->Profile(options.plan, kProfileSeconds, kMostProfileSeconds);
  if (!planned) return tl::unexpected(planned.error());
  benched.kernels_of_plan = *std::move(planned);
  return benched;
}

}  // namespace hone::jobs
