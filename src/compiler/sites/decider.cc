#include "compiler/sites/decider.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/fingerprint.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

// A pass that is offered nothing but what it was refused before goes in circles.
constexpr int64_t kMostRepeats = 100'000;
// So does one that undoes what it made, because what would have followed was declined: XLA's own
// order of things takes a few offers an instruction.
constexpr int64_t kMostOffersAnInstruction = 16;
constexpr int64_t kLeastMostOffers = 10'000;
// Beyond so many new instructions a replacement is not followed.
constexpr size_t kLargestReplacement = 4096;

bool MayDie(const xla::HloInstruction& instruction) {
  return instruction.opcode() != xla::HloOpcode::kParameter && !instruction.IsRoot() &&
         !instruction.HasSideEffect() && !instruction.HasControlDependencies();
}

int64_t CalledInstructions(const xla::HloInstruction& instruction) {
  int64_t count = 0;
  for (const xla::HloComputation* callee : instruction.called_computations()) {
    count += callee->instruction_count();
  }
  return count;
}

}  // namespace

Decider::Decider(const xla::HloModule& module, bool places, Decide decide)
    : decide_(std::move(decide)),
      most_offers_(std::max(kLeastMostOffers,
                            kMostOffersAnInstruction * int64_t{module.instruction_count()})) {
  originals_.reserve(static_cast<size_t>(module.instruction_count()));
  if (places) {
    for (const xla::HloInstruction* instruction : CanonicalOrder(module)) {
      originals_.try_emplace(instruction, Known{static_cast<uint32_t>(originals_.size()),
                                                HashText(instruction->name())});
    }
  }
  for (const xla::HloComputation* computation : module.computations()) {
    computations_.insert(computation);
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      originals_.try_emplace(instruction, Known{static_cast<uint32_t>(originals_.size()),
                                                HashText(instruction->name())});
      if (instruction->opcode() == xla::HloOpcode::kBroadcast) {
        const auto dimensions = instruction->dimensions();
        broadcasts_[instruction] = {
            instruction->shape(),
            {dimensions.begin(), dimensions.end()},
            instruction->has_sharding() ? instruction->sharding_ptr() : nullptr};
      }
    }
  }
}

int64_t Decider::NumberOf(const xla::HloInstruction* instruction) const {
  const auto found = originals_.find(instruction);
  if (found == originals_.end() || found->second.name != HashText(instruction->name())) return -1;
  return found->second.number;
}

bool Decider::IsOriginal(const xla::HloInstruction* instruction) const {
  return NumberOf(instruction) >= 0;
}

SiteKey Decider::ContentOf(const Offer& offer) const {
  uint64_t hash = Mix(HashWithOperands(*offer.original), static_cast<uint64_t>(offer.kind));
  if (offer.user != nullptr) hash = Mix(hash, HashInstruction(*offer.user));
  hash = Mix(hash, static_cast<uint64_t>(offer.operand + 1));
  if (offer.replacement != nullptr) hash = Mix(hash, HashInstruction(*offer.replacement));
  return hash;
}

// Operands of what is to be replaced that are no longer as they were.
std::vector<xla::HloInstruction*> Decider::ChangedFor(const Offer& offer) const {
  std::vector<xla::HloInstruction*> changed;
  if (offer.kind == RewriteKind::kFuse || !IsOriginal(offer.original)) return changed;
  for (xla::HloInstruction* operand : offer.original->mutable_operands()) {
    if (operand->opcode() != xla::HloOpcode::kBroadcast || !IsOriginal(operand)) continue;
    const auto known = broadcasts_.find(operand);
    if (known == broadcasts_.end()) continue;
    if (operand->shape() != known->second.shape ||
        !absl::c_equal(operand->dimensions(), known->second.dimensions)) {
      changed.push_back(operand);
    }
  }
  return changed;
}

