// Remembers which tiles are best for a fusion by Triton. PriorityFusion asks XLA's model again
// whenever a neighbour was fused, in every compilation, and nearly all of the pipeline's time goes
// into the answers, although candidates differ in a few fusions. The answer hangs on the
// instructions fused alone.
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/sites/real.h"
#include "core/fingerprint.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/hlo/utils/hlo_traversal.h"
#include "xla/literal.h"
#include "xla/service/gpu/model/block_level_parameters.h"
#include "xla/service/gpu/model/gpu_performance_model_base.h"
#include "xla/service/instruction_fusion.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr size_t kMostAnswers = 100'000;  // of a few hundred bytes

// xla::gpu::TiledRunTimeData, whose header needs LLVM's.
struct TiledRunTime {
  xla::gpu::EstimateRunTimeData run_time;
  xla::gpu::BlockLevelParameters tiles;
};
using Answer = absl::StatusOr<std::variant<TiledRunTime, xla::FusionDecision>>;

const xla::HloPrintOptions& ContentOptions() {
  static const auto* const options =
      new xla::HloPrintOptions(xla::HloPrintOptions::Canonical().set_print_backend_config(true));
  return *options;
}

// What is fused: instructions with what they compute, their arrays as they lie in memory, and who
// reads whom; what is read from outside in the order in which it is met; what is written; the
// compiler's flags.
Fingerprint ContentOf(const xla::HloFusionAdaptor& fusion) {
  absl::flat_hash_map<const HloInstruction*, size_t> numbers;
  std::string text;
  const auto name = [&](const HloInstruction& instruction) {
    const auto [known, fresh] = numbers.try_emplace(&instruction, numbers.size());
    absl::StrAppend(&text, " ", known->second);
    if (fresh) {
      absl::StrAppend(&text, ":", xla::ShapeUtil::HumanStringWithLayout(instruction.shape()));
    }
  };
  for (const xla::HloInstructionAdaptor& node : fusion.MakeInstructionPostOrder()) {
    const HloInstruction& instruction = node.instruction();
    absl::StrAppend(&text, "\n", xla::HloOpcodeString(instruction.opcode()));
    for (const xla::HloInstructionAdaptor& operand : node.GetOperands()) {
      name(operand.instruction());
    }
    absl::StrAppend(&text, " ->");
    name(instruction);
    if (instruction.opcode() == xla::HloOpcode::kConstant) {
      const xla::Literal& literal = instruction.literal();
      if (literal.shape().IsArray()) {
        text.append(static_cast<const char*>(literal.untyped_data()),
                    static_cast<size_t>(literal.size_bytes()));
      }
      continue;
    }
    for (const std::string& attribute : instruction.ExtraAttributesToString(ContentOptions())) {
      absl::StrAppend(&text, " ", attribute);
    }
    absl::StrAppend(&text, instruction.raw_backend_config_string());
    for (const xla::HloComputation* called : instruction.called_computations()) {
      absl::StrAppend(&text, called->ToString(ContentOptions()));
    }
  }
  absl::StrAppend(&text, "\nroots");
  const HloInstruction* any = nullptr;
  for (const xla::HloInstructionAdaptor& root : fusion.GetRoots()) {
    name(root.instruction());
    any = &root.instruction();
  }
  if (any != nullptr) {
    google::protobuf::io::StringOutputStream end(&text);
    google::protobuf::io::CodedOutputStream coded(&end);
    coded.SetSerializationDeterministic(true);  // a map's entries come in any order else
    any->GetModule()->config().debug_options().SerializeToCodedStream(&coded);
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace
}  // namespace hone::compiler

// xla::gpu::GpuPerformanceModelWithIndexingAnalysis::TryFindBestTilingForFusion. A worker has one
// target, so one model's answers are another's.
extern "C" hone::compiler::Answer
_ZN3xla3gpu39GpuPerformanceModelWithIndexingAnalysis26TryFindBestTilingForFusionERKNS_16HloFusionAdaptorE(
    void* model, const xla::HloFusionAdaptor& fusion) {
  using hone::compiler::Answer;
  static const auto real =
      hone::compiler::Real<Answer (*)(void*, const xla::HloFusionAdaptor&)>(__func__);
  static std::mutex mutex;  // of what follows
  static auto* const answers = new std::unordered_map<hone::Fingerprint, Answer>;
  const hone::Fingerprint content = hone::compiler::ContentOf(fusion);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = answers->find(content); known != answers->end()) return known->second;
  }
  Answer answer = real(model, fusion);
  const std::lock_guard lock(mutex);
  if (answers->size() >= hone::compiler::kMostAnswers) answers->clear();
  answers->emplace(content, answer);
  return answer;
}
