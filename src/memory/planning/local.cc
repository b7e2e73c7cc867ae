#include "memory/planning/local.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "memory/access.h"

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

struct Lifetime {
  int64_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

}  // namespace

std::vector<std::vector<Mismatch>> FindCopies(const Target& target) {
  std::vector<std::vector<Mismatch>> all;
  for (const Op& op : target.network.ops) {
    all.push_back(Mismatches(target.network, target.machine, op, target.layouts));
    if (ReadsFromDram(target.network, op)) {
      std::erase_if(all.back(), [](const Mismatch& copy) { return copy.operand == 0; });
    }
  }
  return all;
}

const std::vector<Mismatch>& CopiesOf(const Target& target, const Op& op) {
  return target.copies[U(target.network.tensors[U(op.results[0])].producer)];
}

int64_t CopyBytes(const Target& target, const Op& op, const Mismatch& copy, const Box& out,
                  const Box& sum) {
  const Expr& expr = target.network.exprs[U(op.inputs[copy.operand])];
  const int64_t element = std::max<int64_t>(1, BytesOf(expr.type));
  const int64_t bytes = Placement(target.machine, expr.dimensions, copy.wanted,
                                  OperandBox(target.network, op, copy.operand, out, sum), element)
                            .bytes_per_partition();
  const int64_t alignment = target.machine.alignment;
  return (bytes + alignment - 1) / alignment * alignment;
}

bool CanTakeOver(const Target& target, const Op& op, TensorId operand) {
  const Network& network = target.network;
  if (!IsElementwise(op.opcode)) return false;
  const Tensor& from = network.tensors[U(operand)];
  const Tensor& to = network.tensors[U(op.results[0])];
  if (from.dimensions != to.dimensions || from.element_bytes != to.element_bytes ||
      !(target.layouts[U(operand)] == target.layouts[U(op.results[0])])) {
    return false;
  }
  bool plain = false;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const Expr& expr = network.exprs[U(op.inputs[k])];
    if (expr.movement != Movement::kTensor) {
      // Through a movement it would see what is written.
      const std::vector<TensorId> leaves = LeavesOf(network, op.inputs[k]);
      if (std::find(leaves.begin(), leaves.end(), operand) != leaves.end()) return false;
      continue;
    }
    if (expr.tensor != operand) continue;
    plain = true;
    for (const Mismatch& copy : CopiesOf(target, op)) {
      if (copy.operand == k) return false;
    }
  }
  return plain;
}

std::vector<Box> StoredShares(const Network& network, const Group& group, size_t p,
                              TensorId result) {
  const Op& op = network.ops[U(group.ops[p])];
  const auto r = static_cast<size_t>(std::find(op.results.begin(), op.results.end(), result) -
                                     op.results.begin());
  constexpr size_t kMostBack = 64;  // tiles that may have stored a part of it
  std::vector<Box> shares;
  for (size_t t = 0; t < group.tiles(); ++t) {
    Box box = ResultBox(network, op, r, group.boxes[p][t]);
    if (group.IsSum(p)) {
      shares.push_back(IsLastPart(network, op, group.sums[p][t]) ? box : Box{{0}, {0}});
      continue;
    }
    for (size_t before = t; before-- > 0 && t - before < kMostBack && !IsEmpty(box);) {
      box = Without(box, ResultBox(network, op, r, group.boxes[p][before]));
    }
    shares.push_back(std::move(box));
  }
  return shares;
}

