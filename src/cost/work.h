// How much an instruction computes.
#ifndef HONE_COST_WORK_H_
#define HONE_COST_WORK_H_

#include <string_view>

#include "core/program_graph.h"

namespace hone::cost {

// The elements of an array, or of all arrays of a tuple.
double ElementsOf(const ShapeInfo& shape);

// Empty where the instruction has no such attribute.
std::string_view AttributeOf(const InstructionInfo& instruction, std::string_view name);

// Floating-point operations of the instruction itself, not of what it calls: an addition is one, a
// multiply-add two, a division or square root 4, a transcendental 12 (about what vector code of
// them takes), an instruction that only moves data none. An unknown form of a convolution or dot
// counts as its result's elements.
double FlopsOf(const InstructionInfo& instruction, const ComputationInfo& computation);

}  // namespace hone::cost

#endif  // HONE_COST_WORK_H_
