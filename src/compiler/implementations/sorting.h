// What sorts and top-k are made of; sorts of a few.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_

#include <cstdint>

#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// A comparator of two numbers of the type.
xla::HloComputation* Comparing(xla::HloModule* module, xla::PrimitiveType type,
                               xla::ComparisonDirection direction);

// Of a top-k of [rows, size]: the k best of each of the rows, and where they are from.
xla::Shape TopShape(const xla::HloInstruction& rows, int64_t k);

// A sort of up to 16 along its dimension, by its first array, as Batcher's network of exchanges
// (odd- even merge sort, 1968): each a comparison of slices. Null for others, and where the
// comparator does not compare the same function of both elements.
xla::HloInstruction* SmallSort(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
