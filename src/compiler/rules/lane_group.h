// One group of lanes to be packed: grown from a seed, weighed, and applied (batch_lanes.h).
#ifndef HONE_COMPILER_RULES_LANE_GROUP_H_
#define HONE_COMPILER_RULES_LANE_GROUP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/rules/lane_dependences.h"
#include "compiler/rules/lane_form.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

class LaneGroup {
 public:
  // Grows from the seed along operands. `heavy`: dots, convolutions and reductions may join.
  // Invalid, and weighing nothing, where the seed itself cannot be packed. `dependences` must
  // outlive the group; Apply adds to it.
  LaneGroup(Lanes seed, int form, bool heavy, LaneDependences& dependences);

  // Instructions saved; not above zero where packing does not pay. Leaves out of the group what
  // is better left alone.
  int64_t Weigh();

  // Replaces every lane that something outside the group uses. True where something was replaced.
  absl::StatusOr<bool> Apply();

 private:
  enum class Source { kNode, kShared, kBroadcast, kJoined };
  struct Operand {
    Source source;
    int node = -1;  // of kNode
    Lanes lanes;    // of all but kNode
    int form = kAsItIs;
  };
  struct Node {
    Lanes lanes;
    int form;
    std::vector<Operand> operands;
    bool left_out = false;  // stays as it is; its users join its lanes
  };

  int Grow(const Lanes& lanes, int form, int depth);
  Operand GrowOperand(const Lanes& lanes, int form, int depth);
  std::vector<bool> Reached() const;  // nodes in use
  int64_t Gain() const;
  int& NodeOf(const xla::HloInstruction* instruction);
  int NodeOf(const xla::HloInstruction* instruction) const;

  const bool heavy_;
  LaneDependences& dependences_;
  std::vector<Node> nodes_;
  std::vector<LaneDependences::Pack> packs_;  // of the nodes
  std::vector<int> node_of_;                  // by local id, -1 for none
  int root_ = -1;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_LANE_GROUP_H_
