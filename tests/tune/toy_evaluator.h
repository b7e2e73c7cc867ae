// A program whose compilation is a formula, on a machine whose clock and noise are made up.
#ifndef HONE_TESTS_TUNE_TOY_EVALUATOR_H_
#define HONE_TESTS_TUNE_TOY_EVALUATOR_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/rng.h"
#include "tune/evaluator.h"

namespace hone::tune {

class ToyEvaluator final : public Evaluator {
 public:
  // The logarithm of the time of what is decided: names of choices off stock, "KEY=value" (keys in
  // decimal), "flag=value" and "+PASS".
  using Formula = std::function<double(const std::map<std::string, std::string>&)>;

  explicit ToyEvaluator(Formula formula, uint64_t seed = 1)
      : formula_(std::move(formula)), rng_(seed) {}

  void AddSite(SiteKey key, CompileSiteKind kind, std::vector<std::string> choices,
               int64_t bytes = 1000) {
    CompileSite site;
    site.key = key;
    site.kind = kind;
    site.choices = std::move(choices);
    site.bytes = bytes;
    site.opcode = "fusion";
    site.instruction = "i" + std::to_string(key);
    listing_.sites.push_back(site);
  }
  void AddFlag(const std::string& name, std::vector<std::string> values, bool first = false) {
    listing_.flag_choices.push_back({name, std::move(values), first});
  }
  void AddPass(const std::string& name, std::vector<std::string> opcodes = {},
               std::vector<Replaced> instructions = {}) {
    alternatives_.push_back(
        {Stage::kImplementation, name, {{name, {}}}, std::move(instructions), std::move(opcodes)});
  }

  bool kernels_last() const override { return they_last; }

  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted&) override {
    return alternatives_;
  }

  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override {
    const double seconds = first_compile_seconds > 0 ? first_compile_seconds : compile_seconds;
    first_compile_seconds = 0;
    seconds_ += std::min(seconds, options.deadline_seconds);
    if (seconds > options.deadline_seconds) {
      return MakeError(ErrorCode::kDeadline, "ran past the deadline");
    }
    if (const std::string why = Fails(plan); !why.empty()) {
      return MakeError(ErrorCode::kWorkerDied, why);
    }
    Compiled compiled = listing_;
    compiled.seconds = seconds;
    compiled.fingerprint = {Hash(plan), 1};
    if (options.text) compiled.text = std::to_string(formula_(Decided(plan)));
    return compiled;
  }

  StatusOr<std::vector<KernelTime>> Profile(const TunePlan&, double, double) override {
    return kernels;
  }

  // A copy of as many elements as the program takes microseconds.
  StatusOr<ProgramGraph> Describe(const std::string& text) override {
    InstructionInfo copy;
    copy.opcode = "copy";
    copy.shape.type = "f32";
    copy.shape.dimensions = {static_cast<int64_t>(1e6 * run_seconds * std::exp(std::stod(text)))};
    copy.shape.bytes = 4 * copy.shape.dimensions[0];
    ProgramGraph graph;
    graph.computations.resize(1);
    graph.computations[0].instructions.push_back(copy);
    return graph;
  }

  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override {
    if (on_race) on_race(options);
    ++races[Hash(b)];
    raced.push_back(b);
    seconds_ += 2 * compile_seconds;
    for (const TunePlan& plan : {a, b}) {
      std::string why = Fails(plan);
      if (why.empty() && restarts > 0 && crashes_afresh && crashes_afresh(Decided(plan))) {
        why = "XLA aborted";
      }
      if (!why.empty()) return MakeError(ErrorCode::kWorkerDied, why);
      if (hangs && hangs(Decided(plan))) {
        seconds_ += options.candidate_seconds;
        return MakeError(ErrorCode::kDeadline, "ran past the deadline");
      }
    }
    RaceReport report;
    report.compile_seconds_a = report.compile_seconds_b = compile_seconds;
    if (Hash(a) == Hash(b)) {
      report.same_executable = true;
      return report;
    }
    report.seconds_a = run_seconds * std::exp(formula_(Decided(a)));
    report.seconds_b = run_seconds * std::exp(formula_(Decided(b)));
    const double pair = std::max(0.004, report.seconds_a + report.seconds_b);
    report.pairs = std::max(options.least_pairs, static_cast<int>(options.budget_seconds / pair));
    report.pairs = std::min(report.pairs, 60);
    seconds_ += report.pairs * pair;
    const double deviation = noise / std::sqrt(report.pairs);
    report.speedup = report.seconds_a / report.seconds_b * std::exp(deviation * Normal());
    if ((unlucky_process > 0 && restarts >= unlucky_process) ||
        (restarts > 0 && loses_afresh && loses_afresh(Decided(b)))) {
      report.speedup = 1 / report.speedup;
    }
    report.low = report.speedup * std::exp(-2.2 * deviation);
    report.high = report.speedup * std::exp(2.2 * deviation);
    if (std::find(disturbed.begin(), disturbed.end(), restarts) != disturbed.end()) {
      report.speedup = disturbed_speedup;
      report.low = 0.28;
      report.high = disturbed_speedup + 0.03;
    }
    return report;
  }

