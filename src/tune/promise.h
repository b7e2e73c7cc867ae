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

}  // namespace hone::tune

#endif  // HONE_TUNE_PROMISE_H_