std::vector<TakenOver> TakenOverIn(const Target& target, const Group& group,
                                   const std::unordered_set<TensorId>& resident) {
  const Network& network = target.network;
  std::unordered_map<TensorId, size_t> made, last;
  for (size_t p = 0; p < group.ops.size(); ++p) {
    const Op& op = network.ops[U(group.ops[p])];
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(network, input)) last[tensor] = p;
    }
    for (TensorId result : op.results) made[result] = p;
  }
  std::vector<TakenOver> taken;
  for (size_t p = 0; p < group.ops.size(); ++p) {
    const Op& op = network.ops[U(group.ops[p])];
    if (!IsElementwise(op.opcode) || resident.contains(op.results[0])) continue;
    for (ExprId input : op.inputs) {
      const TensorId operand = network.exprs[U(input)].tensor;
      const auto from = operand == kNone ? made.end() : made.find(operand);
      if (from == made.end() || resident.contains(operand) || last.at(operand) != p ||
          group.IsSum(from->second) || group.boxes[from->second] != group.boxes[p] ||
          !CanTakeOver(target, op, operand)) {
        continue;
      }
      taken.push_back({p, operand});
      break;
    }
  }
  return taken;
}

int64_t LocalPeak(const Target& target, const Group& group,
                  const std::unordered_set<TensorId>& resident) {
  const Network& network = target.network;
  std::unordered_map<TensorId, Lifetime> lifetimes;
  std::vector<int64_t> change(group.ops.size() + 2, 0);
  for (size_t p = 0; p < group.ops.size(); ++p) {
    const Op& op = network.ops[U(group.ops[p])];
    for (size_t r = 0; r < op.results.size(); ++r) {
      Lifetime lifetime{0, p, p};
      for (const Box& box : group.boxes[p]) {
        lifetime.bytes = std::max(
            lifetime.bytes, target.BufferBytes(op.results[r], ResultBox(network, op, r, box)));
      }
      lifetimes[op.results[r]] = lifetime;
    }
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        if (auto found = lifetimes.find(tensor); found != lifetimes.end()) found->second.last = p;
      }
    }
    for (const Mismatch& copy : CopiesOf(target, op)) {
      int64_t bytes = 0;
      for (size_t t = 0; t < group.tiles(); ++t) {
        bytes = std::max(bytes, CopyBytes(target, op, copy, group.boxes[p][t], group.Sum(p, t)));
      }
      change[p] += bytes;
      change[p + 1] -= bytes;
    }
  }
  for (const TakenOver& taken : TakenOverIn(target, group, resident)) {
    lifetimes.at(taken.operand).last -= 1;  // its room is the result's from there on
  }
  for (const auto& [tensor, lifetime] : lifetimes) {
    if (resident.contains(tensor)) continue;
    if (group.IsSum(lifetime.first)) {  // from the first tile to the last
      change[0] += lifetime.bytes;
      continue;
    }
    change[lifetime.first] += lifetime.bytes;
    change[lifetime.last + 1] -= lifetime.bytes;
  }
  int64_t live = 0, peak = 0;
  for (int64_t c : change) peak = std::max(peak, live += c);
  return peak;
}

int64_t LeastRoom(const Target& target, const Group& group) {
  const Network& network = target.network;
  std::unordered_set<TensorId> resident;
  int64_t bytes = 0;
  for (size_t p = 0; p < group.ops.size(); ++p) {
    if (!group.IsSum(p) || group.in_a_row[p]) continue;
    for (TensorId result : network.ops[U(group.ops[p])].results) {
      resident.insert(result);
      bytes += target.BufferBytes(result, WholeBox(network.tensors[U(result)].dimensions));
    }
  }
  struct Outside {
    Box first;
    int64_t most = 0;
    bool varies = false;
  };
  std::unordered_map<TensorId, Outside> outside;
  for (size_t t = 0; t < group.tiles(); ++t) {
    for (const auto& [tensor, box] : ExternalNeeds(target, group, t)) {
      const auto [place, fresh] = outside.try_emplace(tensor);
      Outside& from = place->second;
      if (fresh) from.first = box;
      from.varies = from.varies || !(box == from.first);
      from.most = std::max(from.most, target.BufferBytes(tensor, box));
    }
  }
  for (const auto& [tensor, from] : outside) bytes += from.most * (from.varies ? 2 : 1);
  return bytes + LocalPeak(target, group, resident);
}

}  // namespace hone::memory
