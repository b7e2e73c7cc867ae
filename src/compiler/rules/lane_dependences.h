// Which instructions of a computation depend on which, also once some of them have become one.
#ifndef HONE_COMPILER_RULES_LANE_DEPENDENCES_H_
#define HONE_COMPILER_RULES_LANE_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "compiler/rules/lane_form.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Takes n * n / 8 bytes for n instructions.
class LaneDependences {
 public:
  using Bits = std::vector<uint64_t>;  // by position in the post-order
  // Instructions that are, or may be going to be, one: what depends on one depends on all.
  struct Pack {
    Bits members;
    Bits needs;  // the members and whatever they depend on
  };

  // Operands before users.
  explicit LaneDependences(const std::vector<xla::HloInstruction*>& order);

  bool Knows(const xla::HloInstruction* instruction) const;
  bool Reaches(const xla::HloInstruction* from, const xla::HloInstruction* to) const;

  Pack MakePack(const Lanes& lanes) const;

  // No lane depends on another, given the packs that were added and those of `more`. False also
  // where a lane was made after this object.
  bool Independent(const Lanes& lanes, absl::Span<const Pack> more) const;

  // From here on these are one.
  void AddPack(Pack pack) { packs_.push_back(std::move(pack)); }
  // `made` stands for `lane` from here on.
  void AddAlias(const xla::HloInstruction* made, const xla::HloInstruction* lane);

 private:
  static constexpr int32_t kUnknown = -1;
  int32_t Position(const xla::HloInstruction* instruction) const;
  const uint64_t* Row(int32_t position) const { return &rows_[position * words_]; }

  const size_t words_;
  Bits rows_;
  std::vector<int32_t> positions_;  // by local id
  std::vector<bool> made_later_;    // by local id
  std::vector<Pack> packs_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_LANE_DEPENDENCES_H_
