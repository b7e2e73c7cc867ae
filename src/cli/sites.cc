// hone sites: where the compiler decides between ways to compile a program, and its decisions by
// hand.
#include "jobs/sites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tuned_program.h"
#include "tune/plan.h"

namespace hone::cli {
namespace {

struct SitesOptions {
  CommonOptions common;
  std::string file;
  std::string plan;
  std::string plan_output;
  std::string where;
  std::vector<std::string> choose;
  size_t most = 40;
  bool fast_math = false;
  bool free_entry = false;
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

int RunSites(const SitesOptions& options) {
  const bool json = options.common.json;
  if (options.choose.empty() != options.plan_output.empty()) {
    return Fail(
        {ErrorCode::kInvalidInput,
         "--choose says what the plan that --plan-out writes decides: give both or neither"},
        json);
  }
  if (Status writable = MayWrite(options.plan_output); !writable) {
    return Fail(writable.error(), options.plan_output, json);
  }
  StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto program = OpenProgram(options.common, options.file, "", 1);
  if (!program) return Fail(program.error(), json);
  Progress progress(options.common.ShowProgress());
  progress.Show("compiling " + options.file);
  CompileOptions compiling;
  compiling.fast_math = options.fast_math;
  compiling.free_entry = options.free_entry;
  const StatusOr<Compiled> listing = program->evaluator->Compile(*plan, compiling);
  if (!listing) return Fail(listing.error(), options.file, json);
  std::vector<const CompileSite*> sites;
  for (const CompileSite& site : listing->sites) sites.push_back(&site);
  if (!options.where.empty()) {
    sites = jobs::SitesAt(listing->sites, options.where);
    if (sites.empty()) {
      tune::TunePlan none;  // for its error
      return Fail(jobs::Choose(listing->sites, {options.where, ""}, none).error(), options.file,
                  json);
    }
  }
  std::string decided;
  Json out{{"file", options.file}, {"target", program->programs->pool().target()}};
  if (!options.choose.empty()) {
    if (Status made = jobs::Decide(options.choose, *listing, *plan); !made) {
      return Fail(made.error(), options.file, json);
    }
    compiling.sites = false;
    const StatusOr<Compiled> compiled = program->evaluator->Compile(*plan, compiling);
    if (!compiled) return Fail(compiled.error(), options.file, json);
    if (Status wrote = WriteFile(options.plan_output, tune::TunePlanToJson(*plan)); !wrote) {
      return Fail(wrote.error(), options.plan_output, json);
    }
    const bool same = compiled->fingerprint == listing->fingerprint;
    decided = fmt::format("decided otherwise in {} place{}{}; written to {}\n", compiled->applied,
                          compiled->applied == 1 ? "" : "s",
                          same ? ", which changes nothing in the optimised module" : "",
                          options.plan_output);
    out["applied"] = compiled->applied;
    out["same_module"] = same;
    out["plan"] = options.plan_output;
  }
  progress.Clear();
  if (json) {
    out.update(jobs::SitesJson(sites, listing->flag_choices));
    return Finish(out, kFine);
  }
  std::string text = Table(sites, options.most);
  if (options.where.empty()) {
    for (const FlagChoices& flag : listing->flag_choices) {
      text += fmt::format("{} = [{}], {}\n", flag.name, flag.values[0],
                          fmt::join(flag.values.begin() + 1, flag.values.end(), ", "));
    }
  }
  text += fmt::format("{} sites, {} flags; what XLA does by itself is in brackets\n", sites.size(),
                      options.where.empty() ? listing->flag_choices.size() : 0);
  return Finish(text + decided, kFine);
}

}  // namespace

Run AddSites(CLI::App& app) {
  auto options = std::make_shared<SitesOptions>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--at", options->where,
                 "only these: a site's key, an instruction's name, a kind, or kind:opcode")
      ->type_name("WHERE");
  app.add_option("--most", options->most, "sites to show")->capture_default_str();
  app.add_option("--plan", options->plan, "under this plan, of `hone tune --plan` or --plan-out")
      ->type_name("PLAN");
  app.add_option("--choose", options->choose,
                 "decide: WHERE=VALUE, or FLAG=VALUE; may be repeated, later ones count")
      ->type_name("WHERE=VALUE");
  app.add_option("--plan-out", options->plan_output, "write the plan with what is decided here")
      ->type_name("OUT");
  app.add_flag("--fast-math", options->fast_math, "flags that change the numerics too");
  app.add_flag("--free-entry", options->free_entry,
               "layouts of what the program is passed, and returns, too");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunSites(*options); };
}

}  // namespace hone::cli
