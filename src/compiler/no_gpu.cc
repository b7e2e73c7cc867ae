// What hone-worker has in the place of gpu/.
#include "compiler/target.h"

namespace hone::compiler {

StatusOr<std::unique_ptr<Target>> MakeGpuTarget(const std::string& target) {
  return MakeError(ErrorCode::kUnsupported,
                   "hone-worker compiles for the CPU: '" + target + "' takes hone-worker-gpu");
}

}  // namespace hone::compiler
