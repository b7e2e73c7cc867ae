#include "compiler/run/flags.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/implementations/emit.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

constexpr absl::string_view kExtra = "xla_backend_extra_options.";

// Passes without which some program does not compile, or computes something else: what they remove
// nobody behind them expects.
constexpr absl::string_view kNeeded[] = {
    "batched_gather_scatter_normalizer",
    "bitcast_dtypes_expander",
    "copy-insertion",
    "dot_decomposer",
    "flatten-call-graph",
    "float-normalization-bf16",
    "fusion-wrapper",
    "gather_simplifier",
    "layout-assignment",
    "post_scatter_expansion_simplification",
    "rng-bit-generator-expander",
    "scatter_simplifier",
    "select_and_scatter_expander",
};
// Those that change nothing that is run.
constexpr absl::string_view kIdle[] = {
    "call-inliner",
    "cse_barrier_expander",
    "dce",
    "literal-canonicalizer",
    "shape-canonicalizer",
    "sharding-remover",
    "while-loop-trip-count-annotator",
};

tl::unexpected<Error> Bad(const std::string& name, const std::string& value,
                          const std::string& wanted) {
  return MakeError(ErrorCode::kInvalidInput,
                   absl::StrCat("flag ", name, " cannot be '", value, "': it takes ", wanted));
}

std::string EnumNames(const FieldDescriptor& field) {
  std::string names;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", field.enum_type()->value(i)->name());
  }
  return names;
}

Status SetRepeated(const std::string& name, const std::string& value, const FieldDescriptor& field,
                   xla::DebugOptions* options) {
  const Reflection& reflection = *options->GetReflection();
  reflection.ClearField(options, &field);
  if (value == "none") return {};
  for (absl::string_view part : absl::StrSplit(value, ',')) {
    if (field.type() == FieldDescriptor::TYPE_STRING) {
      reflection.AddString(options, &field, std::string(part));
    } else if (field.type() == FieldDescriptor::TYPE_ENUM) {
      const auto* number = field.enum_type()->FindValueByName(std::string(part));
      if (number == nullptr) return Bad(name, value, EnumNames(field));
      reflection.AddEnum(options, &field, number);
    } else {
      return Bad(name, value, "values of a kind that cannot be set by name");
    }
  }
  return {};
}

Status SetFlag(const std::string& name, const std::string& value, xla::DebugOptions* options) {
  if (absl::StartsWith(name, kExtra)) {
    const std::string key = name.substr(kExtra.size());
    if (value == "unset") {
      options->mutable_xla_backend_extra_options()->erase(key);
    } else {
      (*options->mutable_xla_backend_extra_options())[key] = value;
    }
    return {};
  }
  if (IsWithoutPass(name)) {
    if (value != "true" && value != "unset") return Bad(name, value, "true or unset");
    if (value == "true") options->add_xla_disable_hlo_passes(name.substr(kWithoutPass.size()));
    return {};
  }
  const FieldDescriptor* field = options->GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) {
    return MakeError(ErrorCode::kInvalidInput, absl::StrCat("XLA has no flag '", name, "'"));
  }
  if (field->is_repeated()) return SetRepeated(name, value, *field, options);
  const Reflection& reflection = *options->GetReflection();
  switch (field->type()) {
    case FieldDescriptor::TYPE_BOOL:
      if (value != "true" && value != "false") return Bad(name, value, "true or false");
      reflection.SetBool(options, field, value == "true");
      return {};
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_INT64: {
      int32_t number = 0;
      if (!absl::SimpleAtoi(value, &number)) return Bad(name, value, "a whole number");
      if (field->type() == FieldDescriptor::TYPE_INT32) {
        reflection.SetInt32(options, field, number);
      } else {
        reflection.SetInt64(options, field, number);
      }
      return {};
    }
    case FieldDescriptor::TYPE_STRING:
      reflection.SetString(options, field, value);
      return {};
    case FieldDescriptor::TYPE_ENUM: {
      const auto* number = field->enum_type()->FindValueByName(value);
      if (number == nullptr) return Bad(name, value, EnumNames(*field));
      reflection.SetEnum(options, field, number);
      return {};
    }
    default:
      return Bad(name, value, "values of a kind that cannot be set by name");
  }
}

}  // namespace

