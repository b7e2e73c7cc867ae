#include "tune/measurer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fnv.h"
#include "core/input_seed.h"

namespace hone::tune {
namespace {

constexpr double kClear = 1.3;           // RaceOptions::clear
constexpr double kConfirmedSeconds = 1;  // RaceOptions::least_seconds
constexpr double kUnknownCompile = 6;    // seconds
constexpr double kForgotten = 0.7;  // of the longest compilation so far, with each that is shorter
constexpr double kLeastPatience = 15;
// What a candidate may always take: a bad one costs no more of a small budget.
constexpr double kLeastCandidate = 3;        // seconds
constexpr double kLeastCandidateTimes = 3;   // as long as the stock module does
constexpr double kHurriedTimes = 1.5;        // the same of compiling, where little is left
constexpr double kCandidateShare = 1.0 / 3;  // of the budget that is left
constexpr double kLeastSample = 0.002;       // RaceOptions::least_sample_seconds
constexpr int kShortPairs = 10;
constexpr int kLongPairs = 60;
constexpr double kMostShare = 0.06;  // of the budget, for one look
// A race ends where it is decided which is faster; by how much takes more pairs.
constexpr int kLeastShort = 6;
constexpr int kLeastLong = 20;
constexpr int kLeastSlow = 10;  // where those do not fit into a look
constexpr double kFewSeconds = 1;
constexpr double kUnknownRun = 0.01;
// Plans under way for each worker: one that takes long does not let the others wait.
constexpr size_t kWindowAWorker = 2;
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
    : evaluator_(evaluator), space_(space), options_(options), start_(evaluator.Seconds()) {
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
    const auto known = known_.find(one.executable);
    if (known == known_.end() || known->second.race.pairs <= one.pairs) Know(measured);
  }
}

void Measurer::Know(const Measured& measured) {
  (void)Claim(measured.executable);
  known_[measured.executable] = measured;
}

// False where somebody else has.
bool Measurer::Claim(const std::string& executable) {
  const std::lock_guard lock(mutex_);
  return claimed_.insert(executable).second;
}

// With known kernels a compilation takes half as long, or less.
double Measurer::FreshCompileSeconds() const {
  return (evaluator_.kernels_last() ? 0.5 : 1.0) * stock_compile_seconds_ + compile_seconds_;
}

void Measurer::KnowStock(const Fingerprint& module, double compile_seconds) {
  stock_compile_seconds_ = compile_seconds;
  Measured stock;
  stock.executable = module.ToHex();
  stock.look = Look::kLong;
  stock.race.same_executable = true;
  Know(stock);
}

template <class Call>
auto Measurer::Timed(std::string_view phase, Call call) -> decltype(call()) {
  const double start = evaluator_.Seconds();
  auto result = call();
  Spent(phase, evaluator_.Seconds() - start);
  return result;
}

void Measurer::Spent(std::string_view phase, double seconds) {
  busy_seconds_ += seconds;
  for (PhaseTime& known : phases_) {
    if (known.phase != phase) continue;
    known.seconds += seconds;
    ++known.calls;
    return;
  }
  phases_.push_back({std::string(phase), seconds, 1});
}

StatusOr<Compiled> Measurer::Compile(const TunePlan& plan, const CompileOptions& options) {
  return Timed(options.sites ? "list" : "passes",
               [&] { return evaluator_.Compile(plan, options); });
}

StatusOr<ComparisonReport> Measurer::Compare(const TunePlan& a, const TunePlan& b,
                                             const CompareOptions& options) {
  const double start = evaluator_.Seconds();
  auto report = Timed("compare", [&] { return evaluator_.Compare(a, b, options); });
  const double a_set = (evaluator_.Seconds() - start) / std::max(1, options.inputs);
  compare_seconds_ = std::max(compare_seconds_, a_set);
  return report;
}

StatusOr<std::vector<Alternative>> Measurer::Alternatives(const AlternativesWanted& wanted) {
  return Timed("alternatives", [&] { return evaluator_.Alternatives(wanted); });
}

StatusOr<std::vector<KernelTime>> Measurer::Profile(const TunePlan& plan, double seconds,
                                                    double most_seconds) {
  return Timed("profile", [&] { return evaluator_.Profile(plan, seconds, most_seconds); });
}

StatusOr<ProgramGraph> Measurer::Describe(const std::string& text) {
  return Timed("describe", [&] { return evaluator_.Describe(text); });
}

Status Measurer::Restart() {
  return Timed("restart", [&] { return evaluator_.Restart(); });
}

double Measurer::RaceSeconds(Look look) const {
  const double run = std::max(run_seconds_ > 0 ? run_seconds_ : kUnknownRun, kLeastSample);
  const double most = std::max(1.0, kMostShare * options_.budget_seconds);
  return look == Look::kShort ? std::clamp(2 * kShortPairs * run, 0.05, std::min(4.0, most))
                              : std::clamp(2 * kLongPairs * run, 0.5, std::min(12.0, most));
}

// What takes ten times as long to compile as the stock module does is not worth waiting for: some
// ways to say a program make LLVM work for minutes.
double Measurer::CompilePatience() const {
  const double stock = stock_compile_seconds_ > 0 ? stock_compile_seconds_ : kUnknownCompile;
  return std::clamp(10 * stock, kLeastPatience, RaceOptions{}.compile_seconds);
}

// Where little of the budget is left, a candidate is waited for no longer than that is worth. A
// sample of a program that is tuned at all takes most_run_seconds at most.
double Measurer::CandidatePatience() const {
  const double stock = stock_compile_seconds_ > 0 ? stock_compile_seconds_ : kUnknownCompile;
  const double left = options_.budget_seconds - (evaluator_.Seconds() - start_);
  // Where the budget is short one is not to take all of it.
  const double compiling =
      std::clamp(left / 2, kHurriedTimes * stock, kLeastCandidateTimes * stock);
  const double least = std::max({kLeastCandidate, compiling, kLeastCandidateTimes * run_seconds_,
                                 1.5 * options_.most_run_seconds});
  return std::clamp(kCandidateShare * left, std::min(least, CompilePatience()), CompilePatience());
}

int Measurer::LeastPairs(Look look) const {
  if (look == Look::kShort) return kLeastShort;
  return 2 * kLeastLong * run_seconds_ > RaceSeconds(look) ? kLeastSlow : kLeastLong;
}

RaceOptions Measurer::Racing(double seconds, int least_pairs) const {
  RaceOptions racing;
  racing.clear = kClear;
  racing.least_pairs = least_pairs;
  racing.budget_seconds = seconds;
  racing.seed = FirstInputsSeed(options_.compare.seed);
  racing.compile_seconds = CompilePatience();
  racing.candidate_seconds = CandidatePatience();
  racing.estimate = options_.estimated;
  return racing;
}

StatusOr<RaceReport> Measurer::Race(const TunePlan& a, const TunePlan& b, Look look) {
  return Race(a, b, Racing(RaceSeconds(look), LeastPairs(look)));
}

StatusOr<RaceReport> Measurer::Race(const TunePlan& a, const TunePlan& b, double seconds,
                                    int least_pairs, bool patient) {
  RaceOptions racing = Racing(seconds, least_pairs);
  racing.candidate_seconds = CompilePatience();
  racing.patient = patient;
  if (patient) racing.least_seconds = std::min(kConfirmedSeconds, seconds / 2);
  // Where pairs take little time, more of them tell better how much faster it is.
  if (patient && 2 * least_pairs * RunSeconds() < kFewSeconds) racing.clear = 0;
  return Race(a, b, racing);
}

StatusOr<RaceReport> Measurer::Race(const TunePlan& a, const TunePlan& b,
                                    const RaceOptions& racing) {
  ++races_;
  StatusOr<RaceReport> report = Timed("race", [&] { return evaluator_.Race(a, b, racing); });
  if (report) LearnFrom(a, *report);
  return report;
}

void Measurer::LearnFrom(const TunePlan& a, const RaceReport& report) {
  if (a.empty() && !report.same_executable && report.seconds_a > 0) {
    run_seconds_ =
        run_seconds_ == 0 ? report.seconds_a : 0.8 * run_seconds_ + 0.2 * report.seconds_a;
  }
  // What a worker knows already takes it no time; a process that confirms knows nothing.
  compile_seconds_ = std::max(report.compile_seconds_b, kForgotten * compile_seconds_);
  if (a.empty())
    stock_compile_seconds_ = std::max(stock_compile_seconds_, report.compile_seconds_a);
}

CompileOptions Measurer::Compiling() const {
  CompileOptions compiling;
  compiling.sites = false;
  compiling.code = false;
  compiling.fusion_hops = options_.fusion_hops;
  compiling.fast_math = options_.fast_math;
  compiling.deadline_seconds = CandidatePatience();
  compiling.text = options_.estimate || options_.record;
  return compiling;
}

// What of a plan tells executables apart that the optimised module does not show.
std::string Measurer::Behind(const TunePlan& plan) const {
  CompilePlan behind;
  for (const auto& flag : plan.compile.flags) {
    // Passes left out show in the module; of what a device's plugin makes of other flags nothing
    // does.
    if (!IsWithoutPass(flag.first)) behind.flags.push_back(flag);
  }
  for (const CompileChoice& choice : plan.compile.choices) {
    if (space_.behind_the_module.count(choice.key) != 0) behind.choices.push_back(choice);
  }
  return behind.empty() ? std::string() : ":" + HashText({{}, behind});
}

bool Measurer::WantsGraph(const Compiled& compiled) const {
  return (options_.estimate || options_.record) &&
         compiled.instructions <= kMostGraphInstructions && compiled.text.size() <= kMostGraphText;
}

// What cannot be described is measured without.
std::optional<cost::CostGraph> Measurer::GraphOf(const Compiled& compiled) const {
  const StatusOr<ProgramGraph> described = evaluator_.Describe(compiled.text);
  if (!described) return std::nullopt;
  return cost::MakeCostGraph(*described);
}

size_t Measurer::Window() const {
  const int workers = evaluator_.workers();
  return workers <= 1 ? 1 : kWindowAWorker * static_cast<size_t>(workers);
}

void Measurer::Foresee(const TunePlan& plan, Look look) {
  const std::string name = TunePlanToJson(plan);
  if (foreseen_.count(name) != 0) return;
  given_up_ = false;
  foreseen_[name] = std::async(std::launch::async,
                               [this, plan, look, compiling = Compiling(), behind = Behind(plan),
                                racing = Racing(RaceSeconds(look), LeastPairs(look))] {
                                 return FindOut(plan, look, compiling, racing, behind);
                               });
}

// On a thread of its own.
Measurer::Foreseen Measurer::FindOut(const TunePlan& plan, Look look,
                                     const CompileOptions& compiling, const RaceOptions& racing,
                                     const std::string& behind) {
  Foreseen foreseen;
  if (given_up_) return foreseen;
  double start = evaluator_.Seconds();
  foreseen.compiled = evaluator_.Compile(plan, compiling);
  const bool race =
      foreseen.compiled && !given_up_ && Claim(foreseen.compiled->fingerprint.ToHex() + behind);
  if (race && WantsGraph(*foreseen.compiled)) foreseen.graph = GraphOf(*foreseen.compiled);
  foreseen.seconds = evaluator_.Seconds() - start;
  if (!race) return foreseen;
  start = evaluator_.Seconds();
  foreseen.race = {look, evaluator_.Race({}, plan, racing), 0};
  foreseen.race->seconds = evaluator_.Seconds() - start;
  return foreseen;
}

void Measurer::Forget() {
  given_up_ = true;
  foreseen_.clear();  // waits for what is under way
  const std::lock_guard lock(mutex_);
  claimed_.clear();
  for (const auto& [executable, measured] : known_) claimed_.insert(executable);
}

// The executable is told from others without generating code: by the optimised module, and what the
// module does not show.
Prepared Measurer::Prepare(const TunePlan& plan) {
  Prepared prepared;
  prepared.plan = plan;
  std::optional<Foreseen> foreseen;
  if (const auto found = foreseen_.find(TunePlanToJson(plan)); found != foreseen_.end()) {
    foreseen = found->second.get();
    foreseen_.erase(found);
    Spent("passes", foreseen->seconds);
  }
  const double before = foreseen ? foreseen->seconds : 0;
  const double start = evaluator_.Seconds();
  const StatusOr<Compiled> compiled =
      foreseen ? std::move(foreseen->compiled) : Compile(plan, Compiling());
  if (!compiled) {
    prepared.error = compiled.error().message;
    given_up_candidates_ += compiled.error().code == ErrorCode::kDeadline;
    return prepared;
  }
  prepared.executable = compiled->fingerprint.ToHex() + Behind(plan);
  prepared.seconds = before + evaluator_.Seconds() - start;
  const bool known = known_.count(prepared.executable) != 0;
  if (foreseen && !known) prepared.race = std::move(foreseen->race);
  if (!WantsGraph(*compiled) || known) return prepared;
  if (prepared.race) {
    prepared.graph = std::move(foreseen->graph);
  } else {
    prepared.graph = Timed("describe", [&] { return GraphOf(*compiled); });
  }
  prepared.seconds = before + evaluator_.Seconds() - start;
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
  const bool foreseen = prepared.race && (prepared.race->look == look || look == Look::kShort);
  double before = prepared.seconds;
  if (foreseen) {
    ++races_;
    before += prepared.race->seconds;
    Spent("race", prepared.race->seconds);
    if (prepared.race->report) LearnFrom({}, *prepared.race->report);
  }
  const StatusOr<RaceReport> race =
      foreseen ? prepared.race->report : Race({}, prepared.plan, look);
  if (!race) {
    ++failures_;
    measured.error = race.error().message;
    given_up_candidates_ += race.error().code == ErrorCode::kDeadline;
    Record(prepared, measured);
    Know(measured);
    return measured;
  }
  measured.race = *race;
  measured.value = race->same_executable ? 0 : -LogOf(race->speedup);
  Know(measured);
  Record(prepared, measured);
  const double seconds = before + evaluator_.Seconds() - start;
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
