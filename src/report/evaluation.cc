#include "report/evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lines.h"
#include "core/rng.h"
#include "report/quantile.h"

namespace hone::report {
namespace {

using Json = nlohmann::ordered_json;

// Throws what nlohmann::json throws on a missing field or a wrong type.
Evaluation FromJson(const nlohmann::json& json) {
  Evaluation one;
  one.method = json.at("method");
  one.program = json.at("program");
  one.objective = json.at("objective");
  one.actions = json.at("actions");
  one.seed = json.at("seed");
  one.from_default = json.value("from_default", false);
  one.initial = json.at("initial");
  one.by_default = json.at("default");
  one.value = json.at("result");
  one.evaluated = json.at("evaluated");
  one.seconds = json.at("seconds");
  one.verified = json.value("verified", "skipped");
  one.stop_reason = json.value("stop_reason", "");
  for (const auto& point : json.at("curve")) {
    one.curve.push_back({point.at(0), point.at(1), point.at(2)});
  }
  one.passes = json.value("passes", std::vector<std::string>());
  one.stock_instructions = json.value("stock_instructions", int64_t{-1});
  one.final_instructions = json.value("final_instructions", int64_t{-1});
  one.stock_run_seconds = json.value("stock_run_seconds", -1.0);
  one.final_run_seconds = json.value("final_run_seconds", -1.0);
  return one;
}

}  // namespace

std::optional<double> Evaluation::RatioOf(double r) const {
  if (by_default >= initial) return std::nullopt;
  return (initial - r) / (initial - by_default);
}

double Evaluation::ValueAt(int64_t evaluated_steps) const {
  double best = from_default ? std::min(by_default, initial) : initial;
  for (const CurvePoint& point : curve) {
    if (point.evaluated <= evaluated_steps) best = std::min(best, point.value);
  }
  return best;
}

double Evaluation::ValueAfter(double search_seconds) const {
  double best = from_default ? std::min(by_default, initial) : initial;
  for (const CurvePoint& point : curve) {
    if (point.seconds <= search_seconds) best = std::min(best, point.value);
  }
  return best;
}

std::string EvaluationToJsonLine(const Evaluation& one) {
  Json json;
  json["method"] = one.method;
  json["program"] = one.program;
  json["objective"] = one.objective;
  json["actions"] = one.actions;
  json["seed"] = one.seed;
  json["from_default"] = one.from_default;
  json["initial"] = one.initial;
  json["default"] = one.by_default;
  json["result"] = one.value;
  json["ratio"] = one.Ratio() ? Json(*one.Ratio()) : Json(nullptr);
  json["evaluated"] = one.evaluated;
  json["seconds"] = one.seconds;
  json["verified"] = one.verified;
  json["stop_reason"] = one.stop_reason;
  json["curve"] = Json::array();
  for (const CurvePoint& point : one.curve) {
    json["curve"].push_back({point.evaluated, std::round(point.seconds * 1e4) / 1e4, point.value});
  }
  if (!one.passes.empty()) json["passes"] = one.passes;
  if (one.stock_instructions >= 0) json["stock_instructions"] = one.stock_instructions;
  if (one.final_instructions >= 0) json["final_instructions"] = one.final_instructions;
  if (one.stock_run_seconds >= 0) json["stock_run_seconds"] = one.stock_run_seconds;
  if (one.final_run_seconds >= 0) json["final_run_seconds"] = one.final_run_seconds;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<std::vector<Evaluation>> EvaluationsFromJsonLines(std::string_view text) {
  std::vector<Evaluation> rows;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = TakeLine(text);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      rows.push_back(FromJson(nlohmann::json::parse(line)));
    } catch (const nlohmann::json::exception& exception) {
      return MakeError(ErrorCode::kInvalidInput,
                       "line " + std::to_string(number) +
                           " is not a result of `hone eval`: " + exception.what());
    }
  }
  return rows;
}

Mean GeometricMean(const std::vector<Sample>& samples, int resamples) {
  std::map<std::string, std::vector<double>> logs;
  for (const Sample& sample : samples) logs[sample.program].push_back(std::log(sample.value));
  Mean mean;
  mean.programs = logs.size();
  if (logs.empty()) return mean;
  std::vector<const std::vector<double>*> programs;
  double sum = 0;
  for (const auto& [program, values] : logs) {
    programs.push_back(&values);
    double of_program = 0;
    for (double value : values) of_program += value;
    sum += of_program / static_cast<double>(values.size());
  }
  const auto count = static_cast<double>(programs.size());
  mean.mean = std::exp(sum / count);
  Rng rng(1);
  std::vector<double> means;
  for (int i = 0; i < resamples; ++i) {
    double drawn = 0;
    for (size_t j = 0; j < programs.size(); ++j) {
      const std::vector<double>& values = *rng.Pick(programs);
      double of_program = 0;
      for (size_t k = 0; k < values.size(); ++k) of_program += rng.Pick(values);
      drawn += of_program / static_cast<double>(values.size());
    }
    means.push_back(std::exp(drawn / count));
  }
  std::sort(means.begin(), means.end());
  mean.low = means.empty() ? mean.mean : Quantile(means, 0.025);
  mean.high = means.empty() ? mean.mean : Quantile(means, 0.975);
  return mean;
}

Summary Summarise(const std::vector<Evaluation>& rows, int64_t at_steps) {
  Summary summary;
  std::vector<Sample> ratios;
  std::vector<Sample> instructions;
  std::vector<Sample> times;
  std::map<std::string, std::pair<double, double>> sums;  // of R and D, by program
  std::set<std::string> without;
  std::set<uint64_t> seeds;
  for (const Evaluation& row : rows) {
    summary.method = row.method;
    seeds.insert(row.seed);
    const double value = at_steps > 0 ? row.ValueAt(at_steps) : row.value;
    if (const auto ratio = row.RatioOf(value)) {
      ratios.push_back({row.program, std::max(kLeastRatio, *ratio)});
    } else {
      without.insert(row.program);
    }
    auto& [result, by_default] = sums[row.program];
    result += value;
    by_default += row.by_default;
    summary.seconds += row.seconds / static_cast<double>(rows.size());
    summary.evaluated += static_cast<double>(row.evaluated) / static_cast<double>(rows.size());
    ++(row.verified == "true"    ? summary.verified
       : row.verified == "false" ? summary.different
                                 : summary.unverified);
    if (row.stock_instructions > 0 && row.final_instructions > 0) {
      instructions.push_back({row.program, static_cast<double>(row.stock_instructions) /
                                               static_cast<double>(row.final_instructions)});
    }
    if (row.stock_run_seconds > 0 && row.final_run_seconds > 0) {
      times.push_back({row.program, row.stock_run_seconds / row.final_run_seconds});
    }
  }
  for (const auto& [program, both] : sums) {
    ++(both.first < both.second    ? summary.better
       : both.first == both.second ? summary.equal
                                   : summary.worse);
  }
  summary.seeds = seeds.size();
  summary.without_ratio = static_cast<int>(without.size());
  summary.ratio = GeometricMean(ratios);
  summary.final_instructions = GeometricMean(instructions);
  summary.run_time = GeometricMean(times);
  return summary;
}

}  // namespace hone::report
