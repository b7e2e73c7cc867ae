// The end of tuning a program: of the finalists the best, what of it matters, is it right, and is
// it really faster?
#ifndef HONE_TUNE_CONCLUDE_H_
#define HONE_TUNE_CONCLUDE_H_

#include "tune/candidates.h"
#include "tune/measurer.h"
#include "tune/tune_program.h"

namespace hone::tune {

struct ConcludeOptions {
  double start = 0;     // of tuning, by the evaluator's clock
  double seconds = 60;  // for all of it; comparing and confirming take what they need at least
};

// Races the finalists that are close against each other; leaves out of the winner the choices that
// do not matter (once interrupted, neither); compares its outputs with the stock executable's
// (where it computes something else, the next one is taken); races it in fresh processes, and keeps
// it where the whole 95 % interval of its speed-up lies above 1 in each (where it does not run
// there, the next one's turn has come). `finalists` are plans that looked faster, the best first.
// Fills kept, reason, plan, race, verified, verification, gains, rejected, others and lessons of
// the result; nothing where there is no finalist.
void Conclude(Measurer& measurer, const Evaluator& clock, const Space& space,
              std::vector<Finalist> finalists, const TuneOptions& options,
              const ConcludeOptions& concluding, TuneResult& result);

}  // namespace hone::tune

#endif  // HONE_TUNE_CONCLUDE_H_
