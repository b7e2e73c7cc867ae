#include "compiler/run/reference.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/custom_calls/stored_noise.h"
#include "compiler/fingerprint.h"
#include "compiler/run/inputs.h"
#include "compiler/run/rounding_noise.h"
#include "compiler/run/shared_inputs.h"
#include "compiler/run/stored_noise.h"
#include "compiler/sites/before_code.h"
#include "xla/literal_util.h"

namespace hone::compiler {
namespace {

// Of inputs and results of earlier sets, so that the next candidate finds them.
constexpr int64_t kMostKeptBytes = int64_t{512} << 20;
constexpr uint64_t kMovedSeed = 32;  // beyond the samples'

using Clock = std::chrono::steady_clock;
double SecondsFrom(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

tl::unexpected<Error> Failed(const char* what, const absl::Status& status) {
  return MakeError(ErrorCode::kInternal,
                   absl::StrCat(what, " failed: ", std::string(status.message().substr(0, 400))));
}

int64_t BytesOf(const verify::Outputs& outputs) {
  int64_t bytes = 0;
  for (const verify::ArrayView& array : outputs.arrays) {
    bytes += static_cast<int64_t>(array.bytes());
  }
  return bytes;
}

int64_t BytesOf(const ReferenceRun& run) {
  int64_t bytes = run.result ? BytesOf(*run.result) : 0;
  for (const xla::Literal& array : *run.inputs) bytes += array.size_bytes();
  for (const verify::Outputs& sample : run.moved) bytes += BytesOf(sample);
  for (const verify::Outputs& sample : run.samples) bytes += BytesOf(sample);
  for (const verify::Outputs& sample : run.wide_noise) bytes += BytesOf(sample);
  bytes += run.wide ? BytesOf(*run.wide) : 0;
  return bytes;
}

StatusOr<verify::Outputs> RunOn(const Program& program, const Arrays& inputs) {
  absl::StatusOr<DeviceArrays> arguments = program.Place(inputs);
  if (!arguments.ok()) return Failed("placing inputs", arguments.status());
  absl::StatusOr<verify::Outputs> result = program.Run(*arguments);
  if (!result.ok()) return Failed("running the reference", result.status());
  return *std::move(result);
}

bool Same(const verify::InputChoice& a, const verify::InputChoice& b) {
  return a.given == b.given && a.near == b.near && a.kind == b.kind && a.seed == b.seed;
}

}  // namespace

Reference& Reference::Of(const xla::HloModule& module, CodeQuality quality,
                         const CompilePlan& plan) {
  static Reference* last = nullptr;
  const Fingerprint fingerprint = DigestModule(module).fingerprint;
  if (last != nullptr && last->fingerprint_ == fingerprint && last->quality_ == quality &&
      last->plan_ == plan) {
    return *last;
  }
  delete last;
  last = new Reference;
  last->fingerprint_ = fingerprint;
  last->quality_ = quality;
  last->plan_ = plan;
  last->module_ = module.Clone("");
  last->roles_ = FindInputRoles(module);
  return *last;
}

absl::StatusOr<Fingerprint> Reference::Optimised() {
  if (optimised_) return *optimised_;
  const BeforeCode note = [&](const xla::HloModule& optimised) {
    optimised_ = DigestModule(optimised).fingerprint;
    return false;
  };
  const ScopedBeforeCode scope(note);
  absl::StatusOr<Program> program = Program::Compile(*module_, quality_, nullptr, plan_);
  if (optimised_) return *optimised_;
  return program.ok() ? absl::InternalError("XLA:CPU made code of it unnoticed") : program.status();
}

absl::Status Reference::Compile() {
  if (program_) return absl::OkStatus();
  absl::StatusOr<Program> program = Program::Compile(*module_, quality_, nullptr, plan_);
  if (!program.ok()) return program.status();
  program_ = *std::move(program);
  return absl::OkStatus();
}

StatusOr<ReferenceRun*> Reference::On(const verify::InputChoice& choice,
                                      const std::vector<std::vector<std::string>>& given) {
  for (const auto& run : runs_) {
    // What was given may be other arrays the next time.
    if (choice.given < 0 && Same(run->choice, choice)) return run.get();
  }
  int64_t kept = 0;
  for (size_t k = runs_.size(); k-- > 0;) {
    kept += BytesOf(*runs_[k]);
    if (kept > kMostKeptBytes) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(k));
  }
  auto run = std::make_unique<ReferenceRun>();
  run->choice = choice;
  if (choice.given >= 0) {
    StatusOr<Arrays> arrays = GivenInputs(roles_, given[static_cast<size_t>(choice.given)]);
    if (!arrays) return tl::unexpected(arrays.error());
    if (choice.near) MoveNearby(choice.seed, &*arrays);
    run->inputs = std::make_shared<Arrays>(*std::move(arrays));
  } else {
    auto arrays = SharedInputs(roles_, static_cast<InputKind>(choice.kind), choice.seed);
    if (!arrays.ok()) return Failed("making inputs", arrays.status());
    run->inputs = *std::move(arrays);
  }
  runs_.push_back(std::move(run));
  return runs_.back().get();
}

StatusOr<verify::Outputs> Reference::Result(ReferenceRun* run) {
  if (run->result) return *run->result;
  StatusOr<verify::Outputs> result = RunOn(*program_, *run->inputs);
  if (!result) return tl::unexpected(result.error());
  run->result = *std::move(result);
  return *run->result;
}

StatusOr<verify::Outputs> Reference::RunMoved(const Program& program, const ReferenceRun& run,
                                              uint64_t seed, bool noise, Arrays* moved) {
  if (absl::Status status = Perturb(*run.inputs, seed, moved); !status.ok()) {
    return Failed("perturbing inputs", status);
  }
  if (noise) {
    moved->push_back(xla::LiteralUtil::CreateR0<uint32_t>(
        static_cast<uint32_t>((seed * 0x9E3779B97F4A7C15ull) >> 32)));
  }
  return RunOn(program, *moved);
}

const Program* Reference::WithStoredNoise() {
  if (!stored_noise_) {
    const auto start = Clock::now();
    stored_noise_.emplace();
    const auto optimised = program_->Optimised();
    if (plan_.empty() && optimised.ok()) {
      const auto noisy = AddStoredNoise(**optimised);
      if (noisy.ok() && *noisy != nullptr) {
        absl::StatusOr<Program> compiled = Program::CompileOptimised(**noisy, quality_);
        if (compiled.ok()) *stored_noise_ = *std::move(compiled);
      }
    }
    noise_compile_seconds_ += SecondsFrom(start);
  }
  return *stored_noise_ ? &**stored_noise_ : nullptr;
}

StatusOr<std::optional<verify::Outputs>> Reference::MovedSample(ReferenceRun* run, int k,
                                                                Arrays* moved) {
  const Program* const noisy = WithStoredNoise();
  while (static_cast<int>(run->moved.size()) <= k) {
    const uint64_t seed = run->choice.seed * 64 + kMovedSeed + run->moved.size();
    SeedStoredNoise(static_cast<uint32_t>(seed));
    auto outputs = RunMoved(noisy != nullptr ? *noisy : *program_, *run, seed,
                            /*noise=*/false, moved);
    if (!outputs) return tl::unexpected(outputs.error());
    run->moved.push_back(*std::move(outputs));
  }
  return run->moved[static_cast<size_t>(k)];
}

template <class Copy>
Status Reference::CompileCopy(std::optional<Program>& program, const Copy& make) {
  if (program) return {};
  const auto start = Clock::now();
  const absl::StatusOr<std::unique_ptr<xla::HloModule>> copy = make();
  if (!copy.ok()) return Failed("adding rounding noise", copy.status());
  absl::StatusOr<Program> compiled = Program::Compile(**copy, CodeQuality::kNoise);
  if (!compiled.ok()) return Failed("compiling with rounding noise", compiled.status());
  program = *std::move(compiled);
  noise_compile_seconds_ += SecondsFrom(start);
  return {};
}

StatusOr<std::optional<verify::Outputs>> Reference::Sample(ReferenceRun* run, int k,
                                                           Arrays* moved) {
  return Noisy(NarrowSums::kNarrow, noise_, run, run->samples, k, moved);
}

StatusOr<std::optional<verify::Outputs>> Reference::WideSample(ReferenceRun* run, int k,
                                                               Arrays* moved) {
  if (!HasNarrowSums(*module_)) return std::nullopt;
  if (k > 0) return Noisy(NarrowSums::kWide, wide_noise_, run, run->wide_noise, k - 1, moved);
  if (Status done = CompileCopy(wide_, [&] { return WithWideSums(*module_); }); !done) {
    return tl::unexpected(done.error());
  }
  if (!run->wide) {
    StatusOr<verify::Outputs> outputs = RunOn(*wide_, *run->inputs);
    if (!outputs) return tl::unexpected(outputs.error());
    run->wide = *std::move(outputs);
  }
  return run->wide;
}

StatusOr<std::optional<verify::Outputs>> Reference::Noisy(NarrowSums sums,
                                                          std::optional<Program>& program,
                                                          ReferenceRun* run,
                                                          std::vector<verify::Outputs>& samples,
                                                          int k, Arrays* moved) {
  const auto noisy = [&]() -> absl::StatusOr<std::unique_ptr<xla::HloModule>> {
    absl::StatusOr<NoisyModule> copy = AddRoundingNoise(*module_, sums);
    if (!copy.ok()) return copy.status();
    return std::move(copy->module);
  };
  if (Status done = CompileCopy(program, noisy); !done) return tl::unexpected(done.error());
  while (static_cast<int>(samples.size()) <= k) {
    auto outputs = RunMoved(*program, *run, run->choice.seed * 64 + samples.size() + 1,
                            /*noise=*/true, moved);
    if (!outputs) return tl::unexpected(outputs.error());
    samples.push_back(*std::move(outputs));
  }
  return samples[static_cast<size_t>(k)];
}

}  // namespace hone::compiler
