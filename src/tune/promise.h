// Which alternatives to race first.
#ifndef HONE_TUNE_PROMISE_H_
#define HONE_TUNE_PROMISE_H_

#include <string>
#include <vector>

#include "tune/evaluator.h"
#include "tune/kernel_shares.h"

namespace hone::tune {

// The share of the time, from 0, that an alternative may save at most, as far as the names and
// opcodes of what it replaces tell.
double Promise(const KernelShares& shares, const Alternative& alternative);

// The most of those of that name.
double Promise(const KernelShares& shares, const std::vector<Alternative>& alternatives,
               const std::string& name);

// Of those that promise about as much the one that makes kernels of its own comes first, which has
// gained most; else the order stays: earlier ones are more special. Those that make the program
// large come last, lest compiling one takes the time of all.
std::vector<Alternative> DearestFirst(const KernelShares& shares,
                                      std::vector<Alternative> alternatives);

// By name, in their order, but those that make the program larger behind the others: they take
// longer to compile.
std::vector<std::string> RacingOrder(const std::vector<Alternative>& alternatives);

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
