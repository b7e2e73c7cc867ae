#include "tune/coreset.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hone {

Cover ChooseCover(const std::vector<std::vector<double>>& gains, size_t size) {
  Cover cover;
  if (gains.empty() || gains.front().empty()) return cover;
  const size_t programs = gains.front().size();
  std::vector<double> best(programs, 0);
  while (cover.chosen.size() < size) {
    double most = 1e-9;
    size_t which = gains.size();
    for (size_t i = 0; i < gains.size(); ++i) {
      double more = 0;
      for (size_t j = 0; j < programs; ++j) more += std::max(0.0, gains[i][j] - best[j]);
      if (more > most) {
        most = more;
        which = i;
      }
    }
    if (which == gains.size()) break;
    double sum = 0;
    for (size_t j = 0; j < programs; ++j) sum += best[j] = std::max(best[j], gains[which][j]);
    cover.chosen.push_back(which);
    cover.mean.push_back(sum / static_cast<double>(programs));
  }
  return cover;
}

std::string CoresetToJson(const Coreset& coreset) {
  nlohmann::ordered_json json;
  json["format"] = "hone-coreset-1";
  json["objective"] = coreset.objective;
  json["actions"] = coreset.actions;
  json["made_of"] = coreset.made_of;
  json["sequences"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < coreset.sequences.size(); ++i) {
    json["sequences"].push_back(
        {{"coverage", coreset.coverage[i]}, {"passes", coreset.sequences[i]}});
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

StatusOr<Coreset> CoresetFromJson(std::string_view text) {
  const auto bad = [](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput,
                     "it is not a coreset: " + what + "; make one with `hone coreset`");
  };
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return bad("it is not a JSON object");
  const auto string_of = [&](const char* field) {
    return json.contains(field) && json[field].is_string() ? json[field].get<std::string>()
                                                           : std::string();
  };
  if (string_of("format") != "hone-coreset-1") return bad("its format is not hone-coreset-1");
  Coreset coreset{string_of("objective"), string_of("actions"), string_of("made_of"), {}, {}};
  if (!json.contains("sequences") || !json["sequences"].is_array()) {
    return bad("it has no sequences");
  }
  for (const auto& entry : json["sequences"]) {
    if (!entry.is_object() || !entry.contains("passes") || !entry["passes"].is_array()) {
      return bad("a sequence has no passes");
    }
    std::vector<std::string>& sequence = coreset.sequences.emplace_back();
    for (const auto& pass : entry["passes"]) {
      if (!pass.is_string()) return bad("a pass is not a string");
      sequence.push_back(pass.get<std::string>());
    }
    const auto coverage = entry.find("coverage");
    coreset.coverage.push_back(
        coverage != entry.end() && coverage->is_number() ? coverage->get<double>() : 0);
  }
  if (coreset.sequences.empty()) return bad("it has no sequences");
  return coreset;
}

}  // namespace hone
