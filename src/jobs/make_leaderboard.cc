#include "jobs/make_leaderboard.h"

#include "jobs/input.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostResultBytes = size_t{1} << 30;

// Every pair at every moment: in the end, at the steps, after the seconds.
Json PairsJson(const report::Leaderboard& board, const report::LeaderboardOptions& options) {
  std::vector<report::Moment> moments(1);
  for (const int64_t at : options.steps) moments.push_back({at, 0});
  for (const double at : options.seconds) moments.push_back({0, at});
  Json pairs = Json::array();
  for (const report::Moment& moment : moments) {
    for (const report::Pair& pair :
         report::ComparePairs(report::RatiosOf(board, moment), options.seed)) {
      pairs.push_back({{"a", board.methods[pair.a]},
                       {"b", board.methods[pair.b]},
                       {"steps", moment.steps > 0 ? Json(moment.steps) : Json(nullptr)},
                       {"seconds", moment.seconds > 0 ? Json(moment.seconds) : Json(nullptr)},
                       {"quotient", pair.quotient.mean},
                       {"low", pair.quotient.low},
                       {"high", pair.quotient.high},
                       {"programs", pair.quotient.programs},
                       {"a_is", report::StandingName(pair.standing)}});
    }
  }
  return pairs;
}

}  // namespace

FileOr<report::Leaderboard> MakeLeaderboard(const LeaderboardOptions& options) {
  std::vector<report::Evaluation> rows;
  for (const std::string& file : options.files) {
    const StatusOr<std::string> text = ReadInput(file, kMostResultBytes);
    if (!text) return Wrong(file, text.error());
    const auto read = report::EvaluationsFromJsonLines(*text);
    if (!read) return Wrong(file, read.error());
    rows.insert(rows.end(), read->begin(), read->end());
  }
  auto board = About("", report::MakeLeaderboard(rows));
  if (!board) return board;
  auto wrote = WriteIfNamed(options.output, report::LeaderboardToMarkdown(*board, options.board));
  if (wrote && !options.curves.empty()) {
    const auto over = options.over == "steps" ? report::Over::kSteps : report::Over::kSeconds;
    wrote = WriteIfNamed(options.curves, report::LeaderboardCurves(*board, over));
  }
  if (!wrote) return tl::unexpected(wrote.error());
  return board;
}

Json ToJson(const report::Leaderboard& board, const report::LeaderboardOptions& options) {
  Json json;
  json["programs"] = board.programs;
  json["methods"] = Json::array();
  for (const std::string& method : board.methods) {
    std::vector<report::Evaluation> of;
    for (const report::Evaluation& row : board.rows) {
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
  json["pairs"] = PairsJson(board, options);
  return json;
}

}  // namespace hone::jobs
