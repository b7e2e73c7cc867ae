// hone passes: the registry, as a table or as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "core/nearest.h"
#include "core/pass.h"

namespace hone::cli {
namespace {

struct PassesOptions {
  CommonOptions common;
  std::string group;
  bool simplify = false;
  bool excluded = false;
};

std::vector<std::string> GroupNames() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(PassGroup::kCollective); ++i) {
    names.emplace_back(PassGroupName(static_cast<PassGroup>(i)));
  }
  return names;
}

Json ToJson(const PassInfo& pass) {
  return {
      {"name", pass.name},       {"class", pass.class_name}, {"group", PassGroupName(pass.group)},
      {"meaning", pass.meaning}, {"options", pass.options},  {"simplify", pass.simplify}};
}

std::string Table(const std::vector<PassInfo>& passes) {
  size_t width = 4;
  for (const PassInfo& pass : passes) width = std::max(width, pass.name.size());
  std::string text = fmt::format("{:{}}  {:10}  {}\n", "NAME", width, "GROUP", "MEANING");
  for (const PassInfo& pass : passes) {
    text += fmt::format("{:{}}  {:10}  {}{}\n", pass.name, width, PassGroupName(pass.group),
                        pass.meaning, pass.options.empty() ? "" : " [" + pass.options + "]");
  }
  return text;
}

std::string Table(const std::vector<ExcludedPass>& excluded) {
  size_t width = 5;
  for (const ExcludedPass& pass : excluded) width = std::max(width, pass.class_name.size());
  std::string text = fmt::format("{:{}}  {}\n", "CLASS", width, "LEFT OUT BECAUSE");
  for (const ExcludedPass& pass : excluded) {
    text += fmt::format("{:{}}  {}\n", pass.class_name, width, pass.reason);
  }
  return text;
}

int RunPasses(const PassesOptions& options) {
  const std::vector<std::string> groups = GroupNames();
  if (!options.group.empty() &&
      std::find(groups.begin(), groups.end(), options.group) == groups.end()) {
    return Fail({ErrorCode::kInvalidInput,
                 fmt::format("there is no group '{}'{}; there are {}", options.group,
                             DidYouMean(options.group, groups), fmt::join(groups, ", "))},
                options.common.json);
  }
  auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), options.common.json);
  std::vector<PassInfo> passes;
  for (const PassInfo& pass : (*pool)->passes()) {
    if (options.simplify && !pass.simplify) continue;
    if (!options.group.empty() && PassGroupName(pass.group) != options.group) continue;
    passes.push_back(pass);
  }
  const std::vector<ExcludedPass>& excluded = (*pool)->excluded();
  if (!options.common.json) {
    if (options.excluded) return Finish(Table(excluded), kFine);
    return Finish(
        Table(passes) + fmt::format("{} passes of {}\n", passes.size(), (*pool)->version()), kFine);
  }
  Json json;
  json["version"] = (*pool)->version();
  json["passes"] = Json::array();
  for (const PassInfo& pass : passes) json["passes"].push_back(ToJson(pass));
  json["excluded"] = Json::array();
  for (const ExcludedPass& pass : excluded) {
    json["excluded"].push_back({{"class", pass.class_name}, {"reason", pass.reason}});
  }
  return Finish(json, kFine);
}

}  // namespace

Run AddPasses(CLI::App& app) {
  auto options = std::make_shared<PassesOptions>();
  app.add_option("--group", options->group,
                 fmt::format("only this group: {}", fmt::join(GroupNames(), ", ")))
      ->type_name("GROUP");
  app.add_flag("--simplify", options->simplify, "only the action set `simplify`");
  app.add_flag("--excluded", options->excluded, "XLA's passes that are left out, and why");
  AddCommonOptions(app, options->common);
  return [options] { return RunPasses(*options); };
}

}  // namespace hone::cli
