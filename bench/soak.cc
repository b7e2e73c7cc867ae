// Random steps over many programs, for as long as asked: no crash of the agent, flat memory, every
// death of a worker counted by the pass that did it.
#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "env/vector_env.h"

namespace hone::bench {
namespace {

std::atomic<bool> interrupted{false};

struct SoakOptions {
  std::string programs;
  int64_t steps = 100'000;
  std::string actions = "all";
  int traj_limit = 40;
  int workers = 2;
  size_t envs = 8;
  uint64_t seed = 1;
  double deadline = 10;
  double headroom_mib = 1024;
  int64_t most_transitions = 200'000;
  bool json = false;
};

nlohmann::json CountDeaths(const std::vector<Death>& deaths) {
  std::map<std::string, std::map<std::string, int64_t>> counts;
  for (const Death& death : deaths) {
    // Addresses and pids make each message its own.
    ++counts[death.doing][death.why.substr(0, 160)];
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [doing, whys] : counts) {
    int64_t sum = 0;
    std::string most;
    int64_t of_most = 0;
    for (const auto& [why, count] : whys) {
      sum += count;
      if (count > of_most) {
        most = why;
        of_most = count;
      }
    }
    list.push_back({{"doing", doing}, {"deaths", sum}, {"mostly", most}});
  }
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a["deaths"] > b["deaths"]; });
  return list;
}

struct Memory {
  int64_t steps;
  size_t agent;
  size_t largest_worker;
};

int Soak(const SoakOptions& options) {
  signal(SIGINT, [](int) { interrupted = true; });
  EnvOptions env_options;
  env_options.actions = options.actions;
  env_options.traj_limit = options.traj_limit;
  env_options.schedule = Schedule::kRandom;
  env_options.most_transitions = options.most_transitions;
  PoolOptions pool_options;
  pool_options.workers = options.workers;
  pool_options.pass_deadline_seconds = options.deadline;
  pool_options.headroom_bytes = static_cast<size_t>(options.headroom_mib * 1048576);
  pool_options.cache_bytes = pool_options.headroom_bytes / 4;
  const auto session = Session::Open(ReadPrograms(options.programs), env_options, pool_options);
  if (!session) {
    fmt::print(stderr, "hone-bench: {}\n", session.error().message);
    return 2;
  }
  Pool& pool = (*session)->pool();
  VectorEnv envs(*session, options.envs, Autoreset::kNextStep);
  envs.set_interrupted([] { return interrupted.load(); });
  Rng rng(options.seed);
  const auto actions = static_cast<size_t>((*session)->action_count());
  for (size_t i = 0; i < options.envs; ++i) envs.SendReset(i, options.seed + i);

  int64_t steps = 0;
  int64_t failed = 0;
  int64_t looked = 0;
  int64_t episodes = 0;
  size_t largest = 0;
  std::vector<Memory> memory;
  std::vector<float> opcodes(pool.opcodes().size());
  const Clock::time_point start = Clock::now();
  Clock::time_point said = start;
  int64_t next_look = 0;
  while (steps < options.steps && !interrupted) {
    for (size_t env : envs.Receive(1)) {
      const VectorEnv::Slot& slot = envs.slot(env);
      if (!slot.error) {
        fmt::print(stderr, "hone-bench: {}\n", slot.error.error().message);
        return 1;
      }
      WriteOpcodes(slot.env.view(), opcodes);
      if (slot.was_reset) {
        ++episodes;
      } else {
        ++steps;
        failed += !slot.outcome.error.empty();
        looked += slot.outcome.looked;
      }
      envs.Send(env, static_cast<int64_t>(rng.Below(actions)));
    }
    if (steps >= next_look) {
      next_look = steps + std::max<int64_t>(1, options.steps / 200);
      size_t now = 0;
      for (int pid : pool.pids()) now = std::max(now, ResidentBytes(pid));
      largest = std::max(largest, now);
      memory.push_back({steps, ResidentBytes(0), now});
    }
    if (Since(said) > 10) {
      said = Clock::now();
      fmt::print(stderr,
                 "{:.0f} s, {} steps, {:.0f}/s, {} failed, {} deaths, {} workers replaced, agent "
                 "{} MiB, worker {} MiB\n",
                 Since(start), steps, static_cast<double>(steps) / Since(start), failed,
                 pool.deaths().size(), pool.replaced(), ResidentBytes(0) >> 20,
                 memory.back().largest_worker >> 20);
    }
  }
  const double seconds = Since(start);
  envs.Receive(options.envs);

  // Flat: the highest of the last quarter against the highest of the third.
  size_t third = 0;
  size_t last = 0;
  for (const Memory& look : memory) {
    if (look.steps * 2 < steps) continue;
    (look.steps * 4 < steps * 3 ? third : last) =
        std::max(look.steps * 4 < steps * 3 ? third : last, look.agent);
  }
  const Timing spent = pool.timing();
  nlohmann::json passes = nlohmann::json::object();
  for (const auto& [what, count] : (*session)->failures()) {
    nlohmann::json& of = passes[pool.passes()[what.first].name];
    of = of.is_null() ? count : of.get<int64_t>() + count;
  }
  const nlohmann::json result{
      {"programs", (*session)->programs()},
      {"steps", steps},
      {"episodes", episodes},
      {"seconds", seconds},
      {"steps_per_second", static_cast<double>(steps) / seconds},
      {"looked_up", looked},
      {"failed", failed},
      {"failed_by_pass", passes},
      {"deaths", pool.deaths().size()},
      {"deaths_by_pass", CountDeaths(pool.deaths())},
      {"workers_replaced_for_memory", pool.replaced()},
      {"agent_mib_third_quarter", third >> 20},
      {"agent_mib_last_quarter", last >> 20},
      {"agent_growth", third == 0 ? 0 : static_cast<double>(last) / static_cast<double>(third) - 1},
      {"worker_seconds",
       {{"passes", spent.passes},
        {"copies", spent.clones},
        {"fingerprints", spent.fingerprints},
        {"rest", spent.other}}},
      {"bare_worker_mib", pool.bare_bytes() >> 20},
      {"largest_worker_mib", largest >> 20},
      {"worker_limit_mib", (pool.bare_bytes() + pool_options.headroom_bytes) >> 20},
  };
  fmt::print("{}\n", result.dump(options.json ? 2 : 1));
  return interrupted ? 130 : 0;
}

