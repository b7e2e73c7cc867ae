// hone costmodel: estimates of run time, learnt from what a store has measured.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

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

struct Judged {
  Json json;
  std::string line;
};

Judged Judge(const std::string& name, const std::vector<cost::RankQuality>& qualities) {
  Judged judged;
  judged.line = fmt::format("{:10}", name);
  for (const auto& [figure, field] : {std::pair("spearman", &cost::RankQuality::spearman),
                                      std::pair("kendall", &cost::RankQuality::kendall),
                                      std::pair("right", &cost::RankQuality::right),
                                      std::pair("best_of_5", &cost::RankQuality::best_of_5)}) {
    const jobs::MeanOfPrograms mean = jobs::MeanQuality(qualities, field);
    judged.json[figure] = mean.mean;
    judged.json[std::string(figure) + "_ci"] = {mean.low, mean.high};
    judged.line += fmt::format(
        " {:>24}", fmt::format("{:.3f} [{:.3f}, {:.3f}]", mean.mean, mean.low, mean.high));
  }
  judged.line += "\n";
  return judged;
}

int Answer(const CostmodelOptions& options, const jobs::CostModelQuality& quality, int code) {
  const auto& [model, roofline] = quality;
  const Judged of_model = Judge("model", model);
  const Judged of_roofline = Judge("roofline", roofline);
  if (options.json) {
    Json json{{"programs", model.size()},
              {"model", of_model.json},
              {"roofline", of_roofline.json},
              {"by_program", Json::array()}};
    for (size_t i = 0; i < model.size(); ++i) {
      json["by_program"].push_back({{"program", model[i].program},
                                    {"plans", model[i].plans},
                                    {"spread", model[i].spread},
                                    {"decided", model[i].decided},
                                    {"right", model[i].right},
                                    {"roofline_right", roofline[i].right},
                                    {"spearman", model[i].spearman},
                                    {"kendall", model[i].kendall},
                                    {"best_of_5", model[i].best_of_5},
                                    {"roofline_spearman", roofline[i].spearman},
                                    {"roofline_kendall", roofline[i].kendall},
                                    {"roofline_best_of_5", roofline[i].best_of_5}});
    }
    return Finish(json, code);
  }
  return Finish(
      fmt::format("{} programs that were not trained on, with 95 % intervals:\n{:10} {:>24} "
                  "{:>24} {:>24} {:>24}\n{}{}",
                  model.size(), "", "SPEARMAN", "KENDALL", "RIGHT OF DECIDED", "BEST OF TOP 5",
                  of_model.line, of_roofline.line),
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

}  // namespace

Run AddCostModel(CLI::App& app) {
  auto options = std::make_shared<CostmodelOptions>();
  auto run = std::make_shared<Run>();
  app.require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* meaning, int (*job)(const CostmodelOptions&)) {
    CLI::App* const command = app.add_subcommand(name, meaning);
    command->add_option("--store", options->store, "what `hone tune --store` wrote")
        ->required()
        ->type_name("FILE");
    command->add_option("--steps", options->steps, "of training")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    command
        ->add_option("--seed", options->seed,
                     "of the parameters and of which programs are left out")
        ->capture_default_str();
    command->add_flag("--json", options->json, "print JSON");
    command->add_flag("-q,--quiet", options->quiet, "no progress");
    command->callback([run, options, job] { *run = [options, job] { return job(*options); }; });
    return command;
  };
  CLI::App* const train = add("train", "learn to estimate run times from a store", Train);
  train->add_option("-o,--output", options->model, "write the model here")
      ->required()
      ->type_name("MODEL");
  train
      ->add_option("--held-out", options->held_out,
                   "share of the programs that are left out, for eval")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  CLI::App* const eval =
      add("eval", "how well estimates order the plans of programs not trained on", Eval);
  eval->add_option("--model", options->model,
                   "what train wrote; without it models are trained and judged by folds")
      ->type_name("MODEL");
  eval->add_option("--folds", options->folds, "into which the programs are divided")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  return [run] {
    if (*run) return (*run)();
    return Fail(
        {ErrorCode::kInvalidInput, "give an action: train or eval; see `hone costmodel --help`"},
        false);
  };
}

}  // namespace hone::cli
