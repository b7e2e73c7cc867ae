// A computation's arrays with one dimension, that of a batch, moved behind all others.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_TURNED_VALUES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_TURNED_VALUES_H_

#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

class TurnedValues;

// How many elements are moved, and how many computed, while all is turned.
struct Effort {
  int64_t moved = 0, computed = 0;
};

// What takes the place of a loop within a computation that is turned; the dimension that is moved
// of each part of its state is written behind; null where the loop stays.
using TurnLoop = std::function<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*,
                                                                    TurnedValues&, Dimensions&)>;

// Starts from values of which the turned array is known, and goes on with what takes them: each
// operation on arrays as they are turned, or, where there is none, on their transposes back.
class TurnedValues {
 public:
  TurnedValues(xla::HloComputation* computation, TurnLoop turn_loop, Effort* effort)
      : computation_(computation), turn_loop_(std::move(turn_loop)), effort_(effort) {}

  void Know(xla::HloInstruction* x, xla::HloInstruction* turned, int64_t dimension);
  // Of all that is there but the root, in order.
  absl::Status GoOn();

  // The dimension that is moved; kNone where none is.
  int64_t DimensionOf(const xla::HloInstruction* x) const;
  // With this dimension last.
  xla::HloInstruction* As(xla::HloInstruction* x, int64_t dimension);
  // As it was.
  xla::HloInstruction* Back(xla::HloInstruction* x);
  // Lets an instruction take its operands as they were.
  absl::Status PutBack(xla::HloInstruction* x);

 private:
  struct Form {
    xla::HloInstruction* array = nullptr;
    int64_t dimension = kNone;
  };

  // As it was for kNone.
  xla::HloInstruction* AsOrBack(xla::HloInstruction* x, int64_t dimension);
  bool HasTurned(const xla::HloInstruction& x) const;
  // Of one with a turned operand; whether it could be done.
  absl::StatusOr<bool> Make(xla::HloInstruction* x);
  bool MakeBroadcast(xla::HloInstruction* x);
  absl::StatusOr<bool> MakeDot(xla::HloInstruction* x);  // turned_dots.cc, like the next

  bool MakeDotOfBatch(xla::HloInstruction* x, int64_t number);
  bool MakeGather(xla::HloInstruction* x);  // turned_gathers.cc, like the next
  bool MakeScatter(xla::HloInstruction* x);
  bool MakeDynamicSlice(xla::HloInstruction* x, int64_t dimension, int arrays);
  bool MakeElementwise(xla::HloInstruction* x, int64_t dimension);
  bool MakeReshape(xla::HloInstruction* x);
  absl::StatusOr<bool> MakeReduce(xla::HloInstruction* x, int64_t dimension);
  bool MakeTranspose(xla::HloInstruction* x);

  xla::HloComputation* computation_;
  TurnLoop turn_loop_;
  Effort* effort_;
  absl::flat_hash_map<const xla::HloInstruction*, Form> forms_;
  absl::flat_hash_map<const xla::HloInstruction*, std::pair<xla::HloInstruction*, Dimensions>>
      tuples_;
  absl::flat_hash_map<const xla::HloInstruction*, xla::HloInstruction*> back_;
  absl::flat_hash_map<std::pair<const xla::HloInstruction*, int64_t>, xla::HloInstruction*> as_;
};

// Where dimensions of an array are once another one is last; all of them so.
int64_t PlaceTurned(int64_t place, int64_t dimension, int64_t rank);
Dimensions PlacesTurned(emit::Sizes dimensions, int64_t dimension, int64_t rank);
Dimensions TurnedOrder(int64_t dimension, int64_t rank);
// What there is for each of them.
template <typename Values>
Dimensions ValuesTurned(const Values& values, int64_t dimension) {
  Dimensions turned;
  for (const int64_t d : TurnedOrder(dimension, static_cast<int64_t>(values.size()))) {
    turned.push_back(values[d]);
  }
  return turned;
}
xla::Shape TurnedShape(const xla::Shape& shape, int64_t dimension);
// The array with the dimension last, and back.
xla::HloInstruction* TurnedArray(xla::HloInstruction* x, int64_t dimension);
xla::HloInstruction* TurnedBack(xla::HloInstruction* turned, int64_t dimension);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_TURNED_VALUES_H_
