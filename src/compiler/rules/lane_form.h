// How the values of several instructions that do the same ("lanes") become one tensor.
#ifndef HONE_COMPILER_RULES_LANE_FORM_H_
#define HONE_COMPILER_RULES_LANE_FORM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

using Lanes = std::vector<xla::HloInstruction*>;

// A form at or above zero is a dimension: the lanes lie one after the other along it, and agree in
// all others.
constexpr int kStacked = -1;    // a new first dimension, one entry a lane; the lanes' shapes agree
constexpr int kFlattened = -2;  // each lane made one-dimensional, then one after the other
constexpr int kAsItIs = -3;     // an operand that all lanes share, used whole

// The shape of the lanes as one tensor, with the default layout.
xla::Shape JoinedShape(const Lanes& lanes, int form);

// Whether the lanes may be joined in that form as far as their shapes go.
bool Joinable(const Lanes& lanes, int form);

// The same value, whatever the instruction: itself, or an equal scalar constant.
bool SameValue(const xla::HloInstruction* a, const xla::HloInstruction* b);

// What the operands have to look like for one instruction to compute all lanes in that form: a form
// for each operand. Nothing where the lanes do not do the same, or where it cannot be done.
std::optional<std::vector<int>> OperandForms(const Lanes& lanes, int form);

// The instruction that computes all lanes from joined operands.
xla::HloInstruction* JoinedInstruction(const Lanes& lanes, int form,
                                       absl::Span<xla::HloInstruction* const> operands);

// What lanes[i] is in their common broadcast, if all of them are broadcasts of one value, which can
// be broadcast into the joined shape at once. Then the one instruction that Broadcasted adds is it.
bool IsCommonBroadcast(const Lanes& lanes, int form);
xla::HloInstruction* CommonBroadcast(const Lanes& lanes, int form);

// Instructions that Join adds.
int64_t JoinCost(const Lanes& lanes, int form);
xla::HloInstruction* Join(const Lanes& lanes, int form);

// Instructions that taking apart adds: for all lanes together, and for a lane that is needed.
int64_t SplitCostOnce(const Lanes& lanes, int form);
int64_t SplitCostEach(const xla::HloInstruction* lane, int form);

// Takes lanes out of a joined tensor.
class Splitter {
 public:
  Splitter(xla::HloInstruction* joined, const Lanes& lanes, int form);
  xla::HloInstruction* Lane(size_t i);

 private:
  xla::HloInstruction* joined_;
  const int form_;
  std::vector<xla::Shape> shapes_;
  std::vector<int64_t> starts_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_LANE_FORM_H_
