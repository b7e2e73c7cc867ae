#include "compiler/rules/lane_group.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/opcodes.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int kMostDepth = 64;

bool IsHeavy(HloOpcode opcode) {
  return opcode == HloOpcode::kDot || opcode == HloOpcode::kConvolution ||
         opcode == HloOpcode::kReduce;
}

bool IsCommutative(const HloInstruction* instruction) {
  return IsOneOf<HloOpcode::kAdd, HloOpcode::kMultiply, HloOpcode::kMaximum, HloOpcode::kMinimum,
                 HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor>(instruction->opcode());
}

// Which of the operands of a commutative lane are more alike to those of the first lane.
bool Crossed(const HloInstruction* first, const HloInstruction* lane) {
  if (!IsCommutative(first)) return false;
  const auto alike = [](const HloInstruction* a, const HloInstruction* b) {
    if (SameValue(a, b)) return 4;
    if (a->opcode() != b->opcode()) return 0;
    for (int64_t i = 0; i < std::min(a->operand_count(), b->operand_count()); ++i) {
      if (a->operand(i)->opcode() != b->operand(i)->opcode()) return 1;
    }
    return 2;
  };
  return alike(first->operand(0), lane->operand(0)) + alike(first->operand(1), lane->operand(1)) <
         alike(first->operand(0), lane->operand(1)) + alike(first->operand(1), lane->operand(0));
}

// Instructions of a reducer that no other instruction applies: they die with the reduce.
int64_t OwnReducer(const HloInstruction* instruction) {
  if (instruction->opcode() != HloOpcode::kReduce) return 0;
  return instruction->to_apply()->caller_instructions().size() == 1
             ? instruction->to_apply()->instruction_count()
             : 0;
}

// What besides the operand tells broadcasts apart: shape and place of the operand's dimensions.
std::vector<int64_t> BroadcastKey(const Lanes& lanes, int form) {
  const xla::Shape shape = JoinedShape(lanes, form);
  std::vector<int64_t> key(shape.dimensions().begin(), shape.dimensions().end());
  key.push_back(form == kStacked);
  for (const int64_t dimension : lanes[0]->dimensions()) key.push_back(dimension);
  return key;
}

}  // namespace

LaneGroup::LaneGroup(Lanes seed, int form, bool heavy, LaneDependences& dependences)
    : heavy_(heavy), dependences_(dependences) {
  root_ = Grow(seed, form, 0);
}

int& LaneGroup::NodeOf(const HloInstruction* instruction) {
  const auto id = static_cast<size_t>(instruction->local_id());
  if (id >= node_of_.size()) node_of_.resize(2 * id + 64, -1);
  return node_of_[id];
}

int LaneGroup::NodeOf(const HloInstruction* instruction) const {
  const auto id = static_cast<size_t>(instruction->local_id());
  return id < node_of_.size() ? node_of_[id] : -1;
}

LaneGroup::Operand LaneGroup::GrowOperand(const Lanes& lanes, int form, int depth) {
  if (form == kAsItIs) return {Source::kShared, -1, lanes, form};
  if (IsCommonBroadcast(lanes, form)) return {Source::kBroadcast, -1, lanes, form};
  const int known = NodeOf(lanes[0]);
  if (known >= 0 && nodes_[known].lanes == lanes && nodes_[known].form == form) {
    return {Source::kNode, known, {}, form};
  }
  if (depth < kMostDepth) {
    if (const int node = Grow(lanes, form, depth); node >= 0)
      return {Source::kNode, node, {}, form};
  }
  return {Source::kJoined, -1, lanes, form};
}

int LaneGroup::Grow(const Lanes& lanes, int form, int depth) {
  for (const HloInstruction* lane : lanes) {
    if (NodeOf(lane) >= 0) return -1;
  }
  if (!heavy_ && IsHeavy(lanes[0]->opcode())) return -1;
  const std::optional<std::vector<int>> forms = OperandForms(lanes, form);
  if (!forms || !dependences_.Independent(lanes, packs_)) return -1;
  const int index = static_cast<int>(nodes_.size());
  nodes_.push_back({lanes, form, {}});
  packs_.push_back(dependences_.MakePack(lanes));
  for (const HloInstruction* lane : lanes) NodeOf(lane) = index;
  std::vector<Lanes> operands(forms->size());
  for (HloInstruction* lane : lanes) {
    const bool crossed = (*forms).size() == 2 && Crossed(lanes[0], lane);
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i].push_back(lane->mutable_operand(crossed ? 1 - i : i));
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand operand = GrowOperand(operands[i], (*forms)[i], depth + 1);
    nodes_[index].operands.push_back(std::move(operand));
  }
  return index;
}

std::vector<bool> LaneGroup::Reached() const {
  std::vector<bool> reached(nodes_.size());
  std::vector<int> todo{root_};
  reached[root_] = true;
  while (!todo.empty()) {
    const Node& node = nodes_[todo.back()];
    todo.pop_back();
    for (const Operand& operand : node.operands) {
      if (operand.source != Source::kNode || nodes_[operand.node].left_out) continue;
      if (reached[operand.node]) continue;
      reached[operand.node] = true;
      todo.push_back(operand.node);
    }
  }
  return reached;
}

