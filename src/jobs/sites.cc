#include "jobs/sites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "jobs/open_program.h"
#include "jobs/write_file.h"
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

Error NoSite(const std::vector<CompileSite>& sites, const std::string& where) {
  return {ErrorCode::kInvalidInput,
          fmt::format("there is no site '{}': give a key, an instruction's name, a kind or a flag; "
                      "there are {}",
                      where, sites.empty() ? "none" : KindsOf(sites))};
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
  if (at.empty()) return tl::unexpected(NoSite(sites, choosing.where));
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

Status Decide(const std::vector<std::string>& choices, const Compiled& listing,
              tune::TunePlan& plan) {
  for (const std::string& text : choices) {
    const auto choosing = ChoosingFromText(text);
    if (!choosing) return tl::unexpected(choosing.error());
    const auto flag =
        std::find_if(listing.flag_choices.begin(), listing.flag_choices.end(),
                     [&](const FlagChoices& one) { return one.name == choosing->where; });
    if (flag == listing.flag_choices.end()) {
      if (auto chosen = Choose(listing.sites, *choosing, plan); !chosen) {
        return tl::unexpected(chosen.error());
      }
      continue;
    }
    auto& flags = plan.compile.flags;
    flags.erase(std::remove_if(flags.begin(), flags.end(),
                               [&](const auto& one) { return one.first == flag->name; }),
                flags.end());
    flags.emplace_back(flag->name, choosing->value);
    Sort(plan.compile);
  }
  return {};
}

namespace {

// Puts the choices into the plan, and writes it.
FileOr<void> DecideAndWrite(const SitesOptions& options, tune::Evaluator& evaluator,
                            CompileOptions compiling, tune::TunePlan& plan, ListedSites& listed) {
  if (Status made = Decide(options.choose, listed.listing, plan); !made) {
    return Wrong(options.file, made.error());
  }
  compiling.sites = false;
  const StatusOr<Compiled> compiled = evaluator.Compile(plan, compiling);
  if (!compiled) return Wrong(options.file, compiled.error());
  listed.applied = compiled->applied;
  listed.same_module = compiled->fingerprint == listed.listing.fingerprint;
  return WriteIfNamed(options.plan_output, tune::TunePlanToJson(plan));
}

}  // namespace

FileOr<ListedSites> ListSites(const SitesOptions& options, const WorkerOptions& workers,
                              Events& events) {
  if (options.choose.empty() != options.plan_output.empty()) {
    return Wrong(
        "", {ErrorCode::kInvalidInput,
             "--choose says what the plan that --plan-out writes decides: give both or neither"});
  }
  if (auto fine = CheckAllWritable({options.plan_output}); !fine) {
    return tl::unexpected(fine.error());
  }
  FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  const auto program = OpenNamed(options.file, workers, "", 1, events);
  if (!program) return tl::unexpected(program.error());
  const ClearAtEnd clear(events);
  events.Show("compiling " + options.file);
  CompileOptions compiling;
  compiling.fast_math = options.fast_math;
  compiling.free_entry = options.free_entry;
  StatusOr<Compiled> listing = program->evaluator->Compile(*plan, compiling);
  if (!listing) return Wrong(options.file, listing.error());
  ListedSites listed;
  listed.listing = *std::move(listing);
  listed.target = program->programs->pool().target();
  for (const CompileSite& site : listed.listing.sites) {
    if (options.where.empty() || IsAt(site, options.where)) listed.sites.push_back(&site);
  }
  if (!options.where.empty() && listed.sites.empty()) {
    return Wrong(options.file, NoSite(listed.listing.sites, options.where));
  }
  if (options.choose.empty()) return listed;
  const auto decided = DecideAndWrite(options, *program->evaluator, compiling, *plan, listed);
  if (!decided) return tl::unexpected(decided.error());
  return listed;
}

Json ToJson(const ListedSites& listed, const SitesOptions& options) {
  Json json{{"file", options.file}, {"target", listed.target}};
  if (listed.applied) {
    json["applied"] = *listed.applied;
    json["same_module"] = listed.same_module;
    json["plan"] = options.plan_output;
  }
  json["sites"] = Json::array();
  json["flags"] = Json::array();
  for (const CompileSite* site : listed.sites) {
    Json one{{"key", KeyText(site->key)},
             {"kind", CompileSiteKindName(site->kind)},
             {"stage", StageName(StageOf(site->kind))},
             {"instruction", site->instruction},
             {"opcode", site->opcode},
             {"places", site->places},
             {"bytes", site->bytes},
             {"choices", site->choices},
             {"stock", site->choices[site->stock]}};
    if (!site->user.empty()) one["user"] = site->user;
    if (!site->seconds.empty()) one["estimated_seconds"] = site->seconds;
    json["sites"].push_back(std::move(one));
  }
  for (const FlagChoices& flag : listed.listing.flag_choices) {
    json["flags"].push_back(
        {{"name", flag.name}, {"choices", flag.values}, {"stock", flag.values[0]}});
  }
  return json;
}

}  // namespace hone::jobs
