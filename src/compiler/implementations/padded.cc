#include "compiler/implementations/padded.h"

#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"

namespace hone::compiler {

using xla::HloInstruction;
using xla::HloOpcode;

std::optional<Padded> PaddedOf(HloInstruction* value, HloOpcode adds) {
  if (value->opcode() != HloOpcode::kPad || !emit::Free(*value) ||
      !emit::IsIdentity(*value->operand(1), adds)) {
    return std::nullopt;
  }
  std::optional<Padded> padded;
  const auto& dimensions = value->padding_config().dimensions();
  for (int64_t d = 0; d < RankOf(*value); ++d) {
    const auto& edges = dimensions[static_cast<int>(d)];
    if (edges.edge_padding_low() == 0 && edges.edge_padding_high() == 0 &&
        edges.interior_padding() == 0) {
      continue;
    }
    if (padded || edges.edge_padding_low() < 0 || edges.edge_padding_high() < 0) {
      return std::nullopt;
    }
    padded = Padded{value->mutable_operand(0), d, edges.edge_padding_low(),
                    edges.interior_padding() + 1};
  }
  return padded;
}

}  // namespace hone::compiler
