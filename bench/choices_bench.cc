// One evaluator for every searcher over the decisions of a compilation: hone's own, or one that
// talks to it by lines of JSON, as bench/peers/tune_peers.py has others do.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench.h"
#include "search/choices/choices.h"
#include "tune/candidates.h"
#include "tune/measurer.h"
#include "tune/pool_evaluator.h"
#include "tune/space.h"

namespace hone::bench {
namespace {

using Json = nlohmann::json;

struct Options {
  std::string file;
  std::string stages = "tiles,flags";
  std::string search = "anneal";  // or "stdin"
  int64_t evaluations = 40;
  uint64_t seed = 1;
};

constexpr double kPromising = 0.004;  // as tune/tune_program.cc has it
constexpr double kPairSeconds = 3;    // of the race at the end
constexpr int kPairs = 30;

// Values of assignments as `hone tune` would have them: a short look, and a long one where it
// promises to be the best.
class Values {
 public:
  Values(tune::Evaluator& evaluator, const tune::Space& space, tune::Measurer& measurer)
      : evaluator_(evaluator), space_(space), measurer_(measurer) {}

  choices::Trial Of(const choices::Assignment& assignment) {
    ++asked_;
    const tune::TunePlan plan = tune::PlanOf(space_, assignment);
    if (plan.empty()) return {assignment, 0, false};
    const tune::Prepared prepared = measurer_.Prepare(plan);
    tune::Measured measured = measurer_.Measure(prepared, tune::Look::kShort);
    if (!measured.failed() && measured.value < best_ - kPromising &&
        measured.look == tune::Look::kShort) {
      measured = measurer_.Measure(prepared, tune::Look::kLong);
    }
    if (measured.failed()) return {assignment, 0, true};
    if (measured.look == tune::Look::kLong && measured.value < best_) {
      best_ = measured.value;
      plan_ = plan;
    }
    return {assignment, measured.value, false};
  }

  // The best against the stock executable, in a fresh process.
  Json Conclude() {
    Json json{{"evaluations", asked_}, {"speedup", 1.0}, {"low", 1.0}, {"high", 1.0}};
    if (plan_.empty()) return json;
    (void)evaluator_.Restart();
    const auto race = measurer_.Race({}, plan_, kPairSeconds, kPairs);
    if (!race || race->same_executable) return json;
    json["speedup"] = race->speedup;
    json["low"] = race->low;
    json["high"] = std::isfinite(race->high) ? Json(race->high) : Json(nullptr);
    return json;
  }

  int64_t asked() const { return asked_; }

 private:
  tune::Evaluator& evaluator_;
  const tune::Space& space_;
  tune::Measurer& measurer_;
  tune::TunePlan plan_;
  double best_ = 0;
  int64_t asked_ = 0;
};

// Nothing where the line is no assignment.
std::optional<choices::Assignment> Parse(const std::string& line, const tune::Space& space) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_array() || json.size() != space.variables.size()) return std::nullopt;
  choices::Assignment assignment;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number_unsigned() || json[i].get<uint64_t>() >= space.variables[i].choices) {
      return std::nullopt;
    }
    assignment.push_back(json[i].get<uint32_t>());
  }
  return assignment;
}

int Answer(const Options& options, const tune::Space& space, Values& values) {
  Json variables = Json::array();
  for (const choices::Variable& variable : space.variables) {
    variables.push_back(
        {{"name", variable.name}, {"choices", variable.choices}, {"stock", variable.stock}});
  }
  std::cout << Json{{"variables", variables}} << std::endl;
  for (std::string line; values.asked() < options.evaluations && std::getline(std::cin, line);) {
    const std::optional<choices::Assignment> assignment = Parse(line, space);
    if (!assignment) {
      std::cerr << "hone-bench: '" << line << "' is no list of a choice for each variable\n";
      return 2;
    }
    const choices::Trial trial = values.Of(*assignment);
    std::cout << Json{{"value", trial.value}, {"failed", trial.failed}} << std::endl;
  }
  return 0;
}

void Search(const Options& options, const choices::ChooserInfo& info, const tune::Space& space,
            Values& values) {
  choices::Problem problem;
  problem.variables = space.variables;
  problem.singles = static_cast<size_t>(0.3 * static_cast<double>(options.evaluations));
  const auto chooser = info.make(problem, options.seed);
  while (values.asked() < options.evaluations) {
    const std::vector<choices::Assignment> asked = chooser->Ask(1);
    if (asked.empty()) return;
    chooser->Tell(values.Of(asked[0]));
  }
}

int Run(const Options& options) {
  const choices::ChooserInfo* const info = choices::FindChooser(options.search);
  const StatusOr<tune::Stages> stages = tune::StagesFromText(options.stages);
  if ((info == nullptr && options.search != "stdin") || !stages) {
    std::cerr << "hone-bench: there is no such searcher, or no such stage\n";
    return 2;
  }
  const auto start_pool = [] {
    PoolOptions pool;
    pool.workers = 1;
    return Pool::Start(pool);
  };
  const auto evaluator =
      tune::PoolEvaluator::Start(start_pool, ReadFile(options.file), options.seed);
  if (!evaluator) {
    std::cerr << "hone-bench: " << options.file << ": " << evaluator.error().message << "\n";
    return 2;
  }
  const StatusOr<Compiled> listing = (*evaluator)->Compile({}, {});
  if (!listing) {
    std::cerr << "hone-bench: " << options.file << ": " << listing.error().message << "\n";
    return 2;
  }
  tune::Space space;
  tune::AddListing(*listing, *stages, {}, space);
  tune::TuneOptions tuning;
  tuning.seed = options.seed;
  tune::Measurer measurer(**evaluator, space, tuning);
  measurer.KnowStock(listing->fingerprint, listing->seconds);
  Values values(**evaluator, space, measurer);
  if (info != nullptr) {
    Search(options, *info, space, values);
  } else if (const int code = Answer(options, space, values); code != 0) {
    return code;
  }
  std::cout << values.Conclude() << std::endl;
  return 0;
}

}  // namespace

void AddChoicesBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(
      "choices", "values of a compilation's decisions, for searchers of hone's and others");
  command->add_option("--program", options->file)->required();
  command->add_option("--stages", options->stages)->capture_default_str();
  command->add_option("--search", options->search, "a searcher of hone tune, or stdin")
      ->capture_default_str();
  command->add_option("--evaluations", options->evaluations)->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace hone::bench
