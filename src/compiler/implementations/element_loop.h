// Loops whose trips compute large arrays element by element.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ELEMENT_LOOP_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ELEMENT_LOOP_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/implementations/dimensions.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {

// Without tuples that are put together only to be taken apart.
template <class Instruction>
Instruction* Unwrapped(Instruction* value) {
  while (value->opcode() == xla::HloOpcode::kGetTupleElement &&
         value->operand(0)->opcode() == xla::HloOpcode::kTuple) {
    value = value->operand(0)->operands()[value->tuple_index()];
  }
  return value;
}

// Whether a loop's trips mix bits, as rounds of random numbers do: they shift some and take others'
// differences, of integers alone.
bool MixesBits(const xla::HloComputation& body);

// A while whose state is a tuple of large arrays, all of as many elements, each of which follows
// from those in the same places, and of what follows from nothing that is large; and what its
// body's and its condition's values are.
class ElementLoop {
 public:
  // What becomes of a part of the state.
  enum class Use : uint8_t {
    kKept,
    kShared,    // computed from nothing that is large
    kElements,  // a large array, computed element by element
  };

  // Null where it is none.
  static std::unique_ptr<ElementLoop> Of(xla::HloInstruction* loop);

  xla::HloInstruction* whole() const { return loop_; }
  xla::HloInstruction* next() const { return loop_->while_body()->root_instruction(); }
  xla::HloInstruction* goes_on() const { return loop_->while_condition()->root_instruction(); }
  int64_t parts() const { return static_cast<int64_t>(uses_.size()); }
  Use UseOf(int64_t part) const { return uses_[part]; }
  bool IsLarge(int64_t part) const {
    return xla::ShapeUtil::ElementsIn(ShapeOf(part)) == elements_;
  }
  const xla::Shape& ShapeOf(int64_t part) const {
    return loop_->shape().tuple_shapes(static_cast<int>(part));
  }
  int64_t elements() const { return elements_; }  // of each large array

  // The part of the state that this is, or kNone.
  static int64_t PartOf(const xla::HloInstruction& value) {
    return value.opcode() == xla::HloOpcode::kGetTupleElement &&
                   value.operand(0)->opcode() == xla::HloOpcode::kParameter
               ? value.tuple_index()
               : kNone;
  }
  bool IsShared(const xla::HloInstruction& value) const {
    return kinds_.at(&value) == Kind::kShared;
  }
  // Large arrays that follow, otherwise than element by element, from what no trip changes.
  bool IsKnownBefore(const xla::HloInstruction& value) const {
    return known_before_.contains(&value);
  }
  // Whether the loop goes on while any element has not stopped. Else it looks at what is shared.
  bool stops_by_element() const { return stops_by_element_; }

 private:
  enum class Kind : uint8_t { kOther, kShared, kElements };

  explicit ElementLoop(xla::HloInstruction* loop) : loop_(loop) {}
  bool FindParts();
  void FindKinds(const xla::HloComputation& computation);
  Kind KindOf(const xla::HloInstruction& value);
  bool Has(const xla::HloInstruction* value, Kind kind) const { return kinds_.at(value) == kind; }
  bool IsInvariant(const xla::HloInstruction& value) const;
  bool AreAlike(const xla::HloInstruction* in_body, const xla::HloInstruction* in_condition);
  bool FindStops();

  xla::HloInstruction* loop_;
  int64_t elements_ = 0;
  std::vector<Use> uses_;
  bool stops_by_element_ = false;
  absl::flat_hash_map<const xla::HloInstruction*, Kind> kinds_;
  absl::flat_hash_set<const xla::HloInstruction*> invariant_, known_before_;
  absl::flat_hash_set<std::pair<const xla::HloInstruction*, const xla::HloInstruction*>> alike_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ELEMENT_LOOP_H_
