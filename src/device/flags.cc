#include "device/flags.h"

#include <array>

namespace hone::device {
namespace {

// Where a flag, its values and its default are from.
constexpr std::string_view kXla = "xla/debug_options_flags.cc and xla/xla.proto";
constexpr std::string_view kGpuGuide = "openxla.org/xla/flags_guidance, GPU; NVIDIA's JAX-Toolbox";
constexpr std::string_view kTpuGuide = "openxla.org/xla/flags_guidance, TPU; MaxText's benchmarks";

}  // namespace

const std::vector<DeviceFlag>& DeviceFlags() {
  // Values are those that differ from the default of the pinned XLA, where it is known; a plugin of
  // another version may refuse a flag, which costs one failed evaluation.
  static const std::vector<DeviceFlag> flags = {
      {"cpu", "xla_cpu_prefer_vector_width", {"512", "128"}, false, "bits of a SIMD vector", kXla},
      {"cpu", "xla_cpu_use_fusion_emitters", {"false"}, false, "newer emitters of fusions", kXla},
      {"cpu", "xla_cpu_multi_thread_eigen", {"false"}, false, "threads within an operation", kXla},
      {"cpu", "xla_cpu_use_xnnpack", {"false"}, false, "XNNPACK's kernels", kXla},
      {"cpu", "xla_cpu_use_onednn", {"true"}, false, "oneDNN's kernels", kXla},
      {"cpu",
       "xla_cpu_copy_insertion_use_region_analysis",
       {"true"},
       false,
       "a finer analysis of which copies are needed",
       kXla},
      {"cpu",
       "xla_cpu_scheduler_type",
       {"CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED", "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED"},
       false,
       "what the order of operations is good for",
       kXla},
      {"cpu",
       "xla_cpu_parallel_codegen_split_count",
       {"1", "8"},
       false,
       "parts in which code is generated",
       kXla},
      {"cpu",
       "xla_llvm_disable_expensive_passes",
       {"true"},
       false,
       "LLVM's dearer passes off",
       kXla},
      {"cpu", "xla_backend_optimization_level", {"2"}, false, "LLVM's level", kXla},
      {"cpu",
       "xla_disable_hlo_passes",
       {"fusion", "cpu-parallel-task-assigner"},
       false,
       "passes of the compiler left out",
       kXla},
      {"cpu", "xla_cpu_enable_fast_math", {"true"}, true, "LLVM's fast-math flags", kXla},

      {"gpu",
       "xla_gpu_enable_triton_gemm",
       {"false"},
       false,
       "Triton's kernels for dots",
       kGpuGuide},
      {"gpu",
       "xla_gpu_triton_gemm_any",
       {"false"},
       false,
       "Triton also for dots without anything to fuse",
       kXla},
      {"gpu", "xla_gpu_enable_cublaslt", {"true"}, false, "cuBLASLt in place of cuBLAS", kGpuGuide},
      {"gpu",
       "xla_gpu_cudnn_gemm_fusion_level",
       {"1", "2", "3"},
       false,
       "dots fused by cuDNN",
       kGpuGuide},
      {"gpu",
       "xla_gpu_exhaustive_tiling_search",
       {"true"},
       false,
       "autotuning over more tilings: slow to compile",
       kXla},
      {"gpu",
       "xla_gpu_enable_split_k_autotuning",
       {"false"},
       false,
       "split-K among the tilings",
       kXla},
      {"gpu",
       "xla_gpu_gemm_rewrite_size_threshold",
       {"0", "10000"},
       false,
       "dots below this size are not given to libraries",
       kXla},
      {"gpu",
       "xla_gpu_dot_merger_threshold_mb",
       {"0", "256"},
       false,
       "dots up to this size that share an operand become one",
       kXla},
      {"gpu",
       "xla_gpu_enable_command_buffer",
       {"none", "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,COLLECTIVES,WHILE,CONDITIONAL"},
       false,
       "what is recorded into CUDA graphs",
       kGpuGuide},
      {"gpu",
       "xla_gpu_graph_min_graph_size",
       {"1", "20"},
       false,
       "the shortest CUDA graph",
       kGpuGuide},
      {"gpu",
       "xla_gpu_unsupported_enable_triton_multi_output_fusion",
       {"false"},
       false,
       "Triton fusions of several outputs",
       kXla},
      {"gpu",
       "xla_gpu_experimental_enable_fusion_block_level_rewriter",
       {"true"},
       false,
       "Triton for fusions that a cost model thinks it good for",
       kXla},
      {"gpu",
       "xla_gpu_experimental_enable_triton_heroless_priority_fusion",
       {"true"},
       false,
       "Triton in priority fusion",
       kXla},
      {"gpu",
       "xla_gpu_experimental_allow_unroll_factor_eight",
       {"false"},
       false,
       "unrolling of loop fusions by eight",
       kXla},
      {"gpu",
       "xla_gpu_enable_reduction_epilogue_fusion",
       {"false"},
       false,
       "elementwise work behind reductions fused into them",
       kXla},
      {"gpu", "xla_gpu_enable_cudnn_layer_norm", {"true"}, false, "cuDNN's layer norm", kXla},
      {"gpu", "xla_gpu_enable_cub_radix_sort", {"false"}, false, "CUB's sort", kXla},
      {"gpu", "xla_gpu_experimental_use_raft_select_k", {"true"}, false, "RAFT's top-k", kXla},
      {"gpu",
       "xla_gpu_copy_insertion_use_region_analysis",
       {"true"},
       false,
       "a finer analysis of which copies are needed",
       kXla},
      {"gpu",
       "xla_gpu_enable_latency_hiding_scheduler",
       {"true"},
       false,
       "an order of operations that hides copies and collectives",
       kGpuGuide},
      {"gpu",
       "xla_gpu_enable_while_loop_double_buffering",
       {"true"},
       false,
       "loops unrolled by two",
       kXla},
      {"gpu",
       "xla_gpu_enable_while_loop_unrolling",
       {"WHILE_LOOP_UNROLLING_DOUBLE_BUFFER", "WHILE_LOOP_UNROLLING_FULL_UNROLL"},
       false,
       "how loops are unrolled",
       kXla},
      {"gpu",
       "xla_gpu_multi_streamed_windowed_einsum",
       {"false"},
       false,
       "windowed einsums on several streams",
       kXla},
      {"gpu", "xla_gpu_enable_fast_min_max", {"true"}, true, "minimum and maximum lose NaNs", kXla},
      {"gpu",
       "xla_gpu_default_to_alg_dot_bf16_bf16_f32",
       {"true"},
       true,
       "f32 dots computed in bf16",
       kXla},

      {"tpu",
       "xla_tpu_scoped_vmem_limit_kib",
       {"16384", "65536", "98304"},
       false,
       "vector memory that a fusion may take",
       kTpuGuide},
      {"tpu",
       "xla_tpu_enable_latency_hiding_scheduler",
       {"true", "false"},
       false,
       "an order of operations that hides copies and collectives",
       kTpuGuide},
      {"tpu",
       "xla_tpu_enable_aggressive_loop_fusion_layout_opt",
       {"false"},
       false,
       "layouts chosen for fusions of loops",
       kTpuGuide},
      {"tpu",
       "xla_tpu_rwb_fusion",
       {"false"},
       false,
       "fusion of reductions with broadcasts",
       kTpuGuide},
      {"tpu",
       "xla_tpu_dot_dot_fusion",
       {"true", "false"},
       false,
       "fusion of dots with dots",
       kTpuGuide},
      {"tpu",
       "xla_tpu_enable_multi_compute_overlap_in_layer_scheduler",
       {"true", "false"},
       false,
       "several operations at once in the scheduler",
       kTpuGuide},
      {"tpu",
       "xla_tpu_use_enhanced_launch_barrier",
       {"false"},
       false,
       "the barrier before a run",
       kTpuGuide},
      {"tpu",
       "xla_tpu_licm_size_inflation_ratio",
       {"1.0"},
       false,
       "how much hoisting out of loops may grow what is kept",
       kTpuGuide},
  };
  return flags;
}

std::string_view FlagPlatform(std::string_view platform) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPlatforms = {
      {{"cpu", "cpu"},
       {"Host", "cpu"},
       {"cuda", "gpu"},
       {"CUDA", "gpu"},
       {"gpu", "gpu"},
       {"rocm", "gpu"},
       {"tpu", "tpu"}}};
  for (const auto& [name, flags] : kPlatforms) {
    if (name == platform) return flags;
  }
  return "";
}

