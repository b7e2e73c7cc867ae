// Access relations as exact integer maps in the polyhedral model, by isl (Verdoolaege, "isl: An
// Integer Set Library for the Polyhedral Model", ICMS 2010).
//
// The planner asks access.h, whose boxes are a short cut past these maps; the tests hold the boxes
// to the maps, and the maps to what XLA reads.
#ifndef HONE_TESTS_MEMORY_ACCESS_ISL_H_
#define HONE_TESTS_MEMORY_ACCESS_ISL_H_

#include <string>

#include "memory/network.h"

namespace hone::memory {

// { [result index] -> [input index] } as isl reads it, for input `input` of a movement or operand
// `operand` of an operator. Domains are exact: no index outside of either tensor.
// Errors: kUnsupported where accesses depend on data.
StatusOr<std::string> AccessMap(const Network& network, const Expr& expr, size_t input);
StatusOr<std::string> AccessMap(const Network& network, const Op& op, size_t operand);

// The image of a box under a map.
struct Image {
  Box hull;              // the smallest box around it
  int64_t elements = 0;  // exactly; counted one by one, so for small images only
};
StatusOr<Image> ImageOf(const std::string& map, const Box& box, size_t rank);

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_ACCESS_ISL_H_
