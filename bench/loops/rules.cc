// The rules of thumb's schedules against those that they made before: kept in a folder by one
// build, raced by another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "loops/default_schedule.h"
#include "loops/race.h"
#include "loops/tasks.h"
#include "loops/verify.h"

namespace hone::bench {
namespace {

struct RulesOptions {
  std::vector<std::string> files;  // of tasks
  bool known = false;
  double most_bytes = 64e6;
  size_t drawn = 0;
  uint64_t drawn_seed = 1000;
  std::string filter;
  int threads = 1;
  std::string keep, against;
  double budget = 1;
  bool no_verify = false;
};

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<loops::KnownTask> TasksOf(const RulesOptions& options) {
  std::vector<loops::KnownTask> tasks = loops::DrawTasks(options.drawn, options.drawn_seed);
  if (options.known) {
    tasks.insert(tasks.begin(), loops::KnownTasks().begin(), loops::KnownTasks().end());
  }
  for (const std::string& file : options.files) {
    tasks.push_back({std::filesystem::path(file).stem(), "file", file, ReadFile(file)});
  }
  std::erase_if(tasks, [&](const loops::KnownTask& known) {
    const auto task = loops::ParseTask(known.text);
    if (!task) std::fprintf(stderr, "%s: %s\n", known.name.c_str(), task.error().message.c_str());
    return !task || known.name.find(options.filter) == std::string::npos ||
           loops::Bytes(*task) > options.most_bytes;
  });
  return tasks;
}

struct Raced {
  double before = 0, after = 0;  // seconds
  double speedup = 1, low = 1, high = 1;
};

// Nothing where it does not compute what it should.
std::optional<Raced> RaceRules(loops::Generator& generator, const RulesOptions& options,
                               const loops::Task& task, const loops::Schedule& before,
                               const loops::Schedule& after) {
  const auto a = loops::MakeKernel(task, before), b = loops::MakeKernel(task, after);
  if (!a || !b) {
    fmt::print("{}: {}\n", task.name, (!a ? a.error() : b.error()).message);
    return std::nullopt;
  }
  if (!options.no_verify) {
    CompareOptions compare = loops::UsualComparison();
    compare.inputs = 1;
    const ComparisonReport report = loops::Verify(generator, *b, compare);
    if (report.verdict == Verdict::kDifferent) {
      fmt::print("{}: WRONG: {}\n", task.name, report.reason);
      return std::nullopt;
    }
  }
  RaceOptions race;
  race.budget_seconds = options.budget;
  const auto raced = loops::Race(generator, *a, *b, race, false, options.threads);
  if (!raced) {
    fmt::print("{}: {}\n", task.name, raced.error().message);
    return std::nullopt;
  }
  return Raced{raced->seconds_a, raced->seconds_b, raced->speedup, raced->low, raced->high};
}

int RunRules(const RulesOptions& options) {
  const loops::Machine machine = loops::ThisMachine(options.threads);
  const std::vector<loops::KnownTask> tasks = TasksOf(options);
  const auto schedule_of = [&](const loops::KnownTask& known) {
    return loops::DefaultSchedule(loops::Expand(*loops::ParseTask(known.text)), machine);
  };
  if (!options.keep.empty()) {
    std::filesystem::create_directories(options.keep);
    for (const loops::KnownTask& known : tasks) {
      std::ofstream(std::filesystem::path(options.keep) / (known.name + ".schedule"))
          << loops::ScheduleText(schedule_of(known));
    }
    return 0;
  }
  const auto generator = loops::Generator::Start({});
  if (!generator) {
    std::fprintf(stderr, "%s\n", generator.error().message.c_str());
    return 3;
  }
  fmt::print("| task | before ms | now ms | times as fast | 95 % |\n|---|---|---|---|---|\n");
  std::map<std::string, std::vector<double>> kinds;
  int wrong = 0, same = 0;
  for (const loops::KnownTask& known : tasks) {
    const auto before = loops::ParseSchedule(
        ReadFile(std::filesystem::path(options.against) / (known.name + ".schedule")));
    if (!before) {
      std::fprintf(stderr, "%s: %s\n", known.name.c_str(), before.error().message.c_str());
      return 2;
    }
    const loops::Schedule after = schedule_of(known);
    if (*before == after) {
      ++same;
      continue;
    }
    const auto task = loops::ParseTask(known.text);
    const auto raced = RaceRules(**generator, options, *task, *before, after);
    if (!raced) {
      ++wrong;
      continue;
    }
    fmt::print("| {} | {:.4g} | {:.4g} | {:.3f} | {:.3f}-{:.3f} |\n", known.name,
               1e3 * raced->before, 1e3 * raced->after, raced->speedup, raced->low, raced->high);
    std::fflush(stdout);
    kinds[known.kind].push_back(std::log(raced->speedup));
  }
  fmt::print("\n{} tasks have the same schedule as before\n", same);
  for (const auto& [kind, logs] : kinds) {
    double sum = 0;
    for (const double value : logs) sum += value;
    fmt::print("{}, geometric mean of {}: {:.3f}\n", kind, logs.size(),
               std::exp(sum / static_cast<double>(logs.size())));
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

void AddRules(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RulesOptions>();
  CLI::App* const rules = app.add_subcommand(
      "rules", "the rules of thumb's schedules against those of another build, in turns");
  rules->add_option("TASK", options->files, "files of tasks");
  rules->add_flag("--known", options->known, "the tasks that come with hone");
  rules->add_option("--drawn", options->drawn, "so many tasks of drawn sizes");
  rules->add_option("--drawn-seed", options->drawn_seed, "that they are drawn by");
  rules->add_option("--filter", options->filter, "only tasks with this in their names");
  rules->add_option("--most-bytes", options->most_bytes, "only tasks up to this");
  rules->add_option("--threads", options->threads, "that share the work");
  rules->add_option("--budget", options->budget, "seconds of each race");
  rules->add_flag("--no-verify", options->no_verify, "without a comparison with the interpreter");
  CLI::Option* const keep =
      rules->add_option("--keep", options->keep, "write the schedules into this folder");
  rules->add_option("--against", options->against, "race them against those in this folder")
      ->excludes(keep);
  rules->callback([options, &exit_code] { exit_code = RunRules(*options); });
}

}  // namespace hone::bench
