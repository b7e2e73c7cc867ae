#include "memory/planning/dram_orders.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "memory/planning/work.h"

namespace hone::memory {
namespace {

// With so many dimensions all orders are tried: 120 of them.
constexpr size_t kAllOrders = 5;

// The boxes of one tensor that are loaded or stored, and how often: those of one size take as long.
using Transfers = std::map<std::vector<int64_t>, std::pair<const Box*, int64_t>>;

double Seconds(const Machine& machine, const Tensor& tensor, const Transfers& transfers,
               const std::vector<int64_t>& order) {
  double seconds = 0;
  for (const auto& [extents, box] : transfers) {
    seconds +=
        static_cast<double>(box.second) * TransferSeconds(machine, tensor, *box.first, order);
  }
  return seconds;
}

// Outermost what is cut into the smallest shares.
std::vector<int64_t> ByShares(const Tensor& tensor, const Transfers& transfers) {
  std::vector<double> shares(tensor.dimensions.size(), 0);
  for (const auto& [extents, box] : transfers) {
    for (size_t d = 0; d < extents.size(); ++d) {
      shares[d] += static_cast<double>(box.second) * static_cast<double>(extents[d]) /
                   static_cast<double>(tensor.dimensions[d]);
    }
  }
  std::vector<int64_t> order(tensor.dimensions.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return shares[static_cast<size_t>(a)] < shares[static_cast<size_t>(b)];
  });
  return order;
}

}  // namespace

DramOrders OrdersInDram(const Network& network, const Machine& machine, const Plan& plan) {
  const std::set<TensorId> outputs(network.output_tensors.begin(), network.output_tensors.end());
  std::map<TensorId, Transfers> moved;
  for (const Block& block : plan.blocks) {
    for (const Step& step : block.steps) {
      if (step.kind != StepKind::kLoad && step.kind != StepKind::kStore) continue;
      const Tensor& tensor = network.tensors[static_cast<size_t>(step.tensor)];
      if (tensor.parameter != kNone || outputs.contains(step.tensor)) continue;
      Transfers& transfers = moved[step.tensor];
      for (const Box& box : step.boxes) {
        if (IsEmpty(box)) continue;
        std::vector<int64_t> extents;
        for (size_t d = 0; d < box.low.size(); ++d) extents.push_back(Extent(box, d));
        ++transfers.try_emplace(std::move(extents), &box, 0).first->second.second;
      }
    }
  }
  DramOrders orders;
  for (const auto& [id, transfers] : moved) {
    const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
    std::vector<int64_t> order(tensor.dimensions.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<int64_t> best;
    double least = Seconds(machine, tensor, transfers, order);
    const auto look_at = [&](const std::vector<int64_t>& other) {
      const double seconds = Seconds(machine, tensor, transfers, other);
      if (seconds >= least) return;
      least = seconds;
      best = other;
    };
    if (order.size() > kAllOrders) {
      look_at(ByShares(tensor, transfers));
    } else {
      while (std::next_permutation(order.begin(), order.end())) look_at(order);
    }
    if (!best.empty()) orders.emplace(id, std::move(best));
  }
  return orders;
}

}  // namespace hone::memory
