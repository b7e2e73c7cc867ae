// Finds the alternative implementations that apply to a program.
#ifndef HONE_TUNE_FIND_IMPLEMENTATIONS_H_
#define HONE_TUNE_FIND_IMPLEMENTATIONS_H_

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/state.h"
#include "tune/evaluator.h"
#include "wire/pool.h"

namespace hone::tune {

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
