// What an operator is cut along, and its cuts: boxes of its result and of what it sums over.
#ifndef HONE_MEMORY_PLANNING_SPACE_H_
#define HONE_MEMORY_PLANNING_SPACE_H_

#include <cstdint>
#include <vector>

#include "memory/network.h"

namespace hone::memory {

const std::vector<int64_t>& ResultDimensions(const Network& network, OpId op);

// What an operator is cut along: its result's dimensions, then those that it sums over.
std::vector<int64_t> Space(const Network& network, OpId op);

// Boxes in row-major order of their place in the grid of counts, or in the order in which the first
// dimension changes fastest.
std::vector<Box> Grid(const std::vector<int64_t>& dimensions, const std::vector<int64_t>& counts,
                      bool first_fastest);

// Boxes of a space as boxes of the result and of the sum; no sums where all are whole.
void Split(const std::vector<int64_t>& space, size_t rank, const std::vector<Box>& boxes,
           std::vector<Box>& own, std::vector<Box>& sums);

// Whether boxes that form a grid leave nothing out.
bool Covers(const std::vector<Box>& boxes, const std::vector<int64_t>& dimensions);

// Whether tiles with the same box of the result follow upon each other.
bool InARow(const std::vector<Box>& own);

// Whether the parts of every sum come in their order.
bool InOrder(const std::vector<Box>& own, const std::vector<Box>& sums);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_SPACE_H_
