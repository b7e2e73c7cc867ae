#include "jobs/count.h"

#include <utility>

namespace hone::jobs {

FileOr<int64_t> CountInstructions(const std::string& file, const WorkerOptions& workers,
                                  Events& events) {
  FileOr<std::string> data = ReadNamed(file, workers);
  if (!data) return tl::unexpected(data.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const FileOr<ProgramInfo> program = LoadNamed(**pool, *std::move(data), file, events);
  if (!program) return tl::unexpected(program.error());
  return program->metrics.op_count;
}

}  // namespace hone::jobs
