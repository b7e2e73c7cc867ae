// hone passes: the registry, as a table or as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/list_passes.h"

namespace hone::cli {
namespace {

struct PassesFlags {
  CommonOptions common;
  jobs::ListPassesOptions job;
  bool excluded = false;
};

std::string Table(const std::vector<PassInfo>& passes) {
  const size_t width = WidthOf("NAME", passes, &PassInfo::name);
  std::string text = fmt::format("{:{}}  {:10}  {}\n", "NAME", width, "GROUP", "MEANING");
  for (const PassInfo& pass : passes) {
    text += fmt::format("{:{}}  {:10}  {}{}\n", pass.name, width, PassGroupName(pass.group),
                        pass.meaning, pass.options.empty() ? "" : " [" + pass.options + "]");
  }
  return text;
}

std::string Table(const std::vector<ExcludedPass>& excluded) {
  const size_t width = WidthOf("CLASS", excluded, &ExcludedPass::class_name);
  std::string text = fmt::format("{:{}}  {}\n", "CLASS", width, "LEFT OUT BECAUSE");
  for (const ExcludedPass& pass : excluded) {
    text += fmt::format("{:{}}  {}\n", pass.class_name, width, pass.reason);
  }
  return text;
}

int RunPasses(const PassesFlags& flags) {
  CommandEvents events(flags.common);
  const auto listed = jobs::ListPasses(flags.job, flags.common, events);
  if (!listed) return Fail(listed.error(), flags.common.json);
  if (flags.common.json) return Finish(ToJson(*listed), kFine);
  if (flags.excluded) return Finish(Table(listed->excluded), kFine);
  return Finish(Table(listed->passes) +
                    fmt::format("{} passes of {}\n", listed->passes.size(), listed->version),
                kFine);
}

}  // namespace

Run AddPasses(CLI::App& app) {
  auto flags = std::make_shared<PassesFlags>();
  app.add_option("--group", flags->job.group,
                 fmt::format("only this group: {}", fmt::join(jobs::PassGroupNames(), ", ")))
      ->type_name("GROUP");
  app.add_flag("--simplify", flags->job.simplify, "only the action set `simplify`");
  app.add_flag("--excluded", flags->excluded, "XLA's passes that are left out, and why");
  AddCommonOptions(app, flags->common);
  return [flags] { return RunPasses(*flags); };
}

}  // namespace hone::cli
