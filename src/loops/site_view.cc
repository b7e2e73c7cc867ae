#include "loops/site_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/result.h"

namespace hone::loops {
namespace {

float Scaled(double number) { return static_cast<float>(std::log2(1 + number) / 16); }

double Points(const Nest& nest) {
  double points = 1;
  for (const Loop& loop : nest.loops) points *= static_cast<double>(loop.extent);
  return points;
}

// Numbers of observe.h, brought to about 1.
void WriteLoops(const Scheduled& scheduled, size_t nest, float* out) {
  ObserveLoops(scheduled, nest, out);
  for (size_t l = 0; l < kSeenLoops; ++l, out += kLoopFeatures) {
    out[0] /= 16;
    out[1] /= 16;
  }
}

void WriteState(const Scheduled& scheduled, size_t nest, float* out) {
  ObserveState(scheduled, nest, out);
  out[2] /= 2;
  out[6] /= 8;
}

float* WriteNeighbour(const Scheduled& scheduled, int nest, float* out) {
  if (nest >= 0) {
    WriteLoops(scheduled, static_cast<size_t>(nest), out);
    WriteState(scheduled, static_cast<size_t>(nest), out + kSeenLoops * kLoopFeatures);
  }
  return out + kNeighbourFeatures;
}

std::vector<float> FeaturesOf(const Scheduled& scheduled, size_t index) {
  const Program& program = scheduled.program();
  const Nest& nest = program.nests[index];
  const SiteState& state = scheduled.states()[index];
  std::vector<float> features(kSiteFeatures, 0);
  float* out = features.data();
  WriteLoops(scheduled, index, out);
  out += kSeenLoops * kLoopFeatures;
  for (const Access* access : SeenAccesses(nest)) {
    for (size_t l = 0; access != nullptr && l < std::min(state.order.size(), kSeenLoops); ++l) {
      out[l] = Scaled(std::abs(Apart(*access, state.order[l])));
    }
    out += kSeenLoops;
  }
  ObserveAccesses(scheduled, index, out);
  for (size_t i = 0; i < kSeenAccesses * kSeenDimensions * kSeenLoops; ++i, ++out) {
    *out = std::copysign(std::log2(1 + std::abs(*out)), *out);
  }
  ObserveOperations(scheduled, index, out);
  for (size_t i = 0; i < kSeenScalars; ++i, ++out) *out = std::log2(1 + *out) / 2;
  WriteState(scheduled, index, out);
  out += kStateFeatures;
  for (const Step& step : scheduled.schedule()) {
    if (step.site == nest.site) out[static_cast<size_t>(step.kind)] += 0.5f;
  }
  out += kStepKinds;
  const std::vector<int> consumers = program.ConsumersOf(nest.write.tensor);
  out = WriteNeighbour(scheduled, consumers.empty() ? -1 : consumers.front(), out);
  int producer = -1;
  for (const Access& read : nest.reads) {
    if (producer < 0) producer = program.ProducerOf(read.tensor);
  }
  out = WriteNeighbour(scheduled, producer, out);
  double all = 0;
  for (const Nest& other : program.nests) all += Points(other);
  out[0] = Scaled(Points(nest));
  out[1] = static_cast<float>(Points(nest) / all);
  out[2] = nest.reduces() ? 1 : 0;
  out[3] = program.IsOutput(nest.write.tensor) ? 1 : 0;
  return features;
}

// The loops of a tile once the step is made, innermost last.
struct After {
  std::vector<int64_t> extents;
  std::vector<size_t> order;
};

After LoopsAfter(const SiteState& state, const Step& step) {
  After after{{}, state.order};
  for (const Loop& loop : state.loops) after.extents.push_back(loop.extent);
  const bool tiles = step.kind == StepKind::kTile || step.kind == StepKind::kParallel;
  for (size_t l = 0; l < std::min(step.numbers.size(), after.extents.size()); ++l) {
    const int64_t number = step.numbers[l];
    if (tiles && number > 0) after.extents[l] = number;
    if (step.kind == StepKind::kInterchange) {
      after.extents[l] = state.loops[static_cast<size_t>(number)].extent;
      after.order[l] = state.order[static_cast<size_t>(number)];
    }
  }
  return after;
}

void WriteOffer(const Scheduled& scheduled, size_t index, const Step& step, float* out) {
  const Nest& nest = scheduled.program().nests[index];
  const SiteState& state = scheduled.states()[index];
  out[static_cast<size_t>(step.kind)] = 1;
  out += kStepKinds + 2;
  for (size_t l = 0; l < std::min(step.numbers.size(), kSeenLoops); ++l) {
    const int64_t number = step.numbers[l];
    if (step.kind == StepKind::kInterchange) {
      out[l] = static_cast<float>(number + 1) / kSeenLoops;
    } else if (number > 0) {
      out[l] = Scaled(static_cast<double>(number));
      if (l < state.loops.size()) {
        out[kSeenLoops + l] = Scaled(static_cast<double>(state.loops[l].extent / number));
      }
    }
  }
  out += 2 * kSeenLoops;
  const After after = LoopsAfter(state, step);
  double points = 1;
  size_t inner = after.extents.size() - 1;
  for (size_t l = 0; l < after.extents.size(); ++l) {
    points *= static_cast<double>(after.extents[l]);
    if (after.extents[l] > 1) inner = l;
  }
  *out++ = Scaled(points);
  *out++ = Scaled(static_cast<double>(after.extents[inner]));
  for (const Access* access : SeenAccesses(nest)) {
    if (access != nullptr) {
      const double apart = Apart(*access, after.order[inner]);
      out[apart == 0 ? 0 : apart == 1 ? 1 : 2] = 1;
    }
    out += 3;
  }
  const int producer = scheduled.program().FindSite(step.producer);
  if (producer >= 0) {
    *out = Scaled(Points(scheduled.program().nests[static_cast<size_t>(producer)]));
  }
}

}  // namespace

SiteView LookAtSite(const Catalogue& catalogue, const Scheduled& scheduled, size_t site) {
  const int index = scheduled.program().FindSite(catalogue.sites()[site]);
  HONE_CHECK(index >= 0);
  const auto nest = static_cast<size_t>(index);
  SiteView view;
  view.features = FeaturesOf(scheduled, nest);
  view.offers.assign(kSiteActions * kOfferFeatures, 0);
  view.mask.assign(kSiteActions, false);
  const std::optional<Step> rule = catalogue.RuleOfThumb(scheduled, site);
  for (int kind = 0; kind < kStepKinds; ++kind) {
    size_t action = static_cast<size_t>(kind) * Catalogue::kEach;
    for (const Step& step : catalogue.Offers(scheduled, site, static_cast<StepKind>(kind))) {
      float* const row = &view.offers[action * kOfferFeatures];
      WriteOffer(scheduled, nest, step, row);
      row[kStepKinds + 1] = rule && step == *rule ? 1 : 0;
      view.mask[action++] = true;
    }
  }
  view.offers[kSiteDecisions * kOfferFeatures + kStepKinds] = 1;
  view.offers[kSiteDecisions * kOfferFeatures + kStepKinds + 1] = rule ? 0 : 1;
  view.mask.back() = true;
  return view;
}

std::vector<size_t> SiteOrder(const Catalogue& catalogue) {
  std::vector<size_t> order(catalogue.sites().size());
  std::iota(order.begin(), order.end(), size_t{0});
  // The catalogue has a nest's copies right behind it, and they are no nests of the program.
  std::vector<size_t> nest(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const bool copy = catalogue.program().FindSite(catalogue.sites()[i]) < 0;
    nest[i] = copy ? nest[i - 1] : i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return nest[a] > nest[b]; });
  return order;
}

size_t NextPlace(const Catalogue& catalogue, const Scheduled& scheduled,
                 const std::vector<size_t>& order, size_t place) {
  while (place < order.size() && !catalogue.OffersAny(scheduled, order[place])) ++place;
  return place;
}

}  // namespace hone::loops
