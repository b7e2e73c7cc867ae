#include "report/leaderboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/curve_svg.h"

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

// Each against the best, then against all: + is better, - is worse, by an interval off 1.
std::string PairTable(const Leaderboard& board, uint64_t seed) {
  const size_t count = board.methods.size();
  std::vector<std::string> signs(count, std::string(count, '.'));
  std::vector<std::string> of_best(count, "-");
  for (const Pair& pair : ComparePairs(RatiosOf(board), seed)) {
    if (pair.a == 0) of_best[pair.b] = Interval(pair.quotient);
    if (pair.standing == Standing::kUnclear) continue;
    const bool better = pair.standing == Standing::kBetter;
    signs[pair.a][pair.b] = better ? '+' : '-';
    signs[pair.b][pair.a] = better ? '-' : '+';
  }
  std::string text = "| | method | the first by it (95 % interval) |";
  std::string rule = "|---|---|---|";
  for (size_t i = 1; i <= count; ++i) {
    text += fmt::format(" {} |", i);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("| {} | {} | {} |", i + 1, board.methods[i], of_best[i]);
    for (size_t j = 0; j < count; ++j) text += fmt::format(" {} |", i == j ? ' ' : signs[i][j]);
    text += "\n";
  }
  return text;
}

struct Column {
  std::string name;
  Moment moment;
};

// The means, with a star where the best then is not better by a paired interval.
std::string MomentTable(const Leaderboard& board, const std::vector<Column>& columns,
                        uint64_t seed) {
  std::string text = "| method |";
  std::string rule = "|---|";
  std::vector<std::string> lines;
  for (const std::string& method : board.methods) lines.push_back("| " + method + " |");
  for (const Column& column : columns) {
    text += fmt::format(" {} |", column.name);
    rule += "---|";
    const auto samples = RatiosOf(board, column.moment);
    std::vector<double> means;
    for (const auto& of_method : samples) means.push_back(GeometricMean(of_method, 0).mean);
    const auto best =
        static_cast<size_t>(std::max_element(means.begin(), means.end()) - means.begin());
    std::vector<bool> behind(means.size());
    for (const Pair& pair : ComparePairs(samples, seed)) {
      if (pair.a == best) behind[pair.b] = pair.standing == Standing::kBetter;
      if (pair.b == best) behind[pair.a] = pair.standing == Standing::kWorse;
    }
    for (size_t i = 0; i < means.size(); ++i) {
      lines[i] += fmt::format(" {:.4f}{} |", means[i], behind[i] ? "" : " *");
    }
  }
  text += "\n" + rule + "\n";
  for (const std::string& line : lines) text += line + "\n";
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

std::vector<std::vector<Sample>> RatiosOf(const Leaderboard& board, const Moment& moment) {
  std::vector<std::vector<Sample>> samples;
  for (const std::string& method : board.methods) {
    samples.push_back(Ratios(RowsOf(board, method), moment));
  }
  return samples;
}

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
  text += fmt::format(
      "\n## Pairs\n\n"
      "Two methods are compared on the same programs: each resample draws the same programs for "
      "all, "
      "and of each method's runs of a program as many as there are. By: the quotient of the "
      "geometric "
      "means. `+`: the row's method is better than the column's, `-`: worse, the 95 % interval of "
      "their quotient lying off 1; `.`: these programs do not tell{}.\n\n",
      board.programs.size() < kLeastPrograms
          ? fmt::format(", for they are fewer than {}", kLeastPrograms)
          : "");
  text += PairTable(board, options.seed);
  constexpr const char* kStar = "`*`: the best then is not better by a paired interval.";
  std::vector<Column> columns;
  for (const int64_t at : options.steps) columns.push_back({fmt::format("{} steps", at), {at, 0}});
  text += fmt::format("\n## At equal steps\n\nThe ratio of the best found by then. {}\n\n", kStar);
  text += MomentTable(board, columns, options.seed);
  if (!options.seconds.empty()) {
    columns.clear();
    for (const double at : options.seconds) columns.push_back({fmt::format("{:g} s", at), {0, at}});
    text += fmt::format("\n## After equal seconds\n\nOf search. {}\n\n", kStar);
    text += MomentTable(board, columns, options.seed);
  }
  text += "\n## By program\n\nThe mean of R over seeds.\n\n";
  text += ProgramTable(board);
  if (!board.left_out.empty()) {
    text += "\nLeft out, for some method has no result:";
    for (const std::string& program : board.left_out) text += " " + program;
    text += "\n";
  }
  return text;
}

std::string LeaderboardCurves(const Leaderboard& board, Over over) {
  constexpr int kPoints = 24;
  constexpr int kResamples = 200;
  const bool steps = over == Over::kSteps;
  double most = 0;
  double least = steps ? 10 : 0.02;
  for (const Evaluation& row : board.rows) {
    most = std::max(most, steps ? static_cast<double>(row.evaluated) : row.seconds);
  }
  most = std::max(most, least * 2);
  CurvePlot plot;
  plot.title = "Ratio of the best so far, by XLA's own order";
  plot.x_label = steps ? "steps" : "seconds";
  plot.y_label = "ratio";
  plot.log_x = true;
  for (const std::string& method : board.methods) {
    CurveSeries series;
    series.name = method;
    const std::vector<Evaluation> rows = RowsOf(board, method);
    for (int i = 0; i < kPoints; ++i) {
      double at = least * std::pow(most / least, static_cast<double>(i) / (kPoints - 1));
      if (steps) at = std::round(at);
      if (!series.x.empty() && at <= series.x.back()) continue;
      const Mean mean = GeometricMean(
          Ratios(rows, steps ? Moment{static_cast<int64_t>(at), 0} : Moment{0, at}), kResamples);
      series.x.push_back(at);
      series.y.push_back(mean.mean);
      series.y_low.push_back(mean.low);
      series.y_high.push_back(mean.high);
    }
    plot.series.push_back(std::move(series));
  }
  return CurveSvg(plot);
}

}  // namespace hone::report
