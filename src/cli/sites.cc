// hone sites: where the compiler decides between ways to compile a program, and its decisions by
// hand.
#include "jobs/sites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "tune/plan.h"

namespace hone::cli {
namespace {

struct SitesFlags {
  CommonOptions common;
  jobs::SitesOptions job;
  size_t most = 40;
};

// "[stock], other", with XLA's estimates where there are some.
std::string ChoicesOf(const CompileSite& site) {
  std::vector<std::string> choices;
  for (size_t i = 0; i < site.choices.size(); ++i) {
    std::string choice = i == site.stock ? "[" + site.choices[i] + "]" : site.choices[i];
    if (i < site.seconds.size()) choice += fmt::format(" {:.3g} us", 1e6 * site.seconds[i]);
    choices.push_back(std::move(choice));
  }
  return fmt::format("{}", fmt::join(choices, ", "));
}

std::string PlaceOf(const CompileSite& site) {
  std::string place = site.instruction.empty() ? site.opcode : site.instruction;
  if (!site.user.empty()) place += " into " + site.user;
  return place;
}

std::string Table(const std::vector<const CompileSite*>& sites, size_t most) {
  std::string text = fmt::format("{:16}  {:12} {:>6} {:>10}  {:36}  {}\n", "KEY", "KIND", "PLACES",
                                 "BYTES", "INSTRUCTION", "CHOICES");
  for (size_t i = 0; i < std::min(most, sites.size()); ++i) {
    const CompileSite& site = *sites[i];
    text += fmt::format(
        "{:16}  {:12} {:>6} {:>10}  {:36}  {}\n", KeyText(site.key), CompileSiteKindName(site.kind),
        site.places, HumanBytes(static_cast<double>(site.bytes)), PlaceOf(site), ChoicesOf(site));
  }
  if (most < sites.size()) {
    text += fmt::format("             ...  {} more: --most {} or --json\n", sites.size() - most,
                        sites.size());
  }
  return text;
}

std::string Text(const jobs::ListedSites& listed, const SitesFlags& flags) {
  std::string text = Table(listed.sites, flags.most);
  const bool all = flags.job.where.empty();
  const std::vector<FlagChoices>& choices = listed.listing.flag_choices;
  if (all) {
    for (const FlagChoices& flag : choices) {
      text += fmt::format("{} = [{}], {}\n", flag.name, flag.values[0],
                          fmt::join(flag.values.begin() + 1, flag.values.end(), ", "));
    }
  }
  text += fmt::format("{} sites, {} flags; what XLA does by itself is in brackets\n",
                      listed.sites.size(), all ? choices.size() : 0);
  if (!listed.applied) return text;
  return text +
         fmt::format("decided otherwise in {} place{}{}; written to {}\n", *listed.applied,
                     *listed.applied == 1 ? "" : "s",
                     listed.same_module ? ", which changes nothing in the optimised module" : "",
                     flags.job.plan_output);
}

int RunSites(const SitesFlags& flags) {
  CommandEvents events(flags.common);
  const auto listed = jobs::ListSites(flags.job, flags.common, events);
  if (!listed) return Fail(listed.error(), flags.common.json);
  return flags.common.json ? Finish(ToJson(*listed, flags.job), kFine)
                           : Finish(Text(*listed, flags), kFine);
}

}  // namespace

Run AddSites(CLI::App& app) {
  auto flags = std::make_shared<SitesFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("--at", flags->job.where,
                 "only these: a site's key, an instruction's name, a kind, or kind:opcode")
      ->type_name("WHERE");
  app.add_option("--most", flags->most, "sites to show")->capture_default_str();
  app.add_option("--plan", flags->job.plan, "under this plan, of `hone tune --plan` or --plan-out")
      ->type_name("PLAN");
  app.add_option("--choose", flags->job.choose,
                 "decide: WHERE=VALUE, or FLAG=VALUE; may be repeated, later ones count")
      ->type_name("WHERE=VALUE");
  app.add_option("--plan-out", flags->job.plan_output, "write the plan with what is decided here")
      ->type_name("OUT");
  app.add_flag("--fast-math", flags->job.fast_math, "also flags that change the numerics");
  app.add_flag("--free-entry", flags->job.free_entry,
               "also layouts of the program's parameters and results");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunSites(*flags); };
}

}  // namespace hone::cli
