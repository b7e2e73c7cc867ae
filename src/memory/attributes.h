// Attributes of instructions, which ProgramGraph has as HLO text writes them.
#ifndef HONE_MEMORY_ATTRIBUTES_H_
#define HONE_MEMORY_ATTRIBUTES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/program_graph.h"
#include "memory/network.h"

namespace hone::memory {

// Empty where the instruction has no such attribute.
std::string_view AttributeText(const InstructionInfo& instruction, std::string_view name);

// "{0,2,1}" or "5". Nothing where it is anything else.
std::optional<std::vector<int64_t>> ParseIntegers(std::string_view text);

// "{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}"
StatusOr<std::vector<WindowDimension>> ParseWindow(std::string_view text);

// "b01f_01io->b01f"
StatusOr<ConvolutionDimensions> ParseDimLabels(std::string_view text);

// "{[0:2], [1:9:2]}": starts and strides of a slice.
struct SliceBounds {
  std::vector<int64_t> starts;
  std::vector<int64_t> strides;
};
StatusOr<SliceBounds> ParseSlice(std::string_view text);

// "0_0x1_2_1": low, high and interior padding of each dimension.
struct Padding {
  std::vector<int64_t> low;
  std::vector<int64_t> high;
  std::vector<int64_t> interior;
};
StatusOr<Padding> ParsePadding(std::string_view text);

// Fills lists, texts, window and convolution of an operator.
Status ReadAttributes(const InstructionInfo& instruction, Op& op);

}  // namespace hone::memory

#endif  // HONE_MEMORY_ATTRIBUTES_H_
