// hone leaderboard: one page from the results that `hone eval` stored.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/make_leaderboard.h"

namespace hone::cli {
namespace {

struct LeaderboardFlags {
  jobs::LeaderboardOptions job;
  bool json = false;
};

int RunLeaderboard(const LeaderboardFlags& flags) {
  const auto board = jobs::MakeLeaderboard(flags.job);
  if (!board) return Fail(board.error(), flags.json);
  if (flags.json) return Finish(jobs::ToJson(*board, flags.job.board), kFine);
  return Finish(flags.job.output.empty() ? report::LeaderboardToMarkdown(*board, flags.job.board)
                                         : "written to " + flags.job.output + "\n",
                kFine);
}

}  // namespace

Run AddLeaderboard(CLI::App& app) {
  auto flags = std::make_shared<LeaderboardFlags>();
  AddWord(app, "RESULTS", flags->job.files, "files that `hone eval -o` wrote");
  app.add_option("--steps", flags->job.board.steps, "compare at so many evaluated steps")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N,…");
  app.add_option("--seconds", flags->job.board.seconds, "also after so many seconds of search")
      ->delimiter(',')
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("S,…");
  app.add_option("--seed", flags->job.board.seed, "of the resamples by which pairs are compared")
      ->capture_default_str();
  app.add_option("--curves", flags->job.curves, "write the methods' curves here (SVG)")
      ->type_name("OUT");
  app.add_option("--over", flags->job.over, "what the curves are over")
      ->check(CLI::IsMember(std::vector<std::string>{"steps", "seconds"}))
      ->capture_default_str();
  app.add_option("-o,--output", flags->job.output, "write the page here (Markdown)")
      ->type_name("OUT");
  app.add_flag("--json", flags->json, "print JSON, for programs");
  return [flags] { return RunLeaderboard(*flags); };
}

}  // namespace hone::cli
