#include "jobs/bench.h"

#include <algorithm>
#include <utility>

#include "jobs/report.h"

namespace hone::jobs {
namespace {

constexpr double kProfileSeconds = 0.5;
constexpr int kLeastPairs = 20;

Json KernelsJson(const std::vector<KernelTime>& kernels, size_t most) {
  Json list = Json::array();
  for (size_t i = 0; i < std::min(most, kernels.size()); ++i) {
    list.push_back({{"name", kernels[i].name},
                    {"opcode", kernels[i].opcode},
                    {"ms", 1000 * kernels[i].seconds},
                    {"calls", kernels[i].calls}});
  }
  return list;
}

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

Json ToJson(const Benched& benched, const OpenedProgram& opened, size_t kernels) {
  const RaceReport& race = benched.race;
  Json json{{"stock_ms", 1000 * race.seconds_a}, {"tuned_ms", 1000 * race.seconds_b}};
  json.update(RaceJson(race));
  json["same_executable"] = race.same_executable;
  json["compile_seconds"] = {race.compile_seconds_a, race.compile_seconds_b};
  if (benched.estimated) {
    json["estimated"] = true;
    json["target"] = opened.programs->pool().target();
  }
  AddStandIns(opened.program(), json);
  if (opened.device != nullptr) json["device"] = DeviceJson(*opened.device);
  if (kernels > 0) {
    json["kernels"] = {{"stock", KernelsJson(benched.kernels_of_stock, kernels)},
                       {"plan", KernelsJson(benched.kernels_of_plan, kernels)}};
  }
  return json;
}

}  // namespace hone::jobs
