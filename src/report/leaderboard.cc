#include "report/leaderboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace hone::report {
namespace {

constexpr const char* kDefault = "default order";

std::string Interval(const Mean& mean) {
  return mean.programs == 0 ? "-"
                            : fmt::format("{:.4f} ({:.3f}–{:.3f})", mean.mean, mean.low, mean.high);
}

std::vector<Evaluation> RowsOf(const Leaderboard& board, const std::string& method) {
  std::vector<Evaluation> rows;
  std::copy_if(board.rows.begin(), board.rows.end(), std::back_inserter(rows),
               [&](const Evaluation& row) { return row.method == method; });
  return rows;
}

// XLA's own order as a method: a result for every program that others have one for.
std::vector<Evaluation> DefaultRows(const std::vector<Evaluation>& rows) {
  std::map<std::string, Evaluation> defaults;
  for (const Evaluation& row : rows) {
    Evaluation one;
    one.method = kDefault;
    one.program = row.program;
    one.objective = row.objective;
    one.actions = row.actions;
    one.initial = row.initial;
    one.value = one.by_default = row.by_default;
    one.curve = {{0, 0, row.by_default}};
    one.verified = "true";
    defaults.emplace(row.program, one);
  }
  std::vector<Evaluation> made;
  for (auto& [program, one] : defaults) made.push_back(std::move(one));
  return made;
}

std::string ResultTable(const Leaderboard& board) {
  std::string text =
      "| method | ratio (95 % interval) | better / equal / worse | seconds | steps evaluated | "
      "equal / different / no verdict | fewer instructions in the end | faster in the end |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const std::string& method : board.methods) {
    const Summary s = Summarise(RowsOf(board, method));
    const bool own = method == kDefault;
    text += fmt::format("| {} | {} | {} / {} / {} | {} | {} | {} | {} | {} |\n", method,
                        Interval(s.ratio), s.better, s.equal, s.worse,
                        own ? "-" : fmt::format("{:.2f}", s.seconds),
                        own ? "-" : fmt::format("{:.0f}", s.evaluated),
                        own || s.verified + s.different == 0
                            ? "-"
                            : fmt::format("{} / {} / {}", s.verified, s.different, s.unverified),
                        Interval(s.final_instructions), Interval(s.run_time));
  }
  return text;
}

std::string StepsTable(const Leaderboard& board, const std::vector<int64_t>& steps) {
  std::string text = "| method |";
  std::string rule = "|---|";
  for (int64_t at : steps) {
    text += fmt::format(" {} steps |", at);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const std::string& method : board.methods) {
    text += fmt::format("| {} |", method);
    const std::vector<Evaluation> rows = RowsOf(board, method);
    for (int64_t at : steps) text += fmt::format(" {:.4f} |", Summarise(rows, at).ratio.mean);
    text += "\n";
  }
  return text;
}

std::string ProgramTable(const Leaderboard& board) {
  std::string text = "| program | I | D |";
  std::string rule = "|---|---|---|";
  for (const std::string& method : board.methods) {
    if (method == kDefault) continue;
    text += fmt::format(" {} |", method);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const std::string& program : board.programs) {
    std::map<std::string, std::pair<double, int>> results;
    double initial = 0;
    double by_default = 0;
    for (const Evaluation& row : board.rows) {
      if (row.program != program) continue;
      initial = row.initial;
      by_default = row.by_default;
      results[row.method].first += row.value;
      ++results[row.method].second;
    }
    text += fmt::format("| {} | {:.0f} | {:.0f} |", program, initial, by_default);
    for (const std::string& method : board.methods) {
      if (method == kDefault) continue;
      text += fmt::format(" {:.1f} |", results[method].first / results[method].second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

StatusOr<Leaderboard> MakeLeaderboard(const std::vector<Evaluation>& rows) {
  std::map<std::tuple<std::string, std::string, uint64_t>, Evaluation> last;
  std::set<std::pair<std::string, std::string>> kinds;
  for (const Evaluation& row : rows) {
    last[{row.method, row.program, row.seed}] = row;
    kinds.insert({row.objective, row.actions});
  }
  if (last.empty()) return MakeError(ErrorCode::kInvalidInput, "there are no results");
  if (kinds.size() > 1) {
    return MakeError(ErrorCode::kInvalidInput,
                     "the results are of several objectives or action sets: make a leaderboard for "
                     "each");
  }
  std::map<std::string, std::set<std::string>> methods_of;  // program to methods
  std::set<std::string> methods;
  for (const auto& [key, row] : last) {
    methods_of[row.program].insert(row.method);
    methods.insert(row.method);
  }
  Leaderboard board;
  for (const auto& [program, with] : methods_of) {
    (with.size() == methods.size() ? board.programs : board.left_out).push_back(program);
  }
  if (board.programs.empty()) {
    return MakeError(ErrorCode::kInvalidInput, "no program has a result of every method");
  }
  const std::set<std::string> common(board.programs.begin(), board.programs.end());
  for (const auto& [key, row] : last) {
    if (common.count(row.program)) board.rows.push_back(row);
  }
  const std::vector<Evaluation> defaults = DefaultRows(board.rows);
  board.rows.insert(board.rows.end(), defaults.begin(), defaults.end());
  methods.insert(kDefault);
  std::vector<std::pair<double, std::string>> ranked;
  for (const std::string& method : methods) {
    ranked.emplace_back(-Summarise(RowsOf(board, method)).ratio.mean, method);
  }
  std::sort(ranked.begin(), ranked.end());
  for (auto& [ratio, method] : ranked) board.methods.push_back(std::move(method));
  return board;
}

std::string LeaderboardToMarkdown(const Leaderboard& board, const LeaderboardOptions& options) {
  std::string text = fmt::format(
      "# Leaderboard: {}, passes `{}`\n\n"
      "{} programs. Ratio: (I - R) / (I - D), I the program as loaded, D after XLA's own order, R "
      "after the method's; the geometric mean over programs and seeds, a ratio below {} counting "
      "as "
      "that; the interval is a bootstrap over programs and seeds. Seconds and steps are a run's "
      "mean; "
      "a step that was taken before from the same state is not counted. In the end: after the "
      "stock "
      "compiler has compiled the result, against the same for the program as loaded.\n\n",
      board.rows.front().objective, board.rows.front().actions, board.programs.size(), kLeastRatio);
  text += ResultTable(board);
  text += "\n## At equal steps\n\nThe ratio of the best found by then.\n\n";
  text += StepsTable(board, options.steps);
  text += "\n## By program\n\nThe mean of R over seeds.\n\n";
  text += ProgramTable(board);
  if (!board.left_out.empty()) {
    text += "\nLeft out, for some method has no result:";
    for (const std::string& program : board.left_out) text += " " + program;
    text += "\n";
  }
  return text;
}

}  // namespace hone::report
