// hone eval: a method on programs that it has not seen, against XLA's own order.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/report.h"
#include "jobs/evaluate.h"
#include "jobs/report_evaluation.h"
#include "report/evaluation.h"

namespace hone::cli {
namespace {

struct EvalOptions {
  CommonOptions common;
  ProgramSet programs;
  std::string search;
  ModelOptions models;
  std::string method;
  std::string objective = "op_count";
  std::string actions = "simplify";
  Budget budget{30, std::numeric_limits<int64_t>::max()};
  uint64_t seed = 1;
  int seeds = 3;
  size_t longest = 256;
  bool from_default = false;
  bool verify = false;
  bool run_time = false;
  double verify_seconds = 60;
  std::string output;
  std::string report;
};

class EvalRun {
 public:
  explicit EvalRun(EvalOptions& options) : options_(options) {}

  int Run() {
    if (options_.search.empty()) {
      options_.search = options_.models.policy.empty() ? "local" : "policy_greedy";
    }
    if (options_.method.empty()) options_.method = options_.search;
    OptimizeOptions& search = evaluate_.search;
    search.objective = *ObjectiveFromName(options_.objective);
    search.actions = options_.actions;
    search.search = options_.search;
    search.from_default = options_.from_default;
    search.longest = options_.longest;
    SetBudget(options_.budget, search);
    search.verify = options_.verify;
    search.compare.budget_seconds = options_.verify_seconds;
    if (Status loaded = LoadModels(options_.models, options_.search, search); !loaded) {
      return Fail(loaded.error(), options_.common.json);
    }
    auto chosen = ChooseInputs(options_.programs, options_.common.datasets);
    if (!chosen) return Fail(chosen.error(), options_.common.json);
    evaluate_.files = *std::move(chosen);
    if (Status fine = CheckReport(options_.report); !fine) {
      return Fail(fine.error(), options_.report, options_.common.json);
    }
    if (!options_.output.empty()) {
      if (Status read = ReadOld(); !read) {
        return Fail(read.error(), options_.output, options_.common.json);
      }
    }
    stop_ = StopOnInterrupt();
    auto pool = StartPool(options_.common, stop_);
    if (!pool) return Fail(pool.error(), options_.common.json);
    pool_ = *std::move(pool);
    return EvaluateAll();
  }

 private:
  // Results are added to those that the file has.
  Status ReadOld() {
    if (Status fine = CheckWritable(options_.output); !fine) return fine;
    std::error_code error;
    if (!std::filesystem::exists(options_.output, error)) return {};
    const StatusOr<std::string> text =
        std::filesystem::file_size(options_.output, error) == 0
            ? StatusOr<std::string>("")
            : ReadInput(options_.output, options_.common.MostInputBytes());
    if (!text) return tl::unexpected(text.error());
    const auto old = report::EvaluationsFromJsonLines(*text);
    if (!old) return tl::unexpected(old.error());
    old_ = *text;
    if (!old_.empty() && old_.back() != '\n') old_ += '\n';
    return {};
  }

  int EvaluateAll() {
    size_t width = 7;
    for (const std::string& file : evaluate_.files) width = std::max(width, file.size());
    if (!options_.common.json) {
      (void)WriteStdout(fmt::format("{:{}} {:>4} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8} {:>9}\n",
                                    "PROGRAM", width, "SEED", "INITIAL", "DEFAULT", "RESULT",
                                    "RATIO", "STEPS", "SECONDS", "VERIFIED"));
    }
    evaluate_.read = ReaderFor(options_.common);
    evaluate_.method = options_.method;
    evaluate_.seed = options_.seed;
    evaluate_.seeds = options_.seeds;
    evaluate_.run_time = options_.run_time;
    evaluate_.run_seconds = options_.verify_seconds;
    std::string written = old_;
    evaluate_.done = [&](const report::Evaluation& one) -> Status {
      if (!options_.common.json) PrintRow(one, width);
      if (options_.output.empty()) return {};
      written += report::EvaluationToJsonLine(one);
      return WriteFile(options_.output, written);
    };
    evaluate_.failed = [&](const FileError& failed) {
      if (!options_.common.json) (void)Fail(failed.error, failed.file, false);
    };
    CommandEvents events(options_.common.ShowProgress(), stop_);
    const StatusOr<jobs::EvaluateResult> result = jobs::Evaluate(*pool_, evaluate_, events);
    if (!result) return Fail(result.error(), options_.output, options_.common.json);
    if (!options_.report.empty() && !result->rows.empty()) {
      const jobs::EvalReport what{options_.method,  options_.objective, options_.actions,
                                  pool_->version(), result->rows,       result->errors.size()};
      if (Status wrote = WriteReport(options_.report, MakeReport(what)); !wrote) {
        return Fail(wrote.error(), options_.report, options_.common.json);
      }
    }
    return Conclude(*result, *stop_ ? kInterrupted : !result->errors.empty() ? kSomeFailed : kFine);
  }

