// Searchers and a trained policy on tasks that the policy was not trained on, after equally many
// schedules, by the estimate that is the same everywhere; or, with --time, two of them by the
// clock.
#include "loops/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"
#include "loops/estimate.h"
#include "loops/race.h"
#include "loops/tasks.h"
#include "loops/tune.h"

namespace hone::bench {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

namespace {

struct SearchBenchOptions {
  std::string policy;
  size_t drawn = 50;
  uint64_t drawn_seed = 1000;
  bool known = false;
  size_t schedules = 200;
  int seeds = 3;
  std::string searchers = "random,local,mcts";
  bool from_plain = false;
  bool time = false;
  int threads = 0;
};

// Those of the policy's training left out.
std::vector<loops::KnownTask> HeldOut(const SearchBenchOptions& options,
                                      const loops::LoopsPolicy* policy) {
  const auto fingerprint = [](const loops::KnownTask& task) {
    return loops::FingerprintOf(*loops::ParseTask(task.text)).ToHex();
  };
  std::set<std::string> trained;
  if (policy != nullptr) {
    const auto number = [&](const char* key) {
      const auto found = policy->metadata().find(key);
      return found == policy->metadata().end() ? 0
                                               : std::strtoull(found->second.c_str(), nullptr, 10);
    };
    for (const auto& task : loops::DrawTasks(number("drawn"), number("drawn_seed"))) {
      trained.insert(fingerprint(task));
    }
  }
  std::vector<loops::KnownTask> tasks;
  for (const auto& task :
       options.known ? loops::KnownTasks() : loops::DrawTasks(options.drawn, options.drawn_seed)) {
    if (trained.count(fingerprint(task)) == 0) tasks.push_back(task);
  }
  return tasks;
}

// The lowest logarithm of a cost after 1, 2, … schedules.
std::vector<double> Curve(const loops::Catalogue& catalogue, const loops::SearchOptions& search,
                          size_t schedules) {
  std::map<std::string, double> known;
  std::vector<double> curve;
  const auto measure = [&](const loops::Scheduled& scheduled) -> std::optional<double> {
    const auto [at, is_new] = known.emplace(loops::ScheduleText(scheduled.schedule()), 0);
    if (is_new) {
      at->second = std::log(loops::EstimatedCost(scheduled, loops::kEstimatedMachine));
      curve.push_back(curve.empty() ? at->second : std::min(curve.back(), at->second));
    }
    return at->second;
  };
  // Of some tasks there are fewer schedules than that.
  constexpr size_t kAsksEach = 200;
  size_t asks = 0;
  const auto over = [&] { return curve.size() >= schedules || ++asks > kAsksEach * schedules; };
  const Status searched = loops::SearchSchedules(catalogue, search, measure, over);
  if (!searched) std::fprintf(stderr, "%s\n", searched.error().message.c_str());
  curve.resize(schedules, curve.empty() ? 0 : curve.back());
  return curve;
}

// By method: for each task its curves, one a seed.
using Curves = std::map<std::string, std::vector<std::vector<std::vector<double>>>>;

int Estimated(const SearchBenchOptions& options, std::vector<std::string> methods,
              const std::shared_ptr<const loops::LoopsPolicy>& policy,
              const std::vector<loops::KnownTask>& tasks) {
  Curves curves;
  std::vector<double> plain, rules;
  for (const loops::KnownTask& known : tasks) {
    const auto task = loops::ParseTask(known.text);
    const loops::Catalogue catalogue(loops::Expand(*task), loops::kEstimatedMachine);
    const auto cost = [&](const loops::Schedule& schedule) {
      return std::log(loops::EstimatedCost(*loops::Apply(catalogue.program(), schedule),
                                           loops::kEstimatedMachine));
    };
    plain.push_back(cost({}));
    rules.push_back(cost(catalogue.default_schedule()));
    for (const std::string& method : methods) {
      const bool follows = method.starts_with("policy");
      auto& of_task = curves[method].emplace_back();
      for (int seed = 1; seed <= (method == "policy_greedy" ? 1 : options.seeds); ++seed) {
        loops::SearchOptions search;
        search.search = method;
        search.seed = static_cast<uint64_t>(seed);
        search.from_default = !options.from_plain;
        if (follows) search.policy = policy;
        of_task.push_back(Curve(catalogue, search, options.schedules));
      }
    }
    std::fprintf(stderr, "%s\n", known.name.c_str());
  }
  // What search finds: the best of the searchers without a policy, of their means over seeds.
  const auto mean = [&](const std::string& method, size_t task, size_t after) {
    double sum = 0;
    for (const auto& curve : curves[method][task]) sum += curve[after - 1];
    return sum / static_cast<double>(curves[method][task].size());
  };
  std::vector<double> found(tasks.size(), 1e300);
  for (size_t t = 0; t < tasks.size(); ++t) {
    for (const std::string& method : methods) {
      if (method.starts_with("policy")) continue;
      found[t] = std::min(found[t], mean(method, t, options.schedules));
    }
  }
  std::vector<size_t> columns;
  for (const size_t after : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000}) {
    if (after <= options.schedules) columns.push_back(after);
  }
  double gain = 0, thumb = 0;
  for (size_t t = 0; t < tasks.size(); ++t) {
    gain += plain[t] - found[t];
    thumb += found[t] - rules[t];
  }
  const auto n = static_cast<double>(tasks.size());
  fmt::print(
      "{} tasks; what search finds in {} schedules is {:.2f} times as fast as plain loops; "
      "the rules of thumb's is {:.3f} of it\n\n| share of it after |",
      tasks.size(), options.schedules, std::exp(gain / n), std::exp(thumb / n));
  for (const size_t after : columns) fmt::print(" {} |", after);
  fmt::print("\n|---|");
  for (size_t i = 0; i < columns.size(); ++i) fmt::print("---|");
  for (const std::string& method : methods) {
    fmt::print("\n| `{}` |", method);
    for (const size_t after : columns) {
      double sum = 0;
      for (size_t t = 0; t < tasks.size(); ++t) sum += found[t] - mean(method, t, after);
      fmt::print(" {:.3f} |", std::exp(sum / n));
    }
  }
  // By kind, after all and after a tenth of it.
  fmt::print("\n\n| kind | tasks |");
  for (const std::string& method : methods) fmt::print(" `{}` | a tenth |", method);
  fmt::print("\n|---|---|");
  for (size_t i = 0; i < 2 * methods.size(); ++i) fmt::print("---|");
  std::set<std::string> kinds;
  for (const auto& task : tasks) kinds.insert(task.kind);
  for (const std::string& kind : kinds) {
    std::vector<size_t> of_kind;
    for (size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind == kind) of_kind.push_back(t);
    }
    fmt::print("\n| {} | {} |", kind, of_kind.size());
    for (const std::string& method : methods) {
      for (const size_t after : {options.schedules, std::max<size_t>(1, options.schedules / 10)}) {
        double sum = 0;
        for (const size_t t : of_kind) sum += found[t] - mean(method, t, after);
        fmt::print(" {:.3f} |", std::exp(sum / static_cast<double>(of_kind.size())));
      }
    }
  }
  fmt::print("\n");
  return 0;
}

