// Which elements are needed to compute which: access relations as boxes.
//
// Each function answers for a box of results; the answer contains every element that is needed
// (access_isl.h has the same relations as exact integer maps, which the tests hold these to).
#ifndef HONE_MEMORY_ACCESS_H_
#define HONE_MEMORY_ACCESS_H_

#include <functional>

#include "memory/network.h"

namespace hone::memory {

// Of input `input` of a movement, to have `out` of it. May be empty.
Box InputBox(const Network& network, const Expr& expr, size_t input, const Box& out);

// Of operand `operand`, to compute `out` of the operator's results. All results have the same box
// where they have the same dimensions; an operator whose results differ is computed as a whole.
Box OperandBox(const Network& network, const Op& op, size_t operand, const Box& out);

// Calls need(tensor, box) for what an expression's box needs of each leaf; a leaf that is reached
// several times is told several times.
void ForEachLeaf(const Network& network, ExprId expr, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need);

// Whether `op` may be computed box by box: one box for all its results, accesses exact or narrow.
bool CanTile(const Network& network, const Op& op);

}  // namespace hone::memory

#endif  // HONE_MEMORY_ACCESS_H_
