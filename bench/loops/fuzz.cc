// Random tasks under random schedules, each held against the interpreter.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "commands.h"
#include "core/median.h"
#include "loops/tasks.h"
#include "loops/verify.h"
#include "random_task.h"

namespace hone::bench {
namespace {

struct FuzzOptions {
  int count = 1000;
  uint64_t seed = 1;
  int show = 3;  // examples of each rejection
};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find_first_of("\n;")); }

int RunFuzz(const FuzzOptions& options) {
  auto started = loops::Generator::Start({});
  if (!started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 3;
  }
  loops::Generator& generator = **started;
  Rng rng(options.seed);
  int equal = 0, unclear = 0, wrong = 0, lost = 0;
  std::map<std::string, int> rejections;
  const double start = Now();
  for (int i = 0; i < options.count; ++i) {
    const std::string text = RandomTask(rng);
    const auto task = loops::ParseTask(text);
    if (!task) {
      fmt::print("a random task is wrong: {}\n{}", task.error().message, text);
      return 3;
    }
    const loops::Schedule schedule = RandomSchedule(loops::Expand(*task), rng);
    const std::string pair = text + "--\n" + loops::ScheduleText(schedule);
    const auto kernel = loops::MakeKernel(*task, schedule);
    if (!kernel) {
      fmt::print("a legal schedule is none: {}\n{}", kernel.error().message, pair);
      return 3;
    }
    const auto compiled = generator.Compile(*kernel);
    if (!compiled) {
      const bool died = compiled.error().code != ErrorCode::kUnsupported;
      lost += died ? 1 : 0;
      const std::string why = FirstLine(compiled.error().message);
      if (rejections[why]++ < options.show)
        fmt::print("rejected: {}\n{}\n", compiled.error().message, pair);
      continue;
    }
    CompareOptions compare;
    compare.inputs = 1;
    compare.seed = options.seed + static_cast<uint64_t>(i);
    const ComparisonReport report = loops::Verify(generator, *kernel, compare);
    if (report.verdict == Verdict::kEqual) {
      ++equal;
    } else if (report.verdict == Verdict::kDifferent) {
      ++wrong;
      fmt::print("WRONG: {}\n{}\n", report.reason, pair);
    } else {
      ++unclear;
      if (unclear <= options.show) fmt::print("unclear: {}\n{}\n", report.reason, pair);
    }
    if ((i + 1) % 100 == 0) {
      std::fprintf(stderr, "%d of %d: %d equal, %d wrong, %d unclear, %d processes lost\n", i + 1,
                   options.count, equal, wrong, unclear, lost);
    }
  }
  int rejected = 0;
  for (const auto& [why, count] : rejections) {
    fmt::print("{:6} rejected: {}\n", count, why);
    rejected += count;
  }
  fmt::print(
      "{} pairs in {:.0f} s: {} equal, {} rejected with a reason ({} by a lost process), "
      "{} unclear, {} wrong\n",
      options.count, Now() - start, equal, rejected, lost, unclear, wrong);
  return wrong == 0 ? 0 : 1;
}

struct RateOptions {
  std::string task = "matmul_64_64_64";
  double seconds = 20;
};

// How many schedules of a small kernel are compiled and timed a minute.
int RunRate(const RateOptions& options) {
  auto generator = loops::Generator::Start({});
  const loops::KnownTask* const known = loops::FindKnownTask(options.task);
  if (!generator || known == nullptr) {
    std::fprintf(stderr, "no hone-loops, or no such task\n");
    return 3;
  }
  const auto task = loops::ParseTask(known->text);
  Rng rng(1);
  int made = 0, rejected = 0;
  std::vector<double> seconds;
  const double start = Now();
  while (Now() - start < options.seconds) {
    const auto kernel = loops::MakeKernel(*task, RandomSchedule(loops::Expand(*task), rng));
    const auto compiled = (*generator)->Compile(*kernel);
    if (!compiled) {
      ++rejected;
      continue;
    }
    seconds.push_back(compiled->seconds);
    if ((*generator)->Time(*kernel, *kernel, {}, 0, 6, 1, false, 1)) ++made;
  }
  const double minutes = (Now() - start) / 60;
  fmt::print(
      "{}: {:.0f} schedules a minute compiled and timed ({} rejected); compiling takes {:.0f} ms "
      "(median)\n",
      options.task, made / minutes, rejected, 1e3 * Median(seconds));
  return 0;
}

}  // namespace

void AddFuzz(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FuzzOptions>();
  CLI::App* const fuzz = app.add_subcommand("fuzz", "random tasks under random schedules");
  fuzz->add_option("--count", options->count, "pairs");
  fuzz->add_option("--seed", options->seed, "of all that is random");
  fuzz->add_option("--show", options->show, "examples of each rejection");
  fuzz->callback([options, &exit_code] { exit_code = RunFuzz(*options); });
}

void AddRate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RateOptions>();
  CLI::App* const rate = app.add_subcommand("rate", "schedules compiled and timed a minute");
  rate->add_option("--task", options->task, "of `hone loops list`");
  rate->add_option("--seconds", options->seconds, "of measuring");
  rate->callback([options, &exit_code] { exit_code = RunRate(*options); });
}

}  // namespace hone::bench
