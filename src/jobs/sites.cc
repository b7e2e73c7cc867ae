#include "jobs/sites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tune/plan.h"

namespace hone::jobs {
namespace {

bool IsAt(const CompileSite& site, std::string_view where) {
  const std::string_view kind = CompileSiteKindName(site.kind);
  return where == kind || where == site.instruction || where == KeyText(site.key) ||
         where == fmt::format("{}:{}", kind, site.opcode);
}

std::string KindsOf(const std::vector<CompileSite>& sites) {
  std::set<std::string_view> kinds;
  for (const CompileSite& site : sites) kinds.insert(CompileSiteKindName(site.kind));
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

StatusOr<Choosing> ChoosingFromText(std::string_view text) {
  const size_t at = text.find('=');
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("'{}' does not say what to choose: WHERE=VALUE, such as "
                                 "fusion_node:multiply=keep",
                                 text));
  }
  return Choosing{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

std::vector<const CompileSite*> SitesAt(const std::vector<CompileSite>& sites,
                                        std::string_view where) {
  std::vector<const CompileSite*> at;
  for (const CompileSite& site : sites) {
    if (IsAt(site, where)) at.push_back(&site);
  }
  return at;
}

StatusOr<size_t> Choose(const std::vector<CompileSite>& sites, const Choosing& choosing,
                        tune::TunePlan& plan) {
  const std::vector<const CompileSite*> at = SitesAt(sites, choosing.where);
  if (at.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("there is no site '{}': give a key, an instruction's name, a kind "
                                 "or a flag; there are {}",
                                 choosing.where, sites.empty() ? "none" : KindsOf(sites)));
  }
  size_t chosen = 0;
  std::set<std::string> offered;
  for (const CompileSite* site : at) {
    offered.insert(site->choices.begin(), site->choices.end());
    if (std::find(site->choices.begin(), site->choices.end(), choosing.value) ==
        site->choices.end()) {
      continue;
    }
    auto& choices = plan.compile.choices;
    choices.erase(std::remove_if(choices.begin(), choices.end(),
                                 [&](const CompileChoice& one) { return one.key == site->key; }),
                  choices.end());
    choices.push_back({site->key, choosing.value});
    ++chosen;
  }
  if (chosen == 0) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("'{}' has no choice '{}': there are {}", choosing.where,
                                 choosing.value, fmt::join(offered, ", ")));
  }
  Sort(plan.compile);
  return chosen;
}

}  // namespace hone::jobs
