#include "compiler/rules/lane_dependences.h"

#include <utility>

namespace hone::compiler {
namespace {

using xla::HloInstruction;

void Set(LaneDependences::Bits& bits, int32_t position) {
  bits[position / 64] |= uint64_t{1} << (position % 64);
}

bool Test(const uint64_t* bits, int32_t position) {
  return (bits[position / 64] >> (position % 64)) & 1;
}

bool Meet(const LaneDependences::Bits& a, const LaneDependences::Bits& b) {
  for (size_t word = 0; word < a.size(); ++word) {
    if ((a[word] & b[word]) != 0) return true;
  }
  return false;
}

}  // namespace

LaneDependences::LaneDependences(const std::vector<HloInstruction*>& order)
    : words_((order.size() + 63) / 64), rows_(order.size() * words_, 0) {
  for (size_t i = 0; i < order.size(); ++i) {
    const auto id = static_cast<size_t>(order[i]->local_id());
    if (id >= positions_.size()) positions_.resize(2 * id + 64, kUnknown);
    positions_[id] = static_cast<int32_t>(i);
    uint64_t* const row = &rows_[i * words_];
    row[i / 64] |= uint64_t{1} << (i % 64);
    const auto take = [&](const HloInstruction* other) {
      const uint64_t* const from = Row(Position(other));
      for (size_t word = 0; word <= i / 64; ++word) row[word] |= from[word];
    };
    for (const HloInstruction* operand : order[i]->operands()) take(operand);
    for (const HloInstruction* before : order[i]->control_predecessors()) take(before);
  }
  made_later_.resize(positions_.size(), false);
}

int32_t LaneDependences::Position(const HloInstruction* instruction) const {
  const auto id = static_cast<size_t>(instruction->local_id());
  return id < positions_.size() ? positions_[id] : kUnknown;
}

bool LaneDependences::Knows(const HloInstruction* instruction) const {
  return Position(instruction) != kUnknown &&
         !made_later_[static_cast<size_t>(instruction->local_id())];
}

bool LaneDependences::Reaches(const HloInstruction* from, const HloInstruction* to) const {
  return Test(Row(Position(to)), Position(from));
}

LaneDependences::Pack LaneDependences::MakePack(const Lanes& lanes) const {
  Pack pack{Bits(words_, 0), Bits(words_, 0)};
  for (const HloInstruction* lane : lanes) {
    const int32_t position = Position(lane);
    Set(pack.members, position);
    const uint64_t* const row = Row(position);
    for (size_t word = 0; word < words_; ++word) pack.needs[word] |= row[word];
  }
  return pack;
}

bool LaneDependences::Independent(const Lanes& lanes, absl::Span<const Pack> more) const {
  Bits distinct(words_, 0);
  Bits needs(words_, 0);
  for (const HloInstruction* lane : lanes) {
    if (!Knows(lane)) return false;
    const int32_t position = Position(lane);
    if (Test(distinct.data(), position)) return false;
    Set(distinct, position);
    for (const HloInstruction* operand : lane->operands()) {
      if (Position(operand) == kUnknown) return false;
      const uint64_t* const row = Row(Position(operand));
      for (size_t word = 0; word < words_; ++word) needs[word] |= row[word];
    }
  }
  std::vector<const Pack*> open;
  for (const Pack& pack : packs_) open.push_back(&pack);
  for (const Pack& pack : more) open.push_back(&pack);
  for (bool again = true; again;) {
    again = false;
    for (const Pack*& pack : open) {
      if (pack == nullptr || !Meet(pack->members, needs)) continue;
      for (size_t word = 0; word < words_; ++word) needs[word] |= pack->needs[word];
      pack = nullptr;
      again = true;
    }
  }
  return !Meet(distinct, needs);
}

void LaneDependences::AddAlias(const HloInstruction* made, const HloInstruction* lane) {
  const auto id = static_cast<size_t>(made->local_id());
  if (id >= positions_.size()) {
    positions_.resize(2 * id + 64, kUnknown);
    made_later_.resize(positions_.size(), false);
  }
  positions_[id] = Position(lane);
  made_later_[id] = true;
}

}  // namespace hone::compiler
