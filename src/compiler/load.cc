#include "compiler/load.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "compiler/elided.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_module_config.h"
#include "xla/service/hlo_verifier.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

constexpr size_t kLargestUnpacked = size_t{1} << 30;
// Instructions of a program in which every call is written out. XLA's analyses and its inliner
// follow each call, some million instructions a second.
constexpr double kMostWrittenOut = 1 << 24;
// Messages between hone and its workers nest 64 deep, two for a tuple.
constexpr int kDeepestTuple = 24;

StatusOr<std::string> Gunzip(std::string_view data) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return MakeError(ErrorCode::kInternal, "zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  std::string result;
  int status = Z_OK;
  while (status == Z_OK && result.size() < kLargestUnpacked) {
    const size_t before = result.size();
    result.resize(before + std::max<size_t>(before, 1 << 16));
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + before);
    stream.avail_out = static_cast<uInt>(result.size() - before);
    status = inflate(&stream, Z_NO_FLUSH);
    result.resize(result.size() - stream.avail_out);
    if (status == Z_OK && stream.avail_in == 0 && stream.avail_out != 0) status = Z_BUF_ERROR;
  }
  inflateEnd(&stream);
  if (status == Z_OK) {
    return MakeError(ErrorCode::kInvalidInput,
                     "the gzip file unpacks to more than 1 GiB: too large for a program");
  }
  if (status != Z_STREAM_END) {
    return MakeError(ErrorCode::kInvalidInput, "the gzip data is damaged or cut short");
  }
  return result;
}

bool LooksLikeText(std::string_view data) {
  return std::none_of(data.begin(), data.begin() + std::min<size_t>(data.size(), 1 << 16),
                      [](unsigned char c) { return c == 0 || (c < 32 && !isspace(c)); });
}

// The debug options that the stock compiler starts from, whatever the environment says.
xla::HloModuleConfig StockConfig() {
  xla::HloModuleConfig config;
  config.set_debug_options(xla::DefaultDebugOptionsIgnoringFlags());
  return config;
}

StatusOr<LoadedModule> LoadText(std::string_view text) {
  if (text.find("HloModule") == text.npos && text.find("ENTRY") == text.npos) {
    const bool mlir = text.find("func.func") != text.npos || text.find("module @") != text.npos;
    return MakeError(
        ErrorCode::kInvalidInput,
        mlir ? "this is MLIR, not HLO: convert it first, for instance with "
               "jax.jit(f).lower(…).compiler_ir('hlo').as_hlo_text()"
             : "this is text, but not HLO: it has neither an 'HloModule' header nor an ENTRY");
  }
  const int elided = CountElided(text);
  auto module = elided == 0 ? xla::ParseAndReturnUnverifiedModule(text, StockConfig())
                            : xla::ParseAndReturnUnverifiedModule(MarkElided(text), StockConfig());
  if (!module.ok()) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("XLA cannot parse it: ", module.status().message()));
  }
  if (elided > 0) {
    const absl::Status filled = FillElided(module->get());
    if (!filled.ok()) return MakeError(ErrorCode::kMemory, std::string(filled.message()));
  }
  return LoadedModule{std::move(*module), "HLO text", elided};
}

StatusOr<LoadedModule> FromProto(const xla::HloModuleProto& proto, std::string format) {
  auto config = xla::HloModule::CreateModuleConfigFromProto(
      proto, xla::DefaultDebugOptionsIgnoringFlags());
  if (!config.ok()) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("XLA rejects this ", format, ": ", config.status().message()));
  }
  // Ids are remapped: old dumps have ids that today's XLA refuses.
  auto module = xla::HloModule::CreateFromProto(proto, *config, /*prohibit_empty_literal=*/true,
                                                /*comp_envs=*/nullptr,
                                                /*preserve_instruction_ids=*/false);
  if (!module.ok()) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("XLA rejects this ", format, ": ", module.status().message()));
  }
  return LoadedModule{std::move(*module), std::move(format)};
}