int64_t LaneGroup::Gain() const {
  const std::vector<bool> reached = Reached();
  // What stays alive because the packed code reads it.
  absl::flat_hash_set<const HloInstruction*> read;
  std::map<std::pair<int, std::vector<HloInstruction*>>, int64_t> joins;
  std::set<std::pair<const HloInstruction*, std::vector<int64_t>>> broadcasts;
  int64_t added = 0;
  absl::flat_hash_set<const HloInstruction*> gone;
  std::vector<const HloInstruction*> todo;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!reached[i]) continue;
    const Node& node = nodes_[i];
    added += 1;
    if (OwnReducer(node.lanes[0]) > 0) added += OwnReducer(node.lanes[0]);
    for (const Operand& operand : node.operands) {
      if (operand.source == Source::kNode && !nodes_[operand.node].left_out) continue;
      if (operand.source == Source::kShared) {
        read.insert(operand.lanes[0]);
      } else if (operand.source == Source::kBroadcast) {
        read.insert(operand.lanes[0]->operand(0));
        broadcasts.insert(
            {operand.lanes[0]->operand(0), BroadcastKey(operand.lanes, operand.form)});
      } else {
        const Lanes& lanes =
            operand.source == Source::kNode ? nodes_[operand.node].lanes : operand.lanes;
        read.insert(lanes.begin(), lanes.end());
        joins[{operand.form, lanes}] = JoinCost(lanes, operand.form);
      }
    }
    for (const HloInstruction* lane : node.lanes) {
      gone.insert(lane);
      todo.push_back(lane);
    }
  }
  for (const auto& [lanes, cost] : joins) added += cost;
  added += static_cast<int64_t>(broadcasts.size());
  int64_t saved = 0;
  while (!todo.empty()) {
    const HloInstruction* here = todo.back();
    todo.pop_back();
    saved += 1 + OwnReducer(here);
    for (const HloInstruction* operand : here->operands()) {
      if (gone.contains(operand) || read.contains(operand) || operand->HasSideEffect() ||
          operand->opcode() == HloOpcode::kParameter || operand->IsRoot() ||
          operand->HasControlDependencies()) {
        continue;
      }
      const bool dies = absl::c_all_of(
          operand->users(), [&](const HloInstruction* user) { return gone.contains(user); });
      if (!dies) continue;
      gone.insert(operand);
      todo.push_back(operand);
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!reached[i]) continue;
    bool any = false;
    for (const HloInstruction* lane : nodes_[i].lanes) {
      const bool needed =
          lane->IsRoot() || absl::c_any_of(lane->users(), [&](const HloInstruction* user) {
            return !gone.contains(user);
          });
      if (!needed && !read.contains(lane)) continue;
      any = true;
      added += SplitCostEach(lane, nodes_[i].form);
    }
    if (any) added += SplitCostOnce(nodes_[i].lanes, nodes_[i].form);
  }
  return saved - added;
}

int64_t LaneGroup::Weigh() {
  if (root_ < 0) return 0;
  int64_t gain = Gain();
  for (bool better = true; better;) {
    better = false;
    const std::vector<bool> reached = Reached();
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
      if (i == root_ || !reached[i] || nodes_[i].left_out) continue;
      nodes_[i].left_out = true;
      const int64_t without = Gain();
      if (without > gain) {
        gain = without;
        better = true;
      } else {
        nodes_[i].left_out = false;
      }
    }
  }
  return gain;
}

absl::StatusOr<bool> LaneGroup::Apply() {
  const std::vector<bool> reached = Reached();
  std::vector<HloInstruction*> joined(nodes_.size(), nullptr);
  std::map<std::pair<int, std::vector<HloInstruction*>>, HloInstruction*> joins;
  std::map<std::pair<HloInstruction*, std::vector<int64_t>>, HloInstruction*> broadcasts;
  std::vector<int> order;  // operands before users
  const auto make = [&](const auto& self, int index) -> HloInstruction* {
    if (joined[index] != nullptr) return joined[index];
    const Node& node = nodes_[index];
    std::vector<HloInstruction*> operands;
    for (const Operand& operand : node.operands) {
      if (operand.source == Source::kNode && !nodes_[operand.node].left_out) {
        operands.push_back(self(self, operand.node));
      } else if (operand.source == Source::kShared) {
        operands.push_back(operand.lanes[0]);
      } else if (operand.source == Source::kBroadcast) {
        HloInstruction*& made = broadcasts[{operand.lanes[0]->mutable_operand(0),
                                            BroadcastKey(operand.lanes, operand.form)}];
        if (made == nullptr) made = CommonBroadcast(operand.lanes, operand.form);
        operands.push_back(made);
      } else {
        const Lanes& lanes =
            operand.source == Source::kNode ? nodes_[operand.node].lanes : operand.lanes;
        HloInstruction*& made = joins[{operand.form, lanes}];
        if (made == nullptr) made = Join(lanes, operand.form);
        operands.push_back(made);
      }
    }
    joined[index] = JoinedInstruction(node.lanes, node.form, operands);
    order.push_back(index);
    return joined[index];
  };
  make(make, root_);
  bool changed = false;
  // Users before operands: what has lost its last user by then is gone already.
  std::reverse(order.begin(), order.end());
  for (const int index : order) {
    const Node& node = nodes_[index];
    Splitter splitter(joined[index], node.lanes, node.form);
    xla::HloComputation* const computation = joined[index]->parent();
    for (size_t i = 0; i < node.lanes.size(); ++i) {
      HloInstruction* const lane = node.lanes[i];
      if (computation->IsMarkedAsDead(lane) || lane->IsDead()) continue;
      HloInstruction* const made = splitter.Lane(i);
      dependences_.AddAlias(made, lane);
      TF_ASSIGN_OR_RETURN(const bool replaced,
                          computation->ReplaceInstruction(lane, made, /*preserve_sharding=*/true));
      changed |= replaced;
    }
    dependences_.AddPack(std::move(packs_[index]));
  }
  return changed;
}

}  // namespace hone::compiler
