#include "report/leaderboard.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace hone::report {
namespace {

using Names = std::vector<std::string>;
using Row = std::vector<std::string>;

// Of a program that had 100 and that the default order takes to 80.
Evaluation Result(const std::string& method, const std::string& program, double value,
                  uint64_t seed = 1) {
  Evaluation row;
  row.method = method;
  row.program = program;
  row.objective = "op_count";
  row.actions = "simplify";
  row.seed = seed;
  row.initial = 100;
  row.by_default = 80;
  row.value = value;
  row.verified = "true";
  return row;
}

std::string ErrorOf(const std::vector<Evaluation>& rows) {
  const auto board = MakeLeaderboard(rows);
  if (board) return "";
  EXPECT_EQ(board.error().code, ErrorCode::kInvalidInput);
  return board.error().message;
}

// The cells of each table's rows, the heads first, the rule left out.
std::vector<std::vector<Row>> Tables(const std::string& markdown) {
  std::vector<std::vector<Row>> tables;
  bool inside = false;
  std::stringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      inside = false;
      continue;
    }
    if (!inside) tables.emplace_back();
    inside = true;
    if (line.starts_with("|---")) continue;
    Row row;
    std::stringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) {
      const size_t first = cell.find_first_not_of(' ');
      row.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    tables.back().push_back(row);
  }
  return tables;
}

// Ratios: slow 1/4 and 1, fast 1 and 4.
std::vector<Evaluation> Tiny() {
  std::vector<Evaluation> rows = {Result("slow", "p", 95), Result("slow", "q", 80),
                                  Result("fast", "p", 80), Result("fast", "q", 20)};
  for (Evaluation& row : rows) {
    row.seconds = row.method == "slow" ? 12.344 : 0.5;
    row.evaluated = 100;
    row.curve = {{100, 1, row.value}};
  }
  rows[2].curve = {{10, 0.1, 80}};
  rows[3].curve = {{10, 0.1, 60}, {100, 0.2, 20}};
  rows[1].verified = "skipped";
  rows[3].verified = "false";
  rows[3].stock_instructions = 20;
  rows[3].final_instructions = 16;
  return rows;
}

TEST(Leaderboard, RanksMethodsAndTheDefaultOrderBestFirst) {
  const auto board = MakeLeaderboard(Tiny());
  ASSERT_TRUE(board) << board.error().message;
  EXPECT_EQ(board->methods, (Names{"fast", "default order", "slow"}));
  EXPECT_EQ(board->programs, (Names{"p", "q"}));
  EXPECT_TRUE(board->left_out.empty());
  int defaults = 0;
  for (const Evaluation& row : board->rows) {
    if (row.method != "default order") continue;
    ++defaults;
    EXPECT_EQ(row.Ratio(), 1);
    EXPECT_EQ(row.value, 80);
    EXPECT_EQ(row.ValueAt(0), 80);
  }
  EXPECT_EQ(defaults, 2);
  EXPECT_EQ(board->rows.size(), 6u);
}

TEST(Leaderboard, MethodsThatAreEquallyGoodAreByName) {
  const auto board = MakeLeaderboard({Result("z", "p", 80), Result("a", "p", 80)});
  ASSERT_TRUE(board);
  EXPECT_EQ(board->methods, (Names{"a", "default order", "z"}));
}

TEST(Leaderboard, IsOfTheProgramsThatAllMethodsHave) {
  const auto board = MakeLeaderboard({
      Result("a", "p", 10),
      Result("b", "p", 70),
      Result("a", "only a", 90),
      Result("b", "only b", 0),
      Result("b", "q", 75, 2),
      Result("a", "q", 70, 1),
  });
  ASSERT_TRUE(board);
  EXPECT_EQ(board->programs, (Names{"p", "q"}));
  EXPECT_EQ(board->left_out, (Names{"only a", "only b"}));
  EXPECT_EQ(board->methods, (Names{"a", "b", "default order"}));
  for (const Evaluation& row : board->rows) EXPECT_FALSE(row.program.starts_with("only"));
  const std::string text = LeaderboardToMarkdown(*board, {});
  EXPECT_NE(text.find("Left out, for some method has no result: only a only b\n"),
            std::string::npos);
  EXPECT_EQ(Tables(text)[3].size(), 3u);
}

