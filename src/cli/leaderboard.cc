// hone leaderboard: one page from the results that `hone eval` stored.
#include "report/leaderboard.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "jobs/report_evaluation.h"

namespace hone::cli {
namespace {

struct LeaderboardFlags {
  std::vector<std::string> files;
  report::LeaderboardOptions board;
  std::string output;
  std::string curves;
  std::string over = "steps";
  bool json = false;
};

int RunLeaderboard(const LeaderboardFlags& options) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  std::vector<report::Evaluation> rows;
  for (const std::string& file : options.files) {
    const StatusOr<std::string> text = ReadInput(file, kMostBytes);
    if (!text) return Fail(text.error(), file, options.json);
    const auto read = report::EvaluationsFromJsonLines(*text);
    if (!read) return Fail(read.error(), file, options.json);
    rows.insert(rows.end(), read->begin(), read->end());
  }
  const StatusOr<report::Leaderboard> board = report::MakeLeaderboard(rows);
  if (!board) return Fail(board.error(), options.json);
  if (!options.output.empty()) {
    const std::string page = report::LeaderboardToMarkdown(*board, options.board);
    if (Status wrote = WriteFile(options.output, page); !wrote) {
      return Fail(wrote.error(), options.output, options.json);
    }
  }
  if (!options.curves.empty()) {
    const std::string picture = report::LeaderboardCurves(
        *board, options.over == "steps" ? report::Over::kSteps : report::Over::kSeconds);
    if (Status wrote = WriteFile(options.curves, picture); !wrote) {
      return Fail(wrote.error(), options.curves, options.json);
    }
  }
  if (options.json) return Finish(jobs::ToJson(*board, options.board), kFine);
  return Finish(options.output.empty() ? report::LeaderboardToMarkdown(*board, options.board)
                                       : "written to " + options.output + "\n",
                kFine);
}

}  // namespace

Run AddLeaderboard(CLI::App& app) {
  auto options = std::make_shared<LeaderboardFlags>();
  app.add_option("RESULTS", options->files, "files that `hone eval -o` wrote")
      ->required()
      ->type_name("");
  app.add_option("--steps", options->board.steps, "compare at so many evaluated steps")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N,…");
  app.add_option("--seconds", options->board.seconds, "also after so many seconds of search")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("S,…");
  app.add_option("--seed", options->board.seed, "of the resamples by which pairs are compared")
      ->capture_default_str();
  app.add_option("--curves", options->curves, "write the methods' curves here (SVG)")
      ->type_name("OUT");
  app.add_option("--over", options->over, "what the curves are over")
      ->check(CLI::IsMember(std::vector<std::string>{"steps", "seconds"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "write the page here (Markdown)")
      ->type_name("OUT");
  app.add_flag("--json", options->json, "print JSON, for programs");
  return [options] { return RunLeaderboard(*options); };
}

}  // namespace hone::cli
