// Sorts as kernels of hone-loops, which sort by digits, or few elements of many rows by
// comparisons. XLA:CPU calls a comparator for each pair.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/sort_keys.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;

// Fewer are sorted by comparisons, of rows side by side.
constexpr int64_t kLeastSorted = 64, kLeastRows = 16;
constexpr int64_t kMostSorted = int64_t{1} << 24;  // twice as many words lie beside them

uint64_t SignOf(int64_t bits) { return uint64_t{1} << (bits - 1); }

// Numbers of a type that kernels sort, in the order of keys: f32, f64 or s32.
HloInstruction* Numbers(HloInstruction* keys, const SortKey& key) {
  const PrimitiveType type = keys->shape().element_type();
  const int64_t bits = xla::primitive_util::BitWidth(type);
  if (xla::primitive_util::IsFloatingPointType(type)) {
    keys = InTotalOrder(keys, key, /*opposite=*/key.descending);
    return bits < 32 ? emit::Convert(keys, xla::F32) : keys;
  }
  if (bits <= 32) {
    if (xla::primitive_util::IsUnsignedIntegralType(type)) {
      keys = emit::Convert(keys, xla::U32);
      keys = emit::Binary(HloOpcode::kXor, keys, Constant(keys, SignOf(32)));
      keys = emit::BitcastConvert(keys, xla::S32);
    } else {
      keys = emit::Convert(keys, xla::S32);
    }
    return key.descending ? emit::Unary(HloOpcode::kNot, keys) : keys;
  }
  // As the double of that place in the total order.
  HloInstruction* const ordered = Ordered(keys, key);
  HloInstruction* const upper =
      emit::Compare(xla::ComparisonDirection::kGe, ordered, Constant(ordered, SignOf(64)));
  HloInstruction* const raw =
      emit::Select(upper, emit::Binary(HloOpcode::kXor, ordered, Constant(ordered, SignOf(64))),
                   emit::Unary(HloOpcode::kNot, ordered));
  return emit::BitcastConvert(raw, xla::F64);
}

// The elements of the type that Numbers made these of.
HloInstruction* AsTheyWere(HloInstruction* sorted, const SortKey& key, PrimitiveType type) {
  if (xla::primitive_util::IsFloatingPointType(type)) {
    sorted = emit::Convert(sorted, type);
    return key.descending ? emit::Unary(HloOpcode::kNegate, sorted) : sorted;
  }
  if (key.descending) sorted = emit::Unary(HloOpcode::kNot, sorted);
  if (!xla::primitive_util::IsUnsignedIntegralType(type)) return emit::Convert(sorted, type);
  sorted = emit::BitcastConvert(sorted, xla::U32);
  return emit::Convert(emit::Binary(HloOpcode::kXor, sorted, Constant(sorted, SignOf(32))), type);
}

// Whether sorted numbers tell sorted elements of the type.
bool TellElements(const SortKey& key, PrimitiveType type) {
  if (key.array != 0 || key.function->shape().element_type() != type) return false;
  if (xla::primitive_util::IsFloatingPointType(type)) return KeepsValues(*key.function, type);
  return key.function->opcode() == HloOpcode::kParameter && type != xla::PRED &&
         xla::primitive_util::BitWidth(type) <= 32;
}

// Numbers, sorted along a dimension, or where they would come from.
HloInstruction* SortCall(HloInstruction* keys, int64_t dimension, bool is_places) {
  const PrimitiveType type = keys->shape().element_type();
  HloInstruction* const rows = emit::Rows(keys, dimension);
  const std::string task =
      absl::StrCat(loops::kKernelTaskBegin, "input i0 ", TaskType(type), "[",
                   absl::StrJoin(rows->shape().dimensions(), ","),
                   "];v0 = ", is_places ? "argsort" : "sort", " i0;output v0;");
  const xla::Shape shape =
      xla::ShapeUtil::ChangeElementType(rows->shape(), is_places ? xla::S32 : type);
  return emit::FromRows(KernelCall(keys->parent(), shape, {rows}, task), emit::SizesOf(*keys),
                        dimension);
}

