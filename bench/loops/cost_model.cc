// A cost model of schedules: measurements of many, training on them, and what tuning gains by it.
#include "loops/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "commands.h"
#include "core/fnv.h"
#include "cost/train_cost_model.h"
#include "loops/estimate.h"
#include "loops/race.h"
#include "loops/search.h"
#include "loops/tasks.h"
#include "loops/timer.h"
#include "loops/tune.h"

namespace hone::bench {
namespace {

using Json = nlohmann::json;

struct MeasureOptions {
  std::string output;
  size_t drawn = 100;
  uint64_t drawn_seed = 1;
  double most_bytes = 32e6;
  int schedules = 40;
  std::string searchers = "random,local";
  uint64_t seed = 1;
  int threads = 1;
  double seconds = 1e9;
};

struct CostModelOptions {
  std::vector<std::string> files;
  std::string output;
  uint64_t folds = 5;
  uint64_t seed = 1;
  size_t trees = 150;
};

struct RankedOptions {
  std::string model;
  size_t drawn = 10;
  uint64_t drawn_seed = 5000;
  double most_bytes = 32e6;
  int64_t steps = 30;
  double seconds = 600;
  std::string search = "local";
  uint64_t seed = 1;
  int threads = 1;
};

std::vector<loops::KnownTask> Drawn(size_t count, uint64_t seed, double most_bytes) {
  std::vector<loops::KnownTask> tasks = loops::DrawTasks(count, seed);
  std::erase_if(tasks, [&](const loops::KnownTask& known) {
    return loops::Bytes(*loops::ParseTask(known.text)) > most_bytes;
  });
  return tasks;
}

// A line for each schedule: the task, the schedule, the logarithm of its time by the default's.
int RunMeasure(const MeasureOptions& options) {
  const auto generator = loops::Generator::Start({});
  if (!generator) {
    std::fprintf(stderr, "%s\n", generator.error().message.c_str());
    return 3;
  }
  const loops::Machine machine = loops::ThisMachine(options.threads);
  std::ofstream file(options.output, std::ios::app);
  const double end = Now() + options.seconds;
  size_t lines = 0;
  for (const auto& known : Drawn(options.drawn, options.drawn_seed, options.most_bytes)) {
    if (Now() > end) break;
    const auto task = loops::ParseTask(known.text);
    const loops::Catalogue catalogue(loops::Expand(*task), machine);
    const auto stock = loops::MakeKernel(*task, catalogue.default_schedule());
    auto timer = loops::ScheduleTimer::Make(**generator, *stock, options.threads);
    if (!timer) continue;
    std::map<std::string, std::optional<double>> done;
    int timed = 0, wanted = 0;
    const std::vector<std::string> searchers = Split(options.searchers);
    for (const std::string& searcher : searchers) {
      wanted += options.schedules / static_cast<int>(searchers.size());
      loops::SearchOptions search;
      search.search = searcher;
      search.seed = options.seed;
      size_t asked = 0;
      const auto measure = [&](const loops::Scheduled& scheduled) -> std::optional<double> {
        ++asked;
        const std::string text = loops::ScheduleText(scheduled.schedule());
        if (const auto found = done.find(text); found != done.end()) return found->second;
        const auto kernel = loops::MakeKernel(*task, scheduled.schedule());
        const auto value = timer->Time(*kernel);
        ++timed;
        if (!value) return done[text] = std::nullopt;
        file << Json{{"task", known.text},
                     {"schedule", text},
                     {"threads", options.threads},
                     {"value", *value}}
                    .dump()
             << "\n";
        ++lines;
        return done[text] = *value;
      };
      const Status searched = loops::SearchSchedules(catalogue, search, measure, [&] {
        return timed >= wanted || Now() > end || asked > 100 * static_cast<size_t>(wanted);
      });
      if (!searched) {
        std::fprintf(stderr, "%s\n", searched.error().message.c_str());
        return 2;
      }
    }
    file.flush();
    std::fprintf(stderr, "%s: %d\n", known.name.c_str(), timed);
  }
  fmt::print("{} schedules timed\n", lines);
  return 0;
}

struct Measured {
  std::vector<std::string> tasks;  // with threads: schedules of one task on so many are ordered
  std::vector<uint64_t> fold;      // of the tasks, without the threads
  std::vector<loops::TimedSchedule> timed;
};

Measured ReadMeasured(const std::vector<std::string>& files) {
  Measured measured;
  std::map<std::string, size_t> numbers;
  std::vector<std::vector<float>> by_default;
  for (const std::string& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object()) continue;  // the last of a run that was ended
      const auto task = loops::ParseTask(json.at("task").get<std::string>());
      const auto schedule = loops::ParseSchedule(json.at("schedule").get<std::string>());
      if (!task || !schedule) continue;
      const loops::Machine machine = loops::ThisMachine(json.at("threads").get<int>());
      const loops::Program program = loops::Expand(*task);
      const auto scheduled = loops::Apply(program, *schedule);
      if (!scheduled) continue;
      const std::string hash = loops::FingerprintOf(*task).ToHex();
      const auto [at, is_new] =
          numbers.emplace(fmt::format("{} {}", hash, machine.threads), measured.tasks.size());
      if (is_new) {
        measured.tasks.push_back(task->name);
        measured.fold.push_back(Fnv1a(hash));
        by_default.push_back(loops::ScheduleFeatures(
            *loops::Apply(program, loops::DefaultSchedule(program, machine)), machine));
      }
      measured.timed.push_back({at->second, loops::ScheduleFeatures(*scheduled, machine),
                                by_default[at->second], json.at("value").get<double>()});
    }
  }
  return measured;
}

