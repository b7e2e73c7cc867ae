// The calls of device.capnp's interface, for wire::WorkerLink.
#ifndef HONE_DEVICE_CALLS_H_
#define HONE_DEVICE_CALLS_H_

#include <cstdint>
#include <vector>

#include "device/device.capnp.h"
#include "wire/channel.h"

namespace hone::device {

// A frame carries a number. These are beyond those of a worker's methods, so that a message that
// went to the wrong program is not taken for another.
inline constexpr uint64_t kFirstMethod = 1000;

#define HONE_DEVICE_CALL(name, number)                                                        \
  struct name##Call {                                                                         \
    using Params = Device::name##Params;                                                      \
    using Results = Device::name##Results;                                                    \
    static constexpr wire::Method kMethod = static_cast<wire::Method>(kFirstMethod + number); \
  };
HONE_DEVICE_CALL(Open, 0)
HONE_DEVICE_CALL(Compile, 1)
HONE_DEVICE_CALL(Drop, 2)
HONE_DEVICE_CALL(Place, 3)
HONE_DEVICE_CALL(Remove, 4)
HONE_DEVICE_CALL(Run, 5)
HONE_DEVICE_CALL(Time, 6)
#undef HONE_DEVICE_CALL

inline std::vector<int64_t> NumbersOf(capnp::List<int64_t>::Reader list) {
  std::vector<int64_t> numbers;
  for (const int64_t number : list) numbers.push_back(number);
  return numbers;
}

}  // namespace hone::device

#endif  // HONE_DEVICE_CALLS_H_
