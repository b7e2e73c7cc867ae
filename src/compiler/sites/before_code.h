// A look at what XLA:CPU's passes made of a module, before LLVM makes code of it.
#ifndef HONE_COMPILER_SITES_BEFORE_CODE_H_
#define HONE_COMPILER_SITES_BEFORE_CODE_H_

#include <functional>

#include "absl/status/status.h"
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

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_BEFORE_CODE_H_
