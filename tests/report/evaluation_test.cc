#include "report/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace hone::report {
namespace {

// A row of which only the ratio is of interest.
Evaluation Result(const std::string& program, uint64_t seed, double initial, double by_default,
                  double value) {
  Evaluation row;
  row.method = "m";
  row.program = program;
  row.objective = "op_count";
  row.actions = "simplify";
  row.seed = seed;
  row.initial = initial;
  row.by_default = by_default;
  row.value = value;
  row.verified = "skipped";
  return row;
}

Evaluation Full() {
  Evaluation row = Result("a/\"b\"\n.hlo", std::numeric_limits<uint64_t>::max(), 100, 80.5, 61.25);
  row.method = "Größe";
  row.from_default = true;
  row.evaluated = int64_t{1} << 40;
  row.seconds = 1.0 / 3;
  row.verified = "true";
  row.stop_reason = "budget";
  row.curve = {{3, 0.25, 90}, {int64_t{1} << 33, 1.5, 61.25}};
  row.passes = {"cse", "algsimp:generic"};
  row.stock_instructions = 0;
  row.final_instructions = 12;
  row.stock_run_seconds = 0.1;
  row.final_run_seconds = 0;
  return row;
}

void ExpectSame(const Evaluation& a, const Evaluation& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.program, b.program);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.from_default, b.from_default);
  EXPECT_EQ(a.initial, b.initial);
  EXPECT_EQ(a.by_default, b.by_default);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.evaluated, b.evaluated);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.verified, b.verified);
  EXPECT_EQ(a.stop_reason, b.stop_reason);
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].evaluated, b.curve[i].evaluated);
    EXPECT_EQ(a.curve[i].seconds, b.curve[i].seconds);
    EXPECT_EQ(a.curve[i].value, b.curve[i].value);
  }
  EXPECT_EQ(a.passes, b.passes);
  EXPECT_EQ(a.stock_instructions, b.stock_instructions);
  EXPECT_EQ(a.final_instructions, b.final_instructions);
  EXPECT_EQ(a.stock_run_seconds, b.stock_run_seconds);
  EXPECT_EQ(a.final_run_seconds, b.final_run_seconds);
}

std::string ErrorOf(const std::string& text) {
  const auto rows = EvaluationsFromJsonLines(text);
  if (rows) return "";
  EXPECT_EQ(rows.error().code, ErrorCode::kInvalidInput);
  return rows.error().message;
}

const std::string kLine =
    R"({"method":"m","program":"p","objective":"o","actions":"a","seed":7,"initial":10,)"
    R"("default":8,"result":6,"evaluated":5,"seconds":0.5,"curve":[[1,0.1,9],[5,0.4,6]]})";

TEST(EvaluationJson, ReadsTheLinesThatItWrote) {
  const std::vector<Evaluation> rows = {Full(), Result("p", 0, 5, 5, 5), Full()};
  std::string text;
  for (const Evaluation& row : rows) {
    const std::string line = EvaluationToJsonLine(row);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    text += line;
  }
  const auto read = EvaluationsFromJsonLines(text);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  for (size_t i = 0; i < 3; ++i) ExpectSame((*read)[i], rows[i]);
}

TEST(EvaluationJson, HasTheRatioForOthersToRead) {
  EXPECT_NE(EvaluationToJsonLine(Result("p", 0, 100, 80, 50)).find("\"ratio\":2.5,"),
            std::string::npos);
  EXPECT_NE(EvaluationToJsonLine(Result("p", 0, 80, 80, 50)).find("\"ratio\":null,"),
            std::string::npos);
}

TEST(EvaluationJson, RoundsTheSecondsOfCurves) {
  Evaluation row = Full();
  row.curve = {{1, 0.123456, 1.0 / 3}};
  EXPECT_NE(EvaluationToJsonLine(row).find("[[1,0.1235,0.333333333333"), std::string::npos);
}

