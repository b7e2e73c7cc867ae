#include "compiler/run/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
#include "compiler/run/rounding_noise.h"
#include "compiler/run/stand_in.h"
#include "compiler/run/tolerance.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

// Noisy runs of the reference: a few to begin with, more before anything is called different.
constexpr int kFewSamples = 3;
constexpr int kManySamples = 8;
constexpr size_t kMostErrors = 16;
// Below these shares a match of finite, or of well-determined, elements shows nothing.
constexpr double kLeastFinite = 0.01;
constexpr double kLeastResolved = 0.01;

std::string CanonicalText(const xla::HloModule& module) {
  return module.entry_computation()->ToString(
      xla::HloPrintOptions::Canonical().set_print_backend_config(true).set_print_large_constants(
          true));
}

std::vector<xla::Shape> ParameterShapes(const xla::HloModule& module) {
  std::vector<xla::Shape> shapes;
  for (const auto* parameter : module.entry_computation()->parameter_instructions()) {
    shapes.push_back(parameter->shape());
  }
  return shapes;
}

std::string SignatureDifference(const xla::HloModule& a, const xla::HloModule& b) {
  const std::vector<xla::Shape> of_a = ParameterShapes(a);
  const std::vector<xla::Shape> of_b = ParameterShapes(b);
  if (of_a.size() != of_b.size()) {
    return absl::StrCat("the reference takes ", of_a.size(), " parameters, the candidate ",
                        of_b.size());
  }
  for (size_t k = 0; k < of_a.size(); ++k) {
    if (!xla::ShapeUtil::Compatible(of_a[k], of_b[k])) {
      return absl::StrCat("parameter ", k, " is ", xla::ShapeUtil::HumanString(of_a[k]),
                          " in the reference and ", xla::ShapeUtil::HumanString(of_b[k]),
                          " in the candidate");
    }
  }
  const xla::Shape& result_a = a.entry_computation()->root_instruction()->shape();
  const xla::Shape& result_b = b.entry_computation()->root_instruction()->shape();
  if (!xla::ShapeUtil::Compatible(result_a, result_b)) {
    return absl::StrCat("the result is ", xla::ShapeUtil::HumanString(result_a),
                        " in the reference and ", xla::ShapeUtil::HumanString(result_b),
                        " in the candidate");
  }
  return "";
}

std::string Shorten(const absl::Status& status) {
  return std::string(status.message().substr(0, 400));
}

// One comparison: what it has so far, and the clock.
class Comparison {
 public:
  Comparison(const xla::HloModule& a, const xla::HloModule& b, const CompareOptions& options,
             const CompilePlan& plan_a, const CompilePlan& plan_b)
      : a_(&a), b_(&b), plan_a_(plan_a), plan_b_(plan_b), options_(options), start_(Clock::now()) {}

  ComparisonReport Run() {
    Decide();
    report_.seconds = Seconds();
    if (floats_ > 0) {
      report_.finite_share = static_cast<double>(finite_) / static_cast<double>(floats_);
    } else if (report_.inputs > 0) {
      report_.finite_share = 1;
    }
    return std::move(report_);
  }

 private:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool TimeIsUp() const { return Seconds() > options_.budget_seconds; }

  void CannotTell(std::string reason) {
    report_.verdict = Verdict::kCannotTell;
    report_.reason = std::move(reason);
  }

  // Puts copies in the programs' place whose custom calls all can run. False: the verdict is in.
  bool UseStandIns() {
    if (MissingCustomCalls(*a_).empty() && MissingCustomCalls(*b_).empty()) return true;
    for (auto [module, copy] : {std::pair(&a_, &copy_a_), std::pair(&b_, &copy_b_)}) {
      *copy = (*module)->Clone("");
      absl::StatusOr<std::set<std::string>> replaced = ReplaceMissingCustomCalls(copy->get());
      if (!replaced.ok()) {
        CannotTell(absl::StrCat(Side(*module), " cannot be run: ", Shorten(replaced.status())));
        return false;
      }
      stand_ins_.insert(replaced->begin(), replaced->end());
    }
    a_ = copy_a_.get();
    b_ = copy_b_.get();
    return true;
  }

