// hone costmodel: estimates of run time, learnt from what a store has measured.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "jobs/cost_model.h"

namespace hone::cli {
namespace {

constexpr size_t kMostModelBytes = size_t{256} << 20;

struct CostmodelOptions {
  std::string store;
  std::string model;
  double held_out = 0;
  int folds = 5;
  int steps = 2000;
  size_t most_nodes = 3000;
  uint64_t seed = 1;
  bool json = false;
  bool quiet = false;
};

using Examples = std::vector<cost::Example>;

jobs::CostModelOptions JobFor(const CostmodelOptions& options) {
  return {options.held_out, options.folds, options.steps, options.seed};
}

int Train(const CostmodelOptions& options) {
  if (Status fine = CheckWritable(options.model); !fine) {
    return Fail(fine.error(), options.model, options.json);
  }
  const StatusOr<Examples> all = jobs::ReadExamples(options.store, options.most_nodes);
  if (!all) return Fail(all.error(), options.store, options.json);
  CommandEvents events(!options.quiet, StopOnInterrupt());
  const auto trained = jobs::TrainCostModel(*all, JobFor(options), events);
  if (!trained) return Fail(trained.error(), options.store, options.json);
  if (Status wrote = WriteFile(options.model, cost::WriteCostModel(trained->model)); !wrote) {
    return Fail(wrote.error(), options.model, options.json);
  }
  const int code = events.stopped() ? kInterrupted : kFine;
  if (options.json) {
    return Finish(Json{{"model", options.model},
                       {"programs", trained->programs},
                       {"held_out", trained->held_out},
                       {"examples", trained->examples}},
                  code);
  }
  return Finish(fmt::format("trained on {} plans of {} programs, {} held out; written to {}\n",
                            trained->examples, trained->programs, trained->held_out, options.model),
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

int Answer(const CostmodelOptions& options, const jobs::CostModelQuality& quality, int code) {
  if (options.json) return Finish(ToJson(quality), code);
  return Finish(
      fmt::format("{} programs that were not trained on, with 95 % intervals:\n{:10} {:>24} "
                  "{:>24} {:>24} {:>24}\n{}{}",
                  quality.model.size(), "", "SPEARMAN", "KENDALL", "RIGHT OF DECIDED",
                  "BEST OF TOP 5", Line("model", quality.model),
                  Line("roofline", quality.roofline)),
      code);
}

int Eval(const CostmodelOptions& options) {
  const StatusOr<Examples> all = jobs::ReadExamples(options.store, options.most_nodes);
  if (!all) return Fail(all.error(), options.store, options.json);
  if (options.model.empty()) {
    CommandEvents events(!options.quiet, StopOnInterrupt());
    const auto quality = jobs::CrossValidate(*all, JobFor(options), events);
    if (!quality) return Fail(quality.error(), options.store, options.json);
    return Answer(options, *quality, events.stopped() ? kInterrupted : kFine);
  }
  const StatusOr<std::string> bytes = ReadInput(options.model, kMostModelBytes);
  if (!bytes) return Fail(bytes.error(), options.model, options.json);
  const StatusOr<cost::CostModel> model = cost::ReadCostModel(*bytes);
  if (!model) return Fail(model.error(), options.model, options.json);
  const auto quality = jobs::JudgeCostModel(*all, *model);
  if (!quality) return Fail(quality.error(), options.store, options.json);
  return Answer(options, *quality, kFine);
}

void AddTrainOptions(CLI::App& app, CostmodelOptions& options) {
  app.add_option("-o,--output", options.model, "write the model here")
      ->required()
      ->type_name("MODEL");
  app.add_option("--held-out", options.held_out,
                 "share of the programs that are left out, for eval")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void AddEvalOptions(CLI::App& app, CostmodelOptions& options) {
  app.add_option("--model", options.model,
                 "what train wrote; without it models are trained and judged by folds")
      ->type_name("MODEL");
  app.add_option("--folds", options.folds, "into which the programs are divided")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
}

}  // namespace

Run AddCostModel(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples,
                       int (*job)(const CostmodelOptions&),
                       void (*add_more)(CLI::App&, CostmodelOptions&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto options = std::make_shared<CostmodelOptions>();
      action.add_option("--store", options->store, "what `hone tune --store` wrote")
          ->required()
          ->type_name("FILE");
      add_more(action, *options);
      action.add_option("--steps", options->steps, "of training")
          ->check(CLI::Range(0, 10'000'000))
          ->capture_default_str();
      action
          .add_option("--seed", options->seed,
                      "of the parameters and of which programs are left out")
          ->capture_default_str();
      action.add_flag("--json", options->json, "print JSON");
      action.add_flag("-q,--quiet", options->quiet, "no progress");
      return [=] { return job(*options); };
    });
  };
  add("train", "learn to estimate run times from a store",
      "  hone costmodel train --store tuned.db -o model.safetensors\n", Train, AddTrainOptions);
  add("eval", "how well estimates order the plans of programs not trained on",
      "  hone costmodel eval --store tuned.db --json\n", Eval, AddEvalOptions);
  return actions.Chosen();
}

}  // namespace hone::cli