// The replacement, which nobody will use, gets a changed one of its own: the pass may look at it
// again.
void Decider::PutBack(const Offer& offer) {
  for (xla::HloInstruction* operand : ChangedFor(offer)) {
    const Unobserved unobserved;
    xla::HloInstruction* const changed = operand->AddInstruction(operand->Clone());
    const std::vector<xla::HloInstruction*> users = operand->users();
    for (xla::HloInstruction* user : users) {
      if (!IsOriginal(user)) (void)operand->ReplaceUseWithDifferentShape(user, changed);
    }
    const Broadcast& before = broadcasts_.at(operand);
    *operand->mutable_shape() = before.shape;
    *operand->mutable_dimensions() = {before.dimensions.begin(), before.dimensions.end()};
    if (before.sharding != nullptr) operand->set_sharding(before.sharding);
  }
}

Answer Decider::Ask(const Offer& offer) {
  const Answer answer = Decided(offer);
  if (answer != Answer::kMake) {
    PutBack(offer);
  } else {
    for (const xla::HloInstruction* changed : ChangedFor(offer)) broadcasts_.erase(changed);
  }
  return answer;
}

Answer Decider::Decided(const Offer& offer) {
  if (fuses_ && offer.kind != RewriteKind::kFuse) return Answer::kMake;
  fuses_ |= offer.kind == RewriteKind::kFuse;
  if (const std::optional<bool> before = AsBefore(offer)) {
    if (!*before) Idle(offer);
    return *before ? Answer::kMake : Answer::kDecline;
  }
  // The end of a replacement that was decided.
  if (offer.kind == RewriteKind::kRemove && replaced_.contains(offer.original)) {
    return Answer::kMake;
  }
  const Answer answer = AskNew(offer);
  if (offer.kind == RewriteKind::kReplaceUses && answer == Answer::kMake) {
    replaced_.insert(offer.original);
  }
  if (offer.kind == RewriteKind::kReplaceOperand) {
    together_ = {offer.user};
    together_made_ = answer == Answer::kMake;
  } else {
    together_.clear();
  }
  return answer;
}

// Some rewrites take several calls, of which one alone makes another program of it: (-a) * (-b) -> a * b
// replaces both operands; reduce(-x) -> -reduce(x) replaces the operand and then the uses. What follows
// directly upon the replacement of an operand, and is about the same instruction, is decided with it.
std::optional<bool> Decider::AsBefore(const Offer& offer) {
  const auto is_in = [&](const xla::HloInstruction* instruction) {
    return std::find(together_.begin(), together_.end(), instruction) != together_.end();
  };
  if (together_.empty() || (!is_in(offer.original) && !(offer.user != nullptr && is_in(offer.user)) &&
                            !is_in(offer.replacement))) {
    return std::nullopt;
  }
  if (offer.user != nullptr && !is_in(offer.original)) together_.push_back(offer.user);
  return together_made_;
}

void Decider::Idle(const Offer& offer) {
  if (offer.replacement == nullptr || offer.kind == RewriteKind::kFuse) return;
  for (const xla::HloInstruction* added : EffectOf(offer).added) idle_.insert(added);
}

Answer Decider::AskNew(const Offer& offer) {
  if (declined_ > 0 && ++offers_ > most_offers_) return Answer::kEnd;
  const SiteKey content = ContentOf(offer);
  const int64_t number = NumberOf(offer.original);
  const bool enabled = number < 0;
  uint64_t place = Mix(0x91ace, static_cast<uint64_t>(offer.kind));
  if (enabled) {
    // What an earlier rewrite made is told apart by its looks and by its turn.
    place = Mix(Mix(place, content), made_contents_[content]);
  } else {
    place = Mix(place, static_cast<uint64_t>(number));
    const int64_t user = offer.user == nullptr ? -1 : NumberOf(offer.user);
    if (offer.kind == RewriteKind::kReplaceOperand) {
      // Passes change several operands of one user at a time, and half of that is another program:
      // (-a) * (-b) -> a * b.
      place = Mix(0x09e7a4d, static_cast<uint64_t>(user + 1));
    } else {
      place = Mix(place, static_cast<uint64_t>(user + 1));
      place = Mix(place, static_cast<uint64_t>(offer.operand + 1));
      if (offer.replacement != nullptr) {
        place = Mix(place, static_cast<uint64_t>(offer.replacement->opcode()));
      }
    }
  }
  const auto [known, fresh] = decided_.try_emplace(place, false);
  if (!fresh && !known->second) {
    // Declined before, and not offered again to whoever decides.
    const int64_t most = std::max<int64_t>(kMostRepeats, 64 * static_cast<int64_t>(decided_.size()));
    return ++repeats_ > most ? Answer::kEnd : Answer::kDecline;
  }
  if (fresh) {
    const bool accepted = decide_(*this, Site{offer, place, content, enabled});
    decided_[place] = accepted;
    repeats_ = 0;
    if (!accepted) {
      ++declined_;
      Idle(offer);
      return Answer::kDecline;
    }
  }
  if (enabled) ++made_contents_[content];
  ++made_;
  return Answer::kMake;
}

