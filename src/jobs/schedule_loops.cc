#include "jobs/schedule_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobs/input.h"
#include "jobs/kernels.h"
#include "jobs/store.h"
#include "jobs/write_file.h"
#include "loops/default_schedule.h"
#include "loops/race.h"
#include "loops/tasks.h"
#include "loops/verify.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostTextBytes = size_t{1} << 20;
constexpr size_t kMostPolicyBytes = size_t{1} << 30;
constexpr size_t kMostModelBytes = size_t{1} << 28;

FileOr<loops::Task> ReadTask(const LoopsOptions& options) {
  const StatusOr<std::string> text = ReadTaskText(options.task);
  if (!text) return Wrong(options.task, text.error());
  return About(options.task, loops::ParseTask(*text));
}

// That is also run: it fits into memory.
FileOr<loops::Task> ReadTaskToRun(const LoopsOptions& options) {
  auto task = ReadTask(options);
  if (!task) return task;
  if (Status fits = loops::FitsMemory(*task); !fits) return Wrong(options.task, fits.error());
  return task;
}

loops::Schedule ByRulesOfThumb(const loops::Task& task, const LoopsOptions& options) {
  loops::Machine machine = loops::ThisMachine(options.threads);
  if (options.without_tiles) machine.tiles = machine.pairs = false;
  return loops::DefaultSchedule(loops::Expand(task), machine);
}

FileOr<loops::Schedule> ReadSchedule(const std::string& given, const loops::Task& task,
                                     const LoopsOptions& options) {
  if (given == "none") return loops::Schedule{};
  if (given == "default") return ByRulesOfThumb(task, options);
  const StatusOr<std::string> text = ReadInput(given, kMostTextBytes);
  if (!text) return Wrong(given, text.error());
  return About(given, loops::ParseSchedule(*text));
}

StatusOr<std::unique_ptr<loops::Generator>> StartGenerator(const LoopsOptions& options) {
  loops::GeneratorOptions generator;
  generator.sandbox = options.sandbox;
  return loops::Generator::Start(generator);
}

void AddInterval(const RaceReport& race, Json& json) {
  json["speedup"] = race.speedup;
  json["low"] = race.low;
  json["high"] = race.high;
}

}  // namespace

StatusOr<std::string> ReadTaskText(const std::string& given) {
  if (const loops::KnownTask* const known = loops::FindKnownTask(given)) return known->text;
  StatusOr<std::string> text = ReadInput(given, kMostTextBytes);
  if (!text) {
    return MakeError(text.error().code, text.error().message +
                                            "; nor is it one of the tasks that `hone loops list` "
                                            "names");
  }
  std::replace(text->begin(), text->end(), ';', '\n');  // as a program's calls have it
  return text;
}

FileOr<loops::Schedule> DefaultScheduleOf(const LoopsOptions& options) {
  const auto task = ReadTask(options);
  if (!task) return tl::unexpected(task.error());
  return ByRulesOfThumb(*task, options);
}

FileOr<ShownLoops> ShowLoops(const LoopsOptions& options, const std::string& schedule) {
  auto task = ReadTask(options);
  if (!task) return tl::unexpected(task.error());
  auto read = ReadSchedule(schedule, *task, options);
  if (!read) return tl::unexpected(read.error());
  auto scheduled = loops::Apply(loops::Expand(*task), *read);
  if (!scheduled) return Wrong(schedule, scheduled.error());
  auto kernel = loops::MakeKernel(*task, *read);
  HONE_CHECK(kernel);
  const auto generator = StartGenerator(options);
  if (!generator) return Wrong("", generator.error());
  auto compiled = (*generator)->Compile(*kernel, /*texts=*/true);
  if (!compiled) return Wrong(options.task, compiled.error());
  return ShownLoops{*std::move(task), *std::move(read), *std::move(scheduled),
                    std::move(kernel->payload), *std::move(compiled)};
}

