// Which alternatives to race first.
#ifndef HONE_TUNE_PROMISE_H_
#define HONE_TUNE_PROMISE_H_

#include <string>
#include <vector>

#include "tune/change_policy.h"
#include "tune/evaluator.h"
#include "tune/kernel_shares.h"
#include "tune/tune_program.h"

namespace hone::tune {

// AlternativeReport::growth of what makes the program much larger: it may take long to compile.
inline constexpr double kGrows = 1.5;

// The largest share of the time, from 0, that an alternative can save, judged by the names and
// opcodes of the instructions that it replaces.
double Promise(const KernelShares& shares, const Alternative& alternative);

// The largest promise among the alternatives of that name.
double Promise(const KernelShares& shares, const std::vector<Alternative>& alternatives,
               const std::string& name);

// The order in which they are applied, on top of one another. Alternatives that prepare for others
// come first; among those that promise about as much, those that make kernels of hone's own, which
// have gained most; else the order stays: earlier ones are more special. Those that make the
// program large come last.
std::vector<Alternative> DearestFirst(const KernelShares& shares,
                                      std::vector<Alternative> alternatives);

// In the order in which they are raced: by their promise and by the gain of such alternatives in
// other programs, less the more they make the program grow, for larger programs compile longer:
// which takes `compiling`, from 0 to 1, of what an evaluation of one that does not grow takes.
// Where the policy knows nothing they stay as they stand, those that make the program larger last.
std::vector<AlternativeReport> RacingOrder(const KernelShares& shares, const ChangePolicy& policy,
                                           const std::vector<Alternative>& alternatives,
                                           double compiling = 1);

// Whether these, one on top of another, make the program many times as large: then compiling them
// may take the whole budget.
bool AreLarge(const std::vector<Alternative>& alternatives, const std::vector<std::string>& names);

// Combinations of the alternatives in `names`, in their order, to be raced before single ones: all
// that make kernels of hone's own, with those that replace expensive kernels which no other one
// replaces; then, if they are fewer, the former alone, and the latter. On a program whose
// evaluation takes seconds there may be no time for more.
std::vector<std::vector<std::string>> RacedTogether(const KernelShares& shares,
                                                    const std::vector<Alternative>& alternatives,
                                                    const std::vector<std::string>& names);

// Those of `names`, the first combination's aside, of which something is expected and which make
// the program little larger and take nothing from each other.
std::vector<std::string> RacedAtOnce(const std::vector<AlternativeReport>& ordered,
                                     const std::vector<Alternative>& alternatives,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& together);

// Those of a combination that may do harm in it: what makes no kernels, and kernels that are.
std::vector<std::string> DoubtfulOf(const std::vector<Alternative>& alternatives,
                                    const std::vector<std::string>& together);

// Of these, kernels that are.
std::vector<std::string> HarmfulOf(const std::vector<Alternative>& alternatives,
                                   const std::vector<std::string>& together);

// The first of `names` where more is expected of it than of all else in the first combination: one
// of those may undo what it does. Else empty.
std::string RacedFirst(const std::vector<AlternativeReport>& ordered,
                       const std::vector<std::string>& names,
                       const std::vector<std::string>& together);

}  // namespace hone::tune

#endif  // HONE_TUNE_PROMISE_H_
