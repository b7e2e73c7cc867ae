// hone loops: kernels as loop nests, and schedules of them.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/extract_loops.h"
#include "jobs/schedule_loops.h"
#include "jobs/write_file.h"
#include "loops/tasks.h"

namespace hone::cli {
namespace {

struct LoopsFlags {
  CommonOptions common;  // of what starts workers
  jobs::ExtractLoopsOptions extract;
  jobs::LoopsOptions loops;
  jobs::RaceLoopsOptions race{"default", "none"};  // its schedule is also what `show` shows
  jobs::TuneLoopsOptions tune{"local", "", "", {30, std::numeric_limits<int64_t>::max()}};
  std::string output;
  std::string object;
  bool assembly = false;
  bool json = false;
  bool quiet = false;
};

int RunList(const LoopsFlags& flags) {
  if (flags.json) return Finish(jobs::KnownTasksJson(), kFine);
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

int RunShow(const LoopsFlags& flags) {
  const auto shown = jobs::ShowLoops(flags.loops, flags.race.schedule);
  if (!shown) return Fail(shown.error(), flags.json);
  if (auto wrote = jobs::WriteIfNamed(flags.object, shown->compiled.object); !wrote) {
    return Fail(wrote.error(), flags.json);
  }
  if (flags.json) return Finish(ToJson(*shown), kFine);
  std::string text = "# the task\n" + loops::TaskText(shown->task) +
                     "\n# its nests: iterations, r where "
                     "a loop reduces\n" +
                     NestsText(shown->scheduled) + "\n# the schedule\n" +
                     loops::ScheduleText(shown->schedule) + "\n// before\n" +
                     shown->payload.module + "\n// the schedule as a transform script\n" +
                     shown->payload.script + "\n// after\n" + shown->compiled.restructured;
  if (flags.assembly) {
    text += "\n# for " + shown->compiled.processor + "\n" + shown->compiled.assembly;
  }
  return Finish(text, kFine);
}

int RunDefault(const LoopsFlags& flags) {
  const auto schedule = jobs::DefaultScheduleOf(flags.loops);
  if (!schedule) return Fail(schedule.error(), flags.json);
  const std::string text = loops::ScheduleFile(*schedule);
  if (flags.output.empty()) return Finish(text, kFine);
  const auto wrote = jobs::WriteIfNamed(flags.output, text);
  return wrote ? int{kFine} : Fail(wrote.error(), flags.json);
}

int RunRace(const LoopsFlags& flags) {
  const jobs::RaceLoopsOptions& racing = flags.race;
  CommandEvents events(!flags.quiet);
  const auto raced = jobs::RaceLoops(flags.loops, racing, events);
  if (!raced) return Fail(raced.error(), flags.json);
  if (raced->verified.verdict == Verdict::kDifferent) {
    (void)Fail(
        {ErrorCode::kInternal, "the kernel computes something else: " + raced->verified.reason},
        flags.loops.task, flags.json);
    return kDifferent;
  }
  const int code = events.CodeOr(kFine);
  if (flags.json) return Finish(ToJson(*raced, racing), code);
  const RaceReport& race = raced->race;
  if (race.same_executable) {
    return Finish(fmt::format("{}: '{}' and '{}' are one schedule here: there is nothing to race\n",
                              raced->task.name, racing.schedule, racing.against),
                  code);
  }
  std::string text = fmt::format("{:<30} {:>10} {:>10} {:>8} {:>17} {:>9} {:>9}\n", "TASK", "A ms",
                                 "B ms", "SPEEDUP", "95 %", "GFLOP/s", "VERIFIED");
  text += fmt::format("{:<30} {:>10.4g} {:>10.4g} {:>8.3f} {:>17} {:>9.4g} {:>9}\n",
                      raced->task.name, 1e3 * race.seconds_a, 1e3 * race.seconds_b, race.speedup,
                      fmt::format("[{:.3f}, {:.3f}]", race.low, race.high), raced->gflops(),
                      VerifiedText(*raced, racing));
  const ComparisonReport& verified = raced->verified;
  if (!verified.reason.empty()) text += "  " + verified.reason + "\n";
  if (verified.verdict == Verdict::kEqual && verified.inputs < CompareOptions().inputs) {
    text += "  " + verified.method + "\n";  // why they were fewer
  }
  return Finish(text, code);
}

int RunTune(const LoopsFlags& flags) {
  CommandEvents events(!flags.quiet);
  const auto tuned = jobs::TuneLoops(flags.loops, flags.tune, events);
  if (!tuned) return Fail(tuned.error(), flags.json);
  const loops::TuneReport& report = tuned->report;
  const int code = events.CodeOr(kFine);
  if (flags.json) return Finish(ToJson(*tuned, flags.tune), code);
  const RaceReport& race = report.race;
  std::string text = fmt::format("{:<30} {:>8} {:>17} {:>9} {:>10} {:>9} {:>8}\n", "TASK",
                                 "SPEEDUP", "95 %", "VERIFIED", "SCHEDULES", "REJECTED", "SECONDS");
  text += fmt::format("{:<30} {:>8.3f} {:>17} {:>9} {:>10} {:>9} {:>8.1f}\n", tuned->task.name,
                      race.speedup, fmt::format("[{:.3f}, {:.3f}]", race.low, race.high),
                      tuned->verified() ? "true" : "can't tell", report.tried, report.rejected,
                      report.seconds);
  return Finish(text + loops::ScheduleText(report.schedule), code);
}

int RunExtract(const LoopsFlags& flags) {
  CommandEvents events(flags.common);
  const auto tasks = jobs::ExtractLoops(flags.extract, flags.common, events);
  if (!tasks) return Fail(tasks.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*tasks, flags.extract), kFine);
  std::string text = fmt::format("{:<30} {:<14} {:>10} {:>11}\n", "TASK", "KIND", "FLOPS", "BYTES");
  for (const jobs::ExtractedTask& one : *tasks) {
    text += fmt::format("{:<30} {:<14} {:>10} {:>11}\n", one.name, one.kind,
                        HumanCount(loops::Flops(one.task)), HumanBytes(loops::Bytes(one.task)));
  }
  if (tasks->empty()) text = "there is nothing here that hone-loops makes a kernel of\n";
  return Finish(text, kFine);
}

void AddOutputOptions(CLI::App& app, LoopsFlags& flags) {
  app.add_flag("--json", flags.json, "results as JSON on stdout");
  app.add_flag("-q,--quiet", flags.quiet, "no progress");
}

void AddTaskOptions(CLI::App& app, LoopsFlags& flags) {
  AddWord(app, "TASK", flags.loops.task, "a file, or a task of `hone loops list`");
  app.add_option("--threads", flags.loops.threads,
                 "that share the work; the machine's unless given")
      ->check(CLI::Range(1, 256));
  AddNoFlag(app, "--no-sandbox", flags.loops.sandbox, "hone-loops may do what this user may");
  AddOutputOptions(app, flags);
}

void AddScheduleOption(CLI::App& app, LoopsFlags& flags) {
  app.add_option("--schedule", flags.race.schedule,
                 "a file, `default` (rules of thumb) or `none` (plain loops)")
      ->capture_default_str();
}

void AddExtractOptions(CLI::App& app, LoopsFlags& flags) {
  AddWord(app, "FILE", flags.extract.file, "the program");
  app.add_option("--plan", flags.extract.plan,
                 "a plan whose passes put the kernels in; all that make kernels unless given")
      ->type_name("FILE");
  app.add_option("-o,--output", flags.extract.folder, "write each task to a file in a folder")
      ->type_name("FOLDER");
  AddProgramOptions(app, flags.common);
}

void AddShowOptions(CLI::App& app, LoopsFlags& flags) {
  AddTaskOptions(app, flags);
  AddScheduleOption(app, flags);
  app.add_flag("--assembly", flags.assembly, "also the machine code");
  app.add_option("--object", flags.object, "write the object code (ELF) to a file");
}

void AddDefaultOptions(CLI::App& app, LoopsFlags& flags) {
  AddTaskOptions(app, flags);
  app.add_flag("--without-tiles", flags.loops.without_tiles,
               "products by vectors, on processors with a matrix unit (AMX) too");
  app.add_option("-o,--output", flags.output, "write it to a file");
}

void AddRaceOptions(CLI::App& app, LoopsFlags& flags) {
  AddTaskOptions(app, flags);
  AddScheduleOption(app, flags);
  app.add_option("--against", flags.race.against, "the schedule that it is held against")
      ->capture_default_str();
  AddDuration(app, "--budget", flags.race.seconds, "of measuring");
  app.add_option("--seed", flags.race.seed, "of the inputs")->capture_default_str();
  app.add_flag("--cold", flags.race.cold, "each run finds no buffer in a cache");
  AddNoFlag(app, "--no-verify", flags.race.verify, "without the comparison");
}

void AddTuneOptions(CLI::App& app, LoopsFlags& flags) {
  AddTaskOptions(app, flags);
  AddBudget(app, "--budget", flags.tune.budget, "of searching: 30s, 500steps (schedules), or both");
  app.add_option("--search", flags.tune.search,
                 "a searcher: local, greedy, beam, mcts, anneal, policy, …")
      ->capture_default_str();
  app.add_option("--policy", flags.tune.policy,
                 "a policy of `hone train --loops`, for searchers that use one")
      ->type_name("FILE");
  app.add_option("--cost-model", flags.tune.cost_model,
                 "of `hone-loops-bench costmodel`: it values what the searcher proposes, and the "
                 "best of many are timed")
      ->type_name("FILE");
  app.add_option("--seed", flags.tune.seed, "of the search and the inputs")->capture_default_str();
  app.add_option("-o,--output", flags.tune.output, "write the schedule to a file");
  AddStoreOption(app, flags.tune.store)
      ->description(
          "put the schedule here, where it is faster; `hone tune --store` makes kernels by it");
}

}  // namespace

Run AddLoops(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples,
                       void (*add_options)(CLI::App&, LoopsFlags&), int (*run)(const LoopsFlags&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto flags = std::make_shared<LoopsFlags>();
      add_options(action, *flags);
      return [=] { return run(*flags); };
    });
  };
  add("list", "the tasks that come with hone", "  hone loops list --json\n", AddOutputOptions,
      RunList);
  add("extract", "the tasks of a program: what kernels would be made of, each once",
      "  hone loops extract model.hlo -o tasks\n"
      "  hone loops tune tasks/task000_product.task --budget 30s --store tuned.db\n",
      AddExtractOptions, RunExtract);
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
