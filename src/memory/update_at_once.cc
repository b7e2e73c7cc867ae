#include <algorithm>
#include <limits>
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
  const auto moves = [&](size_t o) {
    return IsElementwise(network.ops[o].opcode) && (only_outputs[o] || small(o));
  };
  // The operator that each goes right after; itself, if it stays; kNowhere, if it waits for none.
  // Numbers are made as soon as they can be: steps and rates, which updates wait for.
  constexpr size_t kNowhere = std::numeric_limits<size_t>::max();
  std::vector<size_t> after(count);
  for (size_t o = 0; o < count; ++o) {
    size_t last = small(o) ? 0 : kNowhere;
    for (TensorId tensor : reads[o]) {
      const size_t made = after[U(network.tensors[U(tensor)].producer)];
      if (made != kNowhere) last = last == kNowhere ? made : std::max(last, made);
    }
    after[o] = moves(o) ? last : o;
  }
  // What is made of parameters alone goes to its first reader, or else to another operator that has
  // the largest of them loaded.
  std::vector<size_t> reader(network.tensors.size(), kNowhere);  // the first that stays
  for (size_t o = count; o-- > 0;) {
    if (moves(o)) continue;
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) reader[U(tensor)] = o;
    }
  }
  std::vector<size_t> first(count, kNowhere);  // place of the first reader of each result
  for (size_t o = count; o-- > 0;) {
    if (after[o] == kNowhere) after[o] = first[o];
    if (after[o] == kNowhere) {
      int64_t most = 0;
      after[o] = o;
      for (ExprId input : network.ops[o].inputs) {
        for (TensorId tensor : LeavesOf(network, input)) {
          if (reader[U(tensor)] == kNowhere || network.tensors[U(tensor)].Bytes() <= most) continue;
          most = network.tensors[U(tensor)].Bytes();
          after[o] = reader[U(tensor)];
        }
      }
    }
    for (TensorId tensor : reads[o]) {
      size_t& place = first[U(network.tensors[U(tensor)].producer)];
      place = std::min(place, after[o]);
    }
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(after[a], moves(a)) < std::pair(after[b], moves(b));
  });
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
