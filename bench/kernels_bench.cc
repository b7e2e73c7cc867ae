// A compiler that remembers kernels: how long a second compilation takes, and one that differs by
// one decision, against a compiler that does not; and whether the code is the same.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench.h"
#include "core/rng.h"

namespace hone::bench {
namespace {

std::atomic<bool> interrupted{false};

struct Options {
  std::string programs;
  int plans = 6;
  int64_t least_instructions = 500;
  double compare_budget = 0;
  uint64_t seed = 1;
  bool json = false;
};

class Kernels {
 public:
  explicit Kernels(const Options& options) : options_(options), rng_(options.seed) {}

  void Run(const ProgramSource& source) {
    const size_t least = static_cast<size_t>(options_.least_instructions);
    PoolOptions without;
    without.kernel_bytes = 0;
    auto plain = Pool::Start(without);
    auto remembering = Pool::Start(PoolOptions{});
    if (!plain || !remembering) return;
    const auto in_plain = (*plain)->Load(source.data);
    const auto in_remembering = (*remembering)->Load(source.data);
    if (!in_plain || !in_remembering) return Except(source.name, "not read");
    if (in_plain->metrics.op_count < static_cast<int64_t>(least)) return;
    const auto sites = (*remembering)->Compile({in_remembering->id, {}}, {}, CompileOptions{});
    if (!sites) return Except(source.name, sites.error().message);
    // Each race compiles the program, unless it has been raced, and then the program under the
    // plan. A choice for a place that there is none of changes nothing and is compiled all the
    // same.
    CompilePlan nothing;
    nothing.choices.push_back({1, "none"});
    const auto full = CompileSeconds(**plain, in_plain->id, nothing);
    // Of other places the kernels are known, of the same plan the whole executable.
    const auto kernels = CompileSeconds(**remembering, in_remembering->id, nothing);
    const auto again = CompileSeconds(**remembering, in_remembering->id, nothing);
    if (!full || !kernels || !again) return Except(source.name, "not run");
    nlohmann::json row = {{"program", source.name},
                          {"instructions", in_plain->metrics.op_count},
                          {"full_seconds", *full},
                          {"known_kernels_share", *kernels / *full},
                          {"second_share", *again / *full}};
    std::vector<double> shares;
    for (int i = 0; i < options_.plans && !sites->sites.empty() && !interrupted; ++i) {
      const CompileSite& site = sites->sites[rng_.Below(sites->sites.size())];
      CompilePlan plan;
      plan.choices.push_back({site.key, site.choices[rng_.Below(site.choices.size())]});
      const auto one = CompileSeconds(**remembering, in_remembering->id, plan);
      const auto slow = CompileSeconds(**plain, in_plain->id, plan);
      if (one && slow) shares.push_back(*one / *slow);
      if (options_.compare_budget > 0)
        Compare(**remembering, in_remembering->id, plan, source.name);
    }
    if (!shares.empty()) row["one_decision_share"] = Median(shares);
    const Timing timing = (*remembering)->timing();
    row["kernels_compiled"] = timing.kernels_compiled;
    row["kernels_reused"] = timing.kernels_reused;
    row["kernels_checked"] = timing.kernels_checked;
    row["kernels_differed"] = timing.kernels_differed;
    if (!options_.json) {
      fmt::print(
          "{:44} {:6.2f} s   kernels known {:4.2f}   again {:5.3f}   one decision {:4.2f}   {} reused, {} compiled, {} "
          "checked, {} differed\n",
          source.name.substr(source.name.rfind('/') + 1).substr(0, 44), *full, *kernels / *full, *again / *full,
          shares.empty() ? 0.0 : Median(shares), timing.kernels_reused, timing.kernels_compiled,
          timing.kernels_checked, timing.kernels_differed);
      std::fflush(stdout);
    }
    rows_.push_back(std::move(row));
  }

  nlohmann::json Result() const {
    std::vector<double> second;
    std::vector<double> one;
    int64_t checked = 0;
    int64_t differed = 0;
    for (const nlohmann::json& row : rows_) {
      second.push_back(row["second_share"]);
      if (row.contains("one_decision_share")) one.push_back(row["one_decision_share"]);
      checked += row["kernels_checked"].get<int64_t>();
      differed += row["kernels_differed"].get<int64_t>();
    }
    nlohmann::json result = {{"programs", rows_.size()},
                             {"kernels_checked", checked},
                             {"kernels_differed", differed},
                             {"different", different_},
                             {"rows", rows_},
                             {"exceptions", exceptions_}};
    if (!second.empty()) result["second_share_median"] = Median(second);
    if (!one.empty()) result["one_decision_share_median"] = Median(one);
    return result;
  }

 private:
  void Except(const std::string& name, const std::string& what) {
    exceptions_.push_back(name.substr(name.rfind('/') + 1) + ": " + what);
  }

  std::optional<double> CompileSeconds(Pool& pool, ProgramId program,
                                       const CompilePlan& plan) const {
    RaceOptions race;
    race.budget_seconds = 1e-3;
    race.least_pairs = 1;
    race.most_pairs = 1;
    const auto report = pool.Race({program, {}}, {}, {program, {}}, plan, race);
    if (!report) return std::nullopt;
    return report->compile_seconds_b;
  }

  void Compare(Pool& pool, ProgramId program, const CompilePlan& plan, const std::string& name) {
    CompareOptions compare;
    compare.budget_seconds = options_.compare_budget;
    compare.inputs = 1;
    const auto report = pool.Compare({program, {}}, {}, {program, {}}, plan, compare);
    if (!report || report->verdict != Verdict::kDifferent) return;
    ++different_;
    Except(name, "differs: " + report->reason);
  }

  const Options& options_;
  Rng rng_;
  int different_ = 0;
  std::vector<nlohmann::json> rows_;
  std::vector<std::string> exceptions_;
};

int RunKernels(const Options& options) {
  signal(SIGINT, [](int) { interrupted = true; });
  Kernels kernels(options);
  const std::vector<ProgramSource> sources = ReadPrograms(options.programs);
  for (size_t i = 0; i < sources.size() && !interrupted; ++i) {
    fmt::print(stderr, "program {} of {}: {}\n", i + 1, sources.size(), sources[i].name);
    kernels.Run(sources[i]);
  }
  const nlohmann::json result = kernels.Result();
  if (options.json) {
    fmt::print("{}\n", result.dump(1));
  } else {
    for (const auto& exception : result["exceptions"]) {
      fmt::print("  {}\n", exception.get<std::string>());
    }
    fmt::print(
        "{} programs; of a full compilation, in the median: the same again {:.3f}, one decision "
        "otherwise {:.3f}; {} kernels checked, {} differed\n",
        result["programs"].get<size_t>(), result.value("second_share_median", 0.0),
        result.value("one_decision_share_median", 0.0), result["kernels_checked"].get<int64_t>(),
        result["kernels_differed"].get<int64_t>());
  }
  return result["kernels_differed"] == 0 && result["different"] == 0 ? 0 : 1;
}

}  // namespace

void AddKernelsBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "kernels", "compiling what was compiled before, whole or but for one decision");
  command->add_option("--programs", options->programs, "file or folder")->required();
  command->add_option("--plans", options->plans, "of one decision each, a program")
      ->capture_default_str();
  command
      ->add_option("--least-instructions", options->least_instructions,
                   "smaller programs are left out")
      ->capture_default_str();
  command
      ->add_option("--compare-budget", options->compare_budget,
                   "seconds a plan: its results against the stock compiler's; 0 is none")
      ->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = RunKernels(*options); });
}

}  // namespace hone::bench
