#include "compiler/run/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/run/compile.h"
#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
#include "compiler/run/stand_in.h"
#include "core/median.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

tl::unexpected<Error> CannotRace(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "its run time cannot be measured: " + why);
}

class PreparedRacer : public Racer {
 public:
  PreparedRacer(Program compiled, double compile_time, Arrays values)
      : program(std::move(compiled)), compile_seconds(compile_time), inputs(std::move(values)) {}

  const Program program;
  const double compile_seconds;
  const Arrays inputs;
  DeviceArrays arguments;  // point into `inputs`
  Fingerprint fingerprint;
};

const PreparedRacer& Prepared(const Racer& racer) {
  return static_cast<const PreparedRacer&>(racer);
}

// Seconds of one run, over `repeats`; negative, with `error` set, where a run fails.
double Sample(const Program& program, const DeviceArrays& arguments, int64_t repeats,
              std::string* error) {
  const Clock::time_point begin = Clock::now();
  for (int64_t k = 0; k < repeats; ++k) {
    const absl::Status status = program.RunAndDrop(arguments);
    if (!status.ok()) {
      *error = std::string(status.message());
      return -1;
    }
  }
  return Since(begin) / static_cast<double>(repeats);
}

// The 95 % interval of the median: the k-th smallest and the k-th largest, with the largest k for
// which a binomial variable of n fair coins is below k at most 2.5 % of the time.
void Interval(std::vector<double> ratios, RaceReport* report) {
  std::sort(ratios.begin(), ratios.end());
  const int n = static_cast<int>(ratios.size());
  report->pairs = n;
  report->speedup = n % 2 == 1 ? ratios[n / 2] : std::sqrt(ratios[n / 2 - 1] * ratios[n / 2]);
  if (n < 6) {  // no two of them enclose the median with 95 %
    report->low = 0;
    report->high = std::numeric_limits<double>::infinity();
    return;
  }
  double below = 0;
  int k = 0;
  for (; k < n / 2; ++k) {
    const double log_term = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                            static_cast<double>(n) * std::log(2.0);
    below += std::exp(log_term);
    if (below > 0.025) break;
  }
  const int rank = std::max(k, 1);
  report->low = ratios[rank - 1];
  report->high = ratios[n - rank];
}

}  // namespace

StatusOr<std::unique_ptr<Racer>> Racer::Prepare(const xla::HloModule& module, uint64_t seed,
                                                const CompilePlan& plan) {
  if (auto why = WhyNotRunnableAsIs(module)) return CannotRace(*why);
  xla::DebugOptions flags;
  if (Status set = SetFlags(plan.flags, &flags); !set) return tl::unexpected(set.error());
  const Clock::time_point start = Clock::now();
  CompileDecider decider(plan);
  auto program = Program::Compile(module, CodeQuality::kStock, &decider, plan);
  if (!program.ok()) return CannotRace(std::string(program.status().message()));
  const double compile_seconds = Since(start);
  auto inputs = MakeInputs(FindInputRoles(module), InputKind::kSigned, seed);
  if (!inputs.ok()) return CannotRace(std::string(inputs.status().message()));
  auto racer =
      std::make_unique<PreparedRacer>(*std::move(program), compile_seconds, *std::move(inputs));
  auto arguments = ToDevice(racer->inputs);
  if (!arguments.ok()) return CannotRace(std::string(arguments.status().message()));
  racer->arguments = *std::move(arguments);
  auto optimised = racer->program.Optimised();
  if (optimised.ok()) {
    racer->fingerprint = ExecutableFingerprint(**optimised, decider.hidden(), plan);
  }
  return racer;
}

StatusOr<RaceReport> Race(const Racer& racer_a, const Racer& racer_b, const RaceOptions& options) {
  const PreparedRacer& a = Prepared(racer_a);
  const PreparedRacer& b = Prepared(racer_b);
  RaceReport report;
  report.compile_seconds_a = a.compile_seconds;
  report.compile_seconds_b = b.compile_seconds;
  report.executable_a = a.fingerprint;
  report.executable_b = b.fingerprint;
  if (!(a.fingerprint == Fingerprint{}) && a.fingerprint == b.fingerprint) {
    report.same_executable = true;
    return report;
  }
  const Clock::time_point start = Clock::now();
  std::string error;
  // The first run of each finds caches and pages cold. The second tells how often to repeat.
  double longest = 0;
  for (int round = 0; round < 2; ++round) {
    const double seconds_a = Sample(a.program, a.arguments, 1, &error);
    const double seconds_b = Sample(b.program, a.arguments, 1, &error);
    if (!error.empty()) return CannotRace(error);
    longest = std::max(seconds_a, seconds_b);
  }
  const int64_t repeats = std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(options.least_sample_seconds / std::max(longest, 1e-7))));
  std::vector<double> times_a, times_b, ratios;
  int next_look = options.least_pairs;
  while (static_cast<int>(ratios.size()) < options.most_pairs) {
    const bool a_first = ratios.size() % 2 == 0;
    double seconds[2];
    for (const bool first : {true, false}) {
      const bool is_a = first == a_first;
      seconds[is_a ? 0 : 1] = Sample(is_a ? a.program : b.program, a.arguments, repeats, &error);
      if (!error.empty()) return CannotRace(error);
    }
    times_a.push_back(seconds[0]);
    times_b.push_back(seconds[1]);
    ratios.push_back(seconds[0] / seconds[1]);
    const int pairs = static_cast<int>(ratios.size());
    // Fewer pairs than least_pairs decide nothing: slow programs get some more time.
    const double budget = (pairs < options.least_pairs ? 4 : 1) * options.budget_seconds;
    if (Since(start) > budget) break;
    // Looked at rarely, for each look is another chance to be wrong.
    if (pairs < next_look) continue;
    next_look = pairs + pairs / 2;
    Interval(ratios, &report);
    const bool decided = report.low > 1 || report.high < 1;
    const bool alike =
        report.low > 1 - options.indifferent && report.high < 1 + options.indifferent;
    if (decided || alike) break;
  }
  Interval(ratios, &report);
  report.seconds_a = Median(times_a);
  report.seconds_b = Median(times_b);
  return report;
}

StatusOr<RaceReport> Race(const xla::HloModule& a, const xla::HloModule& b,
                          const RaceOptions& options) {
  auto racer_a = Racer::Prepare(a, options.seed);
  if (!racer_a) return tl::unexpected(racer_a.error());
  auto racer_b = Racer::Prepare(b, options.seed);
  if (!racer_b) return tl::unexpected(racer_b.error());
  return Race(**racer_a, **racer_b, options);
}

}  // namespace hone::compiler
