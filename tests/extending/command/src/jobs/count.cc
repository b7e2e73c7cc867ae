#include "jobs/count.h"

#include <utility>

namespace hone::jobs {

FileOr<int64_t> CountInstructions(const std::string& file, const WorkerOptions& workers,
                                  Events& events) {
  FileOr<std::string> data = ReadNamed(file, workers);
  if (!data) return tl::unexpected(data.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Wrong(file, program.error());
  return program->metrics.op_count;
}

}  // namespace hone::jobs
