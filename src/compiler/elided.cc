#include "compiler/elided.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hone::compiler {
namespace {

constexpr std::string_view kElided = "constant({...})";
constexpr std::string_view kAttributes = "frontend_attributes={";
constexpr const char* kMark = "hone_elided";

}  // namespace

int CountElided(std::string_view text) {
  int count = 0;
  for (size_t at = text.find(kElided); at != text.npos; at = text.find(kElided, at + 1)) ++count;
  return count;
}

std::string MarkElided(std::string_view text) {
  std::string marked;
  size_t done = 0;
  int number = 0;
  for (size_t at = text.find(kElided); at != text.npos; at = text.find(kElided, done)) {
    size_t after = at + kElided.size();
    const size_t own = text.substr(0, text.find('\n', after)).find(kAttributes, after);
    const std::string mark = absl::StrCat(kMark, "=\"", number++, "\"");
    if (own == text.npos) {
      absl::StrAppend(&marked, text.substr(done, after - done), ", ", kAttributes, mark, "}");
    } else {
      after = own + kAttributes.size();
      absl::StrAppend(&marked, text.substr(done, after - done), mark, ",");
    }
    done = after;
  }
  absl::StrAppend(&marked, text.substr(done));
  return marked;
}

absl::Status FillElided(xla::HloModule* module) {
  for (xla::HloComputation* computation : module->computations()) {
    for (xla::HloInstruction* instruction : computation->instructions()) {
      const auto& attributes = instruction->frontend_attributes().map();
      const auto mark = attributes.find(kMark);
      if (mark == attributes.end()) continue;
      const uint64_t seed = std::strtoull(mark->second.c_str(), nullptr, 10);
      instruction->erase_frontend_attribute(kMark);
      if (!instruction->shape().IsArray()) continue;
      absl::StatusOr<Arrays> values =
          MakeInputs({FindConstantRole(*instruction)}, InputKind::kSigned, seed);
      if (!values.ok()) return values.status();
      auto* constant = xla::Cast<xla::HloConstantInstruction>(instruction);
      *constant->mutable_literal() = values->front().Relayout(instruction->shape());
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::compiler