Decider::Cost Decider::CostOf(const xla::HloInstruction* instruction) {
  if (!costs_.RevisitInstruction(instruction).ok()) return {0, 0};
  return {static_cast<double>(std::max<int64_t>(0, costs_.flop_count(*instruction))),
          static_cast<double>(std::max<int64_t>(0, costs_.bytes_accessed(*instruction)))};
}

Effect Decider::FusionEffect(const Offer& offer) {
  Effect effect;
  const xla::HloInstruction* producer = offer.original;
  const xla::HloInstruction* consumer = offer.replacement;
  // The fusion, and a parameter for each operand; the producer is copied where others use it.
  absl::flat_hash_set<const xla::HloInstruction*> operands(consumer->operands().begin(),
                                                           consumer->operands().end());
  const auto before = static_cast<int64_t>(operands.size());
  operands.erase(producer);
  operands.insert(producer->operands().begin(), producer->operands().end());
  const bool fused = consumer->opcode() == xla::HloOpcode::kFusion;
  effect.op_count = static_cast<int64_t>(operands.size()) - (fused ? before : -1);
  const bool copied = producer->users().size() > 1;
  if (copied) ++effect.op_count;
  const Cost cost = CostOf(producer);
  effect.flops = copied ? cost.flops : 0;
  const double size = producer->shape().IsArray()
                          ? static_cast<double>(xla::ShapeUtil::ByteSizeOf(producer->shape()))
                          : 0;
  effect.bytes = copied ? cost.bytes - 2 * size : -2 * size;
  effect.removed.push_back(producer);
  return effect;
}

Effect Decider::EffectOf(const Offer& offer) {
  if (offer.kind == RewriteKind::kFuse) return FusionEffect(offer);
  Effect effect;
  absl::flat_hash_set<const xla::HloInstruction*> seen;
  // What the replacement brings: instructions that nothing but itself uses yet.
  if (offer.replacement != nullptr) {
    std::vector<std::pair<const xla::HloInstruction*, int64_t>> stack;
    const auto is_new = [&](const xla::HloInstruction* instruction) {
      if (IsOriginal(instruction)) return false;
      if (instruction == offer.replacement) return instruction->users().empty();
      return std::all_of(instruction->users().begin(), instruction->users().end(),
                         [&](const xla::HloInstruction* user) {
                           return seen.contains(user) || idle_.contains(user) || user->IsDead();
                         });
    };
    if (is_new(offer.replacement) && seen.insert(offer.replacement).second) {
      stack.push_back({offer.replacement, 0});
    }
    while (!stack.empty() && effect.added.size() < kLargestReplacement) {
      auto& [instruction, next] = stack.back();
      if (next < instruction->operand_count()) {
        const xla::HloInstruction* operand = instruction->operand(next++);
        if (!seen.contains(operand) && is_new(operand)) {
          seen.insert(operand);
          stack.push_back({operand, 0});
        }
        continue;
      }
      effect.added.push_back(instruction);
      stack.pop_back();
    }
  }
  // What goes: the original, where all its uses do, and what nobody needs without it.
  const auto unused = [&](const xla::HloInstruction* instruction,
                          const absl::flat_hash_set<const xla::HloInstruction*>& gone) {
    return std::all_of(instruction->users().begin(), instruction->users().end(),
                       [&](const xla::HloInstruction* user) {
                         return gone.contains(user) || (idle_.contains(user) && !seen.contains(user));
                       });
  };
  absl::flat_hash_set<const xla::HloInstruction*> gone;
  const bool one_user = offer.user != nullptr && offer.original->users().size() > 1;
  const bool used_by_new = std::any_of(
      offer.original->users().begin(), offer.original->users().end(),
      [&](const xla::HloInstruction* user) { return seen.contains(user); });
  const xla::HloInstruction* original = offer.original;
  if (!one_user && !used_by_new && original->opcode() != xla::HloOpcode::kParameter &&
      !(offer.kind != RewriteKind::kReplaceInstruction && original->IsRoot())) {
    gone.insert(original);
    effect.removed.push_back(original);
    for (size_t next = 0; next < effect.removed.size(); ++next) {
      for (const xla::HloInstruction* operand : effect.removed[next]->operands()) {
        if (gone.contains(operand) || seen.contains(operand) || operand == offer.replacement ||
            !MayDie(*operand) || !unused(operand, gone)) {
          continue;
        }
        gone.insert(operand);
        effect.removed.push_back(operand);
      }
    }
  }
  for (const xla::HloInstruction* added : effect.added) {
    effect.op_count += 1;
    for (const xla::HloComputation* callee : added->called_computations()) {
      if (!computations_.contains(callee)) effect.op_count += callee->instruction_count();
    }
    const Cost cost = CostOf(added);
    effect.flops += cost.flops;
    effect.bytes += cost.bytes;
  }
  for (const xla::HloInstruction* removed : effect.removed) {
    effect.op_count -= 1 + CalledInstructions(*removed);
    const Cost cost = CostOf(removed);
    effect.flops -= cost.flops;
    effect.bytes -= cost.bytes;
  }
  return effect;
}

