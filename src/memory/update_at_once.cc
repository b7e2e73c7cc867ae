#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "memory/recompute.h"

namespace hone::memory {
namespace {

constexpr int64_t kNumber = 64;  // bytes: what never waits for room
constexpr int64_t kShrinks = 4;  // times fewer bytes made than read
constexpr size_t kBetween = 16;  // units between two that look at something huge

size_t U(int32_t id) { return static_cast<size_t>(id); }

// What goes elsewhere than where it is: elementwise results that lead to nothing but outputs, and
// numbers; with `shrink_from`, also products and sums that read so many bytes and make far fewer,
// such as the gradient of a kernel, and elementwise results that lead to nothing else.
struct Moves {
  Moves(const Network& network, std::optional<int64_t> shrink_from)
      : reads(network.ops.size()), moves(network.ops.size()) {
    const size_t count = network.ops.size();
    for (size_t o = 0; o < count; ++o) {
      for (ExprId input : network.ops[o].inputs) {
        for (TensorId tensor : LeavesOf(network, input)) {
          if (network.tensors[U(tensor)].producer != kNone) reads[o].push_back(tensor);
        }
      }
    }
    std::vector<bool> only_outputs(count, true);  // nothing but such operators reads it
    for (size_t o = count; o-- > 0;) {
      const bool elementwise = IsElementwise(network.ops[o].opcode);
      const bool shrinks = shrink_from && Shrinks(network, o, *shrink_from);
      only_outputs[o] = only_outputs[o] && elementwise;
      moves[o] = shrinks || (elementwise && (only_outputs[o] || IsNumber(network, o)));
      if (only_outputs[o] || shrinks) continue;
      for (TensorId tensor : reads[o]) only_outputs[U(network.tensors[U(tensor)].producer)] = false;
    }
  }

  static bool IsNumber(const Network& network, size_t o) {
    return network.tensors[U(network.ops[o].results[0])].Bytes() <= kNumber;
  }

  bool Shrinks(const Network& network, size_t o, int64_t least_bytes) const {
    const std::string& opcode = network.ops[o].opcode;
    if (opcode != "dot" && opcode != "convolution" && opcode != "reduce") return false;
    int64_t most = 0;
    for (TensorId tensor : reads[o]) most = std::max(most, network.tensors[U(tensor)].Bytes());
    const int64_t made = network.tensors[U(network.ops[o].results[0])].Bytes();
    return most >= least_bytes && made * kShrinks <= most;
  }

  std::vector<std::vector<TensorId>> reads;  // of each operator: what others make
  std::vector<bool> moves;
};

// The operator that each goes right after; itself, if it stays.
std::vector<size_t> Places(const Network& network, const Moves& all) {
  const size_t count = network.ops.size();
  constexpr size_t kNowhere = std::numeric_limits<size_t>::max();  // it waits for none
  std::vector<size_t> after(count);
  // Numbers are made as soon as they can be: steps and rates, which updates wait for.
  for (size_t o = 0; o < count; ++o) {
    size_t last = Moves::IsNumber(network, o) ? 0 : kNowhere;
    for (TensorId tensor : all.reads[o]) {
      const size_t made = after[U(network.tensors[U(tensor)].producer)];
      if (made != kNowhere) last = last == kNowhere ? made : std::max(last, made);
    }
    after[o] = all.moves[o] ? last : o;
  }
  // What is made of parameters alone goes to its first reader, or else to another operator that has
  // the largest of them loaded.
  std::vector<size_t> loads(network.tensors.size(), kNowhere);  // the first that stays
  for (size_t o = count; o-- > 0;) {
    if (all.moves[o]) continue;
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) loads[U(tensor)] = o;
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
          if (loads[U(tensor)] == kNowhere || network.tensors[U(tensor)].Bytes() <= most) continue;
          most = network.tensors[U(tensor)].Bytes();
          after[o] = loads[U(tensor)];
        }
      }
    }
    for (TensorId tensor : all.reads[o]) {
      size_t& place = first[U(network.tensors[U(tensor)].producer)];
      place = std::min(place, after[o]);
    }
  }
  return after;
}

// What shares the tiles of a tensor of `huge_bytes` must not be parted: units between those that
// read or make one become one unit, where they are few.
std::vector<std::vector<size_t>> JoinHuge(const Network& network,
                                          std::vector<std::vector<size_t>> units,
                                          int64_t huge_bytes) {
  const auto huge = [&](TensorId id) { return network.tensors[U(id)].Bytes() >= huge_bytes; };
  const auto is_huge = [&](size_t o) {
    const Op& op = network.ops[o];
    if (std::any_of(op.results.begin(), op.results.end(), huge)) return true;
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](ExprId input) {
      const std::vector<TensorId> leaves = LeavesOf(network, input);
      return std::any_of(leaves.begin(), leaves.end(), huge);
    });
  };
  std::vector<std::vector<size_t>> joined;
  size_t last = 0;  // one more than the last that is huge
  for (std::vector<size_t>& unit : units) {
    const bool joins = std::any_of(unit.begin(), unit.end(), is_huge);
    joined.push_back(std::move(unit));
    if (!joins) continue;
    if (last > 0 && joined.size() - last <= kBetween) {
      for (size_t u = last; u < joined.size(); ++u) {
        joined[last - 1].insert(joined[last - 1].end(), joined[u].begin(), joined[u].end());
      }
      joined.resize(last);
    }
    last = joined.size();
  }
  return joined;
}

