#include "compiler/sites/keys.h"

#include <string>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

const xla::HloPrintOptions& ContentOptions() {
  static const auto* const options = new xla::HloPrintOptions(
      xla::HloPrintOptions()
          .set_print_large_constants(false)
          .set_print_metadata(false)
          .set_print_original_value(false)
          .set_print_control_dependencies(false)
          .set_print_backend_config(false)
          .set_print_subcomputation_mode(xla::HloPrintOptions::PrintSubcomputationMode::kOff));
  return *options;
}

}  // namespace

uint64_t HashText(absl::string_view text) { return XXH3_64bits(text.data(), text.size()); }

uint64_t HashShape(const xla::Shape& shape) {
  uint64_t hash = Mix(0x5a, static_cast<uint64_t>(shape.element_type()));
  if (shape.IsTuple()) {
    for (const xla::Shape& element : shape.tuple_shapes()) hash = Mix(hash, HashShape(element));
  } else if (shape.IsArray()) {
    for (int64_t dimension : shape.dimensions()) {
      hash = Mix(hash, static_cast<uint64_t>(dimension));
    }
  }
  return hash;
}

uint64_t HashInstruction(const xla::HloInstruction& instruction) {
  return Mix(HashShape(instruction.shape()), static_cast<uint64_t>(instruction.opcode()));
}

uint64_t HashWithOperands(const xla::HloInstruction& instruction) {
  uint64_t hash = HashInstruction(instruction);
  if (instruction.opcode() != xla::HloOpcode::kConstant) {
    for (const std::string& attribute : instruction.ExtraAttributesToString(ContentOptions())) {
      hash = Mix(hash, HashText(attribute));
    }
  }
  for (const xla::HloInstruction* operand : instruction.operands()) {
    hash = Mix(hash, HashInstruction(*operand));
  }
  return hash;
}

uint64_t HashFusion(const xla::HloInstruction& fusion) {
  uint64_t hash = HashWithOperands(fusion);
  for (const auto* part : fusion.fused_instructions_computation()->MakeInstructionPostOrder()) {
    hash = Mix(hash, HashWithOperands(*part));
  }
  return hash;
}

absl::flat_hash_map<const xla::HloInstruction*, uint64_t> HashNeighbourhoods(
    const xla::HloComputation& computation, int hops) {
  absl::flat_hash_map<const xla::HloInstruction*, uint64_t> hashes;
  for (const xla::HloInstruction* instruction : computation.instructions()) {
    hashes[instruction] = HashWithOperands(*instruction);
  }
  for (int hop = 0; hop < hops; ++hop) {
    absl::flat_hash_map<const xla::HloInstruction*, uint64_t> wider;
    wider.reserve(hashes.size());
    for (const auto& [instruction, hash] : hashes) {
      uint64_t all = Mix(hash, 0x0b5);
      for (const xla::HloInstruction* operand : instruction->operands()) {
        all = Mix(all, hashes.at(operand));
      }
      uint64_t users = 0;  // a sum, for users have no order
      for (const xla::HloInstruction* user : instruction->users()) {
        users += Mix(hashes.at(user), 0x05e5);
      }
      wider[instruction] = Mix(all, users);
    }
    hashes = std::move(wider);
  }
  return hashes;
}

int64_t BytesOf(const xla::Shape& shape) {
  int64_t bytes = 0;
  xla::ShapeUtil::ForEachLeafShape(shape, [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    if (leaf.IsArray()) bytes += xla::ShapeUtil::ByteSizeOfElements(leaf);
  });
  return bytes;
}

int64_t Traffic(const xla::HloInstruction& instruction) {
  int64_t bytes = BytesOf(instruction.shape());
  for (const xla::HloInstruction* operand : instruction.operands())
    bytes += BytesOf(operand->shape());
  return bytes;
}

}  // namespace hone::compiler
