#include "jobs/train_loops.h"

#include <chrono>
#include <string>
#include <utility>

#include "learn/loops_task.h"
#include "loops/policy.h"

namespace hone::jobs {

tl::expected<Trained, FileError> TrainLoops(const TrainLoopsOptions& options, Events& events) {
  const auto start = std::chrono::steady_clock::now();
  if (options.config.network != "offers") {
    return tl::unexpected(
        FileError{"",
                  {ErrorCode::kInvalidInput,
                   "with --loops the network is offers, which is what `hone loops tune` can use"}});
  }
  SetThreads(options.threads);
  auto task = learn::MakeLoopsTask({options.environments, options.env, events.stop()});
  if (!task) return tl::unexpected(FileError{"", task.error()});
  const auto learner =
      learn::FindLearner(options.algorithm)->make(*std::move(task), options.config);
  TrainingHooks hooks;
  hooks.write_card = [&](policy::PolicyFile& file) {
    auto& metadata = file.metadata;
    metadata[policy::kMetadataFormat] = loops::kLoopsPolicyFormat;
    metadata["measure"] = options.env.estimate ? "estimate" : "time";
    metadata["reward"] = options.env.immediate ? "immediate" : "final";
    metadata["steps_a_nest"] = std::to_string(options.env.steps_a_nest);
    metadata["tasks"] = std::to_string(options.env.tasks.size());
    metadata["drawn"] = std::to_string(options.drawn);
    metadata["drawn_seed"] = std::to_string(options.drawn_seed);
  };
  return RunTraining(options, hooks, events, *learner, start);
}

}  // namespace hone::jobs
