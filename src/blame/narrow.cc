#include "blame/narrow.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <utility>

namespace hone::blame {
namespace {

std::vector<size_t> Numbers(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

std::vector<size_t> Without(size_t count, const std::vector<size_t>& part) {
  std::vector<size_t> rest;
  for (size_t i = 0; i < count; ++i) {
    if (!std::binary_search(part.begin(), part.end(), i)) rest.push_back(i);
  }
  return rest;
}

void NarrowPass(const Narrowing& asked, const Differences& differences, size_t index,
                const std::vector<size_t>& guilty, Decision& decision) {
  const bool added = !decision.difference.to.empty();
  const tune::TunePlan with = differences.With(guilty);
  std::vector<size_t> others = guilty;
  others.erase(std::remove(others.begin(), others.end(), index), others.end());
  const tune::TunePlan without = differences.With(others);
  // The plan of the two that runs the pass.
  const tune::TunePlan& runs = added ? with : without;
  const size_t position = differences.PassIn(added ? guilty : others, index);
  decision.position =
      differences.PassIn(added ? std::vector<size_t>{index} : std::vector<size_t>{}, index);
  const StatusOr<Rewrites> listing = asked.laboratory.ListRewrites(asked.program, runs, position);
  if (!listing || !listing->separable || listing->sites.empty()) return;
  const size_t count = listing->sites.size();
  // The reference with these of its rewrites: made where the pass is new, else left out.
  const auto taking = [&](const std::vector<size_t>& chosen) {
    return Decline(runs, position, *listing, added ? Without(count, chosen) : chosen);
  };
  if (asked.test(asked.a, taking(Numbers(count))).shows != Shows::kYes) return;
  const Minimised found = Minimise(
      Numbers(count),
      [&](const std::vector<size_t>& chosen) { return asked.test(asked.a, taking(chosen)).shows; },
      asked.stop);
  if (!found.minimal) return;
  if (asked.confirm(asked.a, taking(found.part)).shows != Shows::kYes) return;
  for (size_t i : found.part) decision.rewrites.push_back(listing->sites[i]);
}

void NarrowChoice(const Narrowing& asked, Decision& decision) {
  const StatusOr<Compiled> compiled =
      asked.laboratory.Compile(asked.program, asked.a, /*sites=*/true, /*text=*/false);
  if (!compiled) return;
  SiteKey key = 0;
  const std::string& text = decision.difference.name;
  std::from_chars(text.data(), text.data() + text.size(), key, 16);
  for (const CompileSite& site : compiled->sites) {
    if (site.key != key) continue;
    const std::string& to = decision.difference.to;
    decision.sites.push_back({site, to.empty() ? site.choices[site.stock] : to});
    return;
  }
}

// What the stock compiler takes at a place, under a flag and not.
void NarrowFlag(const Narrowing& asked, const Differences& differences, size_t index,
                Decision& decision) {
  const tune::TunePlan under = differences.With({index});
  const auto sites_a = asked.laboratory.Compile(asked.program, asked.a, true, false);
  const auto sites_b = asked.laboratory.Compile(asked.program, under, true, false);
  if (!sites_a || !sites_b) return;
  std::map<SiteKey, const CompileSite*> in_b;
  for (const CompileSite& site : sites_b->sites) in_b[site.key] = &site;
  std::vector<DecidedSite> changed;
  for (const CompileSite& site : sites_a->sites) {
    const auto found = in_b.find(site.key);
    if (found == in_b.end()) continue;
    const std::string& value = found->second->choices[found->second->stock];
    const bool offered =
        std::find(site.choices.begin(), site.choices.end(), value) != site.choices.end();
    if (offered && value != site.choices[site.stock]) changed.push_back({site, value});
  }
  if (changed.empty()) return;
  const auto taking = [&](const std::vector<size_t>& chosen) {
    tune::TunePlan plan = asked.a;
    for (size_t i : chosen) plan.compile.choices.push_back({changed[i].site.key, changed[i].value});
    Sort(plan.compile);
    return plan;
  };
  if (asked.test(asked.a, taking(Numbers(changed.size()))).shows != Shows::kYes) return;
  const Minimised found = Minimise(
      Numbers(changed.size()),
      [&](const std::vector<size_t>& chosen) { return asked.test(asked.a, taking(chosen)).shows; },
      asked.stop);
  if (!found.minimal) return;
  if (asked.confirm(asked.a, taking(found.part)).shows != Shows::kYes) return;
  for (size_t i : found.part) decision.sites.push_back(changed[i]);
}

}  // namespace

Decision Narrow(const Narrowing& narrowing, const Differences& differences, size_t index,
                const std::vector<size_t>& guilty) {
  Decision decision;
  decision.difference = differences.list()[index];
  switch (decision.difference.kind) {
    case DifferenceKind::kPass:
      NarrowPass(narrowing, differences, index, guilty, decision);
      break;
    case DifferenceKind::kChoice:
      NarrowChoice(narrowing, decision);
      break;
    case DifferenceKind::kFlag:
      NarrowFlag(narrowing, differences, index, decision);
      break;
  }
  return decision;
}

}  // namespace hone::blame
