// A look at what XLA:CPU's passes made of a module, before code is made of it; and passes that are
// not run again.
#ifndef HONE_COMPILER_SITES_BEFORE_CODE_H_
#define HONE_COMPILER_SITES_BEFORE_CODE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "core/fingerprint.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Is told the optimised module; false ends the compilation.
using BeforeCode = std::function<bool(const xla::HloModule& optimised)>;

// While it lives, of what this thread compiles. Compilations that were ended fail with
// IsEndedBeforeCode.
class ScopedBeforeCode {
 public:
  explicit ScopedBeforeCode(const BeforeCode& told);
  ~ScopedBeforeCode();
  ScopedBeforeCode(const ScopedBeforeCode&) = delete;
  ScopedBeforeCode& operator=(const ScopedBeforeCode&) = delete;
};

bool IsEndedBeforeCode(const absl::Status& status);

// Whether a ScopedBeforeCode of this thread lives.
bool IsLookedAtBeforeCode();

// What passes made is handed over while it lives, for what this thread compiles.
struct ScopedPasses {
  ScopedPasses(std::unique_ptr<xla::HloModule> optimised, bool to_be_named);
  ~ScopedPasses();
  ScopedPasses(const ScopedPasses&) = delete;
  ScopedPasses& operator=(const ScopedPasses&) = delete;

  // What the passes of the next compilation make of its module: they are not run. Null: they are.
  std::unique_ptr<xla::HloModule> known;
  // Where that is null: makes it, for the configuration of the module that is compiled; or null.
  std::function<std::unique_ptr<xla::HloModule>(const xla::HloModuleConfig&)> make_known;
  // Is told what passes made, unless make_known did, before code is made of it.
  std::function<void(const xla::HloModule&)> made;
  // Of the compilation that was ended; null where none was.
  std::unique_ptr<xla::HloModule> ended;
  // Where it is to be `named`: what the passes made, of a compilation that went on from there.
  // Making code changes it.
  const bool named;
  Fingerprint fingerprint;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_BEFORE_CODE_H_
