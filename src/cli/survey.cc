#include "cli/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/input.h"
#include "cli/progress.h"

namespace hone::cli {
namespace {

StatusOr<Surveyed> SurveyOne(Pool& pool, const std::string& path, size_t most_bytes, bool sketch) {
  const StatusOr<ProgramInfo> program = LoadProgram(pool, path, most_bytes);
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

StatusOr<std::vector<StatusOr<Surveyed>>> Survey(const CommonOptions& options,
                                                 const std::string& folder,
                                                 const std::vector<std::string>& files,
                                                 bool sketch) {
  // A pool has its first worker load and describe, so each thread has a pool of one.
  CommonOptions alone = options;
  alone.workers = 1;
  std::vector<std::unique_ptr<Pool>> pools;
  while (pools.size() < std::min(static_cast<size_t>(options.workers), files.size())) {
    auto pool = StartPool(alone);
    if (!pool) return tl::unexpected(pool.error());
    pools.push_back(*std::move(pool));
  }
  std::vector<StatusOr<Surveyed>> results(files.size());
  Progress progress(options.ShowProgress());
  std::mutex mutex;  // of the progress and the next file
  size_t next = 0;
  const auto work = [&](Pool& pool) {
    for (;;) {
      size_t i;
      {
        const std::lock_guard lock(mutex);
        if (next == files.size()) return;
        i = next++;
        progress.Show(fmt::format("{} of {}: {}", i + 1, files.size(), files[i]));
      }
      const std::string path = (std::filesystem::path(folder) / files[i]).string();
      results[i] = SurveyOne(pool, path, options.MostInputBytes(), sketch);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(pools.size());
    for (const auto& pool : pools) threads.emplace_back(work, std::ref(*pool));
  }
  progress.Clear();
  return results;
}

}  // namespace hone::cli