TEST(EvaluationJson, ReadsALineWrittenByHandAndPassesOverEmptyOnes) {
  for (const std::string& text : {kLine, kLine + "\n", "\n \t\r\n" + kLine + "\r\n\n\n"}) {
    const auto read = EvaluationsFromJsonLines(text);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 1u);
    const Evaluation& row = read->front();
    EXPECT_EQ(row.method, "m");
    EXPECT_EQ(row.program, "p");
    EXPECT_EQ(row.objective, "o");
    EXPECT_EQ(row.actions, "a");
    EXPECT_EQ(row.seed, 7u);
    EXPECT_FALSE(row.from_default);
    EXPECT_EQ(row.initial, 10);
    EXPECT_EQ(row.by_default, 8);
    EXPECT_EQ(row.value, 6);
    EXPECT_EQ(row.evaluated, 5);
    EXPECT_EQ(row.seconds, 0.5);
    EXPECT_EQ(row.verified, "skipped");
    EXPECT_EQ(row.stop_reason, "");
    ASSERT_EQ(row.curve.size(), 2u);
    EXPECT_EQ(row.curve[1].evaluated, 5);
    EXPECT_EQ(row.curve[1].seconds, 0.4);
    EXPECT_EQ(row.curve[1].value, 6);
    EXPECT_EQ(row.stock_instructions, -1);
    EXPECT_EQ(row.final_instructions, -1);
    EXPECT_EQ(row.stock_run_seconds, -1);
    EXPECT_EQ(row.final_run_seconds, -1);
  }
  EXPECT_TRUE(EvaluationsFromJsonLines("")->empty());
  EXPECT_TRUE(EvaluationsFromJsonLines("\n\n")->empty());
}

TEST(EvaluationJson, NamesTheLineThatIsWrong) {
  for (const std::string wrong : {"{", "x", "5", "null", "[]", "{}", "\"a\"", "\xff"}) {
    EXPECT_NE(ErrorOf(wrong).find("line 1 is not"), std::string::npos) << wrong;
    EXPECT_NE(ErrorOf(kLine + "\n\n" + wrong + "\n" + kLine).find("line 3 is not"),
              std::string::npos)
        << wrong;
  }
  for (const std::string field : {"method", "program", "objective", "actions", "seed", "initial",
                                  "default", "result", "evaluated", "seconds", "curve"}) {
    std::string lacks = kLine;
    lacks.insert(lacks.find("\"" + field + "\"") + 1, "no ");
    EXPECT_NE(ErrorOf(lacks).find("'" + field + "'"), std::string::npos) << ErrorOf(lacks);
    std::string other = kLine;
    const size_t at = other.find("\"" + field + "\":") + field.size() + 3;
    other.replace(at, other.find(field == "curve" ? "]]}" : ",\"", at) - at, "{\"a\":{}}");
    if (field == "curve") other = other.substr(0, other.rfind("]]}")) + "}";
    EXPECT_NE(ErrorOf("\n" + other).find("line 2 is not"), std::string::npos) << other;
  }
  for (const std::string curve : {"[[1,2]]", "[1]", "[[\"1\",2,3]]", "[null]"}) {
    const std::string line = kLine.substr(0, kLine.find("[[")) + curve + "}";
    EXPECT_NE(ErrorOf(line).find("line 1 is not"), std::string::npos) << line;
  }
  for (const std::string more :
       {"\"verified\":true", "\"from_default\":\"yes\"", "\"stock_instructions\":[]"}) {
    EXPECT_NE(ErrorOf("{" + more + "," + kLine.substr(1)).find("line 1 is not"), std::string::npos)
        << more;
  }
}