  void PrintRow(const report::Evaluation& one, size_t width) const {
    const auto ratio = one.Ratio();
    (void)WriteStdout(fmt::format("{:{}} {:>4} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8.2f} {:>9}\n",
                                  one.program, width, one.seed, one.initial, one.by_default,
                                  one.value, ratio ? fmt::format("{:.4f}", *ratio) : "-",
                                  one.evaluated, one.seconds, one.verified));
  }

  int Conclude(const jobs::EvaluateResult& result, int code) const {
    const report::Summary summary = report::Summarise(result.rows);
    if (options_.common.json) return Finish(jobs::ToJson(result, options_.method), code);
    std::string text = fmt::format(
        "{}: geometric mean of the ratio {:.4f} (95 % interval {:.4f} to {:.4f}; {} programs, {} "
        "seed{}); {} better than XLA's own order, {} equal, {} worse\n",
        options_.method, summary.ratio.mean, summary.ratio.low, summary.ratio.high,
        summary.ratio.programs, summary.seeds, summary.seeds == 1 ? "" : "s", summary.better,
        summary.equal, summary.worse);
    if (summary.run_time.programs > 0) {
      text += fmt::format(
          "after the stock compiler: {:.4f} times fewer instructions, {:.4f} times "
          "as fast ({} programs)\n",
          summary.final_instructions.mean, summary.run_time.mean, summary.run_time.programs);
    }
    return Finish(text, code);
  }

  EvalOptions& options_;
  jobs::EvaluateOptions evaluate_;
  std::string old_;
  const std::atomic<bool>* stop_ = nullptr;
  std::unique_ptr<Pool> pool_;
};

}  // namespace

Run AddEval(CLI::App& app) {
  auto options = std::make_shared<EvalOptions>();
  AddProgramSet(app, options->programs);
  AddSearchOption(app, options->search,
                  "the method (local; policy_greedy where a policy is given)");
  AddModelOptions(app, options->models);
  app.add_option("--method", options->method, "what the results are called (the searcher's name)");
  AddObjectiveOption(app, options->objective);
  AddActionSetOption(app, options->actions);
  AddBudget(app, "--budget", options->budget,
            "time, steps or both, a run: 1s, 2000steps, 30s,2000steps (30s); steps that are known "
            "already are free");
  app.add_option("--seed", options->seed, "the first seed")->capture_default_str();
  app.add_option("--seeds", options->seeds, "how many")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option("--longest", options->longest, "passes in a sequence, at most")
      ->check(CLI::Range(1, 4096).description(""))
      ->capture_default_str();
  app.add_flag("--from-default", options->from_default,
               "begin with XLA's own order, and fall back on it, as `hone optimize` does");
  app.add_flag("--verify", options->verify, "does every result compute the same as its program?");
  AddDuration(app, "--verify-budget", options->verify_seconds, "time for that, a run (60s)");
  app.add_flag("--run-time", options->run_time,
               "also compile each result by the stock compiler, count its instructions and run it");
  app.add_option("-o,--output", options->output, "add the results to this file, a JSON line each")
      ->type_name("OUT");
  AddReportOption(app, options->report);
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return EvalRun(*options).Run(); };
}

}  // namespace hone::cli
