#include "jobs/bench.h"

#include <algorithm>
#include <utility>

#include "core/input_seed.h"
#include "core/median.h"
#include "jobs/report.h"

namespace hone::jobs {
namespace {

constexpr double kProfileSeconds = 0.5;
constexpr int kLeastPairs = 20;
constexpr int kLeastRuns = 20;

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

Status GiveInputs(const BenchOptions& options, Benched& benched) {
  if (!benched.IsHere()) {
    if (options.inputs.texts.empty()) return {};
    return MakeError(ErrorCode::kInvalidInput, "--inputs are for runs by this machine's processor");
  }
  Pool& pool = benched.opened.programs->pool();
  const ProgramInfo& program = benched.opened.program();
  CompareOptions sets;
  const Status read = options.inputs.Read(pool, program, options.file, &sets);
  if (read && !sets.given.empty()) pool.GiveInputs(program.id, std::move(sets.given.front()));
  return read;
}

// Of the one executable that there is.
Status TimeRuns(const BenchOptions& options, Benched& benched) {
  RunTimeOptions timing;
  timing.runs = kLeastRuns;
  timing.least_seconds = std::min(1.0, options.seconds / 2);
  timing.budget_seconds = std::max(options.seconds, timing.least_seconds);
  timing.seed = FirstInputsSeed(options.seed);
  const ProgramId program = benched.opened.program().id;
  const StatusOr<RunTimeReport> report = benched.opened.programs->pool().On(
      0, [&](RemoteWorker& remote) { return remote.RunTime({program, {}}, timing); });
  if (!report) return tl::unexpected(report.error());
  benched.race.seconds_a = benched.race.seconds_b = Median(report->seconds);
  benched.runs = report->seconds.size();
  return {};
}

Status Measure(const tune::TunePlan& plan, const BenchOptions& options, Events& events,
               Benched& benched) {
  tune::Evaluator& evaluator = *benched.opened.evaluator;
  RaceOptions racing;
  racing.budget_seconds = options.seconds;
  racing.least_pairs = kLeastPairs;
  racing.least_seconds = std::min(1.0, options.seconds / 2);
  racing.indifferent = 0;
  racing.seed = options.seed;
  racing.estimate = benched.estimated;
  auto waiting = events.During((racing.estimate ? "estimating " : "measuring ") + options.file);
  const StatusOr<RaceReport> race = evaluator.Race({}, plan, racing);
  if (!race) return tl::unexpected(race.error());
  benched.race = *race;
  if (race->same_executable && benched.IsHere()) {
    const Status timed = TimeRuns(options, benched);
    if (!timed) return timed;
  }
  if (options.kernels == 0) return {};
  waiting.reset();
  waiting = events.During("tracing " + options.file);
  auto stock = evaluator.Profile({}, kProfileSeconds, kMostProfileSeconds);
  if (!stock) return tl::unexpected(stock.error());
  benched.kernels_of_stock = *std::move(stock);
  if (race->same_executable) return {};
  auto planned = evaluator.Profile(plan, kProfileSeconds, kMostProfileSeconds);
  if (!planned) return tl::unexpected(planned.error());
  benched.kernels_of_plan = *std::move(planned);
  return {};
}

}  // namespace

FileOr<Benched> Bench(const BenchOptions& options, const WorkerOptions& workers, Events& events) {
  const FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  auto opened = OpenNamed(options.file, workers, options.device, options.seed, events);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->program().elided_constants) return Wrong(options.file, ElidedConstants());
  WarnOfStandIns(options.file, opened->program(), events);
  Benched benched;
  benched.opened = *std::move(opened);
  benched.estimated = benched.opened.device == nullptr && benched.opened.programs->pool().is_gpu();
  if (const Status given = GiveInputs(options, benched); !given) {
    return Wrong(options.file, given.error());
  }
  if (Status measured = Measure(*plan, options, events, benched); !measured) {
    return Wrong(options.file, measured.error());
  }
  return benched;
}

Json ToJson(const Benched& benched, const BenchOptions& options) {
  const OpenedProgram& opened = benched.opened;
  const RaceReport& race = benched.race;
  Json json{{"file", options.file},
            {"stock_ms", 1000 * race.seconds_a},
            {"tuned_ms", 1000 * race.seconds_b}};
  json.update(RaceJson(race));
  json["same_executable"] = race.same_executable;
  if (race.same_executable) json["runs"] = benched.runs;
  json["compile_seconds"] = {race.compile_seconds_a, race.compile_seconds_b};
  if (benched.estimated) {
    json["estimated"] = true;
    json["target"] = opened.programs->pool().target();
  }
  AddStandIns(opened.program(), json);
  if (opened.device != nullptr) json["device"] = DeviceJson(*opened.device);
  if (options.kernels > 0) {
    json["kernels"] = {{"stock", KernelsJson(benched.kernels_of_stock, options.kernels)},
                       {"plan", KernelsJson(benched.kernels_of_plan, options.kernels)}};
  }
  return json;
}

}  // namespace hone::jobs
