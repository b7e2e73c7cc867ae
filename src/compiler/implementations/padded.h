// Arrays that are padded with what changes nothing where they are added up.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_PADDED_H_
#define HONE_COMPILER_IMPLEMENTATIONS_PADDED_H_

#include <cstdint>
#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// An array whose elements are `apart` from each other in the whole, from `first` on, along one
// dimension; elsewhere the whole is 0.
struct Padded {
  xla::HloInstruction* array = nullptr;
  int64_t dimension = 0, first = 0, apart = 1;

  int64_t size() const { return array->shape().dimensions(dimension); }
  // A single element has no others that it is apart from.
  bool IsApart(int64_t places) const { return size() == 1 || apart == places; }
};

// Of a pad with what changes nothing under `adds`; nothing for all else.
std::optional<Padded> PaddedOf(xla::HloInstruction* value, xla::HloOpcode adds);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_PADDED_H_
