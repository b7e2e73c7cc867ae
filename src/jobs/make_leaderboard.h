// One page of every method, from results that `hone eval` stored: `hone leaderboard`.
#ifndef HONE_JOBS_MAKE_LEADERBOARD_H_
#define HONE_JOBS_MAKE_LEADERBOARD_H_

#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "report/leaderboard.h"

namespace hone::jobs {

struct LeaderboardOptions {
  std::vector<std::string> files;  // that `hone eval -o` wrote
  report::LeaderboardOptions board;
  std::string output;          // a file for the page, Markdown; "" writes none
  std::string curves;          // a file for the methods' curves, SVG; likewise
  std::string over = "steps";  // or "seconds": what these are over
};

FileOr<report::Leaderboard> MakeLeaderboard(const LeaderboardOptions& options);

// The methods, and every pair of them at every moment of the options.
Json ToJson(const report::Leaderboard& board, const report::LeaderboardOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MAKE_LEADERBOARD_H_
