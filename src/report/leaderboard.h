// The leaderboard: every method in one table, from stored results.
#ifndef HONE_REPORT_LEADERBOARD_H_
#define HONE_REPORT_LEADERBOARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "report/evaluation.h"
#include "report/paired.h"

namespace hone::report {

struct LeaderboardOptions {
  // Numbers of evaluated steps at which methods are compared.
  std::vector<int64_t> steps = {100, 250, 500, 1000, 2000, 4000};
  // Seconds at which they are compared; of little use where other work shared the machine.
  std::vector<double> seconds = {};
  uint64_t seed = 1;  // of the resamples of pairs
};

// All results of a method: of one objective and action set, and, where methods were run on
// different programs, only of those programs that every method has results for.
struct Leaderboard {
  std::vector<Evaluation> rows;
  std::vector<std::string> methods;  // best first
  std::vector<std::string> programs;
  std::vector<std::string> left_out;  // programs that some method has no result for
};

// Rows of the same method, program and seed: the last counts. XLA's own order is added as the
// method "default order". Errors: no rows, several objectives or action sets, no common program.
StatusOr<Leaderboard> MakeLeaderboard(const std::vector<Evaluation>& rows);

// The samples of each of board.methods, in their order, for ComparePairs.
std::vector<std::vector<Sample>> RatiosOf(const Leaderboard& board, const Moment& moment = {});

// As Markdown: a table of final results, one of pairs, one at equal steps (and seconds), one by
// program.
std::string LeaderboardToMarkdown(const Leaderboard& board, const LeaderboardOptions& options);

// The ratio of every method over steps, or over seconds, with the band of its 95 % interval: an SVG
// document.
enum class Over { kSteps, kSeconds };
std::string LeaderboardCurves(const Leaderboard& board, Over over);

}  // namespace hone::report

#endif  // HONE_REPORT_LEADERBOARD_H_
