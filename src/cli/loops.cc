// hone loops: kernels as loop nests, and schedules of them.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "jobs/schedule_loops.h"
#include "loops/tasks.h"
#include "store/store.h"

namespace hone::cli {
namespace {

struct LoopsFlags {
  jobs::LoopsOptions loops;
  jobs::RaceLoopsOptions race{"default", "none"};  // its schedule is also what `show` shows
  jobs::TuneLoopsOptions tune{"local", "", "", {30, std::numeric_limits<int64_t>::max()}};
  std::string output;
  std::string object;
  std::string store;
  bool assembly = false;
  bool no_sandbox = false;
  bool no_verify = false;
  bool json = false;
  bool quiet = false;
};

jobs::LoopsOptions JobOf(const LoopsFlags& options) {
  jobs::LoopsOptions job = options.loops;
  job.sandbox = !options.no_sandbox;
  return job;
}

int RunList(const LoopsFlags& options) {
  if (options.json) return Finish(jobs::KnownTasksJson(), kFine);
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

int RunShow(const LoopsFlags& options) {
  const auto shown = jobs::ShowLoops(JobOf(options), options.race.schedule);
  if (!shown) return Fail(shown.error(), options.json);
  if (Status wrote = WriteIfNamed(options.object, shown->compiled.object); !wrote) {
    return Fail(wrote.error(), options.object, options.json);
  }
  if (options.json) return Finish(ToJson(*shown), kFine);
  std::string text = "# the task\n" + loops::TaskText(shown->task) +
                     "\n# its nests: iterations, r where "
                     "a loop reduces\n" +
                     NestsText(shown->scheduled) + "\n# the schedule\n" +
                     loops::ScheduleText(shown->schedule) + "\n// before\n" +
                     shown->payload.module + "\n// the schedule as a transform script\n" +
                     shown->payload.script + "\n// after\n" + shown->compiled.restructured;
  if (options.assembly) {
    text += "\n# for " + shown->compiled.processor + "\n" + shown->compiled.assembly;
  }
  return Finish(text, kFine);
}

int RunDefault(const LoopsFlags& options) {
  const auto schedule = jobs::DefaultScheduleOf(JobOf(options));
  if (!schedule) return Fail(schedule.error(), options.json);
  const std::string text = loops::ScheduleFile(*schedule);
  if (options.output.empty()) return Finish(text, kFine);
  const Status wrote = WriteFile(options.output, text);
  return wrote ? int{kFine} : Fail(wrote.error(), options.output, options.json);
}

int RunRace(const LoopsFlags& options) {
  jobs::RaceLoopsOptions racing = options.race;
  racing.verify = !options.no_verify;
  CommandEvents events(!options.quiet, StopOnInterrupt());
  const auto raced = jobs::RaceLoops(JobOf(options), racing, events);
  if (!raced) return Fail(raced.error(), options.json);
  if (raced->verified.verdict == Verdict::kDifferent) {
    (void)Fail(
        {ErrorCode::kInternal, "the kernel computes something else: " + raced->verified.reason},
        options.loops.task, options.json);
    return kDifferent;
  }
  const int code = events.stopped() ? kInterrupted : kFine;
  if (options.json) return Finish(ToJson(*raced, racing), code);
  const RaceReport& race = raced->race;
  std::string text = fmt::format("{:<30} {:>10} {:>10} {:>8} {:>17} {:>9} {:>9}\n", "TASK", "A ms",
                                 "B ms", "SPEEDUP", "95 %", "GFLOP/s", "VERIFIED");
  text += fmt::format("{:<30} {:>10.4g} {:>10.4g} {:>8.3f} {:>17} {:>9.4g} {:>9}\n",
                      raced->task.name, 1e3 * race.seconds_a, 1e3 * race.seconds_b, race.speedup,
                      fmt::format("[{:.3f}, {:.3f}]", race.low, race.high), raced->gflops(),
                      VerifiedText(*raced, racing));
  if (!raced->verified.reason.empty()) text += "  " + raced->verified.reason + "\n";
  return Finish(text, code);
}

int RunTune(const LoopsFlags& options) {
  if (Status may = MayWrite(options.output); !may) {
    return Fail(may.error(), options.output, options.json);
  }
  const auto store = OpenStore(options.store);
  if (!store) return Fail(store.error(), options.store, options.json);
  CommandEvents events(!options.quiet, StopOnInterrupt());
  const auto tuned = jobs::TuneLoops(JobOf(options), options.tune, events);
  if (!tuned) return Fail(tuned.error(), options.json);
  const loops::TuneReport& report = tuned->report;
  if (tuned->verified()) {
    const std::string file = loops::ScheduleFile(report.schedule);
    if (Status wrote = WriteIfNamed(options.output, file); !wrote) {
      return Fail(wrote.error(), options.output, options.json);
    }
  }
  if (*store != nullptr) {
    if (Status kept = KeepIfFaster(*tuned, **store); !kept) {
      return Fail(kept.error(), options.store, options.json);
    }
  }
  const int code = events.stopped() ? kInterrupted : kFine;
  if (options.json) return Finish(ToJson(*tuned, options.tune), code);
  const RaceReport& race = report.race;
  std::string text = fmt::format("{:<30} {:>8} {:>17} {:>9} {:>10} {:>9} {:>8}\n", "TASK",
                                 "SPEEDUP", "95 %", "VERIFIED", "SCHEDULES", "REJECTED", "SECONDS");
  text += fmt::format("{:<30} {:>8.3f} {:>17} {:>9} {:>10} {:>9} {:>8.1f}\n", tuned->task.name,
                      race.speedup, fmt::format("[{:.3f}, {:.3f}]", race.low, race.high),
                      tuned->verified() ? "true" : "can't tell", report.tried, report.rejected,
                      report.seconds);
  return Finish(text + loops::ScheduleText(report.schedule), code);
}

void AddOutputOptions(CLI::App& app, LoopsFlags& options) {
  app.add_flag("--json", options.json, "results as JSON on stdout");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
}

void AddTaskOptions(CLI::App& app, LoopsFlags& options) {
  app.add_option("TASK", options.loops.task, "a file, or a task of `hone loops list`")
      ->required()
      ->type_name("");
  app.add_option("--threads", options.loops.threads,
                 "that share the work; the machine's unless given")
      ->check(CLI::Range(1, 256));
  app.add_flag("--no-sandbox", options.no_sandbox, "hone-loops may do what this user may");
  AddOutputOptions(app, options);
}

void AddScheduleOption(CLI::App& app, LoopsFlags& options) {
  app.add_option("--schedule", options.race.schedule,
                 "a file, `default` (rules of thumb) or `none` (plain loops)")
      ->capture_default_str();
}

void AddShowOptions(CLI::App& app, LoopsFlags& options) {
  AddTaskOptions(app, options);
  AddScheduleOption(app, options);
  app.add_flag("--assembly", options.assembly, "also the machine code");
  app.add_option("--object", options.object, "write the object code (ELF) to a file");
}

void AddDefaultOptions(CLI::App& app, LoopsFlags& options) {
  AddTaskOptions(app, options);
  app.add_flag("--without-tiles", options.loops.without_tiles,
               "products by vectors, on processors with a matrix unit (AMX) too");
  app.add_option("-o,--output", options.output, "write it to a file");
}

void AddRaceOptions(CLI::App& app, LoopsFlags& options) {
  AddTaskOptions(app, options);
  AddScheduleOption(app, options);
  app.add_option("--against", options.race.against, "the schedule that it is held against")
      ->capture_default_str();
  AddDuration(app, "--budget", options.race.seconds, "of measuring");
  app.add_option("--seed", options.race.seed, "of the inputs")->capture_default_str();
  app.add_flag("--cold", options.race.cold, "each run finds no buffer in a cache");
  app.add_flag("--no-verify", options.no_verify, "without the comparison");
}

void AddTuneOptions(CLI::App& app, LoopsFlags& options) {
  AddTaskOptions(app, options);
  AddBudget(app, "--budget", options.tune.budget,
            "of searching: 30s, 500steps (schedules), or both");
  app.add_option("--search", options.tune.search,
                 "a searcher: local, greedy, beam, mcts, anneal, policy, …")
      ->capture_default_str();
  app.add_option("--policy", options.tune.policy,
                 "a policy of `hone train --loops`, for searchers that use one")
      ->type_name("FILE");
  app.add_option("--cost-model", options.tune.cost_model,
                 "of `hone-loops-bench costmodel`: it values what the searcher proposes, and the "
                 "best of many are timed")
      ->type_name("FILE");
  app.add_option("--seed", options.tune.seed, "of the search and the inputs")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "write the schedule to a file");
  AddStoreOption(app, options.store)
      ->description(
          "put the schedule here, where it is faster; `hone tune --store` makes kernels by it");
}

}  // namespace

Run AddLoops(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples,
                       void (*add_options)(CLI::App&, LoopsFlags&), int (*run)(const LoopsFlags&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto options = std::make_shared<LoopsFlags>();
      add_options(action, *options);
      return [=] { return run(*options); };
    });
  };
  add("list", "the tasks that come with hone", "  hone loops list --json\n", AddOutputOptions,
      RunList);
  add("show", "a task's nests, MLIR before and after a schedule, and assembly",
      "  hone loops show softmax_64_128\n"
      "  hone loops show my.task --schedule my.schedule --object kernel.o\n",
      AddShowOptions, RunShow);
  add("schedule", "the schedule that rules of thumb make for a task",
      "  hone loops schedule matmul_64_64_64 -o my.schedule\n", AddDefaultOptions, RunDefault);
  add("race", "a schedule against another, in turns, after a comparison with the interpreter",
      "  hone loops race matmul_256_256_512 --budget 3s\n"
      "  hone loops race my.task --schedule my.schedule --against default --cold\n",
      AddRaceOptions, RunRace);
  add("tune", "search for a schedule that beats the rules of thumb; verify it",
      "  hone loops tune matmul_64_64_64 --budget 10s -o my.schedule\n"
      "  hone loops tune my.task --search mcts --budget 200steps --json\n"
      "  hone loops tune my.task --search policy --policy loops.safetensors --budget 20steps\n",
      AddTuneOptions, RunTune);
  return actions.Chosen();
}

}  // namespace hone::cli
