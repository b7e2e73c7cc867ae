#include "blame/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hone::blame {
namespace {

std::string Original(const std::string& name) {
  size_t end = name.size();
  for (const char* suffix : {".clone", ".remat"}) end = std::min(end, name.find(suffix));
  return name.substr(0, end);
}

bool Offers(const CompileSite& site, const std::string& value) {
  return std::find(site.choices.begin(), site.choices.end(), value) != site.choices.end();
}

bool LooksLike(const CompileSite& site, const CompileSite& wanted) {
  return site.kind == wanted.kind && site.opcode == wanted.opcode && site.user == wanted.user;
}

int64_t BytesOfOne(const CompileSite& site) {
  return site.bytes / std::max<int64_t>(1, site.places);
}

// Where nothing but shapes is known where it is decided, it is a dot.
std::string PlaceText(const CompileSite& site) {
  if (!site.instruction.empty()) return site.instruction;
  return "a " + (site.opcode.empty() ? std::string("dot") : site.opcode);
}

// The places of the part that are the place that is meant; by name where there is one of that name.
std::vector<SiteKey> Find(const std::vector<CompileSite>& sites, const DecidedSite& wanted) {
  std::vector<SiteKey> same, named, alike;
  for (const CompileSite& site : sites) {
    if (!LooksLike(site, wanted.site) || !Offers(site, wanted.value)) continue;
    if (site.key == wanted.site.key) same.push_back(site.key);
    if (Original(site.instruction) == Original(wanted.site.instruction)) named.push_back(site.key);
    if (BytesOfOne(site) == BytesOfOne(wanted.site)) alike.push_back(site.key);
  }
  if (!same.empty()) return same;
  return named.empty() ? alike : named;
}

Status DecideSites(Laboratory& laboratory, ProgramId part, const tune::TunePlan& a,
                   const std::vector<DecidedSite>& wanted, tune::TunePlan& plan) {
  const StatusOr<Compiled> compiled = laboratory.Compile(part, a, /*sites=*/true, /*text=*/false);
  if (!compiled) return tl::unexpected(compiled.error());
  std::map<SiteKey, std::string> choices;
  for (const CompileChoice& choice : plan.compile.choices) choices[choice.key] = choice.value;
  for (const DecidedSite& one : wanted) {
    const std::vector<SiteKey> found = Find(compiled->sites, one);
    if (found.empty()) {
      return MakeError(ErrorCode::kUnsupported,
                       fmt::format("nothing like {} is decided about there", one.site.instruction));
    }
    for (SiteKey key : found) choices[key] = one.value;
  }
  plan.compile.choices.clear();
  for (const auto& [key, value] : choices) plan.compile.choices.push_back({key, value});
  return {};
}

Status DecideRewrites(Laboratory& laboratory, ProgramId part, const Decision& decision,
                      size_t position, tune::TunePlan& plan) {
  const StatusOr<Rewrites> listing = laboratory.ListRewrites(part, plan, position);
  if (!listing) return tl::unexpected(listing.error());
  std::set<std::string> wanted;
  for (const RewriteSite& site : decision.rewrites) wanted.insert(site.instruction);
  std::vector<size_t> others, meant;
  for (size_t i = 0; i < listing->sites.size(); ++i) {
    (wanted.count(listing->sites[i].instruction) > 0 ? meant : others).push_back(i);
  }
  if (meant.empty()) {
    return MakeError(ErrorCode::kUnsupported,
                     fmt::format("{} has no such rewrite there", decision.difference.name));
  }
  const bool added = !decision.difference.to.empty();
  plan = Decline(std::move(plan), position, *listing, added ? others : meant);
  return {};
}

}  // namespace

tune::TunePlan Decline(tune::TunePlan plan, size_t position, const Rewrites& listing,
                       const std::vector<size_t>& declined) {
  Decisions& decisions = plan.passes[position].decisions;
  std::map<SiteKey, bool> choices;
  for (const SiteChoice& choice : decisions.choices) choices[choice.key] = choice.accept;
  for (size_t i : declined) choices[listing.sites[i].place] = false;
  decisions.choices.clear();
  for (const auto& [key, accept] : choices) decisions.choices.push_back({key, accept});
  return plan;
}