std::vector<FlagChoices> FlagChoicesFor(std::string_view platform, bool fast_math) {
  std::vector<FlagChoices> choices;
  for (const DeviceFlag& flag : DeviceFlags()) {
    if (flag.platform != FlagPlatform(platform) || (flag.numerics && !fast_math)) continue;
    FlagChoices one{std::string(flag.name), {std::string(kUnset)}};
    for (std::string_view value : flag.values) one.values.emplace_back(value);
    choices.push_back(std::move(one));
  }
  return choices;
}

Flags PluginFlags(const CompilePlan& plan) {
  Flags flags;
  std::string left_out;
  for (const auto& [name, value] : plan.flags) {
    if (value == kUnset) continue;
    if (!IsWithoutPass(name)) {
      flags.emplace_back(name, value);
    } else if (value == "true") {
      left_out += (left_out.empty() ? "" : ",") + name.substr(kWithoutPass.size());
    }
  }
  if (left_out.empty()) return flags;
  const std::string list(kWithoutPass.substr(0, kWithoutPass.size() - 1));
  for (auto& [name, value] : flags) {
    if (name != list) continue;
    value = value == "none" ? left_out : value + "," + left_out;
    return flags;
  }
  flags.emplace_back(list, left_out);
  return flags;
}

}  // namespace hone::device
