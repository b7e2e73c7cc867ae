// Products of matrices, and convolutions, out of packed panels, a block of the result in registers.
//
// A block of the second operand is laid out anew, in panels of as many columns as registers take,
// and then blocks of the first one, in panels of rows. A pair of panels makes a block of the
// result, which stays in registers all along the sum (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008; Van Zee and van de Geijn, "BLIS", 2015). However
// the operands lie in memory, they are read a vector at a time: what runs along the sum is
// transposed in registers. A convolution's rows are the positions of its result, and its sum goes
// over taps and features: packing takes them from where they are (Chetlur et al., "cuDNN", 2014,
// section 3.2), 0 outside.
#ifndef HONE_LOOPS_MULTIPLY_H_
#define HONE_LOOPS_MULTIPLY_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

std::string MultiplyText(const Schedule& schedule, const Nest& nest,
                         const std::vector<std::string>& buffers);

extern const OwnText kMultiplying;

}  // namespace hone::loops

#endif  // HONE_LOOPS_MULTIPLY_H_
