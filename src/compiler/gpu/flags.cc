#include "compiler/gpu/flags.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/run/flags.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "xla/debug_options_flags.h"
#include "xla/xla.pb.h"

namespace hone::compiler::gpu {
namespace {

using google::protobuf::FieldDescriptor;

constexpr absl::string_view kMayBeLeftOut[] = {
    "all-reduce-folder",
    "convert-mover",
    "copy_fusion",
    "cublas-gemm-broadcast-folding-rewriter",
    "cublas-gemm-rewriter",
    "cublas-pad-for-gemms",
    "cudnn-fused-convolution-rewriter",
    "cudnn_pad_for_convolutions",
    "dot-merger",
    "dot_dimension_sorter",
    "dot-strength-reduction",
    "move_copy_to_users",
    "multi_output_fusion",
    "reduce-decomposer",
    "reduction-dimension-grouper",
    "reduction-splitter",
    "reshape-mover",
    "scalar-constant-sinker",
    "sort-iota-fusion",
    "transpose-folding",
    "while-loop-invariant-code-motion",
};

std::string StockValue(const xla::DebugOptions& options, const FieldDescriptor& field) {
  const auto& reflection = *options.GetReflection();
  switch (field.type()) {
    case FieldDescriptor::TYPE_BOOL:
      return reflection.GetBool(options, &field) ? "true" : "false";
    case FieldDescriptor::TYPE_INT32:
      return absl::StrCat(reflection.GetInt32(options, &field));
    case FieldDescriptor::TYPE_INT64:
      return absl::StrCat(reflection.GetInt64(options, &field));
    case FieldDescriptor::TYPE_ENUM:
      return std::string(reflection.GetEnum(options, &field)->name());
    default:
      return {};
  }
}

}  // namespace

std::vector<FlagChoices> GpuFlagsToTry(const std::vector<StockPass>& passes, bool fast_math) {
  std::vector<FlagChoices> wanted = {
      {"xla_gpu_dot_merger_threshold_mb", {"0", "32", "1024"}},
      {"xla_gpu_enable_cublaslt", {"false", "true"}, /*first=*/true},
      {"xla_gpu_enable_reduction_epilogue_fusion", {"false", "true"}},
      {"xla_gpu_enable_while_loop_unrolling",
       {"WHILE_LOOP_UNROLLING_NO_UNROLL", "WHILE_LOOP_UNROLLING_FULL_UNROLL"}},
      {"xla_gpu_experimental_pack_dot_operands_along_k_dimension", {"false", "true"}},
      {"xla_gpu_gemm_rewrite_size_threshold", {"0", "100", "10000", "1000000"}},
  };
  if (fast_math) {
    wanted.push_back({"xla_gpu_enable_fast_min_max", {"false", "true"}});
    wanted.push_back({"xla_allow_excess_precision", {"false", "true"}});
  }
  const xla::DebugOptions options = xla::GetDebugOptionsFromFlags();
  std::vector<FlagChoices> flags;
  for (FlagChoices& flag : wanted) {
    const FieldDescriptor* const field = options.GetDescriptor()->FindFieldByName(flag.name);
    if (field == nullptr) continue;  // the names of a wheel's flags are its own
    const std::string stock = StockValue(options, *field);
    flag.values.erase(std::remove(flag.values.begin(), flag.values.end(), stock),
                      flag.values.end());
    flag.values.insert(flag.values.begin(), stock);
    flags.push_back(std::move(flag));
  }
  const auto may_be = [](const std::string& pass) {
    return absl::c_linear_search(kMayBeLeftOut, pass);
  };
  for (FlagChoices& flag : PassesToLeaveOut(passes, may_be)) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace hone::compiler::gpu