StatusOr<LoadedModule> LoadBinary(std::string_view data) {
  const auto size = static_cast<int>(data.size());
  // The three messages share field numbers, so what parses as one may be another: the one that
  // holds computations is it.
  xla::HloProto program;
  if (program.ParseFromArray(data.data(), size) && program.hlo_module().computations_size() > 0) {
    return FromProto(program.hlo_module(), "HloProto");
  }
  xla::HloSnapshot snapshot;
  if (snapshot.ParseFromArray(data.data(), size) &&
      snapshot.hlo().hlo_module().computations_size() > 0) {
    return FromProto(snapshot.hlo().hlo_module(), "HloSnapshot");
  }
  xla::HloModuleProto module;
  if (module.ParseFromArray(data.data(), size) && module.computations_size() > 0) {
    return FromProto(module, "HloModuleProto");
  }
  return MakeError(ErrorCode::kInvalidInput,
                   "this is no program: neither HLO text nor an HloProto, HloSnapshot or "
                   "HloModuleProto (or it is cut short)");
}

// Tuples in tuples.
bool DeeperThan(int most, const xla::Shape& shape) {
  return shape.IsTuple() &&
         (most == 0 || absl::c_any_of(shape.tuple_shapes(), [&](const auto& part) {
            return DeeperThan(most - 1, part);
          }));
}

bool HasTuplesDeeperThan(int most, const xla::HloModule& module) {
  return absl::c_any_of(module.computations(), [&](const xla::HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [&](const xla::HloInstruction* instruction) {
      return DeeperThan(most, instruction->shape());
    });
  });
}

// A computation that calls twice what calls twice: few lines stand for more than can be compiled.
double WrittenOut(const xla::HloModule& module) {
  absl::flat_hash_map<const xla::HloComputation*, double> sizes;
  for (const xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    double size = 0;
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      ++size;
      for (const xla::HloComputation* called : instruction->called_computations()) {
        size += sizes[called];
      }
    }
    sizes[computation] = size;
  }
  return sizes[module.entry_computation()];
}

// What Shardy leaves in JAX's modules and its import, before XLA's pipeline, takes out again: each is its
// operand, and on one device says nothing. XLA:CPU has no such calls.
void DropShardyMarkers(xla::HloModule& module) {
  if (module.config().num_partitions() > 1) return;
  for (xla::HloComputation* computation : module.computations()) {
    for (xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (!instruction->IsCustomCall("xla.sdy.FuncResultSharding") &&
          !instruction->IsCustomCall("xla.sdy.PropagationBarrier")) {
        continue;
      }
      if (instruction->operand_count() != 1 ||
          !xla::ShapeUtil::Compatible(instruction->shape(), instruction->operand(0)->shape()) ||
          instruction->HasControlDependencies()) {
        continue;
      }
      xla::Cast<xla::HloCustomCallInstruction>(instruction)->set_custom_call_has_side_effect(false);
      // What is not replaced stays as it is.
      computation->ReplaceInstruction(instruction, instruction->mutable_operand(0)).IgnoreError();
    }
  }
}

}  // namespace

StatusOr<LoadedModule> LoadModule(std::string_view data) {
  const bool gzip = data.size() > 2 && data[0] == '\x1f' && data[1] == '\x8b';
  std::string unpacked;
  if (gzip) {
    StatusOr<std::string> result = Gunzip(data);
    if (!result) return tl::unexpected(result.error());
    unpacked = *std::move(result);
    data = unpacked;
  }
  if (std::all_of(data.begin(), data.end(), [](unsigned char c) { return isspace(c); })) {
    return MakeError(ErrorCode::kInvalidInput, "the file is empty");
  }
  StatusOr<LoadedModule> loaded = LooksLikeText(data) ? LoadText(data) : LoadBinary(data);
  if (!loaded) return loaded;
  if (gzip) loaded->format += ", gzip";
  if (HasTuplesDeeperThan(kDeepestTuple, *loaded->module)) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("it has tuples nested more than ", kDeepestTuple,
                                  " deep: flatten them, as JAX does"));
  }
  if (const double size = WrittenOut(*loaded->module); size > kMostWrittenOut) {
    return MakeError(
        ErrorCode::kInvalidInput,
        absl::StrFormat(
            "its calls, written out, are %.2g instructions, more than %.2g: XLA follows "
            "every call and would not end. It needs fewer calls of what calls others",
            size, kMostWrittenOut));
  }
  DropShardyMarkers(*loaded->module);
  if (const std::string complaint = VerifyModule(*loaded->module); !complaint.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("XLA's HLO verifier rejects it: ", complaint));
  }
  return loaded;
}

std::string VerifyModule(xla::HloModule& module) {
  xla::HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  const absl::Status status = verifier.Run(&module).status();
  return status.ok() ? "" : std::string(status.message());
}

}  // namespace hone::compiler