TEST(Leaderboard, TheLastOfTheSameRunCounts) {
  const auto board = MakeLeaderboard({
      Result("a", "p", 90),
      Result("a", "p", 60, 2),
      Result("a", "p", 60),
  });
  ASSERT_TRUE(board);
  EXPECT_EQ(board->rows.size(), 3u);  // two seeds and the default order
  EXPECT_EQ(Tables(LeaderboardToMarkdown(*board, {}))[3][1], (Row{"p", "100", "80", "60.0"}));
  EXPECT_EQ(MakeLeaderboard({Result("a", "p", 60), Result("a", "p", 90)})->methods,
            (Names{"default order", "a"}));
}

TEST(Leaderboard, IsOfOneObjectiveAndActionSet) {
  EXPECT_NE(ErrorOf({}).find("no results"), std::string::npos);
  EXPECT_NE(ErrorOf({Result("a", "p", 1), Result("b", "q", 1)}).find("no program"),
            std::string::npos);
  std::vector<Evaluation> rows = Tiny();
  ASSERT_EQ(ErrorOf(rows), "");
  rows[1].objective = "flops";
  EXPECT_NE(ErrorOf(rows).find("several objectives"), std::string::npos);
  rows = Tiny();
  rows[1].actions = "all";
  EXPECT_NE(ErrorOf(rows).find("action sets"), std::string::npos);
  // A later result does not hide that.
  rows.push_back(Tiny()[1]);
  EXPECT_NE(ErrorOf(rows).find("action sets"), std::string::npos);
}

TEST(Leaderboard, MarkdownOfATinyCase) {
  const auto board = MakeLeaderboard(Tiny());
  ASSERT_TRUE(board);
  const std::string text = LeaderboardToMarkdown(*board, {{1, 10, 100}, {}, 1});
  EXPECT_TRUE(text.starts_with("# Leaderboard: op_count, passes `simplify`\n\n2 programs."));
  EXPECT_EQ(text.find("Left out"), std::string::npos);
  const auto tables = Tables(text);
  ASSERT_EQ(tables.size(), 4u);
  ASSERT_EQ(tables[0].size(), 4u);
  EXPECT_EQ(tables[0][0][0], "method");
  EXPECT_EQ(tables[0][1], (Row{"fast", "2.0000 (1.000–4.000)", "1 / 1 / 0", "0.50", "100",
                               "1 / 1 / 0", "1.2500 (1.250–1.250)", "-"}));
  EXPECT_EQ(tables[0][2],
            (Row{"default order", "1.0000 (1.000–1.000)", "0 / 2 / 0", "-", "-", "-", "-", "-"}));
  EXPECT_EQ(tables[0][3], (Row{"slow", "0.5000 (0.250–1.000)", "0 / 1 / 1", "12.34", "100",
                               "1 / 0 / 1", "-", "-"}));
  // Two programs tell nothing.
  EXPECT_NE(text.find("fewer than 8"), std::string::npos);
  EXPECT_EQ(tables[1][0], (Row{"", "method", "the first by it (95 % interval)", "1", "2", "3"}));
  EXPECT_EQ(tables[1][1], (Row{"1", "fast", "-", "", ".", "."}));
  EXPECT_EQ(tables[1][2], (Row{"2", "default order", "2.0000 (1.000–4.000)", ".", "", "."}));
  EXPECT_EQ(tables[1][3], (Row{"3", "slow", "4.0000 (4.000–4.000)", ".", ".", ""}));
  // Below the least, a ratio is 0.01.
  EXPECT_EQ(tables[2], (std::vector<Row>{{"method", "1 steps", "10 steps", "100 steps"},
                                         {"fast", "0.0100 *", "1.4142 *", "2.0000 *"},
                                         {"default order", "1.0000 *", "1.0000 *", "1.0000 *"},
                                         {"slow", "0.0100 *", "0.0100 *", "0.5000 *"}}));
  EXPECT_EQ(tables[3], (std::vector<Row>{{"program", "I", "D", "fast", "slow"},
                                         {"p", "100", "80", "80.0", "95.0"},
                                         {"q", "100", "80", "20.0", "80.0"}}));
}

