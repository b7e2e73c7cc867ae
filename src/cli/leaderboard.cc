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

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<int64_t> steps = report::LeaderboardOptions{}.steps;
  std::string output;
  bool json = false;
};

int RunLeaderboard(const Options& options) {
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
    const std::string page = report::LeaderboardToMarkdown(*board, {options.steps});
    if (Status wrote = WriteFile(options.output, page); !wrote) {
      return Fail(wrote.error(), options.output, options.json);
    }
  }
  if (options.json) {
    Json json;
    json["programs"] = board->programs;
    json["methods"] = Json::array();
    for (const std::string& method : board->methods) {
      std::vector<report::Evaluation> of;
      for (const report::Evaluation& row : board->rows) {
        if (row.method == method) of.push_back(row);
      }
      const report::Summary summary = report::Summarise(of);
      json["methods"].push_back({{"method", method},
                                 {"ratio", summary.ratio.mean},
                                 {"low", summary.ratio.low},
                                 {"high", summary.ratio.high},
                                 {"better", summary.better},
                                 {"equal", summary.equal},
                                 {"worse", summary.worse},
                                 {"seconds", summary.seconds},
                                 {"evaluated", summary.evaluated}});
    }
    return Finish(json, kFine);
  }
  return Finish(options.output.empty() ? report::LeaderboardToMarkdown(*board, {options.steps})
                                       : "written to " + options.output + "\n",
                kFine);
}

}  // namespace

Run AddLeaderboard(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("RESULTS", options->files, "files that `hone eval -o` wrote")
      ->required()
      ->type_name("");
  app.add_option("--steps", options->steps, "compare at so many evaluated steps")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N,…");
  app.add_option("-o,--output", options->output, "write the page here (Markdown)")
      ->type_name("OUT");
  app.add_flag("--json", options->json, "print JSON, for programs");
  return [options] { return RunLeaderboard(*options); };
}

}  // namespace hone::cli
