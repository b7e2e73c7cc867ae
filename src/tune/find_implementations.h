// Finds the alternative implementations that apply to a program.
#ifndef HONE_TUNE_FIND_IMPLEMENTATIONS_H_
#define HONE_TUNE_FIND_IMPLEMENTATIONS_H_

#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.h"
#include "core/state.h"
#include "tune/evaluator.h"
#include "wire/pool.h"

namespace hone::tune {

// After these passes other implementations find more.
inline constexpr std::string_view kWriteOutPass = "implement:write_out_small";
inline constexpr std::string_view kByGroupsPass = "implement:convolution_by_groups";
inline constexpr std::string_view kPreparingPasses[] = {
    kWriteOutPass, kByGroupsPass, "implement:dot_of_parts",
    "implement:dot_of_small_integers_in_f32", "implement:convolution_of_small_integers_in_f32"};
// Lays all arrays of a batch out anew: it takes from others what it gives to some.
inline constexpr std::string_view kBatchPass = "batch_lanes";
// Of depthwise layers no kernel of hone's does gradients with strides, nor those of the layer's own
// kernel.
inline constexpr std::string_view kDepthwisePasses[] = {
    "implement:depthwise", "implement:depthwise_kernel_gradient_shifts",
    "implement:depthwise_shifts"};
inline constexpr std::string_view kFlatPass = "implement:flat_elementwise";
inline constexpr std::string_view kUnrollPass = "implement:unroll_short_loop";
inline constexpr std::string_view kSwapPass = "implement:dot_swapped";
inline constexpr std::string_view kLoopDotsPass = "implement:dots_out_of_loop";
inline constexpr std::string_view kRollsPass = "implement:rolls_from_edges";
inline constexpr std::string_view kContractionPass = "implement:contraction_order";
inline constexpr std::string_view kSharedPass = "implement:shared_once";
inline constexpr std::string_view kSolvePass = "implement:dot_before_solve";
// What these change is no more there for them behind others, kernels above all.
inline constexpr std::string_view kFirstPasses[] = {kLoopDotsPass,
                                                    kRollsPass,
                                                    kContractionPass,
                                                    "implement:convolution_banded_dot",
                                                    "implement:dot_with_known_matrix",
                                                    kSolvePass,
                                                    "implement:triangular_inverses",
                                                    "implement:loop_by_blocks",
                                                    "implement:masked_updates",
                                                    "implement:padded_sums"};

// The implementations, by the names of their passes, that change the program; last of all
// `batch_lanes`. Loops as one kernel come once more, by both names, where small things are written
// out before. `among` are the names of those that are tried, null for all. Those that find
// something only when calls are inlined, small things written out, groups convolved one by one, or
// integers multiplied as floats, begin with that. One that breaks on this program is no way to
// compute it. After `seconds` those found so far do.
std::vector<Alternative> FindImplementations(Pool& pool, const ProgramInfo& program, double seconds,
                                             const std::atomic<bool>* interrupted = nullptr,
                                             const std::set<std::string>* among = nullptr);

}  // namespace hone::tune

#endif  // HONE_TUNE_FIND_IMPLEMENTATIONS_H_
