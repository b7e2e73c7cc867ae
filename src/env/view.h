// The observation of an episode, and how it is written into arrays.
#ifndef HONE_ENV_VIEW_H_
#define HONE_ENV_VIEW_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/metrics.h"
#include "core/program_arrays.h"
#include "core/state.h"

namespace hone {

struct View {
  size_t program = 0;  // index into the session's programs
  int64_t initial_op_count = 0;
  StateName state;
  Fingerprint fingerprint;
  Metrics metrics;
  OpcodeCounts opcodes;
  std::vector<int64_t> actions;                 // taken so far, `stop` included
  std::shared_ptr<const ProgramArrays> arrays;  // null where not asked for
};

// Features of WriteCost, in order; each as XLA's cost analysis gives it for one run of the program.
inline constexpr const char* kCostFeatures[] = {"flops", "transcendentals", "bytes_accessed",
                                                "computations", "loop_depth"};
inline constexpr int64_t kCostFeatureCount = 5;

// counts[opcode], raw; `out` has a place for every opcode of Pool::opcodes().
void WriteOpcodeCounts(const View& view, std::span<int32_t> out);
// The same over the op count of the program as loaded.
void WriteOpcodes(const View& view, std::span<float> out);
// [kCostFeatureCount]; -1 where XLA's cost analysis failed.
void WriteCost(const View& view, std::span<double> out);
// The actions so far, then -1; `out` has traj_limit places.
void WriteHistory(const View& view, std::span<int64_t> out);

}  // namespace hone

#endif  // HONE_ENV_VIEW_H_
