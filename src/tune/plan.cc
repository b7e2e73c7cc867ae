#include "tune/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/file_kinds.h"
#include "core/lines.h"
#include "tune/plan_json.h"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(
      ErrorCode::kInvalidInput,
      "the plan is broken: " + what + "; give a file that `hone rewrites --plan-out` wrote");
}

bool ParseNumber(std::string_view text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

void Sort(Decisions& decisions) {
  std::sort(decisions.choices.begin(), decisions.choices.end(),
            [](const SiteChoice& a, const SiteChoice& b) { return a.key < b.key; });
}

StatusOr<std::vector<uint32_t>> SiteNumbers(std::string_view text, size_t count) {
  std::vector<uint32_t> sites;
  while (!text.empty()) {
    const std::string_view item = TakePart(text, ',');
    const size_t dash = item.find('-');
    uint32_t first = 0;
    uint32_t last = 0;
    const bool fine = dash == item.npos ? ParseNumber(item, first) && ParseNumber(item, last)
                                        : ParseNumber(item.substr(0, dash), first) &&
                                              ParseNumber(item.substr(dash + 1), last);
    if (!fine || first > last) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("'{}' is no number of a site: give all, none, {}, or numbers "
                                   "such as 0,3,7-9",
                                   item, fmt::join(kOtherwiseNames, ", ")));
    }
    if (last >= count) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("there is no site {}: the pass offers {}, from 0", last, count));
    }
    for (uint32_t site = first; site <= last; ++site) sites.push_back(site);
  }
  return sites;
}

}  // namespace

std::string KeyText(SiteKey key) { return fmt::format("{:016x}", key); }

std::string PlanToJson(const Plan& plan) {
  Json json;
  BeginFile(kRewritePlanFile, json);
  AddPass(plan, json);
  return json.dump(2) + "\n";
}

StatusOr<Plan> PlanFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!IsOfKind(kRewritePlanFile, json)) {
    return Bad("it is not JSON with \"format\": \"hone plan\"" + OtherKind(text, kRewritePlanFile));
  }
  if (Status reads = CheckVersionIn(kRewritePlanFile, json); !reads) {
    return tl::unexpected(reads.error());
  }
  StatusOr<Plan> plan = PassFromJson(json, "");
  if (!plan) return Bad(plan.error().message);
  return plan;
}

Decisions ChooseSites(const Rewrites& rewrites, const std::vector<uint32_t>& sites) {
  Decisions decisions;
  decisions.otherwise = Otherwise::kDecline;
  for (uint32_t site : sites) decisions.choices.push_back({rewrites.sites[site].place, true});
  Sort(decisions);
  decisions.choices.erase(std::unique(decisions.choices.begin(), decisions.choices.end()),
                          decisions.choices.end());
  return decisions;
}

Decisions ChooseContents(const Rewrites& rewrites, const std::vector<uint32_t>& sites) {
  std::map<SiteKey, int> votes;
  for (const RewriteSite& site : rewrites.sites) --votes[site.content];
  for (uint32_t site : sites) votes[rewrites.sites[site].content] += 2;
  Decisions decisions;
  decisions.otherwise = Otherwise::kDecline;
  for (const auto& [content, vote] : votes) {
    if (vote > 0) decisions.choices.push_back({content, true});
  }
  return decisions;
}

StatusOr<Decisions> DecisionsFromText(std::string_view text, const Rewrites& rewrites) {
  Decisions decisions;
  if (text == "all") return decisions;
  if (text == "none") {
    decisions.otherwise = Otherwise::kDecline;
    return decisions;
  }
  if (const auto otherwise = OtherwiseFromName(text)) {
    decisions.otherwise = *otherwise;
    return decisions;
  }
  StatusOr<std::vector<uint32_t>> sites = SiteNumbers(text, rewrites.sites.size());
  if (!sites) return tl::unexpected(sites.error());
  return ChooseSites(rewrites, *sites);
}

}  // namespace hone