std::vector<FlagChoices> TunableFlags(bool fast_math) {
  const std::string dot = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT";
  const std::string convolution = "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION";
  const std::string reduce = "LIBRARY_FUSION_TYPE_REDUCE";
  const std::string all = absl::StrCat(dot, ",", convolution, ",", reduce);
  const auto extra = [](absl::string_view name) { return absl::StrCat(kExtra, name); };
  std::vector<FlagChoices> flags = {
      {"xla_cpu_prefer_vector_width", {"256", "512", "128"}},
      {"xla_cpu_experimental_ynn_fusion_type",
       {all, "none", absl::StrCat(dot, ",", convolution), reduce, absl::StrCat(dot, ",", reduce),
        absl::StrCat(convolution, ",", reduce), absl::StrCat(all, ",LIBRARY_FUSION_TYPE_DOT"),
        absl::StrCat(all, ",LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_ELTWISE")}},
      {"xla_cpu_multi_thread_eigen", {"true", "false"}},
      {"xla_cpu_use_fusion_emitters", {"true", "false"}},
      {"xla_cpu_copy_insertion_use_region_analysis", {"false", "true"}},
      {"xla_cpu_scheduler_type",
       {"CPU_SCHEDULER_TYPE_DEFAULT", "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
        "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED"}},
      {"xla_llvm_disable_expensive_passes", {"false", "true"}},
      {extra("xla_cpu_use_multi_output_fusion"), {"unset", "true"}},
      {extra("xla_cpu_flatten_after_fusion"), {"unset", "true"}},
      {extra("xla_cpu_disable_new_fusion_emitters"), {"unset", "true"}},
      {extra("xla_cpu_disable_tiled_emitter"), {"unset", "true"}},
      {extra("xla_cpu_disable_loop_unrolling"), {"unset", "true"}},
      {extra("xla_cpu_disable_slp_vectorizer"), {"unset", "true"}},
      {extra("xla_force_enable_experimental_llvm_ir_gemm"), {"unset", "true"}},
      {extra("xla_llvm_ir_gemm_tile_size"), {"unset", "8:64:2", "16:128:1", "4:256:2"}},
      {extra("xla_llvm_dot_tiling_factor"), {"unset", "4", "16"}},
      {extra("xla_cpu_small_while_loop_byte_threshold"), {"unset", "0", "65536", "16777216"}},
  };
  if (fast_math) {
    flags.push_back({"xla_cpu_enable_fast_math", {"false", "true"}});
    flags.push_back({"xla_cpu_enable_platform_dependent_math", {"false", "true"}});
  }
  // The names of a wheel's flags are its own.
  const auto* descriptor = xla::DebugOptions::descriptor();
  flags.erase(std::remove_if(flags.begin(), flags.end(),
                             [&](const FlagChoices& flag) {
                               return !absl::StartsWith(flag.name, kExtra) &&
                                      descriptor->FindFieldByName(flag.name) == nullptr;
                             }),
              flags.end());
  return flags;
}

bool MayBeLeftOut(const std::string& pass) {
  return !absl::c_linear_search(kNeeded, pass) && !absl::c_linear_search(kIdle, pass);
}

std::vector<FlagChoices> PassesToLeaveOut(
    const std::vector<StockPass>& passes,
    const std::function<bool(const std::string& pass)>& may_be) {
  std::vector<FlagChoices> flags;
  std::set<std::string> seen;
  for (const StockPass& pass : passes) {
    if (!pass.changed || !may_be(pass.name) || !seen.insert(pass.name).second) continue;
    flags.push_back({absl::StrCat(kWithoutPass, pass.name), {"unset", "true"}, /*first=*/true});
  }
  return flags;
}

Status SetFlags(const std::vector<std::pair<std::string, std::string>>& flags,
                xla::DebugOptions* options) {
  for (const auto& [name, value] : flags) {
    if (Status set = SetFlag(name, value, options); !set) return set;
  }
  return {};
}

void SetWhatItNeeds(const xla::HloModule& module, xla::DebugOptions* options) {
  constexpr char kFusesForALibrary[] = "xla_cpu_experimental_ynn_fusion_type";
  if (options->GetDescriptor()->FindFieldByName(kFusesForALibrary) == nullptr) return;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      if (!instruction->frontend_attributes().map().contains(emit::kSmallCall)) continue;
      (void)SetFlag(kFusesForALibrary, "none", options);
      return;
    }
  }
}

CompilePlan CodeFlags(const CompilePlan& plan) {
  CompilePlan flags;
  for (const auto& flag : plan.flags) {
    if (!IsSeenInTheModule(flag.first)) flags.flags.push_back(flag);
  }
  return flags;
}

CompilePlan KernelFlags(const CompilePlan& plan) {
  CompilePlan flags = CodeFlags(plan);
  flags.flags.erase(std::remove_if(flags.flags.begin(), flags.flags.end(),
                                   [](const auto& flag) { return flag.first == kTraceFlag; }),
                    flags.flags.end());
  return flags;
}

}  // namespace hone::compiler
