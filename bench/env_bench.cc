// What an environment costs: its steps against the tightest loop over the same passes on the same
// modules, in turns, so that both see the same machine.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "env/vector_env.h"

namespace hone::bench {
namespace {

constexpr int kTurns = 5;

struct EnvBenchOptions {
  std::string program;
  double seconds = 10;
  std::string actions = "simplify";
  int traj_limit = 40;
  uint64_t seed = 1;
  bool json = false;
};

struct Rate {
  int64_t steps = 0;
  double seconds = 0;
  int64_t episodes = 0;
  double PerSecond() const { return seconds > 0 ? static_cast<double>(steps) / seconds : 0; }
};

// One episode of random actions, the same as the raw loop's of that number. Returns its steps.
StatusOr<int64_t> RunEpisode(PassOrderEnv& env, uint64_t seed, int64_t episode) {
  Rng rng = EpisodeRng(seed, episode);
  std::vector<float> opcodes(env.session()->pool().opcodes().size());
  const auto actions = static_cast<size_t>(env.session()->action_count());
  if (Status reset = env.Reset(); !reset) return tl::unexpected(reset.error());
  int64_t steps = 0;
  while (env.running()) {
    const StatusOr<Outcome> outcome = env.Step(static_cast<int64_t>(rng.Below(actions)));
    if (!outcome) return tl::unexpected(outcome.error());
    WriteOpcodes(env.view(), opcodes);
    ++steps;
  }
  return steps;
}

// Goes on until there are `last` episodes or the time is up.
Status RunEpisodes(PassOrderEnv& env, const EnvBenchOptions& options, int64_t last, double seconds,
                   Rate& rate) {
  const Clock::time_point start = Clock::now();
  while (rate.episodes < last && Since(start) < seconds) {
    const StatusOr<int64_t> steps = RunEpisode(env, options.seed, rate.episodes++);
    if (!steps) return tl::unexpected(steps.error());
    rate.steps += *steps;
  }
  rate.seconds += Since(start);
  return {};
}

// Revisited transitions alone: the first episodes over and over, timed from the second time on.
Status RunKnown(PassOrderEnv& env, const EnvBenchOptions& options, double seconds, Rate& rate) {
  constexpr int64_t kEpisodes = 20;
  Rate warm;
  if (Status ran = RunEpisodes(env, options, kEpisodes, 1e9, warm); !ran) return ran;
  while (rate.seconds < seconds) {
    rate.episodes = 0;
    if (Status ran = RunEpisodes(env, options, kEpisodes, 1e9, rate); !ran) return ran;
  }
  return {};
}

// Steps a second of `count` environments over the session's workers, each going on when it can.
StatusOr<double> RunMany(const std::shared_ptr<Session>& session, size_t count, uint64_t seed,
                         double seconds) {
  VectorEnv envs(session, count, Autoreset::kNextStep);
  Rng rng(seed);
  const auto actions = static_cast<size_t>(session->action_count());
  for (size_t i = 0; i < count; ++i) envs.SendReset(i, seed + i);
  int64_t steps = 0;
  const Clock::time_point start = Clock::now();
  while (Since(start) < seconds) {
    for (size_t env : envs.Receive(1)) {
      if (!envs.slot(env).error) return tl::unexpected(envs.slot(env).error.error());
      if (!envs.slot(env).was_reset) ++steps;
      envs.Send(env, static_cast<int64_t>(rng.Below(actions)));
    }
  }
  return static_cast<double>(steps) / Since(start);
}

StatusOr<nlohmann::json> Measure(const EnvBenchOptions& options) {
  EnvOptions env_options;
  env_options.actions = options.actions;
  env_options.traj_limit = options.traj_limit;
  PoolOptions pool_options;
  pool_options.headroom_bytes = size_t{1} << 30;
  pool_options.cache_bytes = size_t{1} << 28;
  const auto open = [&](bool table, int workers) {
    EnvOptions own = env_options;
    own.use_table = table;
    PoolOptions pool = pool_options;
    pool.workers = workers;
    return Session::Open({{options.program, ReadFile(options.program)}}, own, pool);
  };
  auto session = open(false, 1);
  if (!session) return tl::unexpected(session.error());
  PassOrderEnv env(*session);
  if (Status reset = env.Reset(); !reset) return tl::unexpected(reset.error());
  std::vector<double> resets;
  for (int i = 0; i < 20; ++i) {
    const Clock::time_point start = Clock::now();
    if (Status reset = env.Reset(); !reset) return tl::unexpected(reset.error());
    resets.push_back(Since(start));
    (void)env.Step(0);
  }

  const Timing timing_before = (*session)->pool().timing();
  // A third of the time for the peer, a third for the environment, the rest for the others.
  const double turn = options.seconds / 3 / kTurns;
  Rate raw;
  Rate fresh;
  int64_t raw_deaths = 0;
  double raw_failures = 0;
  std::vector<double> ratios;
  RawLoopOptions loop;
  loop.actions = (*session)->actions();
  loop.seed = options.seed;
  loop.length = options.traj_limit;
  loop.seconds = turn;
  for (int i = 0; i < kTurns; ++i) {
    const Rate raw_before = raw;
    const Rate fresh_before = fresh;
    fresh.episodes = raw.episodes;
    loop.first_episode = raw.episodes;
    const ProgramId program = env.view().state.program;
    const auto result = (*session)->pool().On(
        0, [&](RemoteWorker& remote) { return remote.RawLoop(program, loop); });
    if (result) {
      raw.steps += result->steps;
      raw.episodes += result->episodes;
      raw_failures += static_cast<double>(result->failures);
      raw.seconds += result->seconds;
    } else {
      ++raw_deaths;  // that turn does not count; the next begins further on
      raw.episodes += 1000;
      continue;
    }
    if (Status ran = RunEpisodes(env, options, raw.episodes, 1e9, fresh); !ran) {
      return tl::unexpected(ran.error());
    }
    Rate a{raw.steps - raw_before.steps, raw.seconds - raw_before.seconds};
    Rate b{fresh.steps - fresh_before.steps, fresh.seconds - fresh_before.seconds};
    ratios.push_back(b.PerSecond() / a.PerSecond());
  }
  const Timing spent = (*session)->pool().timing() - timing_before;

  auto with_table = open(true, 1);
  if (!with_table) return tl::unexpected(with_table.error());
  PassOrderEnv table_env(*with_table);
  Rate table;
  Rate known;
  if (Status ran = RunEpisodes(table_env, options, raw.episodes, options.seconds / 6, table);
      !ran) {
    return tl::unexpected(ran.error());
  }
  if (Status ran = RunKnown(table_env, options, options.seconds / 12, known); !ran) {
    return tl::unexpected(ran.error());
  }
  auto two_workers = open(false, 2);
  if (!two_workers) return tl::unexpected(two_workers.error());
  const auto one = RunMany(*session, 4, options.seed, options.seconds / 12);
  const auto two = RunMany(*two_workers, 8, options.seed, options.seconds / 12);
  if (!one || !two) return tl::unexpected(one ? two.error() : one.error());

  return nlohmann::json{
      {"program", options.program},
      {"instructions", env.view().initial_op_count},
      {"actions", options.actions},
      {"traj_limit", options.traj_limit},
      {"raw_steps_per_second", raw.PerSecond()},
      {"env_steps_per_second", fresh.PerSecond()},
      {"ratio", fresh.PerSecond() / std::max(1e-9, raw.PerSecond())},
      {"median_turn_ratio", Median(ratios)},
      {"table_steps_per_second", table.PerSecond()},
      {"memo_steps_per_second", known.PerSecond()},
      {"one_worker_steps_per_second", *one},
      {"two_workers_steps_per_second", *two},
      {"two_workers_ratio", *two / *one},
      {"reset_milliseconds", 1e3 * Median(resets)},
      {"raw_failures_per_step", raw_failures / std::max(1.0, static_cast<double>(raw.steps))},
      {"env_seconds",
       {{"all", fresh.seconds},
        {"passes", spent.passes},
        {"copies", spent.clones},
        {"fingerprints", spent.fingerprints},
        {"rest_of_worker", spent.other - raw.seconds}}},
      {"raw_deaths", raw_deaths},
      {"env_deaths", (*session)->pool().deaths().size()},
  };
}

int EnvBench(const EnvBenchOptions& options) {
  const auto result = Measure(options);
  if (!result) {
    fmt::print(stderr, "hone-bench: {}: {}\n", options.program, result.error().message);
    return result.error().code == ErrorCode::kInvalidInput ? 2 : 1;
  }
  if (options.json) {
    fmt::print("{}\n", result->dump(2));
    return 0;
  }
  const auto get = [&](const char* name) { return (*result)[name].get<double>(); };
  fmt::print(
      "{}, {} instructions, random `{}`, {} steps an episode\n"
      "  the passes alone, in a loop         {:8.0f} steps/s\n"
      "  environment, every pass run         {:8.0f} steps/s, ratio {:.3f}\n"
      "  environment with transition table   {:8.0f} steps/s\n"
      "  revisited transitions               {:8.0f} steps/s\n"
      "  4 environments on one worker        {:8.0f} steps/s\n"
      "  8 environments on two workers       {:8.0f} steps/s, ratio {:.2f}\n"
      "  reset of a known program            {:8.3f} ms\n",
      options.program, (*result)["instructions"].get<int64_t>(), options.actions,
      options.traj_limit, get("raw_steps_per_second"), get("env_steps_per_second"), get("ratio"),
      get("table_steps_per_second"), get("memo_steps_per_second"),
      get("one_worker_steps_per_second"), get("two_workers_steps_per_second"),
      get("two_workers_ratio"), get("reset_milliseconds"));
  return 0;
}

}  // namespace

void AddEnvBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EnvBenchOptions>();
  options->program = HONE_DATA "/bert/hf_train_mlm_l2_d128_adamw.hlo";
  CLI::App* command =
      app.add_subcommand("env", "the pass-order environment against the passes alone");
  command->add_option("--program", options->program, "an HLO file")->check(CLI::ExistingFile);
  command->add_option("--seconds", options->seconds, "of measuring, about")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--actions", options->actions, "simplify, all, or names with commas")
      ->capture_default_str();
  command->add_option("--traj-limit", options->traj_limit, "steps an episode")
      ->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = EnvBench(*options); });
}

}  // namespace hone::bench
