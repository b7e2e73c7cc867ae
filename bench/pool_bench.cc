// What workers cost: starting, dying, and how fast passes run through the pool, against the same
// passes with a copy of the program for every sequence (what one would write first).
#include <fmt/format.h>
#include <signal.h>

#include "bench.h"
#include "env/pass_order.h"
#include "core/rng.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::bench {
namespace {

// Sequences of random simplifiers, each from a fresh copy or through memory and cache.
double PassesPerSecond(Pool& pool, const ProgramInfo& program, bool fresh, double seconds) {
  const std::vector<PassId> actions = *ActionSet(pool.passes(), "simplify");
  Rng rng(1);
  int64_t steps = 0;
  const Clock::time_point start = Clock::now();
  while (Since(start) < seconds) {
    ApplyRequest request;
    request.from.program = program.id;
    request.options.fresh = fresh;
    for (int i = 0; i < 40; ++i) request.passes.push_back(rng.Pick(actions));
    const auto applied = pool.Apply(request);
    if (applied) steps += static_cast<int64_t>(applied->steps.size());
  }
  return static_cast<double>(steps) / Since(start);
}

int PoolBench(const std::string& file) {
  std::vector<double> starts;
  for (int i = 0; i < 5; ++i) {
    const Clock::time_point start = Clock::now();
    if (!Pool::Start({})) return 1;
    starts.push_back(Since(start));
  }
  fmt::print("worker start-up to its first answer    {:.3f} s (median of 5)\n", Median(starts));

  auto pool = *Pool::Start({});
  const auto program = pool->Load(ReadFile(file));
  if (!program) {
    fmt::print(stderr, "{}: {}\n", file, program.error().message);
    return 2;
  }
  fmt::print("program                                {}, {} instructions\n", file,
             program->metrics.op_count);
  ApplyRequest request;
  request.from.program = program->id;
  request.passes = *DefaultOrder(*pool, *program, *ActionSet(pool->passes(), "simplify"));
  (void)pool->Apply(request);
  std::vector<double> costs;
  for (int i = 0; i < 5; ++i) {
    request.options.fresh = true;
    Clock::time_point start = Clock::now();
    (void)pool->Apply(request);
    const double undisturbed = Since(start);
    for (int pid : pool->pids()) kill(pid, SIGKILL);
    start = Clock::now();
    (void)pool->Apply(request);
    costs.push_back(Since(start) - undisturbed);
  }
  fmt::print("a worker killed from outside costs     {:.3f} s (median of 5)\n", Median(costs));

  const double copying = PassesPerSecond(*pool, *program, true, 5);
  const double pooled = PassesPerSecond(*pool, *program, false, 5);
  fmt::print("random simplifiers, a copy a sequence  {:.0f} passes/s\n", copying);
  fmt::print("the same through states and memory     {:.0f} passes/s, ratio {:.2f}\n", pooled,
             pooled / copying);

  OptimizeOptions options;
  options.budget_seconds = 10;
  options.verify = false;
  const auto result = Optimize(*pool, *program, options);
  if (!result) return 1;
  fmt::print(
      "hone optimize, local search, 1 worker  {:.0f} steps/s, {:.0f} passes run/s; {:.1f} % of "
      "the time inside XLA ({:.1f} % in passes)\n",
      static_cast<double>(result->steps) / result->search_seconds,
      static_cast<double>(result->timing.passes_run) / result->search_seconds,
      100 * result->timing.InXla() / result->search_seconds,
      100 * result->timing.passes / result->search_seconds);
  return 0;
}

}  // namespace

void AddPoolBench(CLI::App& app, int& exit_code) {
  auto file = std::make_shared<std::string>(HONE_DATA "/bert/hf_train_mlm_l2_d128_adamw.hlo");
  CLI::App* command = app.add_subcommand("pool", "workers: start-up, deaths, passes a second");
  command->add_option("--program", *file, "an HLO file")->check(CLI::ExistingFile);
  command->callback([file, &exit_code] { exit_code = PoolBench(*file); });
}

}  // namespace hone::bench
