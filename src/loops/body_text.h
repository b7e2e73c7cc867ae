// What a nest computes for a point, as MLIR's text, of numbers or of vectors of them.
#ifndef HONE_LOOPS_BODY_TEXT_H_
#define HONE_LOOPS_BODY_TEXT_H_

#include <functional>
#include <string>

#include "loops/nest.h"

namespace hone::loops {

const char* MlirType(Element element);

// An operation of MLIR that fills values of `type` with a constant.
std::string ConstantText(double value, Element element, const std::string& type);

// The name of the last node's value. `let` writes an operation down and names its result; `leaf`
// names a read's or a score's value. `type` is the element's, or a vector of it.
std::string BodyText(const Nest& nest, const std::string& type,
                     const std::function<std::string(const std::string&)>& let,
                     const std::function<std::string(const Scalar&)>& leaf);

}  // namespace hone::loops

#endif  // HONE_LOOPS_BODY_TEXT_H_
