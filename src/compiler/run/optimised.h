// Modules that XLA:CPU's passes have been run on and that no code was made of: where a compilation
// was ended to see what it would make, the next of the same program under the same plan goes on.
#ifndef HONE_COMPILER_RUN_OPTIMISED_H_
#define HONE_COMPILER_RUN_OPTIMISED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/fingerprint.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/hlo.pb.h"

namespace hone::compiler {

struct OptimisedModule {
  std::unique_ptr<xla::HloModule> module;  // null: none
  uint64_t applied = 0;                    // CompileDecider's
  uint64_t hidden = 0;
};

// From any thread. `key` is an ExecutableKey; of `bytes`, about. The last few are kept.
void KeepOptimised(const Fingerprint& key, OptimisedModule optimised, size_t bytes);
// It is the caller's then.
OptimisedModule TakeOptimised(const Fingerprint& key);

// What passes made of a program, as it is kept in files that processes share.
struct StoredPasses {
  xla::HloModuleProto module;
  Fingerprint fingerprint;  // of the module
  uint64_t applied = 0;
  uint64_t hidden = 0;
};

// What passes made is also taken from files in this folder, and added to them, as ShareKernels
// does with code.
void ShareOptimised(const std::string& folder);
bool SharesOptimised();

// `key` as above. From any thread; none fails: what cannot be read is not there. One in a hundred
// that are there is said not to be, so that it is made anew: StorePasses() compares it, and what
// came out otherwise is used no more.
std::optional<StoredPasses> FindPasses(const Fingerprint& key);
void StorePasses(const Fingerprint& key, const StoredPasses& passes);

// The module that was stored, but for the order of an instruction's users, which decides where XLA
// finds several schedules as good: its text is not for others to see. For the `config` of the
// module that the passes would be run on. Null where XLA does not take it.
std::unique_ptr<xla::HloModule> ModuleOf(const StoredPasses& passes,
                                         const xla::HloModuleConfig& config);
// How many it has made in this process.
int64_t ModulesOfStoredPasses();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_OPTIMISED_H_