  void Decide() {
    report_.method = "not run";
    if (plan_a_ == plan_b_ && CanonicalText(*a_) == CanonicalText(*b_)) {
      report_.verdict = Verdict::kEqual;
      report_.method = "identical";
      report_.finite_share = 1;
      return;
    }
    const std::string signatures = SignatureDifference(*a_, *b_);
    if (!signatures.empty()) {
      report_.verdict = Verdict::kDifferent;
      report_.method = "signatures";
      report_.reason = signatures;
      return;
    }
    for (const xla::HloModule* module : {a_, b_}) {
      std::optional<std::string> why = WhyNotRunnable(*module);
      if (why) return CannotTell(absl::StrCat(Side(module), " cannot be run: ", *why));
    }
    const int64_t bytes = ArgumentAndResultBytes(*a_);
    if (bytes > options_.most_bytes) {
      return CannotTell(absl::StrCat("parameters and results take ", bytes >> 20,
                                     " MiB, more than the limit of ", options_.most_bytes >> 20));
    }
    if (!UseStandIns()) return;
    const CodeQuality quality = plan_a_.empty() && plan_b_.empty() ? CodeQuality::kQuickCompile
                                                                   : CodeQuality::kStock;
    for (const bool first : {true, false}) {
      const xla::HloModule* const module = first ? a_ : b_;
      std::optional<Program>* const program = first ? &program_a_ : &program_b_;
      absl::StatusOr<Program> compiled =
          Program::Compile(*module, quality, nullptr, first ? plan_a_ : plan_b_);
      if (!compiled.ok()) {
        return CannotTell(
            absl::StrCat((first ? "the reference" : "the candidate"), " does not compile: ", Shorten(compiled.status())));
      }
      *program = *std::move(compiled);
      if (TimeIsUp()) return CannotTell("the time budget was spent on compiling");
    }
    roles_ = FindInputRoles(*a_);
    report_.method = "run on XLA:CPU";
    for (int set = 0; set < std::max(1, options_.inputs); ++set) {
      if (set > 0 && TimeIsUp()) break;
      if (RunSet(set)) {
        ++report_.inputs;
      } else if (out_of_time_ && set > 0) {
        break;
      } else {
        return;
      }
    }
    Conclude();
  }

  const char* Side(const xla::HloModule* module) const {
    return module == a_ ? "the reference" : "the candidate";
  }

  // False: the verdict is in the report, or time ran out and there is no more to say of this set.
  bool RunSet(int set) {
    const auto kind = static_cast<InputKind>(set % kInputKinds);
    const uint64_t seed = options_.seed * 1000003 + set;
    absl::StatusOr<Arrays> inputs = MakeInputs(roles_, kind, seed);
    if (!inputs.ok()) return Failed("making inputs", inputs.status());
    Arrays y;
    Arrays z;
    {
      absl::StatusOr<DeviceArrays> arguments = program_a_->Place(*inputs);
      if (!arguments.ok()) return Failed("placing inputs", arguments.status());
      absl::StatusOr<Arrays> result = program_a_->Run(*arguments);
      if (!result.ok()) return Failed("running the reference", result.status());
      y = *std::move(result);
      if (program_b_->TakesOtherLayouts(*program_a_)) {
        arguments = program_b_->Place(*inputs);
        if (!arguments.ok()) return Failed("placing inputs", arguments.status());
      }
      result = program_b_->Run(*arguments);
      if (!result.ok()) return Failed("running the candidate", result.status());
      z = *std::move(result);
    }
    std::vector<size_t> unequal;
    for (size_t k = 0; k < y.size(); ++k) {
      if (!SameBytes(y[k], z[k])) unequal.push_back(k);
    }
    std::vector<Arrays> noisy;
    if (!unequal.empty()) {
      if (!AddSamples(*inputs, kFewSamples, seed, &noisy)) return false;
    }
    std::vector<LeafComparison> leaves = CompareAll(y, z, noisy);
    if (AnyBeyond(leaves)) {
      if (!AddSamples(*inputs, kManySamples, seed, &noisy)) return false;
      leaves = CompareAll(y, z, noisy);
    }
    return Judge(kind, y, leaves, noisy.empty());
  }