  StatusOr<ComparisonReport> Compare(const TunePlan&, const TunePlan& b,
                                     const CompareOptions& options) override {
    if (compares_slowly && compares_slowly(Decided(b))) {
      seconds_ += 1.5 * options.budget_seconds + options.grace_seconds;
      return MakeError(ErrorCode::kDeadline, "ran past the deadline");
    }
    seconds_ += 2;
    ComparisonReport report;
    const bool wrong = computes_wrong && computes_wrong(Decided(b));
    report.verdict = wrong ? Verdict::kDifferent : Verdict::kEqual;
    report.reason = wrong ? "output 0 differs" : "";
    report.finite_share = 1;
    report.inputs = options.inputs;
    if (shows_nothing && shows_nothing(Decided(b))) {
      report.verdict = Verdict::kCannotTell;
      report.reason = "decisions hang on the last bit";
      report.inputs = 0;
    }
    return report;
  }

  Status Restart() override {
    ++restarts;
    return {};
  }
  double Seconds() const override { return seconds_; }

  static std::map<std::string, std::string> Decided(const TunePlan& plan) {
    std::map<std::string, std::string> decided;
    for (const CompileChoice& choice : plan.compile.choices) {
      decided[std::to_string(choice.key)] = choice.value;
    }
    for (const auto& [name, value] : plan.compile.flags) decided[name] = value;
    for (const PlannedPass& planned : plan.passes) decided["+" + planned.pass] = "on";
    return decided;
  }
  // The true speed-up of a plan.
  double Speedup(const TunePlan& plan) const { return std::exp(-formula_(Decided(plan))); }

  double compile_seconds = 0.05;
  double first_compile_seconds = 0;  // of Compile; 0: as all others
  bool they_last = false;            // kernels_last
  std::vector<KernelTime> kernels;   // what every profile says
  std::vector<TunePlan> raced;
  double run_seconds = 0.01;
  double noise = 0.02;  // standard deviation of a pair's ratio, as a logarithm
  std::function<bool(const std::map<std::string, std::string>&)> computes_wrong;
  std::function<bool(const std::map<std::string, std::string>&)> shows_nothing;  // a comparison
  std::function<bool(const std::map<std::string, std::string>&)> compares_slowly;
  std::function<bool(const std::map<std::string, std::string>&)> crashes;
  std::function<bool(const std::map<std::string, std::string>&)>
      loses_afresh;  // once restarted, is slower
  std::function<bool(const std::map<std::string, std::string>&)> crashes_afresh;  // once restarted
  std::function<bool(const std::map<std::string, std::string>&)> hangs;  // a race, until given up
  std::function<void(const RaceOptions&)> on_race;
  int restarts = 0;
  std::vector<int> disturbed;       // fresh processes in which a race shows nothing
  double disturbed_speedup = 0.96;  // the middle of what it shows
  int unlucky_process = 0;          // from this fresh process on what is faster is slower; 0: never
  std::map<uint64_t, int> races;    // by what is decided

 private:
  uint64_t Hash(const TunePlan& plan) const {
    uint64_t hash = 0;
    for (const auto& [name, value] : Decided(plan)) {
      hash = hash * 31 + std::hash<std::string>()(name + "=" + value);
    }
    return hash;
  }
  std::string Fails(const TunePlan& plan) const {
    return crashes && crashes(Decided(plan)) ? "XLA aborted" : "";
  }
  double Normal() {
    return std::sqrt(-2 * std::log(1 - rng_.Unit())) * std::cos(6.283185307179586 * rng_.Unit());
  }

  const Formula formula_;
  Rng rng_;
  Compiled listing_;
  std::vector<Alternative> alternatives_;
  double seconds_ = 0;
};

}  // namespace hone::tune

#endif  // HONE_TESTS_TUNE_TOY_EVALUATOR_H_
