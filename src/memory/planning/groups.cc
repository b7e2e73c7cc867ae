#include "memory/planning/groups.h"

#include <deque>
#include <unordered_set>

#include "memory/access.h"
#include "memory/planning/tile.h"

namespace hone::memory {
namespace {

constexpr size_t kMostWaiting = 256;  // operators that a growing group may hold up

int64_t WholeFootprint(const Target& target, const Op& op) {
  int64_t bytes = 0;
  Needs needs;
  const Tensor& first = target.network.tensors[static_cast<size_t>(op.results[0])];
  ForEachRead(target.network, op, WholeBox(first.dimensions), [&](TensorId tensor, const Box& box) {
    const auto [place, fresh] = needs.try_emplace(tensor, box);
    if (!fresh) place->second = Hull(place->second, box);
  });
  for (const auto& [tensor, box] : needs) bytes += target.BufferBytes(tensor, box);
  for (TensorId result : op.results) {
    bytes += target.BufferBytes(
        result, WholeBox(target.network.tensors[static_cast<size_t>(result)].dimensions));
  }
  return bytes;
}

class Grouping {
 public:
  Grouping(const Target& target, const GroupOptions& options)
      : target_(target), options_(options) {}

  std::vector<Group> Run(const std::vector<OpId>& order) {
    waiting_.assign(order.begin(), order.end());
    while (!waiting_.empty()) {
      const OpId op = waiting_.front();
      waiting_.pop_front();
      if (!IsLarge(op)) {
        Alone(op, false);
        continue;
      }
      auto group = TiledGroup::Start(target_, options_, op);
      if (!group) {
        Alone(op, true);
        continue;
      }
      Grow(*std::move(group));
    }
    return std::move(groups_);
  }

 private:
  bool IsLarge(OpId op) const {
    return static_cast<double>(
               WholeFootprint(target_, target_.network.ops[static_cast<size_t>(op)])) >
           options_.tile_above * static_cast<double>(target_.machine.bytes_per_partition);
  }

  void Alone(OpId id, bool streamed) {
    const Op& op = target_.network.ops[static_cast<size_t>(id)];
    Group group;
    group.ops = {id};
    group.boxes = {
        {WholeBox(target_.network.tensors[static_cast<size_t>(op.results[0])].dimensions)}};
    group.streamed = streamed;
    groups_.push_back(std::move(group));
  }

  // Takes large operators from what is waiting; what stands between them goes before the group
  // where it does not depend on it, else after.
  void Grow(TiledGroup group) {
    std::deque<OpId> after;
    std::unordered_set<OpId> behind;  // in `after`
    while (!waiting_.empty() && after.size() < kMostWaiting) {
      const OpId id = waiting_.front();
      const Op& op = target_.network.ops[static_cast<size_t>(id)];
      bool reads_group = false, reads_behind = false;
      for (ExprId input : op.inputs) {
        for (TensorId tensor : LeavesOf(target_.network, input)) {
          const OpId producer = target_.network.tensors[static_cast<size_t>(tensor)].producer;
          if (producer == kNone) continue;
          reads_group = reads_group || group.Contains(producer);
          reads_behind = reads_behind || behind.contains(producer);
        }
      }
      waiting_.pop_front();
      if (!reads_group && !reads_behind) {
        if (IsLarge(id)) {
          // Begins a group of its own; this one ends here.
          waiting_.push_front(id);
          break;
        }
        Alone(id, false);
        continue;
      }
      if (reads_group && !reads_behind && group.Join(id)) continue;
      after.push_back(id);
      behind.insert(id);
    }
    groups_.push_back(std::move(group).Finish());
    waiting_.insert(waiting_.begin(), after.begin(), after.end());
  }

  const Target& target_;
  const GroupOptions& options_;
  std::deque<OpId> waiting_;
  std::vector<Group> groups_;
};

}  // namespace

int64_t Target::BufferBytes(TensorId id, const Box& box) const {
  const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
  const int64_t bytes = Placement(machine, tensor.dimensions, layouts[static_cast<size_t>(id)], box,
                                  tensor.element_bytes)
                            .bytes_per_partition();
  return (bytes + machine.alignment - 1) / machine.alignment * machine.alignment;
}

std::vector<Group> MakeGroups(const Target& target, const std::vector<OpId>& order,
                              const GroupOptions& options) {
  return Grouping(target, options).Run(order);
}

Needs ExternalNeeds(const Target& target, const Group& group, size_t tile) {
  Needs needs;
  std::unordered_set<TensorId> inside;
  for (size_t p = 0; p < group.ops.size(); ++p) {
    const Op& op = target.network.ops[static_cast<size_t>(group.ops[p])];
    ForEachRead(target.network, op, group.boxes[p][tile], [&](TensorId tensor, const Box& box) {
      if (inside.contains(tensor)) return;
      const auto [place, fresh] = needs.try_emplace(tensor, box);
      if (!fresh) place->second = Hull(place->second, box);
    });
    inside.insert(op.results.begin(), op.results.end());
  }
  return needs;
}

bool ReadsFromDram(const Network& network, const Op& op) {
  if (op.opcode != "gather" && op.opcode != "dynamic-slice") return false;
  const Expr& operand = network.exprs[static_cast<size_t>(op.inputs[0])];
  if (operand.movement != Movement::kTensor) return false;
  const Tensor& tensor = network.tensors[static_cast<size_t>(operand.tensor)];
  return tensor.producer == kNone &&
         tensor.Bytes() > network.tensors[static_cast<size_t>(op.results[0])].Bytes();
}

void ForEachRead(const Network& network, const Op& op, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need) {
  for (size_t k = ReadsFromDram(network, op) ? 1 : 0; k < op.inputs.size(); ++k) {
    ForEachLeaf(network, op.inputs[k], OperandBox(network, op, k, out), need);
  }
}

Box ResultBox(const Network& network, const Op& op, size_t result, const Box& out) {
  const auto& dimensions = network.tensors[static_cast<size_t>(op.results[result])].dimensions;
  const auto& first = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  return dimensions == first ? out : WholeBox(dimensions);
}

}  // namespace hone::memory
