// Tasks under a schedule against stock XLA:CPU, in turns. They run in processes of their own, for
// MLIR's LLVM and XLA's must not meet; so one has the machine while the other waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "core/median.h"
#include "loops/default_schedule.h"
#include "loops/hlo.h"
#include "loops/tasks.h"
#include "loops/tune.h"
#include "loops/verify.h"
#include "wire/pool.h"

namespace hone::bench {
namespace {

struct XlaOptions {
  std::string filter;
  double tune_seconds = 0;
  std::string search = "local";
  double most_gflop = 1e9;
  int rounds = 7;
  int threads = 0;
};

struct Row {
  double ours = 0;
  double xla = 0;
  MedianInterval ratio;
};

// Alternating samples: a few runs of XLA's executable, then as much of ours.
StatusOr<Row> Measure(Pool& pool, loops::Generator& generator, const loops::Kernel& kernel,
                      const XlaOptions& options, int threads) {
  const StatusOr<ProgramInfo> loaded = pool.Load(loops::HloText(*kernel.task));
  if (!loaded) return tl::unexpected(loaded.error());
  StateName state;
  state.program = loaded->id;
  Row row;
  std::vector<double> ratios, ours, theirs;
  for (int round = 0; round <= options.rounds; ++round) {
    RunTimeOptions run;
    run.runs = 3;
    run.least_seconds = 0.05;
    const auto xla = pool.On(0, [&](RemoteWorker& worker) { return worker.RunTime(state, run); });
    if (!xla) return tl::unexpected(xla.error());
    const double seconds = Median(xla->seconds);
    const int repeats = static_cast<int>(std::clamp(0.005 / seconds, 1.0, 1000.0));
    const int pairs = static_cast<int>(std::clamp(0.05 / (seconds * repeats * 2), 2.0, 20.0));
    const auto mine = generator.Time(kernel, kernel, {}, 0, pairs, repeats, false, threads);
    if (!mine) return tl::unexpected(mine.error());
    std::vector<double> samples;
    for (const PairTimes& pair : *mine) {
      samples.push_back(pair.a);
      samples.push_back(pair.b);
    }
    if (round == 0) continue;  // caches, pages
    ours.push_back(Median(samples));
    theirs.push_back(seconds);
    ratios.push_back(theirs.back() / ours.back());
  }
  pool.Unload(loaded->id);
  row.ours = Median(ours);
  row.xla = Median(theirs);
  row.ratio = IntervalOfMedian(ratios);
  return row;
}

int RunXla(const XlaOptions& options) {
  auto generator = loops::Generator::Start({});
  PoolOptions pool_options;
  auto pool = Pool::Start(pool_options);
  if (!generator || !pool) {
    std::fprintf(stderr, "%s\n", (!generator ? generator.error() : pool.error()).message.c_str());
    return 3;
  }
  const loops::Machine machine = loops::ThisMachine(options.threads);
  std::map<std::string, std::vector<double>> kinds;
  fmt::print("{:<32} {:>10} {:>10} {:>9} {:>8} {:>17}  {}\n", "TASK", "XLA ms", "OURS ms",
             "GFLOP/s", "RATIO", "95 %", "VERIFIED");
  for (const loops::KnownTask& known : loops::KnownTasks()) {
    if (known.name.find(options.filter) == std::string::npos) continue;
    const auto task = loops::ParseTask(known.text);
    if (loops::Flops(*task) > options.most_gflop * 1e9) continue;
    loops::Schedule schedule = loops::DefaultSchedule(loops::Expand(*task), machine);
    if (options.tune_seconds > 0) {
      loops::TuneOptions tune;
      tune.budget_seconds = options.tune_seconds;
      tune.search.search = options.search;
      tune.machine = machine;
      const auto tuned = loops::Tune(**generator, *task, tune);
      if (tuned) schedule = tuned->schedule;
    }
    const auto kernel = loops::MakeKernel(*task, schedule);
    CompareOptions compare = loops::UsualComparison();
    compare.inputs = 1;
    const ComparisonReport verified = loops::Verify(**generator, *kernel, compare);
    const auto row = Measure(**pool, **generator, *kernel, options, machine.threads);
    if (!row) {
      fmt::print("{:<32} {}\n", known.name, row.error().message);
      continue;
    }
    fmt::print("{:<32} {:>10.4g} {:>10.4g} {:>9.4g} {:>8.3f} {:>17}  {}\n", known.name,
               1e3 * row->xla, 1e3 * row->ours, loops::Flops(*task) / row->ours / 1e9,
               row->ratio.median, fmt::format("[{:.3f}, {:.3f}]", row->ratio.low, row->ratio.high),
               verified.verdict == Verdict::kEqual ? "true" : verified.reason);
    std::fflush(stdout);
    kinds[known.kind].push_back(std::log(row->ratio.median));
  }
  double sum = 0;
  size_t count = 0;
  for (const auto& [kind, logs] : kinds) {
    double total = 0;
    for (const double value : logs) total += value;
    sum += total;
    count += logs.size();
    fmt::print("{:<32} {:>40.3f}\n", kind + ", geometric mean",
               std::exp(total / static_cast<double>(logs.size())));
  }
  if (count > 0) {
    fmt::print("{:<32} {:>40.3f}\n", "all", std::exp(sum / static_cast<double>(count)));
  }
  return 0;
}

}  // namespace

void AddXla(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<XlaOptions>();
  CLI::App* const xla = app.add_subcommand("xla", "tasks against stock XLA:CPU");
  xla->add_option("--filter", options->filter, "only tasks with this in their names");
  xla->add_option("--tune", options->tune_seconds, "seconds of search for each task");
  xla->add_option("--search", options->search, "by which searcher");
  xla->add_option("--most-gflop", options->most_gflop, "only tasks up to this");
  xla->add_option("--rounds", options->rounds, "turns");
  xla->add_option("--threads", options->threads, "of ours; the machine's unless given");
  xla->callback([options, &exit_code] { exit_code = RunXla(*options); });
}

}  // namespace hone::bench
