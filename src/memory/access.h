// Which elements are needed to compute which: access relations as boxes.
//
// Each function answers for a box of results; the answer contains every element that is needed
// (tests hold these to exact integer maps: tests/memory/access_isl.h).
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

// What an operator sums over and may be cut along, too: its result is then made part by part.
struct SumDimension {
  size_t first = 0;   // of operand 0
  size_t second = 0;  // of operand 1, of a product
  int64_t size = 0;
};
// Of dots, convolutions without groups, and reductions whose parts may be joined in any order; and
// of gathers from what was computed, along dimensions of which one element is taken: each part adds
// those that it has. Empty for all others, and for sums of 16-bit numbers, whose parts would be
// rounded.
std::vector<SumDimension> SumDimensions(const Network& network, const Op& op);

// Whether this part of the sum is the last: the result is finished with it.
bool IsLastPart(const Network& network, const Op& op, const Box& sum);

// The same as above for a part of the sum: a box over SumDimensions. A box of no dimensions: all.
Box OperandBox(const Network& network, const Op& op, size_t operand, const Box& out,
               const Box& sum);

// Calls need(tensor, box) for what an expression's box needs of each leaf; a leaf that is reached
// several times is told several times.
void ForEachLeaf(const Network& network, ExprId expr, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need);

// Whether operand 0 is read element by element from DRAM where it lies, because the places depend
// on data and the result is smaller than what it is chosen from.
bool ReadsFromDram(const Network& network, const Op& op);

// Calls need(tensor, box) for all that an operator's box reads on the chip.
void ForEachRead(const Network& network, const Op& op, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need, const Box& sum = {});

// Operators whose every access is known exactly. The others are bounded.
bool HasExactAccess(const std::string& opcode);

// Whether `op` may be computed box by box: one box for all its results, accesses exact or narrow.
bool CanTile(const Network& network, const Op& op);

}  // namespace hone::memory

#endif  // HONE_MEMORY_ACCESS_H_
