#include "loops/catalogue.h"

#include <algorithm>
#include <utility>

#include "core/fnv.h"
#include "core/rng.h"

namespace hone::loops {
namespace {

using Numbers = std::vector<int64_t>;

constexpr int kDraws = 200;  // of tiles, to find enough that are legal and different

Schedule OfSite(const Schedule& schedule, const std::string& site) {
  Schedule steps;
  for (const Step& step : schedule) {
    if (step.site == site) steps.push_back(step);
  }
  return steps;
}

// Sizes for the loops, of their divisors: one stays whole more often than not.
Numbers Draw(const SiteState& state, const std::vector<Numbers>& divisors, StepKind kind,
             Rng& rng) {
  Numbers numbers;
  for (size_t l = 0; l < state.loops.size(); ++l) {
    const Loop& loop = state.loops[l];
    const bool skip =
        loop.extent == 1 || (kind == StepKind::kParallel && loop.reduction) || rng.Below(5) < 2;
    if (skip) {
      numbers.push_back(0);
      continue;
    }
    numbers.push_back(divisors[l].empty() ? 0 : rng.Pick(divisors[l]));
  }
  if (kind == StepKind::kPack) {
    for (int64_t& number : numbers) number = number > 64 || number < 2 ? 0 : number;
  }
  return numbers;
}

}  // namespace

Catalogue::Catalogue(const Program& program, const Machine& machine)
    : program_(program), default_(DefaultSchedule(program, machine)) {
  for (const Nest& nest : program.nests) {
    sites_.push_back(nest.site);
    if (nest.reads.size() < 2) continue;
    for (size_t i = 0; i < 2; ++i) sites_.push_back(nest.site + ".pack" + std::to_string(i));
  }
}

std::optional<Step> Catalogue::RuleOfThumb(const Scheduled& scheduled, size_t site) const {
  const Schedule done = OfSite(scheduled.schedule(), sites_[site]);
  const Schedule wanted = OfSite(default_, sites_[site]);
  if (done.size() >= wanted.size() || !std::equal(done.begin(), done.end(), wanted.begin())) {
    return std::nullopt;
  }
  return wanted[done.size()];
}

std::vector<Step> Catalogue::Offers(const Scheduled& scheduled, size_t site, StepKind kind) const {
  std::vector<Step> offers;
  const std::string& name = sites_[site];
  const int found = scheduled.program().FindSite(name);
  if (found < 0) return offers;
  const SiteState& state = scheduled.states()[static_cast<size_t>(found)];
  const auto offer = [&](const Step& step) {
    if (offers.size() < kEach && scheduled.May(step) &&
        std::find(offers.begin(), offers.end(), step) == offers.end()) {
      offers.push_back(step);
    }
  };
  const std::optional<Step> rule = RuleOfThumb(scheduled, site);
  if (rule && rule->kind == kind) offer(*rule);
  const size_t loops = state.loops.size();
  switch (kind) {
    case StepKind::kVectorize:
      offer({name, kind, {}, ""});
      break;
    case StepKind::kUnroll:
      for (const int64_t factor : {2, 4, 8}) offer({name, kind, {factor}, ""});
      break;
    case StepKind::kFuse:
      for (const Nest& nest : scheduled.program().nests) offer({name, kind, {}, nest.site});
      break;
    case StepKind::kInterchange:
      for (size_t distance = 1; distance < loops; ++distance) {
        for (size_t i = 0; i + distance < loops; ++i) {
          Numbers order;
          for (size_t l = 0; l < loops; ++l) order.push_back(static_cast<int64_t>(l));
          std::swap(order[i], order[i + distance]);
          offer({name, kind, order, ""});
        }
      }
      break;
    case StepKind::kPack:
    case StepKind::kParallel:
    case StepKind::kTile: {
      Rng rng(Fnv1a(ScheduleText(scheduled.schedule()) + name) + static_cast<uint64_t>(kind));
      std::vector<Numbers> divisors;
      for (const Loop& loop : state.loops) {
        divisors.push_back(Scheduled::Divisors(loop.extent, kind == StepKind::kTile));
      }
      for (int i = 0; i < kDraws && offers.size() < kEach; ++i) {
        offer({name, kind, Draw(state, divisors, kind, rng), ""});
      }
      break;
    }
  }
  return offers;
}

std::optional<Step> Catalogue::Decide(const Scheduled& scheduled, size_t number) const {
  if (number >= size()) return std::nullopt;
  const auto kind = static_cast<StepKind>(number / kEach % kStepKinds);
  const std::vector<Step> offers = Offers(scheduled, number / kEach / kStepKinds, kind);
  if (number % kEach >= offers.size()) return std::nullopt;
  return offers[number % kEach];
}

std::vector<bool> Catalogue::Mask(const Scheduled& scheduled) const {
  std::vector<bool> mask(size(), false);
  for (size_t site = 0; site < sites_.size(); ++site) {
    for (int kind = 0; kind < kStepKinds; ++kind) {
      const size_t offers = Offers(scheduled, site, static_cast<StepKind>(kind)).size();
      const size_t first = (site * kStepKinds + static_cast<size_t>(kind)) * kEach;
      std::fill_n(mask.begin() + static_cast<ptrdiff_t>(first), offers, true);
    }
  }
  return mask;
}

bool Catalogue::OffersAny(const Scheduled& scheduled, size_t site) const {
  for (int kind = kStepKinds; kind-- > 0;) {  // the cheapest to list come last
    if (!Offers(scheduled, site, static_cast<StepKind>(kind)).empty()) return true;
  }
  return false;
}

std::vector<size_t> Catalogue::NumbersOf(const Schedule& schedule) const {
  std::vector<size_t> numbers;
  Scheduled scheduled(program_);
  for (const Step& step : schedule) {
    const auto site = std::find(sites_.begin(), sites_.end(), step.site);
    if (site == sites_.end()) break;
    const auto index = static_cast<size_t>(site - sites_.begin());
    const std::vector<Step> offers = Offers(scheduled, index, step.kind);
    const auto offer = std::find(offers.begin(), offers.end(), step);
    if (offer == offers.end()) break;
    numbers.push_back((index * kStepKinds + static_cast<size_t>(step.kind)) * kEach +
                      static_cast<size_t>(offer - offers.begin()));
    if (!scheduled.Apply(step)) break;
  }
  return numbers;
}

}  // namespace hone::loops
