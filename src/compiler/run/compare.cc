#include "compiler/run/compare.h"

#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/fingerprint.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
#include "compiler/run/reference.h"
#include "compiler/run/stand_in.h"
#include "compiler/sites/before_code.h"
#include "verify/compare.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

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

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// Of all threads of this process.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string Shorten(const absl::Status& status) {
  return std::string(status.message().substr(0, 400));
}

tl::unexpected<Error> Failed(const char* what, const absl::Status& status) {
  return MakeError(ErrorCode::kInternal, absl::StrCat(what, " failed: ", Shorten(status)));
}

// The reference and a candidate, both compiled.
class OnCpu : public verify::Subject {
 public:
  OnCpu(Reference& reference, const Program& candidate, const CompareOptions& options)
      : reference_(reference), candidate_(candidate), options_(options) {}

  Status Choose(const verify::InputChoice& choice) override {
    run_ = nullptr;
    StatusOr<ReferenceRun*> run = reference_.On(choice, options_.given);
    if (!run) return tl::unexpected(run.error());
    run_ = *run;
    return {};
  }

  StatusOr<verify::Outputs> RunReference() override { return reference_.Result(run_); }

  StatusOr<verify::Outputs> RunCandidate() override {
    absl::StatusOr<DeviceArrays> arguments = candidate_.Place(*run_->inputs);
    if (!arguments.ok()) return Failed("placing inputs", arguments.status());
    absl::StatusOr<verify::Outputs> result = candidate_.Run(*arguments);
    if (!result.ok()) return Failed("running the candidate", result.status());
    return *std::move(result);
  }

  StatusOr<std::optional<verify::Outputs>> MovedSample(int k) override {
    return reference_.MovedSample(run_, k, &moved_);
  }
  bool MovesWhatIsStored() override { return reference_.WithStoredNoise() != nullptr; }
  StatusOr<std::optional<verify::Outputs>> Sample(int k) override {
    return reference_.Sample(run_, k, &moved_);
  }
  StatusOr<std::optional<verify::Outputs>> WideSample(int k) override {
    return reference_.WideSample(run_, k, &moved_);
  }
  double CompileSeconds() const override { return reference_.noise_compile_seconds(); }

 private:
  Reference& reference_;
  const Program& candidate_;
  const CompareOptions& options_;
  ReferenceRun* run_ = nullptr;
  Arrays moved_;
};

// One comparison, up to the point from which the rule takes over.
class Comparison {
 public:
  Comparison(const xla::HloModule& a, const xla::HloModule& b, const CompareOptions& options,
             const CompilePlan& plan_a, const CompilePlan& plan_b)
      : a_(&a), b_(&b), plan_a_(plan_a), plan_b_(plan_b), options_(options) {}

  ComparisonReport Run() {
    const Clock::time_point start = Clock::now();
    const double processor = ProcessorSeconds();
    report_.method = "not run";
    if (Prepare()) Decide(start);
    report_.seconds = Since(start);
    report_.compile_seconds = compile_seconds_;
    report_.processor_seconds = ProcessorSeconds() - processor - compile_processor_;
    return std::move(report_);
  }

 private:
  bool CannotTell(std::string reason) {
    report_.verdict = Verdict::kCannotTell;
    report_.reason = std::move(reason);
    return false;
  }

  const char* Side(const xla::HloModule* module) const {
    return module == a_ ? "the reference" : "the candidate";
  }

  // Puts copies in the programs' place whose custom calls all can run.
  bool UseStandIns() {
    if (CallsPython(*a_)) stand_ins_.insert("Python's callbacks");
    if (MissingCustomCalls(*a_).empty() && MissingCustomCalls(*b_).empty()) return true;
    for (auto [module, copy] : {std::pair(&a_, &copy_a_), std::pair(&b_, &copy_b_)}) {
      *copy = (*module)->Clone("");
      absl::StatusOr<std::set<std::string>> replaced = ReplaceMissingCustomCalls(copy->get());
      if (!replaced.ok()) {
        return CannotTell(
            absl::StrCat(Side(*module), " cannot be run: ", Shorten(replaced.status())));
      }
      stand_ins_.insert(replaced->begin(), replaced->end());
    }
    a_ = copy_a_.get();
    b_ = copy_b_.get();
    return true;
  }