loops::LoopsCostOptions TrainingOf(const CostModelOptions& options) {
  loops::LoopsCostOptions training;
  training.seed = options.seed;
  training.boosting.trees = options.trees;
  return training;
}

void PrintQuality(const char* name, const std::vector<cost::RankQuality>& qualities) {
  const auto mean = [&](auto of) {
    double sum = 0, squares = 0;
    for (const auto& quality : qualities) {
      sum += of(quality);
      squares += of(quality) * of(quality);
    }
    const auto n = static_cast<double>(qualities.size());
    return std::pair(sum / n, 1.96 * std::sqrt(std::max(0.0, squares / n - sum * sum / n / n) / n));
  };
  const auto [tau, tau_doubt] = mean([](const auto& quality) { return quality.kendall; });
  const auto [best, best_doubt] =
      mean([](const auto& quality) { return -std::log(quality.best_of_5); });
  fmt::print("| {} | {:.3f} | {:.3f}-{:.3f} | {:.3f} | {:.3f}-{:.3f} |\n", name, tau,
             tau - tau_doubt, tau + tau_doubt, std::exp(best), std::exp(best - best_doubt),
             std::exp(best + best_doubt));
}

int RunCostModel(const CostModelOptions& options) {
  const Measured measured = ReadMeasured(options.files);
  if (measured.timed.empty()) {
    std::fprintf(stderr, "there are no measurements; make some with `hone-loops-bench measure`\n");
    return 2;
  }
  if (!options.output.empty()) {
    loops::LoopsCostModel model = loops::TrainLoopsCostModel(measured.timed, TrainingOf(options));
    model.card = {{"schedules", std::to_string(measured.timed.size())},
                  {"tasks", std::to_string(measured.tasks.size())},
                  {"seed", std::to_string(options.seed)}};
    std::ofstream(options.output, std::ios::binary) << loops::WriteLoopsCostModel(model);
    fmt::print("{} schedules of {} tasks; written to {}\n", measured.timed.size(),
               measured.tasks.size(), options.output);
    return 0;
  }
  // Each task by a model that has seen none of it.
  std::vector<cost::Example> examples;
  for (const loops::TimedSchedule& one : measured.timed) {
    cost::Example example;
    example.program = fmt::format("{} {}", measured.tasks[one.task], one.task);
    example.value = one.value;
    examples.push_back(example);
  }
  std::vector<double> by_model(examples.size()), by_estimate(examples.size());
  for (uint64_t fold = 0; fold < options.folds; ++fold) {
    std::vector<loops::TimedSchedule> others;
    for (const auto& one : measured.timed) {
      if (measured.fold[one.task] % options.folds != fold) others.push_back(one);
    }
    if (others.empty()) continue;
    const loops::LoopsCostModel model = loops::TrainLoopsCostModel(others, TrainingOf(options));
    for (size_t i = 0; i < examples.size(); ++i) {
      const auto& one = measured.timed[i];
      if (measured.fold[one.task] % options.folds != fold) continue;
      by_model[i] = model.Predict(one.features, one.by_default);
      by_estimate[i] = one.features.back();
    }
  }
  constexpr size_t kLeast = 8;
  const auto of_model = cost::RankQualities(examples, by_model, kLeast);
  const auto of_estimate = cost::RankQualities(examples, by_estimate, kLeast);
  fmt::print(
      "{} schedules; {} tasks, each judged by a model that was not trained on it\n\n| | Kendall's "
      "tau | 95 % | best of top 5, times as slow as the best | 95 % |\n|---|---|---|---|---|\n",
      examples.size(), of_model.size());
  PrintQuality("model", of_model);
  PrintQuality("estimate", of_estimate);
  return 0;
}

