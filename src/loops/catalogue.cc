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

// What a block may not be stays whole.
int64_t Block(int64_t number) { return number > 64 || number < 2 ? 0 : number; }

// Draws sizes for the loops, of their divisors: one stays whole more often than not.
class Drawing {
 public:
  Drawing(const SiteState& state, StepKind kind) : numbers_(state.loops.size(), 0) {
    for (const Loop& loop : state.loops) {
      const bool skip = loop.extent == 1 || (kind == StepKind::kParallel && loop.reduction);
      skip_.push_back(skip);
      Numbers& sizes = sizes_.emplace_back();
      if (skip) continue;
      sizes = Scheduled::Divisors(loop.extent, kind == StepKind::kTile);
      if (kind == StepKind::kPack) {
        for (int64_t& size : sizes) size = Block(size);
      }
      different_ *= static_cast<double>(
          1 + std::count_if(sizes.begin(), sizes.end(), [](int64_t size) { return size != 0; }));
    }
  }

  // True where these sizes were not drawn before.
  bool Draw(Rng& rng) {
    uint64_t code = 0;
    for (size_t l = 0; l < numbers_.size(); ++l) {
      const bool whole = skip_[l] || rng.Below(5) < 2 || sizes_[l].empty();
      numbers_[l] = whole ? 0 : rng.Pick(sizes_[l]);
      code = Rng(code ^ static_cast<uint64_t>(numbers_[l])).Next();
    }
    const auto at = std::lower_bound(drawn_.begin(), drawn_.end(), code);
    if (at != drawn_.end() && *at == code) return false;
    drawn_.insert(at, code);
    return true;
  }

  const Numbers& numbers() const { return numbers_; }
  // Whether all that there is was drawn.
  bool Over() const { return static_cast<double>(drawn_.size()) >= different_; }

 private:
  std::vector<bool> skip_;
  std::vector<Numbers> sizes_;
  Numbers numbers_;
  std::vector<uint64_t> drawn_;  // hashes, sorted
  double different_ = 1;
};

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
      Drawing drawing(state, kind);
      for (int i = 0; i < kDraws && offers.size() < kEach && !drawing.Over(); ++i) {
        if (drawing.Draw(rng)) offer({name, kind, drawing.numbers(), ""});
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
