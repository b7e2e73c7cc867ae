#include "loops/machine.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace hone::loops {
namespace {

// Whether the processor has tiles, and Linux lends them to this process.
bool HasTiles() {
#ifdef __x86_64__
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return __builtin_cpu_supports("amx-tile") != 0 && __builtin_cpu_supports("amx-bf16") != 0 &&
         syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

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
  machine.tiles = HasTiles();
#ifdef __x86_64__
  machine.pairs = __builtin_cpu_supports("avx512bf16") != 0;
  if (__builtin_cpu_is("intel")) machine.pair_cycles = 2;
#endif
  return machine;
}

}  // namespace hone::loops