Json ToJson(const ShownLoops& shown) {
  Json json;
  json["task"] = loops::TaskText(shown.task);
  json["fingerprint"] = loops::FingerprintOf(shown.task).ToHex();
  json["schedule"] = loops::ScheduleText(shown.schedule);
  json["nests"] = Json::array();
  for (const loops::Nest& nest : shown.scheduled.program().nests) {
    Json loops_json = Json::array();
    for (const loops::Loop& loop : nest.loops) {
      loops_json.push_back({{"extent", loop.extent}, {"reduction", loop.reduction}});
    }
    json["nests"].push_back({{"site", nest.site}, {"loops", loops_json}});
  }
  json["module"] = shown.payload.module;
  json["script"] = shown.payload.script;
  json["restructured"] = shown.compiled.restructured;
  json["assembly"] = shown.compiled.assembly;
  json["object_bytes"] = shown.compiled.object.size();
  json["compile_seconds"] = shown.compiled.seconds;
  json["processor"] = shown.compiled.processor;
  return json;
}

double RacedLoops::gflops() const {
  return race.seconds_b > 0 ? loops::Flops(task) / race.seconds_b / 1e9 : 0;
}

FileOr<RacedLoops> RaceLoops(const LoopsOptions& options, const RaceLoopsOptions& racing,
                             Events& events) {
  events.HoldInterrupts();
  auto task = ReadTaskToRun(options);
  if (!task) return tl::unexpected(task.error());
  RacedLoops raced{*std::move(task), {}, {}, loops::ThisMachine(options.threads).threads};
  std::vector<loops::Kernel> kernels;
  for (const std::string& given : {racing.against, racing.schedule}) {
    const auto schedule = ReadSchedule(given, raced.task, options);
    if (!schedule) return tl::unexpected(schedule.error());
    auto kernel = loops::MakeKernel(raced.task, *schedule);
    if (!kernel) return Wrong(given, kernel.error());
    kernels.push_back(*std::move(kernel));
  }
  const auto generator = StartGenerator(options);
  if (!generator) return Wrong("", generator.error());
  if (racing.verify) {
    const auto waiting = events.During("comparing with the interpreter");
    CompareOptions compare = loops::UsualComparison();
    compare.seed = racing.seed;
    compare.stop = events.stop();
    raced.verified = loops::Verify(**generator, kernels[1], compare);
    if (raced.verified.verdict == Verdict::kDifferent) return raced;
  }
  RaceOptions race;
  race.budget_seconds = racing.seconds;
  race.seed = racing.seed;
  const auto waiting = events.During("racing");
  auto report = loops::Race(**generator, kernels[0], kernels[1], race, racing.cold, raced.threads,
                            events.stop());
  if (!report) return Wrong(options.task, report.error());
  raced.race = *std::move(report);
  return raced;
}

const char* VerifiedText(const RacedLoops& raced, const RaceLoopsOptions& racing) {
  if (!racing.verify) return "skipped";
  return raced.verified.verdict == Verdict::kEqual ? "true" : "can't tell";
}

Json ToJson(const RacedLoops& raced, const RaceLoopsOptions& racing) {
  const RaceReport& race = raced.race;
  Json json;
  json["task"] = raced.task.name;
  json["seconds_a"] = race.seconds_a;
  json["seconds_b"] = race.seconds_b;
  AddInterval(race, json);
  json["pairs"] = race.pairs;
  json["same"] = race.same_executable;
  json["cold"] = racing.cold;
  json["threads"] = raced.threads;
  json["gflops_b"] = raced.gflops();
  json["compile_seconds"] = race.compile_seconds_b;
  json["verified"] = VerifiedText(raced, racing);
  json["method"] = raced.verified.method;
  json["reason"] = raced.verified.reason;
  return json;
}

