// What a program has returned, as XLA's arrays. Of types that results are not widened of.
#ifndef HONE_TESTS_SUPPORT_LITERALS_H_
#define HONE_TESTS_SUPPORT_LITERALS_H_

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "verify/compare.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {

inline std::vector<xla::Literal> LiteralsOf(const verify::Outputs& outputs) {
  std::vector<xla::Literal> literals;
  for (const verify::ArrayView& array : outputs.arrays) {
    const auto type = xla::primitive_util::StringToPrimitiveType(std::string(array.type.name));
    xla::Literal literal = xla::Literal::Make(xla::ShapeUtil::MakeShapeWithDescendingLayout(
                                                  type.value(), array.dimensions))
                               .value();
    std::memcpy(literal.untyped_data(), array.data, array.bytes());
    literals.push_back(std::move(literal));
  }
  return literals;
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_SUPPORT_LITERALS_H_
