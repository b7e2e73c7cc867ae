// XLA:GPU without a GPU: its whole pipeline of HLO passes runs from a description of the machine.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "compiler/gpu/choices_intercept.h"
#include "compiler/gpu/estimate.h"
#include "compiler/gpu/flags.h"
#include "compiler/gpu/pass_table.h"
#include "compiler/gpu/plain.h"
#include "compiler/gpu/ptx.h"
#include "compiler/gpu/targets.h"
#include "compiler/sites/pipeline_intercept.h"
#include "compiler/target.h"
#include "google/protobuf/text_format.h"
#include "xla/backends/gpu/target_config/target_config.h"
#include "xla/service/compiler.h"
#include "xla/service/gpu_topology.h"

namespace hone::compiler {

// XLA's exported constructor of gpu::NVPTXCompiler, whose header needs LLVM's.
void ConstructNvptxCompiler(void* storage) asm("_ZN3xla3gpu13NVPTXCompilerC1Ev");

namespace {

namespace fs = std::filesystem;

xla::Compiler& NvptxCompiler() {
  static auto* const compiler = [] {
    void* const storage = ::operator new (size_t{1} << 16);  // its size is below 2 KiB
    ConstructNvptxCompiler(storage);
    return static_cast<xla::Compiler*>(storage);
  }();
  return *compiler;
}

class GpuTarget : public Target {
 public:
  GpuTarget(std::string name, xla::gpu::GpuTargetConfig config)
      : name_(std::move(name)), config_(std::move(config)) {}

  std::string name() const override { return name_; }
  std::string wheel() const override { return "tensorflow"; }
  std::vector<PassEntry> Passes() const override { return gpu::GpuPasses(config_); }
  std::vector<ExcludedPass> Excluded() const override { return gpu::ExcludedFromGpuPasses(); }

  absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimise(
      std::unique_ptr<xla::HloModule> module) const override {
    xla::DebugOptions flags = module->config().debug_options();
    // Both look at a device: the first measures kernels on it, the second measures tiles. Where a
    // plan wants Triton for a dot, its fusions have tiles that always do.
    flags.set_xla_gpu_autotune_level(0);
    const PipelineObserver* const observer = CurrentPipelineObserver();
    flags.set_xla_gpu_enable_triton_gemm(observer != nullptr && observer->Plans(gpu::kTriton));
    // On this thread, where who observes it is asked.
    flags.set_xla_gpu_force_compilation_parallelism(1);
    module->mutable_config().set_debug_options(flags);
    xla::Compiler::CompileOptions options;
    options.gpu_topology = Topology();
    const gpu::ScopedCapability scope(config_.device_description.gpu_compute_capability());
    return NvptxCompiler().RunHloPasses(std::move(module), nullptr, options);
  }

  bool is_here() const override { return false; }
  absl::StatusOr<std::vector<KernelTime>> EstimateKernels(const xla::HloModule& module,
                                                          bool optimised) const override {
    return gpu::EstimateKernels(module, config_.device_description, optimised);
  }
  absl::Status MakePlain(xla::HloModule& optimised) const override {
    return gpu::MakePlain(optimised);
  }
  absl::StatusOr<std::string> Assembly(std::unique_ptr<xla::HloModule> optimised) const override {
    xla::Compiler::CompileOptions options;
    options.gpu_topology = Topology();
    return gpu::GeneratePtx(NvptxCompiler(), std::move(optimised), options);
  }
  std::vector<std::string> Readable() const override { return {gpu::LibdeviceFolder()}; }
  std::vector<FlagChoices> FlagsToTry(const std::vector<StockPass>& passes,
                                      bool fast_math) const override {
    return gpu::GpuFlagsToTry(passes, fast_math);
  }

 private:
  xla::GpuTopology Topology() const {
    return xla::GpuTopology(/*platform_version=*/"", /*num_partitions=*/1,
                            /*num_hosts_per_partition=*/1, /*num_devices_per_host=*/1, config_);
  }

  const std::string name_;
  const xla::gpu::GpuTargetConfig config_;
};

std::string Names() {
  std::string names;
  for (const auto& [name, text] : gpu::EmbeddedTargets())
    names += names.empty() ? name : ", " + name;
  return names;
}

}  // namespace

StatusOr<std::unique_ptr<Target>> MakeGpuTarget(const std::string& target) {
  std::string name = target;
  std::string text;
  const auto& targets = gpu::EmbeddedTargets();
  if (const auto found = targets.find(target); found != targets.end()) {
    text = found->second;
  } else {
    std::error_code error;
    if (!fs::is_regular_file(target, error)) {
      return MakeError(ErrorCode::kInvalidInput,
                       "there is no target '" + target + "': there are cpu, " + Names() +
                           ", and files with a GpuTargetConfigProto as text");
    }
    std::ifstream file(target, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.good() && !file.eof()) {
      return MakeError(ErrorCode::kInvalidInput, target + ": cannot be read");
    }
    name = fs::path(target).stem().string();
  }
  stream_executor::GpuTargetConfigProto proto;
  if (!google::protobuf::TextFormat::ParseFromString(text, &proto)) {
    return MakeError(ErrorCode::kInvalidInput,
                     target +
                         ": this XLA cannot read it as a GpuTargetConfigProto; it may have "
                         "fields of a newer one");
  }
  if (proto.gpu_device_info().core_count() <= 0 ||
      proto.gpu_device_info().memory_bandwidth() <= 0 ||
      !proto.gpu_device_info().has_cuda_compute_capability()) {
    return MakeError(ErrorCode::kInvalidInput,
                     target +
                         ": gpu_device_info needs core_count, memory_bandwidth and "
                         "cuda_compute_capability");
  }
  auto config = xla::gpu::GpuTargetConfig::FromProto(proto);
  if (!config.ok()) {
    return MakeError(ErrorCode::kInvalidInput,
                     target + ": " + std::string(config.status().message()));
  }
  return std::make_unique<GpuTarget>(std::move(name), *std::move(config));
}

}  // namespace hone::compiler