// Tasks tuned with the model and without, equally long; both results raced.
int RunRanked(const RankedOptions& options) {
  std::ifstream file(options.model, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto model = loops::ReadLoopsCostModel(bytes);
  const auto generator = loops::Generator::Start({});
  if (!model || !generator) {
    std::fprintf(stderr, "%s\n", (!model ? model.error() : generator.error()).message.c_str());
    return 2;
  }
  fmt::print(
      "| task | `{}` | tried | with the model | tried | against it | 95 % |\n"
      "|---|---|---|---|---|---|---|\n",
      options.search);
  double sum = 0, plain_sum = 0, model_sum = 0;
  int count = 0;
  for (const auto& known : Drawn(options.drawn, options.drawn_seed, options.most_bytes)) {
    const auto task = loops::ParseTask(known.text);
    loops::TuneReport reports[2];
    bool fine = true;
    for (int i = 0; i < 2 && fine; ++i) {
      loops::TuneOptions tune;
      tune.search.search = options.search;
      tune.search.seed = options.seed;
      tune.budget_seconds = options.seconds;
      tune.budget_steps = options.steps;
      tune.machine = loops::ThisMachine(options.threads);
      if (i == 1) tune.cost_model = *model;
      const auto tuned = loops::Tune(**generator, *task, tune);
      fine = tuned.has_value();
      if (fine) reports[i] = *tuned;
    }
    if (!fine) continue;
    RaceOptions race;
    race.budget_seconds = 1;
    const auto raced =
        loops::Race(**generator, *loops::MakeKernel(*task, reports[0].schedule),
                    *loops::MakeKernel(*task, reports[1].schedule), race, false, options.threads);
    if (!raced) continue;
    const auto speedup = [](const loops::TuneReport& report) {
      return report.race.same_executable ? 1.0 : report.race.speedup;
    };
    const double against = raced->same_executable ? 1 : raced->speedup;
    fmt::print("| {} | {:.3f} | {} | {:.3f} | {} | {:.3f} | {:.3f}-{:.3f} |\n", known.name,
               speedup(reports[0]), reports[0].tried, speedup(reports[1]), reports[1].tried,
               against, raced->low, raced->high);
    std::fflush(stdout);
    sum += std::log(against);
    plain_sum += std::log(speedup(reports[0]));
    model_sum += std::log(speedup(reports[1]));
    ++count;
  }
  fmt::print("\ngeometric means of {}: {:.3f} without, {:.3f} with; against it {:.3f}\n", count,
             std::exp(plain_sum / count), std::exp(model_sum / count), std::exp(sum / count));
  return 0;
}

}  // namespace

void AddCostModel(CLI::App& app, int& exit_code) {
  auto measuring = std::make_shared<MeasureOptions>();
  CLI::App* const measure =
      app.add_subcommand("measure", "schedules of drawn tasks, timed: to learn their cost from");
  measure->add_option("-o,--output", measuring->output, "append a line of JSON for each")
      ->required();
  measure->add_option("--drawn", measuring->drawn, "so many tasks of drawn sizes");
  measure->add_option("--drawn-seed", measuring->drawn_seed, "that they are drawn by");
  measure->add_option("--most-bytes", measuring->most_bytes, "only tasks up to this");
  measure->add_option("--schedules", measuring->schedules, "of each task");
  measure->add_option("--searchers", measuring->searchers, "that propose them, equally many each");
  measure->add_option("--seed", measuring->seed, "of the searchers");
  measure->add_option("--threads", measuring->threads, "that share the work");
  measure->add_option("--seconds", measuring->seconds, "of measuring");
  measure->callback([measuring, &exit_code] { exit_code = RunMeasure(*measuring); });

  auto training = std::make_shared<CostModelOptions>();
  CLI::App* const train = app.add_subcommand(
      "costmodel", "a model of schedules' costs: trained, or judged on tasks not trained on");
  train->add_option("FILE", training->files, "what `measure` wrote")->required();
  train->add_option("-o,--output", training->output, "train on all, and write the model here");
  train->add_option("--folds", training->folds, "into which tasks are divided to judge it");
  train->add_option("--seed", training->seed, "of the training");
  train->add_option("--trees", training->trees, "of the model");
  train->callback([training, &exit_code] { exit_code = RunCostModel(*training); });

  auto ranking = std::make_shared<RankedOptions>();
  CLI::App* const ranked =
      app.add_subcommand("ranked", "tuning with a cost model against tuning without");
  ranked->add_option("--cost-model", ranking->model, "of `costmodel`")->required();
  ranked->add_option("--drawn", ranking->drawn, "so many tasks of drawn sizes");
  ranked->add_option("--drawn-seed", ranking->drawn_seed, "that they are drawn by");
  ranked->add_option("--most-bytes", ranking->most_bytes, "only tasks up to this");
  ranked->add_option("--steps", ranking->steps, "schedules that each may time");
  ranked->add_option("--seconds", ranking->seconds, "of each search");
  ranked->add_option("--search", ranking->search, "the searcher of both");
  ranked->add_option("--seed", ranking->seed, "of the search");
  ranked->add_option("--threads", ranking->threads, "that share the work");
  ranked->callback([ranking, &exit_code] { exit_code = RunRanked(*ranking); });
}

}  // namespace hone::bench