TEST(Evaluation, TheRatioIsOfTheGainToThatOfTheDefaultOrder) {
  EXPECT_DOUBLE_EQ(*Result("p", 0, 100, 80, 80).Ratio(), 1);
  EXPECT_DOUBLE_EQ(*Result("p", 0, 100, 80, 70).Ratio(), 1.5);
  EXPECT_DOUBLE_EQ(*Result("p", 0, 100, 80, 100).Ratio(), 0);
  EXPECT_DOUBLE_EQ(*Result("p", 0, 100, 80, 110).Ratio(), -0.5);
  EXPECT_DOUBLE_EQ(*Result("p", 0, 100, 80, 0).RatioOf(95), 0.25);
  EXPECT_FALSE(Result("p", 0, 100, 100, 70).Ratio());
  EXPECT_FALSE(Result("p", 0, 100, 101, 70).Ratio());
}

TEST(Evaluation, TheValueByThenIsThatOfTheCurve) {
  Evaluation row = Result("p", 0, 100, 80, 60);
  row.curve = {{3, 0.25, 90}, {10, 0.5, 70}, {40, 2, 60}};
  const std::vector<std::pair<int64_t, double>> at = {
      {-1, 100}, {0, 100}, {2, 100}, {3, 90}, {9, 90}, {10, 70}, {39, 70}, {40, 60}, {1000, 60}};
  for (const auto& [steps, value] : at) EXPECT_EQ(row.ValueAt(steps), value) << steps;
  const std::vector<std::pair<double, double>> after = {
      {0, 100}, {0.2, 100}, {0.25, 90}, {0.4, 90}, {0.5, 70}, {1.9, 70}, {2, 60}, {1e9, 60}};
  for (const auto& [seconds, value] : after) EXPECT_EQ(row.ValueAfter(seconds), value) << seconds;
  row.from_default = true;  // which it falls back on
  EXPECT_EQ(row.ValueAt(3), 80);
  EXPECT_EQ(row.ValueAt(10), 70);
  EXPECT_EQ(row.ValueAfter(0.25), 80);
  EXPECT_EQ(row.ValueAfter(0.5), 70);
  row.curve.clear();
  EXPECT_EQ(row.ValueAt(1000), 80);
  row.from_default = false;
  EXPECT_EQ(row.ValueAfter(1000), 100);
}

TEST(GeometricMean, IsOfTheProgramsMeans) {
  const Mean mean = GeometricMean({{"a", 1}, {"b", 8}, {"a", 4}});
  EXPECT_DOUBLE_EQ(mean.mean, 4);  // of 2 and 8
  EXPECT_EQ(mean.programs, 2u);
  EXPECT_DOUBLE_EQ(GeometricMean({{"a", 0.01}, {"b", 100}, {"c", 27}}).mean, 3);
  EXPECT_EQ(GeometricMean({}).programs, 0u);
}

TEST(GeometricMean, OneSampleIsItsOwnInterval) {
  const Mean mean = GeometricMean({{"a", 1.7}});
  EXPECT_DOUBLE_EQ(mean.mean, 1.7);
  EXPECT_EQ(mean.low, mean.mean);
  EXPECT_EQ(mean.high, mean.mean);
  const Mean without = GeometricMean({{"a", 1}, {"b", 4}}, 0);
  EXPECT_DOUBLE_EQ(without.mean, 2);
  EXPECT_EQ(without.low, without.mean);
  EXPECT_EQ(without.high, without.mean);
}

// Of two, a quarter of the draws is twice the one, a quarter twice the other.
TEST(GeometricMean, DrawsProgramsAndSeedsWithReplacement) {
  for (const char* other : {"b", "a"}) {
    const Mean mean = GeometricMean({{"a", 1}, {other, 9}});
    EXPECT_DOUBLE_EQ(mean.mean, 3);
    EXPECT_DOUBLE_EQ(mean.low, 1);
    EXPECT_DOUBLE_EQ(mean.high, 9);
  }
}