// Where elements would come from, sorted by the last key first: each time what is equal stays.
HloInstruction* Places(HloInstruction* sort, int64_t dimension, const std::vector<SortKey>& keys) {
  HloInstruction* places = nullptr;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    HloInstruction* numbers = Numbers(KeysIn(sort, *key), *key);
    if (places != nullptr) numbers = emit::TakeAlong(numbers, places, dimension);
    HloInstruction* const next = SortCall(numbers, dimension, /*is_places=*/true);
    places = places == nullptr ? next : emit::TakeAlong(places, next, dimension);
  }
  return places;
}

bool IsSorted(PrimitiveType type) {
  return !xla::primitive_util::IsComplexType(type) &&
         (type == xla::PRED || xla::primitive_util::BitWidth(type) >= 8);
}

bool IsMuch(const HloInstruction& x, int64_t dimension) {
  if (!IsArray(x.shape())) return false;
  const int64_t size = x.shape().dimensions(dimension);
  const int64_t elements = xla::ShapeUtil::ElementsIn(x.shape());
  return size > 1 && size <= kMostSorted && elements >= kLeastElements &&
         (size >= kLeastSorted || elements >= kLeastRows * size);
}

// The largest few as the first ones of all, sorted. Of f32 and narrower floats XLA:CPU finds them
// without, if they are few.
HloInstruction* TopOfSorted(HloInstruction* root) {
  constexpr int64_t kFew = 4;  // at most one of so many
  const auto* const top = xla::Cast<xla::HloTopKInstruction>(root);
  HloInstruction* const x = root->mutable_operand(0);
  const int64_t last = static_cast<int64_t>(x->shape().dimensions().size()) - 1;
  const PrimitiveType type = x->shape().element_type();
  const bool is_found_without =
      xla::primitive_util::IsFloatingPointType(type) && xla::primitive_util::BitWidth(type) <= 32;
  if (!top->largest() || !IsMuch(*x, last) || !IsSorted(type) ||
      (is_found_without && kFew * top->k() <= x->shape().dimensions(last))) {
    return nullptr;
  }
  const SortKey descending{0, nullptr, true, xla::ComparisonOrder::kTotal};
  HloInstruction* const places = SortCall(Numbers(x, descending), last, /*is_places=*/true);
  const std::vector<int64_t> starts(last + 1, 0), steps(last + 1, 1);
  HloInstruction* const first =
      emit::Slice(places, starts, root->shape().tuple_shapes(1).dimensions(), steps);
  return root->parent()->AddInstruction(
      HloInstruction::CreateTuple({emit::TakeAlong(x, first, last), first}));
}

}  // namespace

// A sort of one array as sorted numbers; of several, or by what elements cannot be had from, as the
// places that they come from, by which arrays are looked up; the largest few as the first ones of
// these. Null for few elements, and where the comparator does not compare the same functions of
// both, one after another.
absl::StatusOr<HloInstruction*> SortKernels(HloInstruction* root) {
  if (!emit::Free(*root) || IsInOneKernel(*root->parent())) return nullptr;
  if (root->opcode() == HloOpcode::kTopK) return TopOfSorted(root);
  const int64_t dimension = xla::Cast<xla::HloSortInstruction>(root)->sort_dimension();
  HloInstruction* const x = root->mutable_operand(0);
  const PrimitiveType type = x->shape().element_type();
  if (!IsMuch(*x, dimension)) return nullptr;
  const std::vector<SortKey> keys = KeysOf(*root->to_apply());
  if (keys.empty()) return nullptr;
  for (const SortKey& key : keys) {
    if (!IsSorted(key.function->shape().element_type())) return nullptr;
  }
  bool elements = keys.size() == 1 && TellElements(keys[0], type);
  for (int64_t k = 1; k < root->operand_count(); ++k) elements = elements && !IsUsed(*root, k);
  if (elements) {
    return EachSorted(root, [&](int64_t) {
      HloInstruction* const numbers = Numbers(KeysIn(root, keys[0]), keys[0]);
      return AsTheyWere(SortCall(numbers, dimension, /*is_places=*/false), keys[0], type);
    });
  }
  HloInstruction* const places = Places(root, dimension, keys);
  return EachSorted(
      root, [&](int64_t k) { return FromPlaces(root->mutable_operand(k), places, dimension); });
}

}  // namespace hone::compiler
