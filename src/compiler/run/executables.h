// Executables that this process has compiled, by the program, the plan and the quality of code:
// what is compared, raced or profiled after it was evaluated is not compiled once more.
#ifndef HONE_COMPILER_RUN_EXECUTABLES_H_
#define HONE_COMPILER_RUN_EXECUTABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/compile_plan.h"
#include "core/fingerprint.h"

// Not included: it takes a compiler half a minute.
namespace xla {
class HloModuleProto;
class PjRtLoadedExecutable;
}  // namespace xla

namespace hone::compiler {

struct KnownExecutable {
  std::shared_ptr<xla::PjRtLoadedExecutable> executable;
  uint64_t applied = 0;  // CompileDecider's
  uint64_t hidden = 0;
  Fingerprint optimised;  // of what the passes made
};

// Of all that decides on the executable, to the byte: instructions in their order, names,
// constants. Nothing where nothing is kept, or it is too large to be. Errors: none.
std::optional<Fingerprint> ExecutableKey(const xla::HloModuleProto& program, uint64_t quality,
                                         const CompilePlan& plan);

// From any thread. Nothing where it is not kept.
std::optional<KnownExecutable> FindExecutable(const Fingerprint& key);
// `bytes` of code and constants, about; the least recently used go first.
void KeepExecutable(const Fingerprint& key, KnownExecutable executable, size_t bytes);

// Bytes that are kept in all, 0 for none.
void SetExecutableMemory(size_t bytes);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_EXECUTABLES_H_
