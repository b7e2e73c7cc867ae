// Sums of products of arrays over labels, as einsum has them, and how they are read from
// instructions.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONTRACTIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONTRACTIONS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/implementations/dimensions.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// For each dimension the labels that it runs over, slowest first: none where its size is 1.
using Axes = std::vector<Dimensions>;

// An array that a product has, or what 1 is divided by.
struct Factor {
  xla::HloInstruction* array = nullptr;
  Axes axes;
  bool inverse = false;
};

// The product of all that, summed over some labels. It is zero but where the first labels of each
// pair are the same as the second.
struct LabelledProduct {
  double scale = 1;
  std::vector<Factor> factors;
  std::vector<std::pair<Dimensions, Dimensions>> same;
  Dimensions summed;
};

struct Contraction {
  Axes axes;                              // of the whole
  std::vector<int64_t> sizes;             // by label
  std::vector<LabelledProduct> products;  // to be added up
  double work = 0;                        // of computing it as it stands, by the measure below
  xla::PrecisionConfig precision;
};

// The work of multiplying elements one by one is their number. That of a dot of so many products,
// with two operands and a result of so many elements:
double WorkOfDot(double products, double left, double right, double result);

// Of a dot, a sum, or a diagonal that is taken. Nothing where it cannot be read as one.
std::optional<Contraction> ReadContraction(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONTRACTIONS_H_
