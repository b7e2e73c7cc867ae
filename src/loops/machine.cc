#include "loops/machine.h"

#include <thread>

namespace hone::loops {

Machine ThisMachine(int threads) {
  Machine machine;
  machine.threads =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (__builtin_cpu_supports("avx512f")) {
    machine.vector_bytes = 64;
    machine.vector_registers = 32;
  } else if (!__builtin_cpu_supports("avx")) {
    machine.vector_bytes = 16;
  }
  return machine;
}

}  // namespace hone::loops
