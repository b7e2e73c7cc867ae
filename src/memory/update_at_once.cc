#include <algorithm>
#include <numeric>
#include <utility>

#include "memory/recompute.h"

namespace hone::memory {
namespace {

constexpr int64_t kNumber = 64;  // bytes: what never waits for room

size_t U(int32_t id) { return static_cast<size_t>(id); }

}  // namespace

void UpdateAtOnce(Network& network) {
  const size_t count = network.ops.size();
  std::vector<std::vector<TensorId>> reads(count);
  std::vector<bool> only_outputs(count, true);  // nothing but such operators reads it
  for (size_t o = 0; o < count; ++o) {
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        if (network.tensors[U(tensor)].producer != kNone) reads[o].push_back(tensor);
      }
    }
  }
  const auto small = [&](size_t o) {
    return network.tensors[U(network.ops[o].results[0])].Bytes() <= kNumber;
  };
  for (size_t o = count; o-- > 0;) {
    only_outputs[o] = only_outputs[o] && IsElementwise(network.ops[o].opcode);
    if (only_outputs[o]) continue;
    for (TensorId tensor : reads[o]) only_outputs[U(network.tensors[U(tensor)].producer)] = false;
  }
  // Numbers are made as soon as they can be: steps and rates, which updates wait for.
  std::vector<size_t> after(count);  // the operator that it goes right after; itself, if it stays
  for (size_t o = 0; o < count; ++o) {
    size_t last = 0;
    for (TensorId tensor : reads[o]) {
      last = std::max(last, after[U(network.tensors[U(tensor)].producer)]);
    }
    const bool moves = IsElementwise(network.ops[o].opcode) && (only_outputs[o] || small(o));
    after[o] = moves ? last : o;
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return after[a] < after[b]; });
  std::vector<Op> ops;
  for (size_t o : order) {
    for (TensorId result : network.ops[o].results) {
      network.tensors[U(result)].producer = static_cast<OpId>(ops.size());
    }
    ops.push_back(std::move(network.ops[o]));
  }
  network.ops = std::move(ops);
}

}  // namespace hone::memory
