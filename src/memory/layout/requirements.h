// The operators' requirements on the layouts of their operands and results.
//
// Engines work partition by partition. An elementwise operator wants each element of its operands
// in the partition of the result's; a product contracts along the partitions of both operands and
// leaves its result along the partitions of either side's free dimensions; a reduction reduces
// along free dimensions, or sums over the partitions as a product with ones. Source: AWS Neuron
// documentation, Trainium/Inferentia2 architecture guide for NKI; Zheng et al. 2020.
#ifndef HONE_MEMORY_LAYOUT_REQUIREMENTS_H_
#define HONE_MEMORY_LAYOUT_REQUIREMENTS_H_

#include <optional>
#include <vector>

#include "memory/layout/layout.h"
#include "memory/network.h"

namespace hone::memory {

// What lies in every partition takes at most this share of it.
inline constexpr int64_t kReplicatedShare = 16;

// What is asked of one tensor that an operand looks at. No layout: none would do.
struct LeafRequirement {
  TensorId tensor = kNone;
  std::optional<Layout> layout;
};

// The layouts of the leaves of `expr` with which its element i lies where `layout` has it.
void PullLayout(const Network& network, int64_t partitions, ExprId expr, const Layout& layout,
                std::vector<LeafRequirement>& leaves);

// Whether a tensor of these dimensions that lies as `has` also lies as `wanted`.
bool Satisfies(const Layout& has, const Layout& wanted, const std::vector<int64_t>& dimensions,
               int64_t partitions);

// Layouts in which an operator can leave its result; never empty. Small ones may be replicated.
std::vector<Layout> ResultLayouts(const Network& network, const Machine& machine, const Op& op);

// Any contiguous range of dimensions, for what is loaded.
std::vector<Layout> AllLayouts(const Machine& machine, const std::vector<int64_t>& dimensions,
                               int64_t element_bytes);

// For each operand, what it must look like given the result's layout, in the order of preference;
// one of the lists of all operands together. Empty inner optional: any layout.
using OperandLayouts = std::vector<std::optional<Layout>>;
std::vector<OperandLayouts> Modes(const Network& network, const Op& op, const Layout& result);

// How often an operand is copied so that its elements meet their partners: 0 where they may lie
// where these do. For the gradient of a kernel of several places, once for each, in the same room.
int64_t Shifts(const Network& network, const Op& op, size_t operand, const Layout& wanted);

// Operands some tensor of which does not lie as the best mode asks for: each needs a copy, in the
// layout `wanted` of the operand's own dimensions.
struct Mismatch {
  size_t operand = 0;
  Layout wanted;
};
std::vector<Mismatch> Mismatches(const Network& network, const Machine& machine, const Op& op,
                                 const std::vector<Layout>& layouts);

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_REQUIREMENTS_H_
