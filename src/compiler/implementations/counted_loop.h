// Loops that count their trips, and read and write an array's rows one by one.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_COUNTED_LOOP_H_
#define HONE_COMPILER_IMPLEMENTATIONS_COUNTED_LOOP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

using Positions = std::vector<int64_t>;  // one a trip

// Each from 0 on once.
bool IsPermutation(const Positions& positions);

// Operations that are the same for all trips at once, with one dimension more. A reduction only
// where it sums, from 0.
bool IsLiftable(const xla::HloInstruction& instruction);

// A while whose state is a tuple, with a known number of trips, and what its parts do.
class CountedLoop {
 public:
  // Null where it is none.
  static std::unique_ptr<CountedLoop> Of(xla::HloInstruction* loop);

  xla::HloInstruction* whole() const { return loop_; }
  xla::HloComputation* body() const { return loop_->while_body(); }
  xla::HloInstruction* state() const { return body()->parameter_instruction(0); }
  xla::HloInstruction* next() const { return body()->root_instruction(); }
  int64_t trips() const { return trips_; }
  int64_t parts() const { return next()->operand_count(); }

  // The part of the state that this is, or kNone.
  int64_t PartOf(const xla::HloInstruction& value) const {
    return value.opcode() == xla::HloOpcode::kGetTupleElement && value.operand(0) == state()
               ? value.tuple_index()
               : kNone;
  }
  bool IsKept(int64_t part) const { return PartOf(*next()->operand(part)) == part; }
  // Its only use, in the body, where the condition has none; else null.
  xla::HloInstruction* OnlyUserOf(int64_t part) const;
  // What the loop begins with.
  xla::HloInstruction* First(int64_t part) const {
    return ElementOf(loop_->mutable_operand(0), part);
  }
  // The same in each trip.
  bool IsInvariant(const xla::HloInstruction& value);
  // The one operand of the dot that is; none where both are, or neither.
  std::optional<int> InvariantSideOf(const xla::HloInstruction& dot);
  // An invariant, before the loop.
  xla::HloInstruction* Before(xla::HloInstruction* value);
  // The values of an integer that follows from how many trips there were; null where it does not.
  const Positions* ValuesOf(const xla::HloInstruction& number);
  // The places at which it reads one row of, or writes one row into, an array that has as many as
  // there are trips; null where it does not.
  const Positions* RowsOf(const xla::HloInstruction& access);
  // Whether it follows from rows of arrays that are the same in all trips, read at `positions`
  // where these are given.
  bool IsOfRows(const xla::HloInstruction& value, const Positions* positions = nullptr);

 private:
  CountedLoop(xla::HloInstruction* loop, int64_t trips) : loop_(loop), trips_(trips) {}
  std::optional<Positions> Compute(const xla::HloInstruction& number);

  xla::HloInstruction* loop_;
  int64_t trips_;
  std::map<const xla::HloInstruction*, bool> invariant_;
  std::map<xla::HloInstruction*, xla::HloInstruction*> before_;
  std::map<const xla::HloInstruction*, std::optional<Positions>> values_;
  std::map<const xla::HloInstruction*, std::optional<Positions>> rows_;
  std::map<std::pair<const xla::HloInstruction*, const Positions*>, bool> of_rows_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_COUNTED_LOOP_H_
