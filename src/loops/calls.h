// The calls of loops.capnp's interface, for wire::WorkerLink.
#ifndef HONE_LOOPS_CALLS_H_
#define HONE_LOOPS_CALLS_H_

#include <cstdint>

#include "loops/loops.capnp.h"
#include "wire/channel.h"

namespace hone::loops {

// A frame carries a number. These are beyond those of a worker's and a device's methods, so that a
// message that went to the wrong program is not taken for another.
inline constexpr uint64_t kFirstMethod = 2000;

#define HONE_LOOPS_CALL(name, number)                                                         \
  struct name##Call {                                                                         \
    using Params = Loops::name##Params;                                                       \
    using Results = Loops::name##Results;                                                     \
    static constexpr wire::Method kMethod = static_cast<wire::Method>(kFirstMethod + number); \
  };
HONE_LOOPS_CALL(Compile, 0)
HONE_LOOPS_CALL(Drop, 1)
HONE_LOOPS_CALL(Place, 2)
HONE_LOOPS_CALL(Remove, 3)
HONE_LOOPS_CALL(Run, 4)
HONE_LOOPS_CALL(Time, 5)
#undef HONE_LOOPS_CALL

}  // namespace hone::loops

#endif  // HONE_LOOPS_CALLS_H_