// Each task tuned by the first searcher, from the rules of thumb's schedule, and with a tenth of
// the schedules by the policy, from plain loops; what they found is then raced.
int Timed(const SearchBenchOptions& options, const std::string& searcher,
          const std::shared_ptr<const loops::LoopsPolicy>& policy,
          const std::vector<loops::KnownTask>& tasks) {
  const loops::Machine machine = loops::ThisMachine(options.threads);
  auto generator = loops::Generator::Start({});
  if (!generator) {
    std::fprintf(stderr, "%s\n", generator.error().message.c_str());
    return 3;
  }
  fmt::print(
      "| task | `{}`, {} schedules | policy, {} | policy against it | 95 % "
      "|\n|---|---|---|---|---|\n",
      searcher, options.schedules, options.schedules / 10);
  double sum = 0;
  int raced_tasks = 0;
  for (const loops::KnownTask& known : tasks) {
    const auto task = loops::ParseTask(known.text);
    loops::TuneReport reports[2];
    bool fine = true;
    for (int i = 0; i < 2 && fine; ++i) {
      loops::TuneOptions tune;
      tune.search.search = i == 0 ? searcher : "policy";
      if (i == 1) tune.search.policy = policy;
      tune.search.from_default = i == 0;
      tune.budget_seconds = 600;
      tune.budget_steps = static_cast<int64_t>(i == 0 ? options.schedules : options.schedules / 10);
      tune.machine = machine;
      const auto tuned = loops::Tune(**generator, *task, tune);
      fine = tuned.has_value();
      if (fine) reports[i] = *tuned;
    }
    if (!fine) continue;
    RaceOptions race;
    race.budget_seconds = 2;
    const auto raced = loops::Race(**generator, *loops::MakeKernel(*task, reports[0].schedule),
                                   *loops::MakeKernel(*task, reports[1].schedule), race, false,
                                   machine.threads, nullptr);
    if (!raced) continue;
    const auto speedup = [](const loops::TuneReport& report) {
      return report.race.same_executable ? 1.0 : report.race.speedup;
    };
    fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f}-{:.3f} |\n", known.name,
               speedup(reports[0]), speedup(reports[1]), raced->speedup, raced->low, raced->high);
    std::fflush(stdout);
    sum += std::log(raced->same_executable ? 1 : raced->speedup);
    ++raced_tasks;
  }
  fmt::print("\ngeometric mean of {} tasks: {:.3f}\n", raced_tasks, std::exp(sum / raced_tasks));
  return 0;
}

