// Values of a counted loop's trips, all at once.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ALL_TRIPS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ALL_TRIPS_H_

#include <map>

#include "compiler/implementations/counted_loop.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

// Makes them beside the loop: before it of what is known then, after it of what the loop has kept.
class AllTrips {
 public:
  explicit AllTrips(CountedLoop& loop) : loop_(&loop) {}

  // Of an array of this shape: [trips, ...].
  xla::Shape ShapeOf(const xla::HloInstruction& value) const;
  // What a value in the body was in all trips, in the order of rows.
  void Know(xla::HloInstruction* value, xla::HloInstruction* all) { known_[value] = all; }
  // Of a value that follows, by what is liftable, from what is known, from rows, and from what is
  // the same in all trips.
  xla::HloInstruction* Of(xla::HloInstruction* value);
  // Its sum over all trips; of dots, and what is linear in them.
  xla::HloInstruction* SumOf(xla::HloInstruction* value);

 private:
  xla::HloInstruction* Lifted(xla::HloInstruction* value);
  xla::HloInstruction* LiftedDot(xla::HloInstruction* dot);
  xla::HloInstruction* SummedDot(xla::HloInstruction* dot);

  CountedLoop* loop_;
  std::map<xla::HloInstruction*, xla::HloInstruction*> known_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ALL_TRIPS_H_