// Half of the programs at 1 and half at e^2: the mean's logarithm is binomial(400, 1/2) / 200,
// whose quantiles of 2.5 % and 97.5 % are 180 / 200 and 220 / 200; those of 5 % and 95 %, 0.92
// and 1.08.
TEST(GeometricMean, HasTheIntervalOfTheBinomialDistribution) {
  std::vector<Sample> samples;
  for (int i = 0; i < 400; ++i) {
    samples.push_back({std::to_string(i), i % 2 == 0 ? 1 : std::exp(2)});
  }
  const Mean mean = GeometricMean(samples);
  EXPECT_NEAR(std::log(mean.mean), 1, 1e-12);
  EXPECT_NEAR(std::log(mean.low), 0.9, 0.0101);
  EXPECT_NEAR(std::log(mean.high), 1.1, 0.0101);
}

// Values between 1 and 8, in an order that is not theirs.
std::vector<Sample> Spread(int programs) {
  std::vector<Sample> samples;
  for (int i = 0; i < programs; ++i) {
    samples.push_back({"p" + std::to_string(i), std::exp2(i * 5 % 8 * 3 / 7.0)});
  }
  return samples;
}

TEST(GeometricMean, TheIntervalHoldsTheMeanAndShrinksWithPrograms) {
  double width = std::numeric_limits<double>::infinity();
  for (const int programs : {8, 32, 128, 512}) {
    const Mean mean = GeometricMean(Spread(programs));
    EXPECT_EQ(mean.programs, static_cast<size_t>(programs));
    EXPECT_NEAR(mean.mean, std::sqrt(8), 1e-9);
    EXPECT_LT(mean.low, mean.mean);
    EXPECT_GT(mean.high, mean.mean);
    EXPECT_LT(mean.high - mean.low, 0.6 * width);  // half of it, with four times as many
    width = mean.high - mean.low;
  }
}

