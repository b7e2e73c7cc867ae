#include "compiler/implementations/neighbourhood.h"

#include <deque>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// Whether it takes so few elements of an array that XLA computes those alone.
bool TakesFew(const HloInstruction& user, const HloInstruction& array) {
  return (user.opcode() == HloOpcode::kGather || user.opcode() == HloOpcode::kDynamicSlice) &&
         user.operand(0) == &array && absl::c_count(user.operands(), &array) == 1 &&
         xla::ShapeUtil::ElementsIn(user.shape()) * 8 <= xla::ShapeUtil::ElementsIn(array.shape());
}

// Whether XLA computes it again as part of what others make.
bool IsComputedAgain(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCompare:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConvert:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return IsElementwise(opcode);
  }
}

// Whether XLA has an array in memory anyway.
bool IsStored(const HloInstruction& array) {
  return !IsComputedAgain(array.opcode()) || IsTakenFromMemory(array);
}

// Whether it is a part of an array, without steps, that has the same dimensions above 1.
bool IsSlice(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kSlice) return false;
  const xla::Shape& from = instruction.operand(0)->shape();
  for (int64_t d = 0; d < static_cast<int64_t>(from.dimensions().size()); ++d) {
    if (instruction.slice_strides(d) != 1) return false;
    if (from.dimensions(d) != 1 && instruction.shape().dimensions(d) == 1) return false;
  }
  return IsArray(from);
}

// Whether all of a broadcast's operand is one dimension of what a product makes, or a number.
bool IsOfOneGroup(const HloInstruction& broadcast, const Space& space) {
  const std::optional<Sizes> places = PlacesOf(broadcast);
  if (!places || places->size() > 1) return false;
  return places->empty() || absl::c_linear_search(space.groups, *places);
}

bool IsSpread(const HloInstruction& broadcast, const Space& space) {
  return space.made == nullptr ? PlacesOf(broadcast).has_value() : IsOfOneGroup(broadcast, space);
}

// Whether what it compares, or puts together of what others compare, are numbers of the space; of
// so many levels at most, for what is shared would be looked at again and again.
bool IsPredicate(const HloInstruction& instruction, const Space& space, int levels = 6) {
  if (instruction.shape().element_type() != xla::PRED || !emit::Free(instruction)) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
      return space.type == xla::F32 && Squeezed(instruction.shape()) == space.full &&
             IsSpread(instruction, space);
    case HloOpcode::kCompare:
      return space.Has(instruction.operand(0)->shape()) &&
             xla::Cast<xla::HloCompareInstruction>(&instruction)->order() !=
                 xla::ComparisonOrder::kTotal;
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kNot:
      return levels > 0 &&
             absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
               return IsPredicate(*operand, space, levels - 1);
             });
    default:
      return false;
  }
}

// Whether a select can take it: a predicate that the kernel makes, or one that is in memory.
bool IsMask(const HloInstruction& mask, const Space& space) {
  if (IsPredicate(mask, space)) return true;
  return mask.shape().element_type() == xla::PRED && space.type == xla::F32 &&
         space.made == nullptr && Squeezed(mask.shape()) == space.full && IsStored(mask);
}

// The arrays of a space's full size that a value is computed of where it is computed in passing.
class Sources {
 public:
  explicit Sources(const Space& space) : space_(space) {}

  // Whether what is computed of one such array, or of none, and is not in memory: reading it would
  // cost as much as reading that array, and making it would be saved.
  bool IsAgain(const HloInstruction& value) {
    if (space_.made != nullptr || !IsComputed(value) || IsStored(value)) return false;
    if (!(IsElementwise(value.opcode()) || IsOfPredicate(value))) return false;
    const Found& found = Of(value);
    return !IsWorthKeeping(value, found) && found.arrays.size() <= 1 && found.nodes <= kMostNodes &&
           found.dear <= kMostDear;
  }

 private:
  static constexpr int kMostNodes = 24;
  static constexpr int kMostDear = 1;
  static constexpr int64_t kManyUsers = 3;

  struct Found {
    std::set<const HloInstruction*> arrays;
    int nodes = 0, dear = 0;  // at most; what is shared counts again
    bool reduces = false;     // rows, or columns, which would be done again
  };

  // As the exponentials of a softmax whose gradient is taken: one kernel makes them, and those of
  // the sum, the quotient and both parts of the gradient read them.
  static bool IsWorthKeeping(const HloInstruction& value, const Found& found) {
    return found.reduces && IsDear(value.opcode()) && value.user_count() >= kManyUsers;
  }

  bool IsComputed(const HloInstruction& value) const {
    return Squeezed(value.shape()) == space_.full && Fits(value, space_) &&
           value.opcode() != HloOpcode::kReduce;
  }

