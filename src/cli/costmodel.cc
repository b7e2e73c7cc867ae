// hone costmodel: estimates of run time, learnt from what a store has measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "core/rng.h"
#include "cost/roofline.h"
#include "cost/train_cost_model.h"
#include "store/store.h"
#include "tune/estimates.h"

namespace hone::cli {
namespace {

constexpr size_t kMostModelBytes = size_t{256} << 20;
constexpr size_t kFewest = 8;  // plans of a program whose order is judged

struct Options {
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

size_t ProgramsIn(const Examples& examples) {
  std::set<std::string> programs;
  for (const cost::Example& example : examples) programs.insert(example.program);
  return programs.size();
}

StatusOr<Examples> ReadExamples(const Options& options) {
  const auto store = store::Store::OpenExisting(options.store);
  if (!store) return tl::unexpected(store.error());
  const auto measured = (*store)->MeasuredModules(store::ThisPlace("", HoneVersion()));
  if (!measured) return tl::unexpected(measured.error());
  Examples examples = tune::ExamplesOf(*measured, options.most_nodes);
  if (examples.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "it has no measurements of this machine to learn from; `hone tune --store "
                     "FILE` adds some");
  }
  return examples;
}

cost::CostModel TrainOn(const Examples& examples, const Options& options,
                        const cost::Machine& machine, const std::string& what,
                        const std::atomic<bool>* stop) {
  Progress progress(!options.quiet);
  cost::TrainOptions training;
  training.seed = options.seed;
  training.steps = options.steps;
  training.interrupted = stop;
  training.progress = [&](int step, double loss) {
    if (!progress.Due()) return;
    progress.Show(fmt::format("{}: step {} of {}, loss {:.4f}", what, step, options.steps, loss));
  };
  cost::CostModel model = cost::TrainCostModel(examples, machine, training);
  std::set<std::string> programs;
  for (const cost::Example& example : examples) programs.insert(example.program);
  model.card["trained_on"] = fmt::format("{}", fmt::join(programs, ","));
  model.card["examples"] = std::to_string(examples.size());
  model.card["seed"] = std::to_string(options.seed);
  return model;
}

int Train(const Options& options) {
  if (Status fine = CheckWritable(options.model); !fine) {
    return Fail(fine.error(), options.model, options.json);
  }
  const StatusOr<Examples> all = ReadExamples(options);
  if (!all) return Fail(all.error(), options.store, options.json);
  Examples examples;
  for (const cost::Example& example : *all) {
    if (!cost::IsHeldOut(example.program, options.held_out, options.seed)) {
      examples.push_back(example);
    }
  }
  if (examples.empty()) {
    return Fail(
        {ErrorCode::kInvalidInput, "all its programs would be held out; give a smaller --held-out"},
        options.store, options.json);
  }
  const std::atomic<bool>* const stop = StopOnInterrupt();
  const cost::CostModel model =
      TrainOn(examples, options, cost::MeasureMachine(), "training", stop);
  if (Status wrote = WriteFile(options.model, cost::WriteCostModel(model)); !wrote) {
    return Fail(wrote.error(), options.model, options.json);
  }
  const int code = *stop ? kInterrupted : kFine;
  const size_t programs = ProgramsIn(examples);
  const size_t left_out = ProgramsIn(*all) - programs;
  if (options.json) {
    return Finish(Json{{"model", options.model},
                       {"programs", programs},
                       {"held_out", left_out},
                       {"examples", examples.size()}},
                  code);
  }
  return Finish(fmt::format("trained on {} plans of {} programs, {} held out; written to {}\n",
                            examples.size(), programs, left_out, options.model),
                code);
}

// A mean over programs with a 95 % bootstrap interval.
struct Mean {
  double mean = 0, low = 0, high = 0;
};

Mean MeanOf(const std::vector<double>& values) {
  constexpr int kDraws = 2000;
  Rng rng(1);
  std::vector<double> means;
  for (int draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[rng.Below(values.size())];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  std::sort(means.begin(), means.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return {sum / static_cast<double>(values.size()), means[kDraws / 40],
          means[kDraws - kDraws / 40]};
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
    std::vector<double> values;
    for (const cost::RankQuality& quality : qualities) {
      if (field != &cost::RankQuality::right || quality.decided > 0) {
        values.push_back(quality.*field);
      }
    }
    if (values.empty()) values.push_back(0.5);  // nothing is decided
    const Mean mean = MeanOf(values);
    judged.json[figure] = mean.mean;
    judged.json[std::string(figure) + "_ci"] = {mean.low, mean.high};
    judged.line += fmt::format(
        " {:>24}", fmt::format("{:.3f} [{:.3f}, {:.3f}]", mean.mean, mean.low, mean.high));
  }
  judged.line += "\n";
  return judged;
}

int Answer(const Options& options, const Examples& examples, const std::vector<double>& by_model,
           const cost::Machine& machine, int code) {
  std::vector<double> by_roofline;
  for (const cost::Example& example : examples) {
    by_roofline.push_back(cost::RooflineOf(*example.graph, machine).seconds);
  }
  const auto model = cost::RankQualities(examples, by_model, kFewest);
  const auto roofline = cost::RankQualities(examples, by_roofline, kFewest);
  if (model.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 fmt::format("no program that was not trained on has {} measured plans; tune more "
                             "programs, or for longer",
                             kFewest)},
                options.store, options.json);
  }
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

// Of programs that a model was not trained on.
int EvalModel(const Options& options, const Examples& all) {
  const StatusOr<std::string> bytes = ReadInput(options.model, kMostModelBytes);
  if (!bytes) return Fail(bytes.error(), options.model, options.json);
  const StatusOr<cost::CostModel> model = cost::ReadCostModel(*bytes);
  if (!model) return Fail(model.error(), options.model, options.json);
  const auto card = model->card.find("trained_on");
  const std::string trained_on = card == model->card.end() ? std::string() : card->second;
  Examples examples;
  std::vector<double> estimates;
  for (const cost::Example& example : all) {
    if (trained_on.find(example.program) != trained_on.npos) continue;
    examples.push_back(example);
    estimates.push_back(model->Estimate(*example.graph, example.choices));
  }
  return Answer(options, examples, estimates, model->machine, kFine);
}

// Each program by a model that was trained on the other folds.
int EvalFolds(const Options& options, const Examples& all) {
  const std::atomic<bool>* const stop = StopOnInterrupt();
  const cost::Machine machine = cost::MeasureMachine();
  std::vector<std::string> programs;
  for (const cost::Example& example : all) {
    if (programs.empty() || programs.back() != example.program) programs.push_back(example.program);
  }
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  Rng rng(options.seed);
  for (size_t i = programs.size(); i > 1; --i) std::swap(programs[i - 1], programs[rng.Below(i)]);
  Examples examples;
  std::vector<double> estimates;
  const size_t folds = std::min(static_cast<size_t>(options.folds), programs.size());
  for (size_t fold = 0; fold < folds && !*stop; ++fold) {
    std::set<std::string> out;
    for (size_t i = fold; i < programs.size(); i += folds) out.insert(programs[i]);
    Examples rest;
    for (const cost::Example& example : all) {
      if (out.count(example.program) == 0) rest.push_back(example);
    }
    if (rest.empty()) break;
    const cost::CostModel model =
        TrainOn(rest, options, machine, fmt::format("fold {} of {}", fold + 1, folds), stop);
    if (*stop) break;
    for (const cost::Example& example : all) {
      if (out.count(example.program) == 0) continue;
      examples.push_back(example);
      estimates.push_back(model.Estimate(*example.graph, example.choices));
    }
  }
  return Answer(options, examples, estimates, machine, *stop ? kInterrupted : kFine);
}

int Eval(const Options& options) {
  const StatusOr<Examples> all = ReadExamples(options);
  if (!all) return Fail(all.error(), options.store, options.json);
  return options.model.empty() ? EvalFolds(options, *all) : EvalModel(options, *all);
}

}  // namespace

Run AddCostModel(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<Run>();
  app.require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* meaning, int (*job)(const Options&)) {
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
