#include "cli/train_loops.h"

#include "jobs/schedule_loops.h"
#include "loops/estimate.h"
#include "loops/tasks.h"

namespace hone::cli {

void AddLoopsTraining(CLI::App& app, LoopsTrainingOptions& options) {
  CLI::Option* const loops =
      app.add_flag("--loops", options.on,
                   "on schedules of loop nests: PROGRAM is a task of `hone loops list`, or a file");
  app.add_option("--drawn", options.drawn,
                 "of --loops: so many tasks of common kinds besides, in sizes drawn by the seed")
      ->check(CLI::Range(0, 100'000).description(""))
      ->needs(loops);
  app.add_option("--measure", options.measure,
                 "of --loops: time (kernels run), estimate (a cost that needs no hone-loops)")
      ->check(CLI::IsMember({"time", "estimate"}))
      ->capture_default_str()
      ->needs(loops);
  app.add_option("--steps-a-nest", options.steps_a_nest, "of --loops: decisions, on the average")
      ->check(CLI::Range(1, 100).description(""))
      ->capture_default_str()
      ->needs(loops);
  for (const char* name :
       {"--split", "--features", "--objective", "--actions", "--reward", "--shaping",
        "--traj-limit", "--no-table", "--act-only", "--imitate", "--imitate-epochs"}) {
    loops->excludes(app.get_option(name));
  }
}

tl::expected<jobs::TrainLoopsOptions, jobs::FileError> LoopsJobFor(
    const LoopsTrainingOptions& options, const std::vector<std::string>& tasks, int64_t seed,
    bool sandbox) {
  jobs::TrainLoopsOptions job;
  for (const std::string& given : tasks) {
    StatusOr<std::string> text = jobs::ReadTaskText(given);
    if (!text) return tl::unexpected(jobs::FileError{given, text.error()});
    if (const auto task = loops::ParseTask(*text); !task) {
      return tl::unexpected(jobs::FileError{given, task.error()});
    }
    job.env.tasks.push_back(*std::move(text));
  }
  job.drawn = options.drawn;
  job.drawn_seed = static_cast<uint64_t>(seed);
  for (const loops::KnownTask& task : loops::DrawTasks(job.drawn, job.drawn_seed)) {
    job.env.tasks.push_back(task.text);
  }
  if (job.env.tasks.empty()) {
    return tl::unexpected(jobs::FileError{
        "",
        {ErrorCode::kInvalidInput,
         "--loops is without tasks; name some of `hone loops list`, or have some drawn: "
         "--drawn 100"}});
  }
  job.env.estimate = options.measure == "estimate";
  job.env.machine = job.env.estimate ? loops::kEstimatedMachine : loops::ThisMachine();
  job.env.steps_a_nest = options.steps_a_nest;
  job.env.sandbox = sandbox;
  return job;
}

}  // namespace hone::cli
