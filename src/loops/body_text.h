// What a nest computes for a point, as MLIR's text, of numbers or of vectors of them.
#ifndef HONE_LOOPS_BODY_TEXT_H_
#define HONE_LOOPS_BODY_TEXT_H_

#include <functional>
#include <string>

#include "loops/nest.h"

namespace hone::loops {

// In which it lies in memory: bits, of what MLIR's arithmetic would not widen well.
const char* MlirType(Element element);

// Writes an operation down and names its result.
using LetFunction = std::function<std::string(const std::string&)>;

// A number that was read, or a vector of so many where that is not 0, in f32 if it is narrow.
std::string WidenedText(const std::string& value, Element element, int64_t lanes,
                        const LetFunction& let);

// The other way round: f32 as bits of the element, rounded to nearest, ties to even; as it is where
// that is not bf16 or f16.
std::string NarrowedText(const std::string& value, Element element, int64_t lanes,
                         const LetFunction& let);

// An operation of MLIR that fills values of `type` with a constant.
std::string ConstantText(double value, Element element, const std::string& type);

// The name of the last node's value. `leaf` names a read's or a score's value. `type` is the
// element's, or a vector of it.
std::string BodyText(const Nest& nest, const std::string& type, const LetFunction& let,
                     const std::function<std::string(const Scalar&)>& leaf);

}  // namespace hone::loops

#endif  // HONE_LOOPS_BODY_TEXT_H_