void Decider::CleanUp(xla::HloModule* module) const {
  if (declined_ == 0) return;
  for (xla::HloComputation* computation : module->computations()) {
    std::vector<xla::HloInstruction*> dead;
    for (xla::HloInstruction* instruction : computation->instructions()) {
      if (instruction->IsDead() && MayDie(*instruction) && !IsOriginal(instruction)) {
        dead.push_back(instruction);
      }
    }
    while (!dead.empty()) {
      xla::HloInstruction* const instruction = dead.back();
      dead.pop_back();
      if (instruction->parent() == nullptr) continue;
      const std::vector<xla::HloInstruction*> operands(instruction->operands().begin(),
                                                       instruction->operands().end());
      if (!computation->RemoveInstruction(instruction).ok()) continue;
      for (xla::HloInstruction* operand : operands) {
        if (operand->parent() == computation && operand->IsDead() && MayDie(*operand) &&
            !IsOriginal(operand)) {
          dead.push_back(operand);
        }
      }
    }
  }
  (void)module->RemoveUnusedComputations();
}

bool Chosen(const Decisions& decisions, Decider& decider, const Decider::Site& site) {
  for (const SiteKey key : {site.place, site.content}) {
    const auto found = std::lower_bound(
        decisions.choices.begin(), decisions.choices.end(), key,
        [](const SiteChoice& choice, SiteKey wanted) { return choice.key < wanted; });
    if (found != decisions.choices.end() && found->key == key) return found->accept;
  }
  switch (decisions.otherwise) {
    case Otherwise::kAccept:
      return true;
    case Otherwise::kDecline:
      return false;
    case Otherwise::kShrinking:
      return decider.EffectOf(site.offer).op_count < 0;
    case Otherwise::kNotGrowing:
      return decider.EffectOf(site.offer).op_count <= 0;
    case Otherwise::kLessBytes:
      return decider.EffectOf(site.offer).bytes <= 0;
    case Otherwise::kLessFlops:
      return decider.EffectOf(site.offer).flops <= 0;
    case Otherwise::kHalf:
      return (Mix(Mix(0x4a1f, decisions.seed), site.content) >> 17 & 1) != 0;
  }
  return true;
}

std::string ShortText(const xla::HloInstruction& instruction) {
  return instruction.ToString(
      xla::HloPrintOptions::ShortParsable().set_print_large_constants(false));
}

}  // namespace hone::compiler
