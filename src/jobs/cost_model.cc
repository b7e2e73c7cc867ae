#include "jobs/cost_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/rng.h"
#include "cost/roofline.h"
#include "jobs/input.h"
#include "jobs/version.h"
#include "jobs/write_file.h"
#include "store/store.h"
#include "tune/estimates.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostModelBytes = size_t{256} << 20;

using Examples = std::vector<cost::Example>;

std::set<std::string> ProgramsIn(const Examples& examples) {
  std::set<std::string> programs;
  for (const cost::Example& example : examples) programs.insert(example.program);
  return programs;
}

cost::CostModel TrainOn(const Examples& examples, const CostModelOptions& options,
                        const cost::Machine& machine, const std::string& what, Events& events) {
  const ClearAtEnd clear(events);
  cost::TrainOptions training;
  training.seed = options.seed;
  training.steps = options.steps;
  training.interrupted = events.stop();
  training.progress = [&](int step, double loss) {
    if (!events.Due()) return;
    events.Show(fmt::format("{}: step {} of {}, loss {:.4f}", what, step, options.steps, loss));
  };
  cost::CostModel model = cost::TrainCostModel(examples, machine, training);
  model.card["trained_on"] = fmt::format("{}", fmt::join(ProgramsIn(examples), ","));
  model.card["examples"] = std::to_string(examples.size());
  model.card["seed"] = std::to_string(options.seed);
  return model;
}

StatusOr<CostModelQuality> Judge(const Examples& examples, const std::vector<double>& by_model,
                                 const cost::Machine& machine) {
  std::vector<double> by_roofline;
  for (const cost::Example& example : examples) {
    by_roofline.push_back(cost::RooflineOf(*example.graph, machine).seconds);
  }
  CostModelQuality quality{cost::RankQualities(examples, by_model, kFewestPlans),
                           cost::RankQualities(examples, by_roofline, kFewestPlans)};
  if (!quality.model.empty()) return quality;
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("no program that was not trained on has {} measured plans; tune "
                               "more programs, or for longer",
                               kFewestPlans));
}

MeanOfPrograms MeanOf(const std::vector<double>& values) {
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

StatusOr<Examples> ReadExamples(const CostModelOptions& options) {
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

StatusOr<TrainedCostModel> TrainOnSome(const Examples& all, const CostModelOptions& options,
                                       Events& events) {
  Examples examples;
  for (const cost::Example& example : all) {
    if (!cost::IsHeldOut(example.program, options.held_out, options.seed)) {
      examples.push_back(example);
    }
  }
  if (examples.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "all its programs would be held out; give a smaller --held-out");
  }
  TrainedCostModel trained{TrainOn(examples, options, cost::MeasureMachine(), "training", events),
                           examples.size(), ProgramsIn(examples).size(), 0};
  trained.held_out = ProgramsIn(all).size() - trained.programs;
  return trained;
}

StatusOr<CostModelQuality> JudgeModel(const Examples& all, const cost::CostModel& model) {
  const auto card = model.card.find("trained_on");
  const std::string trained_on = card == model.card.end() ? std::string() : card->second;
  Examples examples;
  std::vector<double> estimates;
  for (const cost::Example& example : all) {
    if (trained_on.find(example.program) != trained_on.npos) continue;
    examples.push_back(example);
    estimates.push_back(model.Estimate(*example.graph, example.choices));
  }
  return Judge(examples, estimates, model.machine);
}

StatusOr<CostModelQuality> CrossValidate(const Examples& all, const CostModelOptions& options,
                                         Events& events) {
  const cost::Machine machine = cost::MeasureMachine();
  const std::set<std::string> names = ProgramsIn(all);
  std::vector<std::string> programs(names.begin(), names.end());
  Rng rng(options.seed);
  for (size_t i = programs.size(); i > 1; --i) std::swap(programs[i - 1], programs[rng.Below(i)]);
  Examples examples;
  std::vector<double> estimates;
  const size_t folds = std::min(static_cast<size_t>(options.folds), programs.size());
  for (size_t fold = 0; fold < folds && !events.stopped(); ++fold) {
    std::set<std::string> out;
    for (size_t i = fold; i < programs.size(); i += folds) out.insert(programs[i]);
    Examples rest;
    for (const cost::Example& example : all) {
      if (out.count(example.program) == 0) rest.push_back(example);
    }
    if (rest.empty()) break;
    const cost::CostModel model =
        TrainOn(rest, options, machine, fmt::format("fold {} of {}", fold + 1, folds), events);
    if (events.stopped()) break;
    for (const cost::Example& example : all) {
      if (out.count(example.program) == 0) continue;
      examples.push_back(example);
      estimates.push_back(model.Estimate(*example.graph, example.choices));
    }
  }
  return Judge(examples, estimates, machine);
}

}  // namespace

FileOr<TrainedCostModel> TrainCostModel(const CostModelOptions& options, Events& events) {
  if (Status fine = CheckWritable(options.model); !fine) {
    return Wrong(options.model, fine.error());
  }
  const StatusOr<Examples> all = ReadExamples(options);
  if (!all) return Wrong(options.store, all.error());
  events.HoldInterrupts();
  auto trained = About(options.store, TrainOnSome(*all, options, events));
  if (!trained) return trained;
  if (auto wrote = WriteIfNamed(options.model, cost::WriteCostModel(trained->model)); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return trained;
}

Json ToJson(const TrainedCostModel& trained, const CostModelOptions& options) {
  return {{"model", options.model},
          {"programs", trained.programs},
          {"held_out", trained.held_out},
          {"examples", trained.examples}};
}

FileOr<CostModelQuality> JudgeCostModel(const CostModelOptions& options, Events& events) {
  const StatusOr<Examples> all = ReadExamples(options);
  if (!all) return Wrong(options.store, all.error());
  if (options.model.empty()) {
    events.HoldInterrupts();
    return About(options.store, CrossValidate(*all, options, events));
  }
  const StatusOr<std::string> bytes = ReadInput(options.model, kMostModelBytes);
  if (!bytes) return Wrong(options.model, bytes.error());
  const StatusOr<cost::CostModel> model = cost::ReadCostModel(*bytes);
  if (!model) return Wrong(options.model, model.error());
  return About(options.store, JudgeModel(*all, *model));
}

MeanOfPrograms MeanQuality(const std::vector<cost::RankQuality>& qualities,
                           double cost::RankQuality::* figure) {
  std::vector<double> values;
  for (const cost::RankQuality& quality : qualities) {
    if (figure != &cost::RankQuality::right || quality.decided > 0) {
      values.push_back(quality.*figure);
    }
  }
  if (values.empty()) values.push_back(0.5);
  return MeanOf(values);
}

Json ToJson(const CostModelQuality& quality) {
  const auto means = [](const std::vector<cost::RankQuality>& qualities) {
    Json json;
    for (const auto& [figure, field] : kQualityFigures) {
      const MeanOfPrograms mean = MeanQuality(qualities, field);
      json[figure] = mean.mean;
      json[std::string(figure) + "_ci"] = {mean.low, mean.high};
    }
    return json;
  };
  const auto& [model, roofline] = quality;
  Json json{{"programs", model.size()},
            {"model", means(model)},
            {"roofline", means(roofline)},
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
  return json;
}

}  // namespace hone::jobs
