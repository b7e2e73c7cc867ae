// hone loops: kernels as loop nests, and schedules of them.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/loop_tasks.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "jobs/kernels.h"
#include "loops/default_schedule.h"
#include "loops/race.h"
#include "loops/tasks.h"
#include "loops/tune.h"
#include "loops/verify.h"
#include "store/store.h"

namespace hone::cli {
namespace {

constexpr size_t kMostTextBytes = size_t{1} << 20;
constexpr size_t kMostModelBytes = size_t{1} << 28;

struct LoopsOptions {
  std::string task;
  std::string schedule = "default";
  std::string against = "none";
  std::string output;
  std::string object;
  std::string store;
  double budget = 5;
  Budget tune_budget{30, std::numeric_limits<int64_t>::max()};
  std::string search = "local";
  std::string policy;
  std::string cost_model;
  uint64_t seed = 1;
  int threads = 0;
  bool without_tiles = false;
  bool cold = false;
  bool assembly = false;
  bool no_verify = false;
  bool no_sandbox = false;
  bool json = false;
  bool quiet = false;
};

StatusOr<loops::Task> ReadTask(const std::string& given) {
  const StatusOr<std::string> text = ReadTaskText(given);
  if (!text) return tl::unexpected(text.error());
  return loops::ParseTask(*text);
}

StatusOr<std::shared_ptr<const loops::LoopsPolicy>> ReadPolicy(const std::string& file) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const StatusOr<std::string> bytes = ReadInput(file, kMostBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return loops::LoopsPolicy::Read(*bytes);
}

// A file, `default`, or `none`.
StatusOr<loops::Schedule> ReadSchedule(const std::string& given, const loops::Task& task,
                                       const LoopsOptions& options) {
  if (given == "none") return loops::Schedule{};
  if (given == "default") {
    return loops::DefaultSchedule(loops::Expand(task), loops::ThisMachine(options.threads));
  }
  const StatusOr<std::string> text = ReadInput(given, kMostTextBytes);
  if (!text) return tl::unexpected(text.error());
  StatusOr<loops::Schedule> schedule = loops::ParseSchedule(*text);
  if (!schedule) return MakeError(schedule.error().code, given + ": " + schedule.error().message);
  return schedule;
}

StatusOr<std::unique_ptr<loops::Generator>> StartGenerator(const LoopsOptions& options) {
  loops::GeneratorOptions generator;
  generator.sandbox = !options.no_sandbox;
  return loops::Generator::Start(generator);
}

int RunList(const LoopsOptions& options) {
  if (options.json) {
    Json out;
    out["tasks"] = Json::array();
    for (const loops::KnownTask& known : loops::KnownTasks()) {
      const StatusOr<loops::Task> task = loops::ParseTask(known.text);
      HONE_CHECK(task);
      out["tasks"].push_back({{"name", known.name},
                              {"kind", known.kind},
                              {"source", known.source},
                              {"flops", loops::Flops(*task)},
                              {"bytes", loops::Bytes(*task)},
                              {"fingerprint", loops::FingerprintOf(*task).ToHex()}});
    }
    return Finish(out, kFine);
  }
  std::string text = fmt::format("{:<32} {:<11} {:>10} {:>11}  {}\n", "TASK", "KIND", "FLOPS",
                                 "BYTES", "SIZES FROM");
  for (const loops::KnownTask& known : loops::KnownTasks()) {
    const StatusOr<loops::Task> task = loops::ParseTask(known.text);
    HONE_CHECK(task);
    text +=
        fmt::format("{:<32} {:<11} {:>10} {:>11}  {}\n", known.name, known.kind,
                    HumanCount(loops::Flops(*task)), HumanBytes(loops::Bytes(*task)), known.source);
  }
  return Finish(text, kFine);
}

Json NestsJson(const loops::Scheduled& scheduled) {
  Json nests = Json::array();
  for (size_t i = 0; i < scheduled.program().nests.size(); ++i) {
    const loops::Nest& nest = scheduled.program().nests[i];
    Json loops_json = Json::array();
    for (const loops::Loop& loop : nest.loops) {
      loops_json.push_back({{"extent", loop.extent}, {"reduction", loop.reduction}});
    }
    nests.push_back({{"site", nest.site}, {"loops", loops_json}});
  }
  return nests;
}

std::string NestsText(const loops::Scheduled& scheduled) {
  std::string text;
  for (const loops::Nest& nest : scheduled.program().nests) {
    text += fmt::format("# {:<16}", nest.site);
    for (const loops::Loop& loop : nest.loops) {
      text += fmt::format(" {}{}", loop.extent, loop.reduction ? "r" : "");
    }
    text += "\n";
  }
  return text;
}

int RunShow(const LoopsOptions& options) {
  const StatusOr<loops::Task> task = ReadTask(options.task);
  if (!task) return Fail(task.error(), options.task, options.json);
  const auto schedule = ReadSchedule(options.schedule, *task, options);
  if (!schedule) return Fail(schedule.error(), options.task, options.json);
  const auto scheduled = loops::Apply(loops::Expand(*task), *schedule);
  if (!scheduled) return Fail(scheduled.error(), options.schedule, options.json);
  const auto kernel = loops::MakeKernel(*task, *schedule);
  HONE_CHECK(kernel);
  const auto generator = StartGenerator(options);
  if (!generator) return Fail(generator.error(), options.json);
  const auto compiled = (*generator)->Compile(*kernel, /*texts=*/true);
  if (!compiled) return Fail(compiled.error(), options.task, options.json);
  if (!options.object.empty()) {
    if (Status written = WriteFile(options.object, compiled->object); !written) {
      return Fail(written.error(), options.object, options.json);
    }
  }
  if (options.json) {
    Json out;
    out["task"] = loops::TaskText(*task);
    out["fingerprint"] = loops::FingerprintOf(*task).ToHex();
    out["schedule"] = loops::ScheduleText(*schedule);
    out["nests"] = NestsJson(*scheduled);
    out["module"] = kernel->payload.module;
    out["script"] = kernel->payload.script;
    out["restructured"] = compiled->restructured;
    out["assembly"] = compiled->assembly;
    out["object_bytes"] = compiled->object.size();
    out["compile_seconds"] = compiled->seconds;
    out["processor"] = compiled->processor;
    return Finish(out, kFine);
  }
  std::string text = "# the task\n" + loops::TaskText(*task) +
                     "\n# its nests: iterations, r where "
                     "a loop reduces\n" +
                     NestsText(*scheduled) + "\n# the schedule\n" + loops::ScheduleText(*schedule) +
                     "\n// before\n" + kernel->payload.module +
                     "\n// the schedule as a transform script\n" + kernel->payload.script +
                     "\n// after\n" + compiled->restructured;
  if (options.assembly) text += "\n# for " + compiled->processor + "\n" + compiled->assembly;
  return Finish(text, kFine);
}

int RunDefault(const LoopsOptions& options) {
  const StatusOr<loops::Task> task = ReadTask(options.task);
  if (!task) return Fail(task.error(), options.task, options.json);
  loops::Machine machine = loops::ThisMachine(options.threads);
  machine.tiles = machine.tiles && !options.without_tiles;
  const std::string text =
      loops::ScheduleFile(loops::DefaultSchedule(loops::Expand(*task), machine));
  if (options.output.empty()) return Finish(text, kFine);
  if (Status written = WriteFile(options.output, text); !written) {
    return Fail(written.error(), options.output, options.json);
  }
  return kFine;
}

int RunRace(const LoopsOptions& options) {
  const std::atomic<bool>* const stop = StopOnInterrupt();
  const StatusOr<loops::Task> task = ReadTask(options.task);
  if (!task) return Fail(task.error(), options.task, options.json);
  StatusOr<loops::Kernel> kernels[2] = {MakeError(ErrorCode::kInternal, ""),
                                        MakeError(ErrorCode::kInternal, "")};
  for (int i = 0; i < 2; ++i) {
    const std::string& given = i == 0 ? options.against : options.schedule;
    const auto schedule = ReadSchedule(given, *task, options);
    if (!schedule) return Fail(schedule.error(), options.task, options.json);
    kernels[i] = loops::MakeKernel(*task, *schedule);
    if (!kernels[i]) return Fail(kernels[i].error(), given, options.json);
  }
  const auto generator = StartGenerator(options);
  if (!generator) return Fail(generator.error(), options.json);
  ComparisonReport verified;
  if (!options.no_verify) {
    const Waiting waiting(!options.quiet, "comparing with the interpreter");
    CompareOptions compare;
    compare.seed = options.seed;
    compare.stop = stop;
    verified = loops::Verify(**generator, *kernels[1], compare);
    if (verified.verdict == Verdict::kDifferent) {
      Fail({ErrorCode::kInternal, "the kernel computes something else: " + verified.reason},
           options.task, options.json);
      return kDifferent;
    }
  }
  RaceOptions race;
  race.budget_seconds = options.budget;
  race.seed = options.seed;
  const int threads = loops::ThisMachine(options.threads).threads;
  StatusOr<RaceReport> raced = MakeError(ErrorCode::kInternal, "not raced");
  {
    const Waiting waiting(!options.quiet, "racing");
    raced = loops::Race(**generator, *kernels[0], *kernels[1], race, options.cold, threads, stop);
  }
  if (!raced) return Fail(raced.error(), options.task, options.json);
  const char* const verdict = options.no_verify                     ? "skipped"
                              : verified.verdict == Verdict::kEqual ? "true"
                                                                    : "can't tell";
  if (options.json) {
    Json out;
    out["task"] = task->name;
    out["seconds_a"] = raced->seconds_a;
    out["seconds_b"] = raced->seconds_b;
    out["speedup"] = raced->speedup;
    out["low"] = raced->low;
    out["high"] = raced->high;
    out["pairs"] = raced->pairs;
    out["same"] = raced->same_executable;
    out["cold"] = options.cold;
    out["threads"] = threads;
    out["gflops_b"] = raced->seconds_b > 0 ? loops::Flops(*task) / raced->seconds_b / 1e9 : 0;
    out["compile_seconds"] = raced->compile_seconds_b;
    out["verified"] = verdict;
    out["method"] = verified.method;
    out["reason"] = verified.reason;
    return Finish(out, *stop ? kInterrupted : kFine);
  }
  std::string text = fmt::format("{:<30} {:>10} {:>10} {:>8} {:>17} {:>9} {:>9}\n", "TASK", "A ms",
                                 "B ms", "SPEEDUP", "95 %", "GFLOP/s", "VERIFIED");
  text +=
      fmt::format("{:<30} {:>10.4g} {:>10.4g} {:>8.3f} {:>17} {:>9.4g} {:>9}\n", task->name,
                  1e3 * raced->seconds_a, 1e3 * raced->seconds_b, raced->speedup,
                  fmt::format("[{:.3f}, {:.3f}]", raced->low, raced->high),
                  raced->seconds_b > 0 ? loops::Flops(*task) / raced->seconds_b / 1e9 : 0, verdict);
  if (!verified.reason.empty()) text += "  " + verified.reason + "\n";
  return Finish(text, *stop ? kInterrupted : kFine);
}

int RunTune(const LoopsOptions& options) {
  const std::atomic<bool>* const stop = StopOnInterrupt();
  const StatusOr<loops::Task> task = ReadTask(options.task);
  if (!task) return Fail(task.error(), options.task, options.json);
  if (!options.output.empty()) {
    if (Status may = CheckWritable(options.output); !may) {
      return Fail(may.error(), options.output, options.json);
    }
  }
  const auto store = OpenStore(options.store);
  if (!store) return Fail(store.error(), options.store, options.json);
  loops::TuneOptions tune;
  if (!options.policy.empty()) {
    auto policy = ReadPolicy(options.policy);
    if (!policy) return Fail(policy.error(), options.policy, options.json);
    tune.search.policy = *std::move(policy);
  }
  if (!options.cost_model.empty()) {
    const StatusOr<std::string> bytes = ReadInput(options.cost_model, kMostModelBytes);
    if (!bytes) return Fail(bytes.error(), options.cost_model, options.json);
    auto model = loops::ReadLoopsCostModel(*bytes);
    if (!model) return Fail(model.error(), options.cost_model, options.json);
    tune.cost_model = *std::move(model);
  }
  const auto generator = StartGenerator(options);
  if (!generator) return Fail(generator.error(), options.json);
  tune.search.search = options.search;
  tune.budget_seconds = options.tune_budget.seconds;
  tune.budget_steps = options.tune_budget.steps;
  tune.search.seed = options.seed;
  tune.machine = loops::ThisMachine(options.threads);
  tune.stop = stop;
  Progress progress(!options.quiet);
  tune.progress = [&](int64_t tried, int64_t rejected, double best) {
    if (!progress.Due()) return;
    progress.Show(fmt::format("{}: {} schedules, {} rejected, best {:.3f}x", task->name, tried,
                              rejected, best));
  };
  const auto tuned = loops::Tune(**generator, *task, tune);
  progress.Clear();
  if (!tuned) return Fail(tuned.error(), options.task, options.json);
  const bool verified = tuned->verified.verdict == Verdict::kEqual;
  const std::string schedule = loops::ScheduleText(tuned->schedule);
  if (!options.output.empty() && verified) {
    const std::string file = loops::ScheduleFile(tuned->schedule);
    if (Status written = WriteFile(options.output, file); !written) {
      return Fail(written.error(), options.output, options.json);
    }
  }
  const int code = *stop ? kInterrupted : kFine;
  const RaceReport& race = tuned->race;
  if (*store != nullptr && verified && race.low > 0) {
    if (Status kept = jobs::KeepSchedule(**store, *task, tuned->schedule, race.low); !kept) {
      return Fail(kept.error(), options.store, options.json);
    }
  }
  if (options.json) {
    Json out;
    out["task"] = task->name;
    out["fingerprint"] = loops::FingerprintOf(*task).ToHex();
    out["search"] = options.search;
    out["seed"] = options.seed;
    out["schedule"] = schedule;
    out["speedup"] = race.speedup;
    out["low"] = race.low;
    out["high"] = race.high;
    out["seconds_default"] = race.seconds_a;
    out["seconds"] = race.seconds_b;
    out["verified"] = verified;
    out["reason"] = tuned->verified.reason;
    out["schedules"] = tuned->tried;
    out["rejected"] = tuned->rejected;
    out["last_rejection"] = tuned->last_rejection;
    out["search_seconds"] = tuned->seconds;
    return Finish(out, code);
  }
  std::string text = fmt::format("{:<30} {:>8} {:>17} {:>9} {:>10} {:>9} {:>8}\n", "TASK",
                                 "SPEEDUP", "95 %", "VERIFIED", "SCHEDULES", "REJECTED", "SECONDS");
  text +=
      fmt::format("{:<30} {:>8.3f} {:>17} {:>9} {:>10} {:>9} {:>8.1f}\n", task->name, race.speedup,
                  fmt::format("[{:.3f}, {:.3f}]", race.low, race.high),
                  verified ? "true" : "can't tell", tuned->tried, tuned->rejected, tuned->seconds);
  return Finish(text + schedule, code);
}

void AddOutputOptions(CLI::App& app, LoopsOptions& options) {
  app.add_flag("--json", options.json, "results as JSON on stdout");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
}

void AddTaskOptions(CLI::App& app, LoopsOptions& options) {
  app.add_option("TASK", options.task, "a file, or a task of `hone loops list`")
      ->required()
      ->type_name("");
  app.add_option("--threads", options.threads, "that share the work; the machine's unless given")
      ->check(CLI::Range(1, 256));
  app.add_flag("--no-sandbox", options.no_sandbox, "hone-loops may do what this user may");
  AddOutputOptions(app, options);
}

void AddScheduleOption(CLI::App& app, LoopsOptions& options) {
  app.add_option("--schedule", options.schedule,
                 "a file, `default` (rules of thumb) or `none` (plain loops)")
      ->capture_default_str();
}

}  // namespace

Run AddLoops(CLI::App& app) {
  auto options = std::make_shared<LoopsOptions>();
  using Function = int (*)(const LoopsOptions&);
  auto actions = std::make_shared<std::vector<std::pair<CLI::App*, Function>>>();
  const auto add = [&](const char* name, const char* meaning, Function function) {
    CLI::App* const action = app.add_subcommand(name, meaning);
    action->group("Actions");
    actions->emplace_back(action, function);
    return action;
  };
  CLI::App* const list = add("list", "the tasks that come with hone", RunList);
  AddOutputOptions(*list, *options);
  list->footer("Examples:\n  hone loops list --json\n");
  CLI::App* const show =
      add("show", "a task's nests, MLIR before and after a schedule, and assembly", RunShow);
  AddTaskOptions(*show, *options);
  AddScheduleOption(*show, *options);
  show->add_flag("--assembly", options->assembly, "also the machine code");
  show->add_option("--object", options->object, "write the object code (ELF) to a file");
  show->footer(
      "Examples:\n  hone loops show softmax_64_128\n"
      "  hone loops show my.task --schedule my.schedule --object kernel.o\n");
  CLI::App* const schedule =
      add("schedule", "the schedule that rules of thumb make for a task", RunDefault);
  AddTaskOptions(*schedule, *options);
  schedule->add_flag("--without-tiles", options->without_tiles,
                     "products by vectors, on processors with a matrix unit (AMX) too");
  schedule->add_option("-o,--output", options->output, "write it to a file");
  schedule->footer("Examples:\n  hone loops schedule matmul_64_64_64 -o my.schedule\n");
  CLI::App* const race =
      add("race", "a schedule against another, in turns, after a comparison with the interpreter",
          RunRace);
  AddTaskOptions(*race, *options);
  AddScheduleOption(*race, *options);
  race->add_option("--against", options->against, "the schedule that it is held against")
      ->capture_default_str();
  AddDuration(*race, "--budget", options->budget, "of measuring");
  race->add_option("--seed", options->seed, "of the inputs")->capture_default_str();
  race->add_flag("--cold", options->cold, "each run finds no buffer in a cache");
  race->add_flag("--no-verify", options->no_verify, "without the comparison");
  race->footer(
      "Examples:\n  hone loops race matmul_256_256_512 --budget 3s\n"
      "  hone loops race my.task --schedule my.schedule --against default --cold\n");
  CLI::App* const tune =
      add("tune", "search for a schedule that beats the rules of thumb; verify it", RunTune);
  AddTaskOptions(*tune, *options);
  AddBudget(*tune, "--budget", options->tune_budget,
            "of searching: 30s, 500steps (schedules), or both");
  tune->add_option("--search", options->search,
                   "a searcher: local, greedy, beam, mcts, anneal, policy, …")
      ->capture_default_str();
  tune->add_option("--policy", options->policy,
                   "a policy of `hone train --loops`, for searchers that use one")
      ->type_name("FILE");
  tune->add_option("--cost-model", options->cost_model,
                   "of `hone-loops-bench costmodel`: it values what the searcher proposes, and the "
                   "best of many are timed")
      ->type_name("FILE");
  tune->add_option("--seed", options->seed, "of the search and the inputs")->capture_default_str();
  tune->add_option("-o,--output", options->output, "write the schedule to a file");
  AddStoreOption(*tune, options->store)
      ->description(
          "put the schedule here, where it is faster; `hone tune --store` makes kernels by it");
  tune->footer(
      "Examples:\n  hone loops tune matmul_64_64_64 --budget 10s -o my.schedule\n"
      "  hone loops tune my.task --search mcts --budget 200steps --json\n"
      "  hone loops tune my.task --search policy --policy loops.safetensors --budget 20steps\n");
  app.require_subcommand(1, 1);
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(app.get_formatter()->get_column_width());
  formatter->label("SUBCOMMAND", "ACTION");
  app.formatter(formatter);
  return [options, actions] {
    for (const auto& [action, function] : *actions) {
      if (action->parsed()) return function(*options);
    }
    return static_cast<int>(kBadInput);
  };
}

}  // namespace hone::cli
