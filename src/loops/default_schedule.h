// A schedule by rules of thumb, without a measurement: what a search begins with.
#ifndef HONE_LOOPS_DEFAULT_SCHEDULE_H_
#define HONE_LOOPS_DEFAULT_SCHEDULE_H_

#include "loops/machine.h"
#include "loops/schedule.h"

namespace hone::loops {

// Contractions are blocked for registers and packed (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008); rows are computed from end to end in one go,
// producers within; loops that reduce go around the one that runs through memory; processors share
// the outermost tiles.
Schedule DefaultSchedule(const Program& program, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_DEFAULT_SCHEDULE_H_
