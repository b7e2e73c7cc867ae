// What lies around a reduction or a product and can be computed in one kernel with it.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_NEIGHBOURHOOD_H_
#define HONE_COMPILER_IMPLEMENTATIONS_NEIGHBOURHOOD_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

// Rows, or columns, and what becomes of them; or the elements of a product.
struct Space {
  using Sizes = std::vector<int64_t>;

  xla::PrimitiveType type = xla::F32;  // that is computed in (KernelType)
  Sizes full;                          // sizes of the arrays that are reduced
  Sizes kept;            // its first ones, of rows; its last ones, of columns; none, of one element
  bool columns = false;  // or one element: what they are reduced to is not spread over all again

  // Of a product: what makes the arrays, and which of their dimensions (those above 1) each of its
  // result's has in it. Nothing is reduced then, and `kept` is `full`.
  xla::HloInstruction* made = nullptr;
  std::vector<Sizes> groups;

  friend bool operator==(const Space& a, const Space& b) {
    return a.type == b.type && a.full == b.full && a.kept == b.kept && a.columns == b.columns &&
           a.made == b.made;
  }

  // That are reduced.
  Sizes Axes() const {
    Sizes axes;
    const size_t first = columns ? 0 : kept.size();
    for (size_t d = 0; d < full.size() - kept.size(); ++d) {
      axes.push_back(static_cast<int64_t>(first + d));
    }
    return axes;
  }

  bool Has(const xla::Shape& shape) const {
    if (!IsArray(shape) || KernelType(shape.element_type()) != type) return false;
    const Sizes sizes = Squeezed(shape);
    return sizes == full || sizes == kept;
  }
};

// The space of a sum or maximum over the last dimensions, the first or all.
std::optional<Space> SpaceOf(const xla::HloInstruction& reduce);

// The dimensions of a broadcast without sizes of 1; nothing where they change places.
std::optional<std::vector<int64_t>> PlacesOf(const xla::HloInstruction& broadcast);

// A square or a cube: the exponent; else 0.
int ExponentOf(const xla::HloInstruction& instruction);

bool IsElementwise(xla::HloOpcode opcode);
// One that takes more than a few cycles an element.
bool IsDear(xla::HloOpcode opcode);
// Whether it makes numbers, 1 and 0, of a predicate.
bool IsOfPredicate(const xla::HloInstruction& instruction);
// Costs nothing, or little, to compute once more.
bool IsFree(const xla::HloInstruction& instruction);

// Whether a kernel of the space can compute it.
bool Fits(const xla::HloInstruction& instruction, const Space& space);

struct Neighbourhood {
  std::set<const xla::HloInstruction*> nodes;
  bool reduces = false;
  bool computes = false;  // it has an elementwise operation over the whole arrays
};

// What `root` is computed from within the space and nothing else needs; nothing where it is too
// much.
Neighbourhood Grow(const xla::HloInstruction* root, const Space& space);

// Whether only few of its elements are taken, or of what is computed of it, which XLA computes
// alone: no kernel's result.
bool IsForFew(const xla::HloInstruction& array, int levels = 6);
// Whether others need the array in memory: those that do not compute it again as part of what they
// make.
bool IsTakenFromMemory(const xla::HloInstruction& array);

// Whether a larger neighbourhood than its own takes the instruction in.
bool IsTakenIn(xla::HloInstruction* root, const Space& space);

// The elements of a product, which has `value`; `groups` as in Space.
Space ElementsOf(xla::HloInstruction* value, std::vector<std::vector<int64_t>> groups);
// Where the task's result has the value's dimensions.
Space ElementsOf(xla::HloInstruction* value);

// The space of the product that makes an instruction's value; nothing where none does.
using SpaceAt = std::optional<Space> (*)(xla::HloInstruction* value);

// That of the nearest product whose elements `root` is computed of, one by one.
std::optional<Space> SpaceWithin(xla::HloInstruction* root, SpaceAt space_at);

// Where something is made of a product's elements: its neighbourhood, if no larger one takes it in.
std::optional<Neighbourhood> EndOf(xla::HloInstruction* root, const Space& space);

// Where the value of a product is compared with 0 that a maximum with 0 is taken of as well, for
// its gradient: a comparison of the maximum, so that nothing else needs the value. The same of any
// value whose maximum is in memory. Null elsewhere.
xla::HloInstruction* MaskOfMaximum(xla::HloInstruction* compare, SpaceAt space_at);

std::vector<xla::HloOpcode> ElementwiseOpcodesAnd(std::vector<xla::HloOpcode> opcodes);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_NEIGHBOURHOOD_H_
