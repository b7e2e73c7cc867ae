#include "report/document.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/html.h"
#include "report/sections/ablation.h"
#include "report/sections/curve.h"
#include "report/sections/methods.h"
#include "report/sections/rewrites.h"
#include "report/sections/scratchpad.h"
#include "report/sections/traffic.h"

namespace hone::report {
namespace {

TEST(Document, SaysWhatItIsGiven) {
  Document document;
  document.command = "optimize";
  document.title = "model";
  document.headline.verdict = "better";
  document.headline.verified = Verified::kNo;
  document.headline.figures = {{"hone", "12", "instructions"}};
  document.sections.push_back({{"kind", "curve"}});
  document.remarks = {"something is missing"};
  const Json json = ToJson(document);
  EXPECT_EQ(json["format"], "hone report 1");
  EXPECT_EQ(json["headline"]["verified"], "no");
  EXPECT_EQ(json["headline"]["figures"][0]["value"], "12");
  EXPECT_EQ(json["sections"][0]["kind"], "curve");
  EXPECT_EQ(json["remarks"][0], "something is missing");
}

TEST(Document, HowItWasVerifiedIsTheReasonWhereItWasNot) {
  ComparisonReport report;
  report.verdict = Verdict::kEqual;
  report.method = "run on XLA:CPU";
  report.inputs = 1;
  report.worst_error = 0.25;
  EXPECT_EQ(HowVerified(report), "run on XLA:CPU; 1 input set, worst error 0.25 of the tolerance");
  report.verdict = Verdict::kDifferent;
  report.reason = "output 0 differs";
  EXPECT_EQ(HowVerified(report), "output 0 differs");
}

TEST(Html, HoldsTheDocumentAndAnEscapedTitle) {
  Document document;
  document.title = "a<b>&c";
  const StatusOr<std::string> html = ToHtml(document);
  if (!HaveTemplate()) {
    ASSERT_FALSE(html.has_value());
    EXPECT_NE(html.error().message.find("without reports"), std::string::npos);
    return;
  }
  ASSERT_TRUE(html.has_value());
  EXPECT_NE(html->find("<title>a&lt;b>&amp;c"), std::string::npos);
  EXPECT_NE(html->find(Packed(ToJson(document).dump())), std::string::npos);
  EXPECT_EQ(html->find("HONE-REPORT"), std::string::npos);
}

TEST(Html, PackedIsBase64OfWholeGroups) {
  for (const char* text : {"", "a", "ab", "abc", "abcd"}) {
    const std::string packed = Packed(text);
    EXPECT_EQ(packed.size() % 4, 0u);
    EXPECT_EQ(packed.find_first_not_of(
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
              std::string::npos);
  }
  EXPECT_EQ(Packed("a").substr(0, 2), "eN");  // zlib's header at its best compression
}

TEST(Sections, AnIntervalWithoutEndIsLeftOut) {
  Ablation ablation;
  ablation.undone = {{"a", "", 1.5, 0.0, std::numeric_limits<double>::infinity(), ""},
                     {"b", "", 1.5, 1.0, 2.0, ""}};
  const Json json = ToSection(ablation);
  EXPECT_FALSE(json["undone"][0].contains("interval"));
  EXPECT_EQ(json["undone"][1]["interval"], Json({1.0, 2.0}));
}

TEST(Sections, ACurveHasItsPointsInOrder) {
  Curve curve;
  curve.points = {{0, 0, 10}, {5, 0.5, 8}};
  curve.levels = {{"XLA", 10}};
  const Json json = ToSection(curve);
  EXPECT_EQ(json["points"], Json::parse("[[0,0.0,10.0],[5,0.5,8.0]]"));
  EXPECT_EQ(json["levels"][0]["label"], "XLA");
}

TEST(Sections, OccupancyIsTheSumOfWhatLies) {
  Scratchpad scratchpad;
  scratchpad.rooms = {
      {"a", "loaded", 0, 10, 0, 3}, {"b", "computed", 10, 5, 1, 3}, {"c", "copy", 0, 15, 3, 4}};
  const Json json = ToSection(scratchpad);
  EXPECT_EQ(json["occupancy"], Json::parse("[[0,10],[1,15],[4,0]]"));
  EXPECT_EQ(json["left_out"], 0);
}

TEST(Sections, OfManyRoomsTheLargestAreKept) {
  Scratchpad scratchpad;
  for (int i = 0; i < 20005; ++i) scratchpad.rooms.push_back({"t", "loaded", 0, i, 0, 1});
  const Json json = ToSection(scratchpad);
  EXPECT_EQ(json["left_out"], 5);
  EXPECT_EQ(json["rooms"].size(), 20000u);
  EXPECT_EQ(json["rooms"][0][3], 20004);
}

TEST(Sections, TrafficLosesNoByte) {
  Traffic traffic;
  traffic.ways = {{"hone", 100, 0.5, true}, {"bound", 90, -1, false}};
  int64_t loaded = 0;
  for (int i = 0; i < 1500; ++i) {
    traffic.tensors.push_back({"t", "parameter", 8, i, 1});
    loaded += i;
  }
  const Json json = ToSection(traffic);
  int64_t sum = 0;
  for (const Json& row : json["tensors"]) sum += row[3].get<int64_t>();
  EXPECT_EQ(sum, loaded);
  EXPECT_EQ(json["tensors"].size(), 1001u);
  EXPECT_EQ(json["tensors"][0][3], 1499);
  EXPECT_TRUE(json["ways"][1]["seconds"].is_null());
}

TEST(Sections, LongRewritesAreCut) {
  Rewrites rewrites;
  rewrites.sites.resize(5001);
  rewrites.sites[0].original = std::string(10000, 'x');
  const Json json = ToSection(RewriteList{"", "algsimp", &rewrites});
  EXPECT_EQ(json["sites"].size(), 5000u);
  EXPECT_EQ(json["left_out"], 1);
  EXPECT_LT(json["sites"][0]["original"].get<std::string>().size(), 5000u);
}

TEST(Sections, TheMeanRatioGrowsWithTheCurves) {
  Evaluation row;
  row.program = "p";
  row.initial = 100;
  row.by_default = 80;
  row.value = 70;
  row.evaluated = 60;
  row.curve = {{0, 0, 90}, {30, 1, 70}};
  const Json json = ToSection(Methods{"", {row}});
  EXPECT_DOUBLE_EQ(json["rows"][0]["ratio"].get<double>(), 1.5);
  EXPECT_NEAR(json["curve"].front()[1].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(json["curve"].back()[1].get<double>(), 1.5, 1e-9);
}

}  // namespace
}  // namespace hone::report
