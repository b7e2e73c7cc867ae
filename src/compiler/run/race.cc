#include "compiler/run/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "compiler/run/compile.h"
#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/shared_inputs.h"
#include "compiler/run/stand_in.h"
#include "core/race_tally.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongRun = 0.05;  // seconds

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

tl::unexpected<Error> CannotRace(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "its run time cannot be measured: " + why);
}

class PreparedRacer : public Racer {
 public:
  PreparedRacer(Program compiled, double compile_time)
      : program(std::move(compiled)), compile_seconds(compile_time) {}

  const Program program;
  const double compile_seconds;
  std::shared_ptr<const Arrays> inputs;
  DeviceArrays arguments;  // point into `inputs`
  Fingerprint fingerprint;
};

const PreparedRacer& Prepared(const Racer& racer) {
  return static_cast<const PreparedRacer&>(racer);
}

// Seconds of one run, over `repeats`; negative, with `error` set, where a run fails.
double Timed(const Program& program, const DeviceArrays& arguments, int64_t repeats,
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

// Without inputs.
StatusOr<std::unique_ptr<PreparedRacer>> Compiled(const xla::HloModule& module,
                                                  const CompilePlan& plan) {
  if (auto why = WhyNotRunnableAsIs(module)) return CannotRace(*why);
  xla::DebugOptions flags;
  if (Status set = SetFlags(plan.flags, &flags); !set) return tl::unexpected(set.error());
  const Clock::time_point start = Clock::now();
  CompileDecider decider(plan);
  auto program = Program::Compile(module, CodeQuality::kStock, &decider, plan);
  if (!program.ok()) return CannotRace(std::string(program.status().message()));
  const double compile_seconds = Since(start);
  auto racer = std::make_unique<PreparedRacer>(*std::move(program), compile_seconds);
  auto optimised = racer->program.Optimised();
  if (optimised.ok()) {
    racer->fingerprint = ExecutableFingerprint(**optimised, decider.hidden(), plan);
  }
  return racer;
}

Status PlaceInputs(PreparedRacer& racer) {
  auto arguments = racer.program.Place(*racer.inputs);
  if (!arguments.ok()) return CannotRace(std::string(arguments.status().message()));
  racer.arguments = *std::move(arguments);
  return {};
}

}  // namespace

StatusOr<std::unique_ptr<Racer>> Racer::Prepare(const xla::HloModule& module,
                                                const TimedInputs& timed, const CompilePlan& plan,
                                                const xla::HloModule* program) {
  auto racer = Compiled(module, plan);
  if (!racer) return tl::unexpected(racer.error());
  auto inputs = InputsToTime(program == nullptr ? module : *program, timed);
  if (!inputs.ok()) return CannotRace(std::string(inputs.status().message()));
  (*racer)->inputs = *std::move(inputs);
  if (Status placed = PlaceInputs(**racer); !placed) return tl::unexpected(placed.error());
  return racer;
}

StatusOr<std::unique_ptr<Racer>> Racer::Prepare(const xla::HloModule& module,
                                                const CompilePlan& plan, const Racer& other) {
  auto racer = Compiled(module, plan);
  if (!racer) return tl::unexpected(racer.error());
  const PreparedRacer& given = Prepared(other);
  (*racer)->inputs = given.inputs;
  // The same arrays for both, where both can take them: where they lie matters.
  if (!(*racer)->program.TakesOtherLayouts(given.program)) {
    (*racer)->arguments = given.arguments;
  } else if (Status placed = PlaceInputs(**racer); !placed) {
    return tl::unexpected(placed.error());
  }
  return racer;
}

StatusOr<RaceReport> Race(const Racer& racer_a, const Racer& racer_b, const RaceOptions& options,
                          const std::function<void()>& sampled) {
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
  const auto sample = [&](const Program& program, const DeviceArrays& arguments, int64_t repeats) {
    const double seconds = Timed(program, arguments, repeats, &error);
    if (sampled) sampled();
    return seconds;
  };
  // The first run of each finds caches and pages cold. The second tells how often to repeat, but
  // where runs are so long that caches hardly matter.
  double seconds_a = 0, seconds_b = 0;
  for (int round = 0; round < 2 && std::max(seconds_a, seconds_b) < kLongRun; ++round) {
    seconds_a = sample(a.program, a.arguments, 1);
    seconds_b = sample(b.program, b.arguments, 1);
    if (!error.empty()) return CannotRace(error);
  }
  const double longest = std::max(seconds_a, seconds_b);
  const int64_t repeats = std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(options.least_sample_seconds / std::max(longest, 1e-7))));
  RaceTally tally(options);
  do {
    const bool a_first = tally.pairs() % 2 == 0;
    double seconds[2];
    for (const bool first : {true, false}) {
      const bool is_a = first == a_first;
      seconds[is_a ? 0 : 1] =
          sample(is_a ? a.program : b.program, is_a ? a.arguments : b.arguments, repeats);
      if (!error.empty()) return CannotRace(error);
    }
    tally.Add(seconds[0], seconds[1]);
  } while (!tally.IsOver(Since(start)));
  tally.Tell(&report);
  return report;
}

StatusOr<RaceReport> Race(const xla::HloModule& a, const xla::HloModule& b,
                          const RaceOptions& options) {
  auto racer_a = Racer::Prepare(a, options.seed);
  if (!racer_a) return tl::unexpected(racer_a.error());
  auto racer_b = Racer::Prepare(b, {}, **racer_a);
  if (!racer_b) return tl::unexpected(racer_b.error());
  return Race(**racer_a, **racer_b, options);
}

}  // namespace hone::compiler
