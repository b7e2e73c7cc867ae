#include "jobs/count.h"

#include <utility>

namespace hone::jobs {

StatusOr<int64_t> CountInstructions(Pool& pool, std::string bytes) {
  const StatusOr<ProgramInfo> program = pool.Load(std::move(bytes));
  if (!program) return tl::unexpected(program.error());
  return program->metrics.op_count;
}

}  // namespace hone::jobs