  // Whether rows, or columns, are reduced for it.
  bool IsReduced(const HloInstruction& value, int levels = 8) const {
    if (value.opcode() == HloOpcode::kReduce) return Fits(value, space_);
    return levels > 0 && absl::c_any_of(value.operands(), [&](const HloInstruction* operand) {
             return IsArray(operand->shape()) && Squeezed(operand->shape()) == space_.kept &&
                    IsReduced(*operand, levels - 1);
           });
  }

  // What a value that is computed is computed of.
  const Found& Of(const HloInstruction& value) {
    if (const auto known = known_.find(&value); known != known_.end()) return known->second;
    Found found{{}, 1, IsDear(value.opcode())};
    for (const HloInstruction* operand : value.operands()) {
      if (operand->opcode() == HloOpcode::kBroadcast) {
        found.reduces |= IsReduced(*operand->operand(0));
        continue;
      }
      if (Squeezed(operand->shape()) != space_.full) continue;
      // What is made of several arrays, for several, comes to lie in memory.
      const Found* const own =
          IsComputed(*operand) && !IsStored(*operand) ? &Of(*operand) : nullptr;
      if (own == nullptr || IsWorthKeeping(*operand, *own) ||
          (own->arrays.size() > 1 && operand->user_count() > 1)) {
        found.arrays.insert(operand);
        continue;
      }
      found.arrays.insert(own->arrays.begin(), own->arrays.end());
      found.reduces |= own->reduces;
      found.nodes += own->nodes;
      found.dear += own->dear;
    }
    return known_[&value] = std::move(found);
  }

  const Space& space_;
  std::map<const HloInstruction*, Found> known_;
};

size_t MostNodes(const Space& space) {
  return space.made == nullptr ? kMostKernelNodes : kMostEndNodes;
}

// Whether a kernel of a product's space reads only what is in memory anyway: what XLA would compute
// in passing is not worth an array.
bool ReadsWhatIsStored(const Neighbourhood& neighbourhood, const Space& space) {
  for (const HloInstruction* node : neighbourhood.nodes) {
    if (node == space.made) continue;
    for (const HloInstruction* operand : node->operands()) {
      const bool array =
          neighbourhood.nodes.count(operand) == 0 && Squeezed(operand->shape()) == space.full;
      if (array && !IsStored(*operand)) return false;
    }
  }
  return true;
}

// Of a maximum of something and 0: where that something is compared with 0.
std::vector<HloInstruction*> MasksBeside(const HloInstruction& maximum) {
  std::vector<HloInstruction*> masks;
  if (maximum.opcode() != HloOpcode::kMaximum || ConstantOf(*maximum.operand(1)) != 0.0)
    return masks;
  for (HloInstruction* user : maximum.operand(0)->users()) {
    if (user->opcode() == HloOpcode::kCompare && user->operand(0) == maximum.operand(0) &&
        ConstantOf(*user->operand(1)) == 0.0 &&
        user->comparison_direction() == xla::ComparisonDirection::kGt) {
      masks.push_back(user);
    }
  }
  return masks;
}

}  // namespace

bool IsTakenFromMemory(const HloInstruction& array) {
  return array.IsRoot() || absl::c_any_of(array.users(), [&](const HloInstruction* user) {
           if (TakesFew(*user, array)) return false;
           return !IsComputedAgain(user->opcode()) || user->opcode() == HloOpcode::kConcatenate;
         });
}

std::optional<Space> SpaceOf(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2) return std::nullopt;
  const xla::Shape& shape = reduce.operand(0)->shape();
  const xla::PrimitiveType type = KernelType(shape.element_type());
  if (!IsArray(shape) || (type != xla::F32 && type != xla::F64) || !emit::Free(reduce) ||
      !MayBeUnrounded(*reduce.operand(0))) {
    return std::nullopt;
  }
  const std::optional<HloOpcode> opcode = emit::ReducerOpcode(*reduce.to_apply());
  if (opcode != HloOpcode::kAdd && opcode != HloOpcode::kMaximum) return std::nullopt;
  if (!emit::IsIdentity(*reduce.operand(1), *opcode)) return std::nullopt;
  Space space{type, Squeezed(shape), Squeezed(reduce.shape())};
  if (space.kept.size() == space.full.size() || space.full.size() > kMostKernelRank) {
    return std::nullopt;
  }
  if (space.kept.empty()) {
    space.columns = true;
    return space;
  }
  // What is reduced comes last, or first.
  int changes = 0;
  bool reduced = false, first = true;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.dimensions().size()); ++d) {
    if (shape.dimensions(d) == 1) continue;
    const bool here = absl::c_linear_search(reduce.dimensions(), d);
    if (first) space.columns = here;
    if (!first && here != reduced) ++changes;
    first = false;
    reduced = here;
  }
  if (changes != 1) return std::nullopt;
  return space;
}

