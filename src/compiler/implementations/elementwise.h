// Formulas over the elements of arrays of one shape, written as such: `2 * x + 1`.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ELEMENTWISE_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ELEMENTWISE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// An array. What is made of it is added to its computation; numbers take its type and its sizes.
class Elements {
 public:
  explicit Elements(xla::HloInstruction* array) : array_(array) {}

  xla::HloInstruction* array() const { return array_; }
  xla::PrimitiveType type() const { return array_->shape().element_type(); }

  Elements Number(double value) const;
  // For integers.
  Elements Bits(uint64_t value) const;
  Elements As(xla::PrimitiveType type) const;      // converted
  Elements BitsAs(xla::PrimitiveType type) const;  // the same bits
  Elements Unary(xla::HloOpcode opcode) const;
  Elements Binary(xla::HloOpcode opcode, Elements other) const;

 private:
  xla::HloInstruction* array_;
};

Elements operator-(Elements x);
Elements operator+(Elements x, Elements y);
Elements operator-(Elements x, Elements y);
Elements operator*(Elements x, Elements y);
Elements operator/(Elements x, Elements y);
Elements operator&(Elements x, Elements y);
Elements operator|(Elements x, Elements y);
Elements operator+(Elements x, double y);
Elements operator+(double x, Elements y);
Elements operator-(Elements x, double y);
Elements operator-(double x, Elements y);
Elements operator*(Elements x, double y);
Elements operator/(double x, Elements y);

// Of predicates.
Elements operator<(Elements x, Elements y);
Elements operator<(Elements x, double y);
Elements operator>(Elements x, Elements y);
Elements operator>(Elements x, double y);
Elements operator==(Elements x, Elements y);
Elements operator==(Elements x, double y);
Elements operator!=(Elements x, double y);
Elements Choose(Elements where, Elements x, Elements y);
Elements Choose(Elements where, Elements x, double y);
Elements Choose(Elements where, double x, Elements y);

Elements Abs(Elements x);
// The absolute value of `x` with the sign of `y`, also of zeros and NaNs.
Elements WithSign(Elements x, Elements y);
// The sum of `coefficients[k]` times the k-th power of x.
Elements Polynomial(Elements x, std::initializer_list<double> coefficients);

// Of an array of complex numbers, and back.
Elements RealPart(Elements x);
Elements ImaginaryPart(Elements x);
Elements Complex(Elements real, Elements imaginary);

// Of arrays, which may have other shapes.
using Formula = std::function<Elements(const std::vector<Elements>&)>;
// One of two ways to compute a value, with the name of its branch.
struct Way {
  const char* name;
  Formula formula;
};
// The usual way where no element of `beyond` is true, else the other one; only one is computed.
Elements InBranches(const std::vector<Elements>& arguments, Elements beyond, const Way& usual,
                    const Way& other);
// Whether it is a branch of a conditional.
bool IsBranch(const xla::HloComputation& computation);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ELEMENTWISE_H_
