#include "report/sections/rewrites.h"

#include <algorithm>
#include <utility>

namespace hone::report {
namespace {

constexpr size_t kMostSites = 5000;
constexpr size_t kLongestText = 4000;

std::string Cut(const std::string& text) {
  return text.size() <= kLongestText ? text : text.substr(0, kLongestText) + " …";
}

}  // namespace

Json ToSection(const RewriteList& list) {
  const Rewrites& rewrites = *list.rewrites;
  Json sites = Json::array();
  const size_t shown = std::min(kMostSites, rewrites.sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const RewriteSite& site = rewrites.sites[i];
    sites.push_back({{"kind", RewriteKindName(site.kind)},
                     {"status", SiteStatusName(site.status)},
                     {"computation", site.computation},
                     {"instruction", site.instruction},
                     {"opcode", site.opcode},
                     {"original", Cut(site.original)},
                     {"replacement", Cut(site.replacement)},
                     {"reason", site.reason},
                     {"ops", site.delta_op_count},
                     {"flops", site.delta_flops},
                     {"bytes", site.delta_bytes}});
  }
  return {{"kind", "rewrites"},
          {"note", list.note},
          {"pass", list.pass},
          {"separable", rewrites.separable},
          {"conflicts", rewrites.conflicts.size()},
          {"sites", std::move(sites)},
          {"left_out", rewrites.sites.size() - shown}};
}

}  // namespace hone::report