std::optional<Sizes> PlacesOf(const HloInstruction& broadcast) {
  const xla::Shape& from = broadcast.operand(0)->shape();
  Sizes places;
  for (size_t i = 0; i < broadcast.dimensions().size(); ++i) {
    if (from.dimensions(static_cast<int64_t>(i)) == 1) continue;
    const int64_t to = broadcast.dimensions()[i];
    int64_t place = 0;
    for (int64_t d = 0; d < to; ++d) place += broadcast.shape().dimensions(d) != 1 ? 1 : 0;
    if (!places.empty() && places.back() >= place) return std::nullopt;
    places.push_back(place);
  }
  return places;
}

int ExponentOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kPower) return 0;
  const std::optional<double> exponent = ConstantOf(*instruction.operand(1));
  return exponent == 2.0 ? 2 : exponent == 3.0 ? 3 : 0;
}

bool Fits(const HloInstruction& instruction, const Space& space) {
  if (&instruction == space.made) return true;
  if (IsPredicate(instruction, space)) return true;
  if (!space.Has(instruction.shape()) || !emit::Free(instruction)) return false;
  if (!MayBeUnrounded(instruction)) return false;
  if (instruction.opcode() == HloOpcode::kSelect) {
    return IsMask(*instruction.operand(0), space);
  }
  if (IsOfPredicate(instruction)) return IsPredicate(*instruction.operand(0), space);
  if (TaskKind(instruction.opcode()) != nullptr || ExponentOf(instruction) != 0) return true;
  switch (instruction.opcode()) {
    case HloOpcode::kReduce: {
      const std::optional<Space> own = SpaceOf(instruction);
      return own && *own == space;
    }
    case HloOpcode::kBroadcast: {
      if (ConstantOf(instruction)) return true;
      if (instruction.operand(0)->opcode() == HloOpcode::kConstant) return false;
      return IsSpread(instruction, space);
    }
    default:
      return (IsSlice(instruction) && space.made == nullptr) || IsIdentity(instruction) ||
             IsRounding(instruction);
  }
}

bool IsFree(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kBroadcast || IsSlice(instruction) ||
         IsIdentity(instruction) || IsRounding(instruction) || IsOfPredicate(instruction) ||
         instruction.shape().element_type() == xla::PRED;
}

bool IsOfPredicate(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kConvert &&
         instruction.operand(0)->shape().element_type() == xla::PRED;
}

bool IsDear(HloOpcode opcode) {
  return opcode == HloOpcode::kExp || opcode == HloOpcode::kExpm1 || opcode == HloOpcode::kLog ||
         opcode == HloOpcode::kLog1p || opcode == HloOpcode::kLogistic ||
         opcode == HloOpcode::kTanh || opcode == HloOpcode::kDivide || opcode == HloOpcode::kSqrt ||
         opcode == HloOpcode::kRsqrt;
}

bool IsElementwise(HloOpcode opcode) {
  return TaskKind(opcode) != nullptr || opcode == HloOpcode::kSelect || opcode == HloOpcode::kPower;
}

Neighbourhood Grow(const HloInstruction* root, const Space& space) {
  Neighbourhood found;
  found.nodes = {root};
  std::vector<HloInstruction*> masks;
  if (space.made != nullptr) masks = MasksBeside(*root);
  Sources sources(space);
  // In the order that they are found in. What is for several of them is looked at with each.
  std::vector<const HloInstruction*> order = {root};
  for (size_t i = 0; i < order.size() && order.size() < MostNodes(space); ++i) {
    const HloInstruction* const node = order[i];
    if (node == space.made) continue;
    for (const HloInstruction* operand : node->operands()) {
      if (found.nodes.count(operand) != 0 || !Fits(*operand, space)) continue;
      if (space.columns && Squeezed(node->shape()) == space.full &&
          Squeezed(operand->shape()) != space.full) {
        continue;
      }
      // What is rounded, or has other dimensions of 1, for others, too, would be computed twice:
      // not always to the same bits, which a comparison of both tells apart.
      const bool again =
          (IsRounding(*operand) || IsIdentity(*operand)) && Fits(*operand->operand(0), space);
      const bool only = (IsFree(*operand) && !again) ||
                        absl::c_all_of(operand->users(), [&](const HloInstruction* user) {
                          return found.nodes.count(user) != 0 || absl::c_linear_search(masks, user);
                        });
      if (!only && !(order.size() < kMostKernelNodes / 2 && sources.IsAgain(*operand))) continue;
      found.nodes.insert(operand);
      order.push_back(operand);
    }
  }
  for (const HloInstruction* node : found.nodes) {
    found.reduces = found.reduces || node->opcode() == HloOpcode::kReduce;
    found.computes =
        found.computes || (IsElementwise(node->opcode()) && Squeezed(node->shape()) == space.full);
  }
  return found;
}

