// The stock compiler under plans: that the empty plan changes nothing, and that random ones compile
// to programs that compute the same.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "core/rng.h"

namespace hone::bench {
namespace {

std::atomic<bool> interrupted{false};

struct Options {
  std::string programs;
  std::string target = "cpu";
  int plans = 2;
  double share = 0.3;  // of sites that are decided at random
  int flags = 2;       // set at random in every second plan
  double compare_budget = 30;
  size_t most_instructions = 12'000;
  uint64_t seed = 1;
  bool json = false;
};

CompilePlan RandomPlan(const Compiled& stock, const Options& options, bool flags, Rng& rng) {
  CompilePlan plan;
  for (const CompileSite& site : stock.sites) {
    if (rng.Unit() >= options.share) continue;
    plan.choices.push_back({site.key, site.choices[rng.Below(site.choices.size())]});
  }
  if (flags) {
    std::map<std::string, std::string> chosen;
    for (int i = 0; i < options.flags; ++i) {
      const FlagChoices& flag = stock.flag_choices[rng.Below(stock.flag_choices.size())];
      chosen[flag.name] = flag.values[rng.Below(flag.values.size())];
    }
    plan.flags.assign(chosen.begin(), chosen.end());
  }
  Sort(plan);
  return plan;
}

class Plans {
 public:
  Plans(Pool& pool, const Options& options)
      : pool_(pool), options_(options), rng_(options.seed) {}

  void Run(const ProgramSource& source) {
    const StatusOr<ProgramInfo> program = pool_.Load(source.data);
    if (!program) return Except(source.name, "not read: " + program.error().message);
    if (program->metrics.op_count <= static_cast<int64_t>(options_.most_instructions)) {
      Program({program->id, {}}, source.name);
    }
    pool_.Unload(program->id);
  }

  nlohmann::json Result() const {
    nlohmann::json sites;
    for (const auto& [kind, count] : sites_) sites[kind] = count;
    return {{"programs", programs_},   {"not_compiled", not_compiled_},
            {"identical", identical_}, {"differs", differs_},
            {"sites", sites},          {"sites_a_program", with_sites_},
            {"plans", plans_},         {"plans_rejected", rejected_},
            {"plans_equal", equal_},   {"plans_different", different_},
            {"plans_unknown", unknown_}, {"deaths", static_cast<int64_t>(pool_.deaths().size())},
            {"exceptions", exceptions_}};
  }

 private:
  void Except(const std::string& name, const std::string& what) {
    exceptions_.push_back(name.substr(name.rfind('/') + 1) + ": " + what);
  }

  void Program(const StateName& state, const std::string& name) {
    ++programs_;
    CompileOptions bare;
    bare.sites = false;
    bare.text = true;
    const auto stock = pool_.Compile(state, {}, bare);
    if (!stock) {
      ++not_compiled_;
      return Except(name, stock.error().message);
    }
    CompileOptions noting;
    noting.text = true;
    const auto noted = pool_.Compile(state, {}, noting);
    if (noted && noted->text == stock->text) {
      ++identical_;
    } else {
      ++differs_;
      Except(name, noted ? "the empty plan gives another module" : noted.error().message);
    }
    if (!noted) return;
    for (const CompileSite& site : noted->sites) ++sites_[std::string(CompileSiteKindName(site.kind))];
    with_sites_.push_back(noted->sites.size());
    for (int i = 0; i < options_.plans && !interrupted; ++i) {
      Plan(state, name, RandomPlan(*noted, options_, i % 2 == 1, rng_));
    }
  }

  void Plan(const StateName& state, const std::string& name, const CompilePlan& plan) {
    ++plans_;
    CompareOptions compare;
    compare.budget_seconds = options_.compare_budget;
    compare.inputs = 1;
    compare.pipeline = true;
    const auto report = pool_.Compare(state, {}, state, plan, compare);
    const std::string flags = [&] {
      std::string text;
      for (const auto& [flag, value] : plan.flags) text += fmt::format(" {}={}", flag, value);
      return text;
    }();
    if (!report) {
      ++rejected_;
      return Except(name, "plan rejected: " + report.error().message + flags);
    }
    switch (report->verdict) {
      case Verdict::kEqual:
        ++equal_;
        break;
      case Verdict::kDifferent:
        ++different_;
        Except(name, "plan differs: " + report->reason + flags);
        break;
      default:
        ++unknown_;
        Except(name, "plan not compared: " + report->reason + flags);
    }
  }

  Pool& pool_;
  const Options& options_;
  Rng rng_;
  int programs_ = 0, not_compiled_ = 0, identical_ = 0, differs_ = 0;
  int plans_ = 0, rejected_ = 0, equal_ = 0, different_ = 0, unknown_ = 0;
  std::map<std::string, int64_t> sites_;
  std::vector<size_t> with_sites_;
  std::vector<std::string> exceptions_;
};

void Print(const nlohmann::json& result) {
  for (const auto& [key, value] : result.items()) {
    if (value.is_number()) fmt::print("{:16} {}\n", key, value.dump());
  }
  for (const auto& [kind, count] : result["sites"].items()) {
    fmt::print("sites {:16} {}\n", kind, count.dump());
  }
  for (const auto& exception : result["exceptions"]) {
    fmt::print("  {}\n", exception.get<std::string>());
  }
}

int Run(const Options& options) {
  signal(SIGINT, [](int) { interrupted = true; });
  PoolOptions pool_options;
  pool_options.workers = 1;
  pool_options.target = options.target;
  auto pool = Pool::Start(pool_options);
  if (!pool) {
    fmt::print(stderr, "{}\n", pool.error().message);
    return 1;
  }
  Plans plans(**pool, options);
  const std::vector<ProgramSource> sources = ReadPrograms(options.programs);
  for (size_t i = 0; i < sources.size() && !interrupted; ++i) {
    fmt::print(stderr, "program {} of {}: {}\n", i + 1, sources.size(), sources[i].name);
    plans.Run(sources[i]);
  }
  const nlohmann::json result = plans.Result();
  if (options.json) {
    fmt::print("{}\n", result.dump(1));
  } else {
    Print(result);
  }
  return 0;
}

}  // namespace

void AddPlansBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plans", "the empty plan and random plans on every program");
  command->add_option("--programs", options->programs, "file or folder")->required();
  command->add_option("--target", options->target, "what XLA compiles for: cpu, h100, …")
      ->capture_default_str();
  command->add_option("--plans", options->plans, "random ones a program")->capture_default_str();
  command->add_option("--share", options->share, "of the sites that are decided at random")
      ->capture_default_str();
  command->add_option("--flags", options->flags, "set at random in every second plan")
      ->capture_default_str();
  command->add_option("--compare-budget", options->compare_budget, "seconds")
      ->capture_default_str();
  command
      ->add_option("--most-instructions", options->most_instructions,
                   "larger programs are left out")
      ->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace hone::bench