FileOr<TunedLoops> TuneLoops(const LoopsOptions& options, const TuneLoopsOptions& tuning,
                             Events& events) {
  if (auto fine = CheckAllWritable({tuning.output}); !fine) return tl::unexpected(fine.error());
  const auto store = OpenStore(tuning.store);
  if (!store) return tl::unexpected(store.error());
  events.HoldInterrupts();
  auto task = ReadTaskToRun(options);
  if (!task) return tl::unexpected(task.error());
  loops::TuneOptions tune;
  if (!tuning.policy.empty()) {
    const StatusOr<std::string> bytes = ReadInput(tuning.policy, kMostPolicyBytes);
    if (!bytes) return Wrong(tuning.policy, bytes.error());
    auto policy = loops::LoopsPolicy::Read(*bytes);
    if (!policy) return Wrong(tuning.policy, policy.error());
    tune.search.policy = *std::move(policy);
  }
  if (!tuning.cost_model.empty()) {
    const StatusOr<std::string> bytes = ReadInput(tuning.cost_model, kMostModelBytes);
    if (!bytes) return Wrong(tuning.cost_model, bytes.error());
    auto model = loops::ReadLoopsCostModel(*bytes);
    if (!model) return Wrong(tuning.cost_model, model.error());
    tune.cost_model = *std::move(model);
  }
  const auto generator = StartGenerator(options);
  if (!generator) return Wrong("", generator.error());
  tune.search.search = tuning.search;
  tune.budget_seconds = tuning.budget.seconds;
  tune.budget_steps = tuning.budget.steps;
  tune.search.seed = tuning.seed;
  tune.machine = loops::ThisMachine(options.threads);
  tune.stop = events.stop();
  const ClearAtEnd clear(events);
  tune.progress = [&](int64_t tried, int64_t rejected, double best) {
    if (!events.Due()) return;
    events.Show(fmt::format("{}: {} schedules, {} rejected, best {:.3f}x", task->name, tried,
                            rejected, best));
  };
  auto report = loops::Tune(**generator, *task, tune);
  if (!report) return Wrong(options.task, report.error());
  TunedLoops tuned{*std::move(task), *std::move(report)};
  if (!tuned.verified()) return tuned;
  const loops::Schedule& schedule = tuned.report.schedule;
  if (auto wrote = WriteIfNamed(tuning.output, loops::ScheduleFile(schedule)); !wrote) {
    return tl::unexpected(wrote.error());
  }
  const double faster = tuned.report.race.low;
  if (*store == nullptr || faster <= 0) return tuned;
  if (Status kept = KeepSchedule(**store, tuned.task, schedule, faster); !kept) {
    return Wrong(tuning.store, kept.error());
  }
  return tuned;
}

Json ToJson(const TunedLoops& tuned, const TuneLoopsOptions& tuning) {
  const loops::TuneReport& report = tuned.report;
  Json json;
  json["task"] = tuned.task.name;
  json["fingerprint"] = loops::FingerprintOf(tuned.task).ToHex();
  json["search"] = tuning.search;
  json["seed"] = tuning.seed;
  json["schedule"] = loops::ScheduleText(report.schedule);
  AddInterval(report.race, json);
  json["seconds_default"] = report.race.seconds_a;
  json["seconds"] = report.race.seconds_b;
  json["verified"] = tuned.verified();
  json["reason"] = report.verified.reason;
  json["schedules"] = report.tried;
  json["rejected"] = report.rejected;
  json["last_rejection"] = report.last_rejection;
  json["search_seconds"] = report.seconds;
  return json;
}

Json KnownTasksJson() {
  Json json;
  json["tasks"] = Json::array();
  for (const loops::KnownTask& known : loops::KnownTasks()) {
    const StatusOr<loops::Task> task = loops::ParseTask(known.text);
    HONE_CHECK(task);
    json["tasks"].push_back({{"name", known.name},
                             {"kind", known.kind},
                             {"source", known.source},
                             {"flops", loops::Flops(*task)},
                             {"bytes", loops::Bytes(*task)},
                             {"fingerprint", loops::FingerprintOf(*task).ToHex()}});
  }
  return json;
}

}  // namespace hone::jobs