TEST(Leaderboard, EveryMethodIsInEveryTable) {
  std::vector<Evaluation> rows;
  for (int method = 0; method < 5; ++method) {
    for (int program = 0; program < 3; ++program) {
      for (uint64_t seed = 0; seed < 2; ++seed) {
        rows.push_back(Result("m" + std::to_string(method), "p" + std::to_string(program),
                              60 + 5 * method + program + static_cast<double>(seed), seed));
      }
    }
  }
  const auto board = MakeLeaderboard(rows);
  ASSERT_TRUE(board);
  const auto tables = Tables(LeaderboardToMarkdown(*board, {{100}, {0.5, 2}, 1}));
  ASSERT_EQ(tables.size(), 5u);
  for (const auto& table : tables) {
    for (const Row& row : table) EXPECT_EQ(row.size(), table[0].size());
  }
  Names listed = board->methods;
  EXPECT_EQ(listed, (Names{"m0", "m1", "m2", "m3", "default order", "m4"}));
  for (size_t i = 0; i < listed.size(); ++i) {
    EXPECT_EQ(tables[0][i + 1][0], listed[i]);
    EXPECT_EQ(tables[1][i + 1][1], listed[i]);
    EXPECT_EQ(tables[2][i + 1][0], listed[i]);
    EXPECT_EQ(tables[3][i + 1][0], listed[i]);
  }
  EXPECT_EQ(tables[3][0], (Row{"method", "0.5 s", "2 s"}));
  std::erase(listed, "default order");
  EXPECT_EQ(Names(tables[4][0].begin() + 3, tables[4][0].end()), listed);
  EXPECT_EQ(tables[4][2], (Row{"p1", "100", "80", "61.5", "66.5", "71.5", "76.5", "81.5"}));
}

// On 12 programs one method is better on each by a little, one is noise around XLA's own order.
std::vector<Evaluation> TwelvePrograms() {
  std::vector<Evaluation> rows;
  for (int program = 0; program < 12; ++program) {
    const std::string name = "p" + std::to_string(program);
    for (uint64_t seed = 0; seed < 2; ++seed) {
      rows.push_back(Result("better", name, 79, seed));
      rows.push_back(Result("noise", name, program % 2 == 0 ? 79.5 : 80.5, seed));
      for (size_t i = rows.size() - 2; i < rows.size(); ++i) {
        rows[i].curve = {{10, 0.1, 90}, {100, 1, rows[i].value}};
        rows[i].evaluated = 200;
        rows[i].seconds = 2;
      }
    }
  }
  return rows;
}

TEST(Leaderboard, SaysWhichDifferencesAreSure) {
  const auto board = MakeLeaderboard(TwelvePrograms());
  ASSERT_TRUE(board);
  ASSERT_EQ(board->methods, (Names{"better", "default order", "noise"}));
  const auto tables = Tables(LeaderboardToMarkdown(*board, {{10, 100}, {}, 1}));
  EXPECT_EQ(tables[1][1], (Row{"1", "better", "-", "", "+", "+"}));
  EXPECT_EQ(tables[1][2], (Row{"2", "default order", "1.0500 (1.050–1.050)", "-", "", "."}));
  EXPECT_EQ(tables[1][3][3], "-");
  EXPECT_EQ(tables[1][3][4], ".");
  // After 10 steps the order of XLA alone is there.
  EXPECT_EQ(tables[2][1], (Row{"better", "0.5000", "1.0500 *"}));
  EXPECT_EQ(tables[2][2], (Row{"default order", "1.0000 *", "1.0000"}));
}

TEST(Leaderboard, CurvesHaveEveryMethodAndABand) {
  const auto board = MakeLeaderboard(TwelvePrograms());
  ASSERT_TRUE(board);
  for (const Over over : {Over::kSteps, Over::kSeconds}) {
    const std::string svg = LeaderboardCurves(*board, over);
    EXPECT_TRUE(svg.starts_with("<svg")) << svg.substr(0, 80);
    for (const char* part :
         {"better", "noise", "default order", over == Over::kSteps ? ">steps<" : ">seconds<"}) {
      EXPECT_NE(svg.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(svg, LeaderboardCurves(*board, over));
  }
  EXPECT_NE(LeaderboardCurves(*board, Over::kSteps), LeaderboardCurves(*board, Over::kSeconds));
}

TEST(Leaderboard, WhereTheDefaultOrderIsWorthNothing) {
  Evaluation row = Result("a", "p", 70);
  row.by_default = 100;
  const auto board = MakeLeaderboard({row});
  ASSERT_TRUE(board);
  const auto tables = Tables(LeaderboardToMarkdown(*board, {}));
  EXPECT_EQ(tables[0][1][0], "a");
  EXPECT_EQ(tables[0][1][1], "-");
  EXPECT_EQ(tables[0][1][2], "1 / 0 / 0");
}

}  // namespace
}  // namespace hone::report
