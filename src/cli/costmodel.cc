// hone costmodel: estimates of run time, learnt from what a store has measured.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "jobs/cost_model.h"

namespace hone::cli {
namespace {

struct CostmodelFlags {
  jobs::CostModelOptions job;
  bool json = false;
  bool quiet = false;
};

int Train(const CostmodelFlags& flags) {
  CommandEvents events(!flags.quiet);
  const auto trained = jobs::TrainCostModel(flags.job, events);
  if (!trained) return Fail(trained.error(), flags.json);
  const int code = events.CodeOr(kFine);
  if (flags.json) return Finish(ToJson(*trained, flags.job), code);
  return Finish(
      fmt::format("trained on {} plans of {} programs, {} held out; written to {}\n",
                  trained->examples, trained->programs, trained->held_out, flags.job.model),
      code);
}

std::string Line(const char* name, const std::vector<cost::RankQuality>& qualities) {
  std::string line = fmt::format("{:10}", name);
  for (const auto& [figure, field] : jobs::kQualityFigures) {
    const jobs::MeanOfPrograms mean = jobs::MeanQuality(qualities, field);
    line += fmt::format(" {:>24}",
                        fmt::format("{:.3f} [{:.3f}, {:.3f}]", mean.mean, mean.low, mean.high));
  }
  return line + "\n";
}

int Eval(const CostmodelFlags& flags) {
  CommandEvents events(!flags.quiet);
  const auto quality = jobs::JudgeCostModel(flags.job, events);
  if (!quality) return Fail(quality.error(), flags.json);
  const int code = events.CodeOr(kFine);
  if (flags.json) return Finish(ToJson(*quality), code);
  return Finish(
      fmt::format("{} programs that were not trained on, with 95 % intervals:\n{:10} {:>24} "
                  "{:>24} {:>24} {:>24}\n{}{}",
                  quality->model.size(), "", "SPEARMAN", "KENDALL", "RIGHT OF DECIDED",
                  "BEST OF TOP 5", Line("model", quality->model),
                  Line("roofline", quality->roofline)),
      code);
}

void AddTrainOptions(CLI::App& app, CostmodelFlags& flags) {
  app.add_option("-o,--output", flags.job.model, "write the model here")
      ->required()
      ->type_name("MODEL");
  app.add_option("--held-out", flags.job.held_out,
                 "share of the programs that are left out, for eval")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void AddEvalOptions(CLI::App& app, CostmodelFlags& flags) {
  app.add_option("--model", flags.job.model,
                 "what train wrote; without it models are trained and judged by folds")
      ->type_name("MODEL");
  app.add_option("--folds", flags.job.folds, "into which the programs are divided")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
}

}  // namespace

Run AddCostModel(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples,
                       int (*run)(const CostmodelFlags&),
                       void (*add_more)(CLI::App&, CostmodelFlags&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto flags = std::make_shared<CostmodelFlags>();
      action.add_option("--store", flags->job.store, "what `hone tune --store` wrote")
          ->required()
          ->type_name("FILE");
      add_more(action, *flags);
      action.add_option("--steps", flags->job.steps, "of training")
          ->check(CLI::Range(0, 10'000'000))
          ->capture_default_str();
      action
          .add_option("--seed", flags->job.seed,
                      "of the parameters and of which programs are left out")
          ->capture_default_str();
      action.add_flag("--json", flags->json, "print JSON");
      action.add_flag("-q,--quiet", flags->quiet, "no progress");
      return [=] { return run(*flags); };
    });
  };
  add("train", "learn to estimate run times from a store",
      "  hone costmodel train --store tuned.db -o model.safetensors\n", Train, AddTrainOptions);
  add("eval", "how well estimates order the plans of programs not trained on",
      "  hone costmodel eval --store tuned.db --json\n", Eval, AddEvalOptions);
  return actions.Chosen();
}

}  // namespace hone::cli