StatusOr<tune::TunePlan> OnPart(Laboratory& laboratory, ProgramId part, const tune::TunePlan& a,
                                const std::vector<Decision>& decisions) {
  tune::TunePlan plan = a;
  for (const Decision& decision : decisions) {
    const Difference& difference = decision.difference;
    if (difference.kind == DifferenceKind::kFlag) {
      auto& flags = plan.compile.flags;
      flags.erase(std::remove_if(flags.begin(), flags.end(),
                                 [&](const auto& flag) { return flag.first == difference.name; }),
                  flags.end());
      if (!difference.to.empty()) flags.emplace_back(difference.name, difference.to);
    } else if (difference.kind == DifferenceKind::kChoice) {
      if (Status done = DecideSites(laboratory, part, a, decision.sites, plan); !done) {
        return tl::unexpected(done.error());
      }
    } else {
      const size_t position = std::min(decision.position, plan.passes.size());
      const auto at = plan.passes.begin() + static_cast<std::ptrdiff_t>(position);
      const bool added = !difference.to.empty();
      if (added) {
        plan.passes.insert(at, {difference.name, {}});
      } else if (decision.rewrites.empty()) {
        plan.passes.erase(at);
      }
      if (!decision.rewrites.empty()) {
        if (Status done = DecideRewrites(laboratory, part, decision, position, plan); !done) {
          return tl::unexpected(done.error());
        }
      }
    }
  }
  Sort(plan.compile);
  return plan;
}

std::string Describe(const Decision& decision) {
  const Difference& difference = decision.difference;
  const auto value = [](const std::string& text) {
    return text.empty() ? std::string("what the stock compiler takes") : text;
  };
  switch (difference.kind) {
    case DifferenceKind::kFlag: {
      std::string text =
          IsWithoutPass(difference.name)
              ? fmt::format("pass {} is {}", difference.name.substr(kWithoutPass.size()),
                            difference.to.empty() ? "run again" : "left out")
              : fmt::format("flag {}: {} instead of {}", difference.name, value(difference.to),
                            value(difference.from));
      for (const DecidedSite& one : decision.sites) {
        text +=
            fmt::format("; by it {} of {} is {} instead of {}", CompileSiteKindName(one.site.kind),
                        one.site.instruction, one.value, one.site.choices[one.site.stock]);
      }
      return text;
    }
    case DifferenceKind::kChoice: {
      if (decision.sites.empty()) {
        return fmt::format("choice {}: {} instead of {}", difference.name, value(difference.to),
                           value(difference.from));
      }
      const CompileSite& site = decision.sites[0].site;
      const std::string from = difference.from.empty() ? site.choices[site.stock] : difference.from;
      const std::string to = difference.to.empty() ? site.choices[site.stock] : difference.to;
      return fmt::format("choice {} of {}{}{}: {} instead of {}", CompileSiteKindName(site.kind),
                         PlaceText(site), site.user.empty() ? "" : " into a " + site.user,
                         site.places > 1 ? fmt::format(" and {} like it", site.places - 1) : "", to,
                         from);
    }
    case DifferenceKind::kPass:
      break;
  }
  const bool added = !difference.to.empty();
  if (decision.rewrites.empty()) {
    return fmt::format("pass {} is {}", difference.name, added ? "run before" : "left out");
  }
  const RewriteSite& site = decision.rewrites[0];
  return fmt::format("pass {}: its {} of {} in {}{} is {}", difference.name,
                     RewriteKindName(site.kind), site.instruction, site.computation,
                     decision.rewrites.size() > 1
                         ? fmt::format(", with {} others,", decision.rewrites.size() - 1)
                         : "",
                     added ? "made" : "left out");
}

std::string InstructionOf(const Decision& decision) {
  if (!decision.rewrites.empty()) return decision.rewrites[0].instruction;
  if (!decision.sites.empty()) return decision.sites[0].site.instruction;
  return {};
}

}  // namespace hone::blame
