#include "tune/measurer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fnv.h"

namespace hone::tune {
namespace {

constexpr double kUnknownCompile = 6;  // seconds
constexpr double kLeastPatience = 15;
constexpr double kLeastSample = 0.002;  // RaceOptions::least_sample_seconds
constexpr int kShortPairs = 10;
constexpr int kLongPairs = 60;
// A race ends where it is decided which is faster; by how much takes more pairs.
constexpr int kLeastShort = 6;
constexpr int kLeastLong = 20;
constexpr double kUnknownRun = 0.01;
// Larger modules than these are not described: that would take longer than it helps.
constexpr int64_t kMostGraphInstructions = 20'000;
constexpr size_t kMostGraphText = size_t{64} << 20;

double LogOf(double ratio) { return std::log(std::clamp(ratio, 1e-6, 1e6)); }

std::string HashOf(const std::string& text) {
  return Fingerprint{Fnv1a(text), Fnv1a(text, 0x84222325cbf29ce4ull)}.ToHex();
}

store::PlanRow RowOf(const Space& space, const TunePlan& plan) {
  store::PlanRow row{HashText(plan), TunePlanToJson(plan), {}};
  for (const NamedChoice& choice : ChoicesOf(space, AssignmentOf(space, plan))) {
    row.choices.push_back({std::string(StageName(choice.stage)), choice.name, choice.value});
  }
  return row;
}

}  // namespace

Measurer::Measurer(Evaluator& evaluator, const Space& space, const TuneOptions& options)
    : evaluator_(evaluator), space_(space), options_(options) {
  for (const store::Measurement& one : options.known) {
    if (!one.error.empty() || one.executable.empty()) continue;
    Measured measured;
    measured.executable = one.executable;
    measured.value = -LogOf(one.speedup);
    measured.race.speedup = one.speedup;
    measured.race.low = one.low;
    measured.race.high = one.high;
    measured.race.pairs = one.pairs;
    measured.race.seconds_a = one.stock_seconds;
    measured.race.seconds_b = one.tuned_seconds;
    Measured& known = known_[one.executable];
    if (known.race.pairs <= one.pairs) known = measured;
  }
}

void Measurer::KnowStock(const Fingerprint& module) {
  Measured stock;
  stock.executable = module.ToHex();
  stock.look = Look::kLong;
  stock.race.same_executable = true;
  known_[stock.executable] = stock;
}

template <class Call>
auto Measurer::Timed(Call call) -> decltype(call()) {
  const double start = evaluator_.Seconds();
  auto result = call();
  busy_seconds_ += evaluator_.Seconds() - start;
  return result;
}

StatusOr<Compiled> Measurer::Compile(const TunePlan& plan, const CompileOptions& options) {
  return Timed([&] { return evaluator_.Compile(plan, options); });
}

StatusOr<ComparisonReport> Measurer::Compare(const TunePlan& a, const TunePlan& b,
                                             const CompareOptions& options) {
  return Timed([&] { return evaluator_.Compare(a, b, options); });
}

StatusOr<std::vector<Alternative>> Measurer::Alternatives(bool implementations, bool orders,
                                                          double order_seconds) {
  return Timed([&] { return evaluator_.Alternatives(implementations, orders, order_seconds); });
}

Status Measurer::Restart() {
  return Timed([&] { return evaluator_.Restart(); });
}

double Measurer::RaceSeconds(Look look) const {
  const double run = std::max(run_seconds_ > 0 ? run_seconds_ : kUnknownRun, kLeastSample);
  return look == Look::kShort ? std::clamp(2 * kShortPairs * run, 0.05, 4.0)
                              : std::clamp(2 * kLongPairs * run, 0.5, 12.0);
}

// What takes ten times as long to compile as the stock module does is not worth waiting for: some
// ways to say a program make LLVM work for minutes.
double Measurer::CompilePatience() const {
  const double stock = stock_compile_seconds_ > 0 ? stock_compile_seconds_ : kUnknownCompile;
  return std::clamp(10 * stock, kLeastPatience, RaceOptions{}.compile_seconds);
}

StatusOr<RaceReport> Measurer::Race(const TunePlan& a, const TunePlan& b, Look look) {
  return Race(a, b, RaceSeconds(look), look == Look::kShort ? kLeastShort : kLeastLong);
}

StatusOr<RaceReport> Measurer::Race(const TunePlan& a, const TunePlan& b, double seconds,
                                    int least_pairs) {
  RaceOptions racing;
  racing.least_pairs = least_pairs;
  racing.budget_seconds = seconds;
  racing.seed = options_.seed;
  racing.compile_seconds = CompilePatience();
  ++races_;
  StatusOr<RaceReport> report = Timed([&] { return evaluator_.Race(a, b, racing); });
  if (!report) return report;
  if (a.empty() && !report->same_executable && report->seconds_a > 0) {
    run_seconds_ =
        run_seconds_ == 0 ? report->seconds_a : 0.8 * run_seconds_ + 0.2 * report->seconds_a;
  }
  if (report->compile_seconds_b > 0) compile_seconds_ = report->compile_seconds_b;
  if (a.empty() && report->compile_seconds_a > 0)
    stock_compile_seconds_ = report->compile_seconds_a;
  return report;
}

// The executable is told from others without generating code: by the optimised module, and what the
// module does not show.
Prepared Measurer::Prepare(const TunePlan& plan) {
  const double start = evaluator_.Seconds();
  Prepared prepared;
  prepared.plan = plan;
  CompileOptions compiling;
  compiling.sites = false;
  compiling.fusion_hops = options_.fusion_hops;
  compiling.fast_math = options_.fast_math;
  compiling.deadline_seconds = CompilePatience();
  compiling.text = options_.estimate || options_.record;
  const StatusOr<Compiled> compiled = Compile(plan, compiling);
  if (!compiled) {
    prepared.error = compiled.error().message;
    return prepared;
  }
  CompilePlan behind;
  behind.flags = plan.compile.flags;
  for (const CompileChoice& choice : plan.compile.choices) {
    if (space_.behind_the_module.count(choice.key) != 0) behind.choices.push_back(choice);
  }
  prepared.executable = compiled->fingerprint.ToHex() +
                        (behind.empty() ? std::string() : ":" + HashText({{}, behind}));
  prepared.seconds = evaluator_.Seconds() - start;
  const bool graph = compiling.text && compiled->instructions <= kMostGraphInstructions &&
                     compiled->text.size() <= kMostGraphText;
  if (!graph || known_.count(prepared.executable) != 0) return prepared;
  // What cannot be described is measured without.
  const auto described = Timed([&] { return evaluator_.Describe(compiled->text); });
  if (described) prepared.graph = cost::MakeCostGraph(*described);
  prepared.seconds = evaluator_.Seconds() - start;
  prepare_seconds_ =
      prepare_seconds_ == 0 ? prepared.seconds : 0.9 * prepare_seconds_ + 0.1 * prepared.seconds;
  return prepared;
}

bool Measurer::Known(const Prepared& prepared) const {
  return !prepared.error.empty() || known_.count(prepared.executable) != 0;
}

Measured Measurer::Measure(const Prepared& prepared, Look look) {
  const double start = evaluator_.Seconds();
  Measured measured;
  measured.look = look;
  measured.executable = prepared.executable;
  ++evaluations_;
  if (!prepared.error.empty()) {
    ++failures_;
    measured.error = prepared.error;
    Record(prepared, measured);
    return measured;
  }
  const auto known = known_.find(prepared.executable);
  if (known != known_.end() && (known->second.look == Look::kLong || look == Look::kShort)) {
    return known->second;
  }
  if (known != known_.end()) --evaluations_;  // a second look at the same
  const StatusOr<RaceReport> race = Race({}, prepared.plan, look);
  if (!race) {
    ++failures_;
    measured.error = race.error().message;
    Record(prepared, measured);
    known_[prepared.executable] = measured;
    return measured;
  }
  measured.race = *race;
  measured.value = race->same_executable ? 0 : -LogOf(race->speedup);
  known_[prepared.executable] = measured;
  Record(prepared, measured);
  const double seconds = prepared.seconds + evaluator_.Seconds() - start;
  if (look == Look::kShort) {
    evaluation_seconds_ =
        evaluation_seconds_ == 0 ? seconds : 0.9 * evaluation_seconds_ + 0.1 * seconds;
  }
  return measured;
}

double Measurer::EvaluationSeconds() const {
  return evaluation_seconds_ > 0 ? evaluation_seconds_ : 1.0;
}

void Measurer::Record(const Prepared& prepared, const Measured& measured) const {
  if (!options_.record) return;
  store::Measurement one;
  one.program = options_.program;
  one.plan = HashText(prepared.plan);
  one.executable = measured.executable;
  one.stock_seconds = measured.race.seconds_a;
  one.tuned_seconds = measured.race.seconds_b;
  one.speedup = measured.race.speedup;
  one.low = measured.race.low;
  one.high = measured.race.high;
  one.pairs = measured.race.pairs;
  one.compile_seconds = measured.race.compile_seconds_b;
  one.error = measured.error;
  store::ModuleRow module;
  if (prepared.graph) {
    module.graph = cost::CostGraphToText(*prepared.graph);
    module.module = HashOf(module.graph);
    one.module = module.module;
  }
  options_.record(one, RowOf(space_, prepared.plan), module);
}

}  // namespace hone::tune