struct EpisodeOptions {
  std::string programs;
  int episodes = 200;
  std::string actions = "simplify";
  int traj_limit = 40;
  uint64_t seed = 1;
  double budget = 20;
};

// Random episodes whose end states are compared with the programs, numerically.
int Episodes(const EpisodeOptions& options) {
  signal(SIGINT, [](int) { interrupted = true; });
  EnvOptions env_options;
  env_options.actions = options.actions;
  env_options.traj_limit = options.traj_limit;
  PoolOptions pool_options;
  pool_options.pass_deadline_seconds = 10;
  const auto session = Session::Open(ReadPrograms(options.programs), env_options, pool_options);
  if (!session) {
    fmt::print(stderr, "hone-bench: {}\n", session.error().message);
    return 2;
  }
  Pool& pool = (*session)->pool();
  PassOrderEnv env(*session);
  const auto actions = static_cast<size_t>((*session)->action_count());
  std::map<std::string, int64_t> verdicts;
  nlohmann::json rest = nlohmann::json::array();
  for (int episode = 0; episode < options.episodes && !interrupted; ++episode) {
    Rng rng = EpisodeRng(options.seed, episode);
    if (Status reset = env.Reset(); !reset) break;
    while (env.running()) {
      if (!env.Step(static_cast<int64_t>(rng.Below(actions)))) break;
    }
    const StateName start{env.view().state.program, {}};
    CompareOptions compare;
    compare.inputs = 1;
    compare.seed = options.seed;
    compare.budget_seconds = options.budget;
    std::string verdict = "unchanged";
    std::string why;
    if (!env.view().state.links.empty()) {
      const auto report = pool.Compare(start, env.view().state, compare);
      verdict = !report                                     ? "not compared"
                : report->verdict == Verdict::kEqual        ? "equal"
                : report->verdict == Verdict::kDifferent    ? "different"
                                                            : "cannot tell";
      why = report ? report->reason : report.error().message;
    }
    ++verdicts[verdict];
    const std::string& name = (*session)->name(env.view().program);
    if (verdict != "equal" && verdict != "unchanged") {
      rest.push_back({{"program", name},
                      {"episode", episode},
                      {"verdict", verdict},
                      {"why", why},
                      {"passes", env.MakeRecipe().passes}});
    }
    fmt::print(stderr, "{:4} {} {} {}\n", episode, name, verdict, why);
  }
  fmt::print("{}\n", nlohmann::json{{"verdicts", verdicts}, {"not_equal", rest}}.dump(2));
  return interrupted ? 130 : verdicts.count("different") != 0 ? 3 : 0;
}

}  // namespace

void AddSoak(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SoakOptions>();
  options->programs = HONE_DATA;
  CLI::App* command = app.add_subcommand(
      "soak", "random steps for a long time: deaths by pass, memory of agent and workers");
  command->add_option("--programs", options->programs, "an HLO file or a folder of them")
      ->check(CLI::ExistingPath);
  command->add_option("--steps", options->steps)->capture_default_str();
  command->add_option("--actions", options->actions)->capture_default_str();
  command->add_option("--traj-limit", options->traj_limit)->capture_default_str();
  command->add_option("--workers", options->workers)->capture_default_str();
  command->add_option("--envs", options->envs)->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_option("--deadline", options->deadline, "seconds a pass")->capture_default_str();
  command
      ->add_option("--headroom", options->headroom_mib, "MiB a worker, beside the bare library")
      ->capture_default_str();
  command->add_option("--transitions", options->most_transitions, "remembered at most")
      ->capture_default_str();
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = Soak(*options); });
}

void AddEpisodes(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EpisodeOptions>();
  options->programs = HONE_DATA;
  CLI::App* command =
      app.add_subcommand("episodes", "random episodes whose end states are verified numerically");
  command->add_option("--programs", options->programs, "an HLO file or a folder of them")
      ->check(CLI::ExistingPath);
  command->add_option("--episodes", options->episodes)->capture_default_str();
  command->add_option("--actions", options->actions)->capture_default_str();
  command->add_option("--traj-limit", options->traj_limit)->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_option("--budget", options->budget, "seconds a comparison")->capture_default_str();
  command->callback([options, &exit_code] { exit_code = Episodes(*options); });
}

}  // namespace hone::bench
