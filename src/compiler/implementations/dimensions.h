// The dimensions of arrays: of the sides of a dot, and of what is spread from other arrays.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DIMENSIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DIMENSIONS_H_

#include <cstdint>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

using Dimensions = std::vector<int64_t>;

// No dimension.
inline constexpr int64_t kNone = -1;

int64_t RankOf(const xla::HloInstruction& array);
bool Has(const Dimensions& dimensions, int64_t d);
// All dimensions of an array but those.
Dimensions Without(const xla::HloInstruction& array, const Dimensions& some);
// `count` numbers from `first` on.
Dimensions Range(int64_t first, int64_t count);
// The one, then the rest.
Dimensions Behind(int64_t first, const Dimensions& rest);
// Of the array, of these dimensions.
Dimensions SizesAt(const xla::HloInstruction& array, const Dimensions& dimensions);

// The dimensions of one side of a dot; the free ones are those that only this side has.
struct DotSide {
  Dimensions batch, contracted, free;
};
DotSide DotSideOf(const xla::HloInstruction& dot, int number);

// An array that another one is spread from: for each of its dimensions the one that it is of the
// other; kNone for those of size 1.
struct Source {
  xla::HloInstruction* array = nullptr;
  Dimensions places;
};

// One step back from what spreads, turns round, or puts in sizes of 1; false where it is none.
bool StepBack(Source& source);
// All steps.
Source SourceOf(Source source);
// Of an array, as its own source.
Source SourceOf(xla::HloInstruction* array);
// The source as an array of these dimensions of the whole.
xla::HloInstruction* Spread(const Source& source, const Dimensions& dimensions,
                            const Dimensions& sizes);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DIMENSIONS_H_