  static bool AnyBeyond(const std::vector<LeafComparison>& leaves) {
    return std::any_of(leaves.begin(), leaves.end(),
                       [](const LeafComparison& leaf) { return leaf.outcome != Outcome::kEqual; });
  }

  bool Failed(const char* what, const absl::Status& status) {
    CannotTell(absl::StrCat(what, " failed: ", Shorten(status)));
    return false;
  }

  // Runs the noisy reference until there are `count` samples or time is up.
  bool AddSamples(const Arrays& inputs, int count, uint64_t seed, std::vector<Arrays>* noisy) {
    if (!noise_) {
      if (TimeIsUp()) {
        out_of_time_ = true;
        CannotTell(
            "results differ in some bits, and the time budget was spent before it could be "
            "measured how far rounding errors reach");
        return false;
      }
      absl::StatusOr<NoisyModule> module = AddRoundingNoise(*a_);
      if (!module.ok()) return Failed("adding rounding noise", module.status());
      absl::StatusOr<Program> compiled =
          Program::Compile(*module->module, CodeQuality::kQuickCompile);
      if (!compiled.ok()) return Failed("compiling with rounding noise", compiled.status());
      noise_ = *std::move(compiled);
    }
    while (static_cast<int>(noisy->size()) < count) {
      if (noisy->size() >= 2 && TimeIsUp()) break;
      absl::StatusOr<Arrays> moved = Perturbed(inputs, seed * 64 + noisy->size() + 1);
      if (!moved.ok()) return Failed("perturbing inputs", moved.status());
      absl::StatusOr<DeviceArrays> arguments = noise_->Place(*moved);
      if (!arguments.ok()) return Failed("placing inputs", arguments.status());
      absl::StatusOr<Arrays> result = noise_->Run(*arguments);
      if (!result.ok()) return Failed("running with rounding noise", result.status());
      noisy->push_back(*std::move(result));
    }
    return true;
  }

  static std::vector<LeafComparison> CompareAll(const Arrays& y, const Arrays& z,
                                                const std::vector<Arrays>& noisy) {
    std::vector<LeafComparison> leaves;
    for (size_t k = 0; k < y.size(); ++k) {
      std::vector<const xla::Literal*> samples;
      for (const Arrays& run : noisy) samples.push_back(&run[k]);
      leaves.push_back(CompareLeaf(y[k], z[k], samples));
    }
    return leaves;
  }