bool IsForFew(const HloInstruction& array, int levels) {
  return !array.IsRoot() && !array.IsDead() &&
         absl::c_all_of(array.users(), [&](const HloInstruction* user) {
           if (TakesFew(*user, array)) return true;
           const bool passes =
               IsElementwise(user->opcode()) || IsIdentity(*user) || IsRounding(*user);
           return levels > 0 && passes && IsForFew(*user, levels - 1);
         });
}

bool IsTakenIn(HloInstruction* root, const Space& space) {
  if (root->IsRoot()) return false;
  std::deque<HloInstruction*> next(root->users().begin(), root->users().end());
  std::set<HloInstruction*> seen(next.begin(), next.end());
  while (!next.empty() && seen.size() < kMostKernelNodes) {
    HloInstruction* user = next.front();
    next.pop_front();
    if (user->IsDead() || !Fits(*user, space)) continue;
    const bool may_be_root = !IsFree(*user) && PastLeast(*user) < 0 && !IsForFew(*user);
    if (may_be_root) {
      const Neighbourhood larger = Grow(user, space);
      const bool taken = larger.nodes.count(root) != 0;
      if (taken && (space.made == nullptr || ReadsWhatIsStored(larger, space))) return true;
    }
    for (HloInstruction* further : user->users()) {
      if (seen.insert(further).second) next.push_back(further);
    }
  }
  return false;
}

Space ElementsOf(HloInstruction* value, std::vector<Sizes> groups) {
  Space space;
  space.type = KernelType(value->shape().element_type());
  space.full = space.kept = Squeezed(value->shape());
  space.made = value;
  space.groups = std::move(groups);
  return space;
}

Space ElementsOf(HloInstruction* value) {
  std::vector<Sizes> groups;
  int64_t above = 0;
  for (const int64_t size : value->shape().dimensions()) {
    groups.emplace_back();
    if (size != 1) groups.back().push_back(above++);
  }
  return ElementsOf(value, std::move(groups));
}

std::optional<Space> SpaceWithin(HloInstruction* root, SpaceAt space_at) {
  std::deque<HloInstruction*> next = {root};
  std::set<HloInstruction*> seen = {root};
  while (!next.empty() && seen.size() < kMostEndNodes) {
    HloInstruction* const node = next.front();
    next.pop_front();
    if (std::optional<Space> space = space_at(node)) {
      if (Fits(*root, *space) && Grow(root, *space).nodes.count(node) != 0) return space;
      continue;
    }
    if (!IsElementwise(node->opcode()) && !IsIdentity(*node) && !IsRounding(*node)) continue;
    for (HloInstruction* operand : node->operands()) {
      if (seen.insert(operand).second) next.push_back(operand);
    }
  }
  return std::nullopt;
}

std::optional<Neighbourhood> EndOf(HloInstruction* root, const Space& space) {
  if (IsTakenIn(root, space) || PastLeast(*root) >= 0) return std::nullopt;
  // What is compared beside it is to be compared by its value first.
  if (!MasksBeside(*root).empty()) return std::nullopt;
  Neighbourhood neighbourhood = Grow(root, space);
  if (neighbourhood.nodes.size() >= kMostEndNodes || !ReadsWhatIsStored(neighbourhood, space)) {
    return std::nullopt;
  }
  return neighbourhood;
}

HloInstruction* MaskOfMaximum(HloInstruction* compare, SpaceAt space_at) {
  for (HloInstruction* user : compare->mutable_operand(0)->users()) {
    const std::vector<HloInstruction*> masks = MasksBeside(*user);
    if (!absl::c_linear_search(masks, compare)) continue;
    if (!SpaceWithin(user, space_at) && !IsStored(*user)) continue;
    return compare->parent()->AddInstruction(
        compare->CloneWithNewOperands(compare->shape(), {user, compare->mutable_operand(1)}));
  }
  return nullptr;
}

std::vector<HloOpcode> ElementwiseOpcodesAnd(std::vector<HloOpcode> opcodes) {
  for (uint32_t i = 0; i < xla::HloOpcodeCount(); ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    if (IsElementwise(opcode)) opcodes.push_back(opcode);
  }
  return opcodes;
}

}  // namespace hone::compiler
