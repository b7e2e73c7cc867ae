// Calls that a worker cannot answer before it has kernels of hone-loops.
#ifndef HONE_WIRE_GIVE_KERNELS_H_
#define HONE_WIRE_GIVE_KERNELS_H_

#include <string>
#include <vector>

#include "wire/hone.capnp.h"

namespace hone::wire {

// Tasks whose kernels it would have needed.
inline std::vector<std::string> KernelsLacking(Failure::Reader in) {
  std::vector<std::string> tasks;
  for (const auto task : in.getKernels()) tasks.emplace_back(task.cStr());
  return tasks;
}

}  // namespace hone::wire

#endif  // HONE_WIRE_GIVE_KERNELS_H_