// Units of operators in their order, but what frees more bytes than it makes goes as soon as it
// can: a weight's gradient, so that neither the activation nor what flows back is kept for it.
// What is of `huge_bytes` is never kept, and stays among those that it shares its tiles with.
std::vector<size_t> FreeFirst(const Network& network, const std::vector<std::vector<size_t>>& units,
                              int64_t huge_bytes) {
  std::vector<size_t> unit_of(network.ops.size());
  for (size_t u = 0; u < units.size(); ++u) {
    for (size_t o : units[u]) unit_of[o] = u;
  }
  std::vector<std::vector<TensorId>> reads(units.size());  // what other units make
  std::vector<std::vector<size_t>> readers(network.tensors.size());
  for (size_t u = 0; u < units.size(); ++u) {
    for (size_t o : units[u]) {
      for (ExprId input : network.ops[o].inputs) {
        for (TensorId tensor : LeavesOf(network, input)) {
          const OpId producer = network.tensors[U(tensor)].producer;
          if (producer == kNone || unit_of[U(producer)] == u) continue;
          auto& list = readers[U(tensor)];
          if (!list.empty() && list.back() == u) continue;
          list.push_back(u);
          reads[u].push_back(tensor);
        }
      }
    }
  }
  std::vector<size_t> unread(network.tensors.size()), waits_for(units.size());
  for (size_t t = 0; t < unread.size(); ++t) unread[t] = readers[t].size();
  const auto frees = [&](size_t u) {
    int64_t bytes = 0;
    bool huge = false;
    const auto count = [&](TensorId id, bool kept, int64_t sign) {
      const int64_t size = network.tensors[U(id)].Bytes();
      huge = huge || size >= huge_bytes;
      if (kept) bytes += sign * size;
    };
    for (TensorId tensor : reads[u]) count(tensor, unread[U(tensor)] == 1, 1);
    for (size_t o : units[u]) {
      for (TensorId result : network.ops[o].results) count(result, !readers[U(result)].empty(), -1);
    }
    return bytes > 0 && !huge;
  };
  std::set<std::pair<bool, size_t>> ready;  // those that free nothing after those that do
  for (size_t u = 0; u < units.size(); ++u) {
    waits_for[u] = reads[u].size();
    if (waits_for[u] == 0) ready.insert({true, u});
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t unit = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(unit);
    for (TensorId tensor : reads[unit]) {
      if (--unread[U(tensor)] != 1) continue;
      for (size_t last : readers[U(tensor)]) {
        if (ready.erase({true, last}) > 0) ready.insert({!frees(last), last});
      }
    }
    for (size_t o : units[unit]) {
      for (TensorId result : network.ops[o].results) {
        for (size_t reader : readers[U(result)]) {
          if (--waits_for[reader] == 0) ready.insert({!frees(reader), reader});
        }
      }
    }
  }
  return order;
}

}  // namespace

void UpdateAtOnce(Network& network, std::optional<int64_t> huge_bytes,
                  std::optional<int64_t> shrink_from) {
  const size_t count = network.ops.size();
  const Moves all(network, shrink_from);
  const std::vector<size_t> after = Places(network, all);
  // Units: what stays, and what goes right after it.
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(after[a], bool{all.moves[a]}) < std::pair(after[b], bool{all.moves[b]});
  });
  std::vector<std::vector<size_t>> units;
  for (size_t k = 0; k < count; ++k) {
    if (k == 0 || after[order[k]] != after[order[k - 1]]) units.emplace_back();
    units.back().push_back(order[k]);
  }
  std::vector<size_t> unit_order(units.size());
  std::iota(unit_order.begin(), unit_order.end(), size_t{0});
  if (huge_bytes) {
    units = JoinHuge(network, std::move(units), *huge_bytes);
    unit_order = FreeFirst(network, units, *huge_bytes);
  }
  std::vector<Op> ops;
  for (size_t unit : unit_order) {
    for (size_t o : units[unit]) {
      for (TensorId result : network.ops[o].results) {
        network.tensors[U(result)].producer = static_cast<OpId>(ops.size());
      }
      ops.push_back(std::move(network.ops[o]));
    }
  }
  network.ops = std::move(ops);
}

}  // namespace hone::memory
