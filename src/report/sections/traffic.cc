#include "report/sections/traffic.h"

#include <algorithm>
#include <utility>

namespace hone::report {
namespace {

constexpr size_t kMostTensors = 1000;

}  // namespace

Json ToSection(const Traffic& traffic) {
  std::vector<TensorTraffic> tensors = traffic.tensors;
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorTraffic& a, const TensorTraffic& b) {
                     return a.loaded + a.stored > b.loaded + b.stored;
                   });
  TensorTraffic rest{"the others", "", 0, 0, 0};
  for (size_t i = kMostTensors; i < tensors.size(); ++i) {
    rest.size += tensors[i].size;
    rest.loaded += tensors[i].loaded;
    rest.stored += tensors[i].stored;
  }
  if (tensors.size() > kMostTensors) {
    tensors.resize(kMostTensors);
    tensors.push_back(std::move(rest));
  }
  Json rows = Json::array();
  for (const TensorTraffic& one : tensors) {
    rows.push_back({one.tensor, one.role, one.size, one.loaded, one.stored});
  }
  Json ways = Json::array();
  for (const Way& way : traffic.ways) {
    ways.push_back({{"name", way.name},
                    {"bytes", way.bytes},
                    {"seconds", way.seconds < 0 ? Json() : Json(way.seconds)},
                    {"ours", way.ours}});
  }
  return {{"kind", "traffic"},
          {"note", traffic.note},
          {"ways", std::move(ways)},
          {"tensors", std::move(rows)}};
}

}  // namespace hone::report