TEST(GeometricMean, IsTheSameEveryTime) {
  const Mean a = GeometricMean(Spread(9));
  const Mean b = GeometricMean(Spread(9));
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(GeometricMean, SeedsAreNotFurtherPrograms) {
  const Mean once = GeometricMean(Spread(8));
  std::vector<Sample> often;
  for (int seed = 0; seed < 16; ++seed) {
    for (const Sample& sample : Spread(8)) often.push_back(sample);
  }
  const Mean mean = GeometricMean(often);
  EXPECT_EQ(mean.programs, 8u);
  EXPECT_NEAR(mean.mean, once.mean, 1e-9);
  EXPECT_NEAR(mean.high - mean.low, once.high - once.low, 0.15 * (once.high - once.low));
}

TEST(Summarise, CountsProgramsByTheMeanOverSeeds) {
  const Summary summary = Summarise({
      Result("better", 1, 100, 80, 60),
      Result("better", 2, 100, 80, 90),
      Result("equal", 1, 100, 80, 80),
      Result("equal", 2, 100, 80, 80),
      Result("even", 1, 100, 80, 70),
      Result("even", 2, 100, 80, 90),
      Result("worse", 1, 100, 80, 50),
      Result("worse", 2, 100, 80, 111),
      Result("also", 5, 100, 80, 81),
      Result("other", 1, 3, 2, 1),
  });
  EXPECT_EQ(summary.method, "m");
  EXPECT_EQ(summary.better, 2);
  EXPECT_EQ(summary.equal, 2);
  EXPECT_EQ(summary.worse, 2);
  EXPECT_EQ(summary.seeds, 3u);
  EXPECT_EQ(summary.ratio.programs, 6u);
}

TEST(Summarise, ARatioIsNotBelowTheLeast) {
  for (const double nothing : {100.0, 99.9, 150.0}) {
    const Summary summary =
        Summarise({Result("p", 1, 100, 80, nothing), Result("q", 1, 100, 80, 60)});
    EXPECT_NEAR(summary.ratio.mean, std::sqrt(0.01 * 2), 1e-12) << nothing;
  }
  EXPECT_NEAR(Summarise({Result("p", 1, 100, 80, 99.5)}).ratio.mean, 0.025, 1e-12);
}

TEST(Summarise, LeavesOutOfTheRatioWhereTheDefaultOrderIsWorthNothing) {
  const Summary summary = Summarise({
      Result("p", 1, 100, 80, 70),
      Result("none", 1, 100, 100, 70),
      Result("none", 2, 100, 100, 70),
      Result("harm", 1, 100, 120, 110),
  });
  EXPECT_EQ(summary.without_ratio, 2);
  EXPECT_EQ(summary.ratio.programs, 1u);
  EXPECT_NEAR(summary.ratio.mean, 1.5, 1e-12);
  EXPECT_EQ(summary.better, 3);
}

TEST(Summarise, LooksAtTheCurveAtSoManySteps) {
  Evaluation p = Result("p", 1, 100, 80, 60);
  p.curve = {{10, 1, 80}, {20, 2, 60}};
  Evaluation q = Result("q", 1, 100, 80, 70);
  q.curve = {{5, 1, 90}, {30, 2, 70}};
  const auto at = [&](int64_t steps) { return Summarise({p, q}, steps); };
  EXPECT_NEAR(at(1).ratio.mean, 0.01, 1e-12);
  EXPECT_EQ(at(1).worse, 2);
  EXPECT_NEAR(at(10).ratio.mean, std::sqrt(1 * 0.5), 1e-12);
  EXPECT_EQ(at(10).equal, 1);
  EXPECT_EQ(at(10).worse, 1);
  EXPECT_NEAR(at(30).ratio.mean, std::sqrt(2 * 1.5), 1e-12);
  EXPECT_EQ(at(30).better, 2);
  p.curve.clear();
  EXPECT_NEAR(at(0).ratio.mean, std::sqrt(2 * 1.5), 1e-12);  // the result, not the curve
}

TEST(Summarise, MeansOfRunsAndVerdicts) {
  std::vector<Evaluation> rows = {Result("p", 1, 100, 80, 70), Result("p", 2, 100, 80, 70),
                                  Result("q", 1, 100, 80, 70), Result("r", 1, 100, 80, 70)};
  const char* verdicts[] = {"true", "true", "false", "skipped"};
  for (size_t i = 0; i < 4; ++i) {
    rows[i].seconds = static_cast<double>(i);
    rows[i].evaluated = static_cast<int64_t>(10 * i);
    rows[i].verified = verdicts[i];
  }
  const Summary summary = Summarise(rows);
  EXPECT_NEAR(summary.seconds, 1.5, 1e-12);
  EXPECT_NEAR(summary.evaluated, 15, 1e-12);
  EXPECT_EQ(summary.verified, 2);
  EXPECT_EQ(summary.different, 1);
  EXPECT_EQ(summary.unverified, 1);
}

TEST(Summarise, WhatWasMeasuredInTheEnd) {
  std::vector<Evaluation> rows = {Result("p", 1, 100, 80, 70), Result("p", 2, 100, 80, 70),
                                  Result("q", 1, 100, 80, 70), Result("r", 1, 100, 80, 70)};
  rows[0].stock_instructions = 40;
  rows[0].final_instructions = 10;
  rows[2].stock_instructions = 9;
  rows[2].final_instructions = 9;
  rows[3].stock_instructions = 9;  // the result could not be compiled
  rows[1].stock_run_seconds = 1;
  rows[1].final_run_seconds = 2;
  rows[3].final_run_seconds = 2;
  const Summary summary = Summarise(rows);
  EXPECT_NEAR(summary.final_instructions.mean, 2, 1e-12);
  EXPECT_EQ(summary.final_instructions.programs, 2u);
  EXPECT_NEAR(summary.run_time.mean, 0.5, 1e-12);
  EXPECT_EQ(summary.run_time.programs, 1u);
}

TEST(Summarise, OfNothing) {
  const Summary summary = Summarise({});
  EXPECT_EQ(summary.ratio.programs, 0u);
  EXPECT_EQ(summary.better + summary.equal + summary.worse, 0);
  EXPECT_EQ(summary.seeds, 0u);
}

}  // namespace
}  // namespace hone::report