  // Adds one input set's findings. False where they decide the verdict.
  bool Judge(InputKind kind, const Arrays& y, const std::vector<LeafComparison>& leaves,
             bool same_bytes) {
    Outcome worst = Outcome::kEqual;
    int64_t floats = 0, finite = 0, resolved = 0, over = 0, held_out = 0;
    std::vector<OutputError> errors;
    for (size_t k = 0; k < leaves.size(); ++k) {
      const LeafComparison& leaf = leaves[k];
      worst = std::max(worst, leaf.outcome);
      floats += leaf.floats;
      finite += leaf.finite;
      resolved += same_bytes ? leaf.finite : leaf.resolved;
      if (leaf.outcome == Outcome::kEqual || leaf.outcome == Outcome::kFlips) {
        flips_ += leaf.over + leaf.unstable;
        if (leaf.over == 0) report_.worst_error = std::max(report_.worst_error, leaf.worst_error);
        continue;
      }
      over += leaf.over;
      held_out += leaf.held_out_over;
      errors.push_back({static_cast<int>(k), xla::ShapeUtil::HumanString(y[k].shape()),
                        leaf.worst_error, leaf.worst_absolute, leaf.over});
    }
    floats_ += floats;
    finite_ += finite;
    best_finite_ = std::max(best_finite_, floats == 0 ? 1.0 : static_cast<double>(finite) / floats);
    best_resolved_ =
        std::max(best_resolved_, finite == 0 ? 0.0 : static_cast<double>(resolved) / finite);
    any_floats_ = any_floats_ || floats > 0;
    if (worst != Outcome::kDoubtful && worst != Outcome::kDifferent) return true;
    std::stable_sort(errors.begin(), errors.end(), [](const OutputError& p, const OutputError& q) {
      return p.worst_error > q.worst_error;
    });
    report_.worst_error = errors.front().worst_error;
    ++report_.inputs;
    const std::string where =
        absl::StrCat(errors.size(), " of ", leaves.size(), " outputs differ on ",
                     InputKindName(kind), " inputs, worst in output ", errors.front().output, " (",
                     errors.front().shape, "): ", over, " elements beyond their tolerance");
    if (errors.size() > kMostErrors) errors.resize(kMostErrors);
    report_.errors = std::move(errors);
    if (worst == Outcome::kDifferent && !stand_ins_.empty()) {
      CannotTell(absl::StrCat(where, "; but stand-ins took the place of ",
                              absl::StrJoin(stand_ins_, ", "),
                              ", which this machine lacks, and need not obey its laws"));
    } else if (worst == Outcome::kDifferent) {
      report_.verdict = Verdict::kDifferent;
      report_.reason = where;
    } else {
      CannotTell(absl::StrCat(where, "; the reference's own runs with rounding noise have ",
                              held_out, ": too few to excuse, too many to accuse"));
    }
    return false;
  }

  void Conclude() {
    if (best_finite_ < kLeastFinite) {
      return CannotTell(
          "almost no element of the results is finite on any input: equal NaNs and "
          "infinities show nothing");
    }
    if (any_floats_ && best_resolved_ < kLeastResolved) {
      return CannotTell(
          "rounding errors alone change almost every element by a tenth of the "
          "output's size or more: agreement shows nothing");
    }
    report_.verdict = Verdict::kEqual;
    report_.reason.clear();
    report_.method = noise_ ? "run on XLA:CPU; within the spread of rounding noise"
                            : "run on XLA:CPU; same bytes";
    if (!stand_ins_.empty()) {
      absl::StrAppend(&report_.method, "; with stand-ins for ", absl::StrJoin(stand_ins_, ", "));
    }
    if (flips_ > 0) {
      absl::StrAppend(&report_.method, "; ", flips_,
                      " elements flipped, as they do under rounding noise");
    }
  }

  const xla::HloModule* a_;
  const xla::HloModule* b_;
  std::unique_ptr<xla::HloModule> copy_a_, copy_b_;
  std::set<std::string> stand_ins_;
  const CompilePlan& plan_a_;
  const CompilePlan& plan_b_;
  const CompareOptions& options_;
  const Clock::time_point start_;
  ComparisonReport report_;
  std::optional<Program> program_a_, program_b_, noise_;
  std::vector<InputRole> roles_;
  int64_t floats_ = 0, finite_ = 0, flips_ = 0;
  double best_finite_ = 0, best_resolved_ = 0;
  bool any_floats_ = false;
  bool out_of_time_ = false;
};

}  // namespace

ComparisonReport Compare(const xla::HloModule& a, const xla::HloModule& b,
                         const CompareOptions& options, const CompilePlan& plan_a,
                         const CompilePlan& plan_b) {
  return Comparison(a, b, options, plan_a, plan_b).Run();
}

}  // namespace hone::compiler
