// What is at one place along a dimension of an array, made from what the array is made of.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_COMPONENT_VALUES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_COMPONENT_VALUES_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

inline constexpr int64_t kMostComponents = 4;
inline constexpr int64_t kMostPlaces = 16;  // of components of several vectors, put together
inline constexpr int64_t kLeastOfComponents = 4096;  // elements

// Whether so many are components of a vector.
bool IsFew(int64_t size);
// The sizes of all dimensions but one.
Dimensions SizesWithout(const xla::HloInstruction& array, int64_t dimension);
// Numbers of dimensions where one is gone.
Dimensions Renumbered(emit::Sizes dimensions, int64_t gone);
// The one dimension that a dot sums over, of its side; kNone unless it is one of components.
int64_t FewContracted(const xla::HloInstruction& dot, int side);
// The dimension along which a gather takes one place from each vector, of kMostPlaces at most, and
// all of what is along others, as take_along_axis does within vmap; kNone where there is none.
int64_t FewPlaces(const xla::HloInstruction& gather);

class Components {
 public:
  // Of one dimension less. Null where more would be made than is worth it.
  xla::HloInstruction* Of(xla::HloInstruction* x, int64_t dimension, int64_t place);
  // All components along a dimension under an operation, in the type to compute it in for results
  // of this type.
  xla::HloInstruction* Reduced(xla::HloInstruction* x, int64_t along, xla::HloOpcode opcode,
                               xla::PrimitiveType type);
  // What a dot is that sums over components, without a dimension if one is given.
  xla::HloInstruction* OfDot(xla::HloInstruction* dot, int64_t dimension = kNone,
                             int64_t place = 0);
  // What a gather is that takes one of components from each vector, likewise.
  xla::HloInstruction* OfGather(xla::HloInstruction* gather, int64_t dimension = kNone,
                                int64_t place = 0);

  // Operations on many elements that are done by components.
  int operations() const { return operations_; }
  // What was put together and spread that need not be.
  int saved() const { return saved_; }
  // That was put together along the dimension that is gone.
  int put_together() const { return put_together_; }

 private:
  using Key = std::tuple<xla::HloInstruction*, int64_t, int64_t>;

  xla::HloInstruction* Make(xla::HloInstruction* x, int64_t dimension, int64_t place);
  // As a slice of the whole.
  xla::HloInstruction* Taken(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfBroadcast(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfConcatenate(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfConstant(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfElementwise(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfIota(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfReduce(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfReshape(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfSlice(xla::HloInstruction* x, int64_t dimension, int64_t place);
  xla::HloInstruction* OfTranspose(xla::HloInstruction* x, int64_t dimension, int64_t place);

  absl::flat_hash_map<Key, xla::HloInstruction*> made_;
  int operations_ = 0, saved_ = 0, put_together_ = 0;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_COMPONENT_VALUES_H_
