#include "jobs/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace hone::jobs {
namespace {

StatusOr<Surveyed> SurveyOne(Pool& pool, StatusOr<std::string> bytes, bool sketch) {
  if (!bytes) return tl::unexpected(bytes.error());
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(bytes));
  if (!program) return tl::unexpected(program.error());
  Surveyed surveyed{program->fingerprint.ToHex(), program->metrics.op_count};
  if (sketch) {
    const StatusOr<ProgramGraph> graph = pool.Describe({program->id, {}});
    if (!graph) return tl::unexpected(graph.error());
    surveyed.sketch = dataset::SketchOf(*graph);
  }
  pool.Unload(program->id);
  return surveyed;
}

}  // namespace

StatusOr<std::vector<StatusOr<Surveyed>>> Survey(const SurveyOptions& options, Events& events) {
  const std::vector<std::string>& files = options.files;
  // A pool has its first worker load and describe, so each thread has a pool of one.
  PoolOptions alone = options.pool;
  alone.workers = 1;
  std::vector<std::unique_ptr<Pool>> pools;
  while (pools.size() < std::min(static_cast<size_t>(options.pool.workers), files.size())) {
    auto pool = Pool::Start(alone);
    if (!pool) return tl::unexpected(pool.error());
    pools.push_back(*std::move(pool));
  }
  std::vector<StatusOr<Surveyed>> results(files.size());
  std::mutex mutex;  // of the events and the next file
  size_t next = 0;
  const auto work = [&](Pool& pool) {
    for (;;) {
      size_t i;
      {
        const std::lock_guard lock(mutex);
        if (next == files.size()) return;
        i = next++;
        events.Show(fmt::format("{} of {}: {}", i + 1, files.size(), files[i]));
      }
      results[i] = SurveyOne(pool, options.read(files[i]), options.sketch);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(pools.size());
    for (const auto& pool : pools) threads.emplace_back(work, std::ref(*pool));
  }
  events.Clear();
  return results;
}

}  // namespace hone::jobs
