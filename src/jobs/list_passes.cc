#include "jobs/list_passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/nearest.h"

namespace hone::jobs {

std::vector<std::string> PassGroupNames() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(PassGroup::kCollective); ++i) {
    names.emplace_back(PassGroupName(static_cast<PassGroup>(i)));
  }
  return names;
}

StatusOr<ListedPasses> ListPasses(const ListPassesOptions& options, const WorkerOptions& workers,
                                  Events& events) {
  const std::vector<std::string> groups = PassGroupNames();
  if (!options.group.empty() &&
      std::find(groups.begin(), groups.end(), options.group) == groups.end()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("there is no group '{}'{}; there are {}", options.group,
                                 DidYouMean(options.group, groups), fmt::join(groups, ", ")));
  }
  const auto pool = StartPool(workers, events);
  if (!pool) return tl::unexpected(pool.error());
  ListedPasses listed{(*pool)->version(), {}, (*pool)->excluded()};
  for (const PassInfo& pass : (*pool)->passes()) {
    if (options.simplify && !pass.simplify) continue;
    if (!options.group.empty() && PassGroupName(pass.group) != options.group) continue;
    listed.passes.push_back(pass);
  }
  return listed;
}

Json ToJson(const ListedPasses& listed) {
  Json json{{"version", listed.version}, {"passes", Json::array()}, {"excluded", Json::array()}};
  for (const PassInfo& pass : listed.passes) {
    json["passes"].push_back({{"name", pass.name},
                              {"class", pass.class_name},
                              {"group", PassGroupName(pass.group)},
                              {"meaning", pass.meaning},
                              {"options", pass.options},
                              {"simplify", pass.simplify}});
  }
  for (const ExcludedPass& pass : listed.excluded) {
    json["excluded"].push_back({{"class", pass.class_name}, {"reason", pass.reason}});
  }
  return json;
}

}  // namespace hone::jobs