int RunSearch(const SearchBenchOptions& options) {
  std::shared_ptr<const loops::LoopsPolicy> policy;
  std::vector<std::string> methods = Split(options.searchers);
  if (!options.policy.empty()) {
    std::ifstream file(options.policy, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    auto read = loops::LoopsPolicy::Read(bytes);
    if (!read) {
      std::fprintf(stderr, "%s: %s\n", options.policy.c_str(), read.error().message.c_str());
      return 2;
    }
    policy = *std::move(read);
  }
  const std::vector<loops::KnownTask> tasks = HeldOut(options, policy.get());
  if (options.time) {
    if (policy == nullptr) {
      std::fprintf(stderr, "--time is of a policy; name one by --policy\n");
      return 2;
    }
    return Timed(options, methods.front(), policy, tasks);
  }
  if (policy != nullptr) methods.insert(methods.end(), {"policy", "policy_greedy"});
  return Estimated(options, methods, policy, tasks);
}

}  // namespace

void AddSearch(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SearchBenchOptions>();
  CLI::App* const search =
      app.add_subcommand("search", "searchers and a policy on held-out tasks, by schedules tried");
  search->add_option("--policy", options->policy, "of `hone train --loops`");
  search->add_option("--drawn", options->drawn, "so many tasks of drawn sizes");
  search->add_option("--drawn-seed", options->drawn_seed, "that they are drawn by");
  search->add_flag("--known", options->known, "the tasks that come with hone instead");
  search->add_option("--schedules", options->schedules, "that each searcher tries");
  search->add_option("--seeds", options->seeds, "runs of each searcher");
  search->add_option("--searchers", options->searchers, "with commas between them");
  search->add_flag("--from-plain", options->from_plain,
                   "they begin with plain loops, not with the rules of thumb's schedule");
  search->add_flag("--time", options->time, "by the clock: the first searcher, the policy a tenth");
  search->add_option("--threads", options->threads, "of --time: that share the work");
  search->callback([options, &exit_code] { exit_code = RunSearch(*options); });
}

}  // namespace hone::bench