  // False where the verdict is in, here as below.
  bool Prepare() {
    if (plan_a_ == plan_b_ && CanonicalText(*a_) == CanonicalText(*b_)) {
      report_.verdict = Verdict::kEqual;
      report_.method = "identical";
      report_.finite_share = 1;
      return false;
    }
    const std::string signatures = SignatureDifference(*a_, *b_);
    if (!signatures.empty()) {
      report_.verdict = Verdict::kDifferent;
      report_.method = "signatures";
      report_.reason = signatures;
      return false;
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
    return UseStandIns();
  }

  // The candidate, once the reference is compiled too; none where the verdict is in.
  std::optional<Program> Compile(Reference& reference, CodeQuality quality) {
    std::future<absl::Status> compiling;
    const auto compile_reference = [&] {
      compiling = std::async(std::launch::async, [&] { return reference.Compile(); });
    };
    absl::StatusOr<Program> candidate = absl::InternalError("");
    if (plan_a_.empty() && plan_b_.empty() && !compiled_) {
      const absl::StatusOr<Fingerprint> optimised = reference.Optimised();
      // Where both come to the same module there is nothing to run. Else the rest of one
      // compilation goes along with the other.
      const BeforeCode told = [&](const xla::HloModule& module) {
        if (optimised.ok() && DigestModule(module).fingerprint == *optimised) return false;
        compile_reference();
        return true;
      };
      const ScopedBeforeCode scope(told);
      candidate = Program::Compile(*b_, quality);
    } else {
      candidate = Program::Compile(*b_, quality, nullptr, plan_b_);
    }
    if (IsEndedBeforeCode(candidate.status())) {
      report_.verdict = Verdict::kEqual;
      report_.method = "XLA:CPU's own passes make the same program of both";
      report_.finite_share = 1;
      return std::nullopt;
    }
    const absl::Status compiled = compiling.valid() ? compiling.get() : reference.Compile();
    if (!compiled.ok()) {
      CannotTell(absl::StrCat("the reference does not compile: ", Shorten(compiled)));
      return std::nullopt;
    }
    if (!candidate.ok()) {
      CannotTell(absl::StrCat("the candidate does not compile: ", Shorten(candidate.status())));
      return std::nullopt;
    }
    return *std::move(candidate);
  }

  void Decide(Clock::time_point start) {
    // What was raced is compiled already.
    compiled_ = Program::IsCompiled(*a_, plan_a_) && Program::IsCompiled(*b_, plan_b_);
    const CodeQuality quality = plan_a_.empty() && plan_b_.empty() && !compiled_
                                    ? CodeQuality::kQuickCompile
                                    : CodeQuality::kStock;
    // Of the original: what an earlier comparison compiled and ran.
    Reference& reference = Reference::Of(*a_, quality, plan_a_);
    const double processor = ProcessorSeconds();
    const std::optional<Program> candidate = Compile(reference, quality);
    compile_seconds_ = Since(start);
    compile_processor_ = ProcessorSeconds() - processor;
    if (!candidate) return;
    CompareOptions options = options_;
    options.budget_seconds -= Since(start);
    if (options.budget_seconds < 0) {
      CannotTell("the time budget was spent on compiling");
      return;
    }
    OnCpu subject(reference, *candidate, options_);
    report_ = verify::Compare(subject, options, static_cast<int>(options_.given.size()));
    report_.method = report_.verdict == Verdict::kEqual
                         ? absl::StrCat("run on XLA:CPU; ", report_.method)
                         : "run on XLA:CPU";
    if (!stand_ins_.empty()) {
      absl::StrAppend(&report_.method, "; with stand-ins for ", absl::StrJoin(stand_ins_, ", "));
    }
  }

  const xla::HloModule* a_;
  const xla::HloModule* b_;
  std::unique_ptr<xla::HloModule> copy_a_, copy_b_;
  std::set<std::string> stand_ins_;
  const CompilePlan& plan_a_;
  const CompilePlan& plan_b_;
  const CompareOptions& options_;
  bool compiled_ = false;  // both, with code of stock quality
  double compile_seconds_ = 0;
  double compile_processor_ = 0;
  ComparisonReport report_;
};

}  // namespace

ComparisonReport Compare(const xla::HloModule& a, const xla::HloModule& b,
                         const CompareOptions& options, const CompilePlan& plan_a,
                         const CompilePlan& plan_b) {
  return Comparison(a, b, options, plan_a, plan_b).Run();
}

}  // namespace hone::compiler
