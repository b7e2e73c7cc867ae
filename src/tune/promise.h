// Which alternatives to race first.
#ifndef HONE_TUNE_PROMISE_H_
#define HONE_TUNE_PROMISE_H_

#include <string>
#include <vector>

#include "tune/change_policy.h"
#include "tune/evaluator.h"
#include "tune/kernel_shares.h"

namespace hone::tune {

// The share of the time, from 0, that an alternative may save at most, as far as the names and
// opcodes of what it replaces tell.
double Promise(const KernelShares& shares, const Alternative& alternative);

// The most of those of that name.
double Promise(const KernelShares& shares, const std::vector<Alternative>& alternatives,
               const std::string& name);

// The order in which they are applied, on top of one another. What prepares for others comes first;
// of those that promise about as much the one that makes kernels of its own, which has gained most;
// else the order stays: earlier ones are more special. Those that make the program large come last.
std::vector<Alternative> DearestFirst(const KernelShares& shares,
                                      std::vector<Alternative> alternatives);

// The order in which they are raced, by name: by what they promise and what such ones have gained
// in other programs, less the more they make the program grow, for that takes longer to compile.
// Where the policy knows nothing as they stand, but those that make it larger last.
std::vector<std::string> RacingOrder(const KernelShares& shares, const ChangePolicy& policy,
                                     const std::vector<Alternative>& alternatives);

// Whether these, one on top of another, make the program many times as large: then they take long
// to compile, and may take the time of all.
bool AreLarge(const std::vector<Alternative>& alternatives, const std::vector<std::string>& names);

// What to race as one first, of the alternatives that `names` has, in their order: what makes
// kernels of hone's own and what replaces dear kernels that none of the others replaces; then, if
// they are fewer, what makes kernels alone. On a program whose evaluation takes seconds that may be
// all there is time for.
std::vector<std::vector<std::string>> RacedTogether(const KernelShares& shares,
                                                    const std::vector<Alternative>& alternatives,
                                                    const std::vector<std::string>& names);

}  // namespace hone::tune

#endif  // HONE_TUNE_PROMISE_H_
