// Linear recurrences that are written as trees, as jax.lax.associative_scan does (Blelloch 1990),
// as loops: h[t] = a[t] h[t-1] + b[t]. A tree takes log n steps, each over arrays of its own, twice
// the work and many times the memory: that suits processors with more cores than one.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/loop_state.h"
#include "compiler/implementations/padded.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastSteps = 16;

// Is it every `stride`-th element of an array along a dimension, from `first` on, and all of the
// others?
bool IsPart(const HloInstruction& part, const HloInstruction& of, int64_t dimension, int64_t first,
            int64_t stride) {
  if (&part == &of) return first == 0 && stride == 1;
  if (part.opcode() != HloOpcode::kSlice || part.operand(0) != &of) return false;
  for (int64_t d = 0; d < RankOf(part); ++d) {
    const bool here = d == dimension;
    if (part.slice_starts(d) != (here ? first : 0)) return false;
    if (!here && part.shape().dimensions(d) != of.shape().dimensions(d)) return false;
    if (part.shape().dimensions(d) > 1 && part.slice_strides(d) != (here ? stride : 1))
      return false;
  }
  return true;
}

// What a step of the tree puts together: the first element, the others at even places, and those at
// odd ones, which are the recurrence over pairs.
struct Step {
  HloInstruction *first = nullptr, *even = nullptr, *odd = nullptr;
  int64_t dimension = 0;
};
std::optional<Step> StepOf(HloInstruction* whole) {
  if (whole->opcode() != HloOpcode::kAdd || !emit::Free(*whole)) return std::nullopt;
  std::optional<Padded> even = PaddedOf(whole->mutable_operand(0), HloOpcode::kAdd),
                        odd = PaddedOf(whole->mutable_operand(1), HloOpcode::kAdd);
  if (!even || !odd || even->dimension != odd->dimension) return std::nullopt;
  if (even->first != 0) std::swap(even, odd);
  const int64_t dimension = even->dimension, size = whole->shape().dimensions(dimension);
  if (even->first != 0 || odd->first != 1 || !even->IsApart(2) || !odd->IsApart(2) ||
      even->size() != (size + 1) / 2 || odd->size() != size / 2) {
    return std::nullopt;
  }
  Step step{even->array, nullptr, odd->array, dimension};
  if (size > 2) {
    if (step.first->opcode() != HloOpcode::kConcatenate || step.first->operand_count() != 2 ||
        step.first->concatenate_dimension() != dimension) {
      return std::nullopt;
    }
    step.even = step.first->mutable_operand(1);
    step.first = step.first->mutable_operand(0);
  }
  if (step.first->opcode() != HloOpcode::kSlice || step.first->shape().dimensions(dimension) != 1 ||
      !IsPart(*step.first, *step.first->operand(0), dimension, 0, 1)) {
    return std::nullopt;
  }
  return step;
}

// The tree, from its root on.
class Tree {
 public:
  // Nothing where it is none.
  static std::optional<Tree> Of(HloInstruction* root) {
    const std::optional<Step> step = StepOf(root);
    if (!step || step->even == nullptr || root->shape().dimensions(step->dimension) < kLeastSteps) {
      return std::nullopt;
    }
    Tree tree;
    tree.dimension_ = step->dimension;
    tree.b_ = step->first->mutable_operand(0);
    const std::optional<Source> factor = tree.FactorOf(step->even, *step->odd);
    if (!factor || factor->array->opcode() != HloOpcode::kSlice) return std::nullopt;
    const auto along = absl::c_find(factor->places, tree.dimension_);
    if (along == factor->places.end()) return std::nullopt;
    tree.of_a_ = along - factor->places.begin();
    tree.places_ = factor->places;
    tree.a_ = factor->array->mutable_operand(0);
    if (!tree.IsRecurrence(root, tree.b_, tree.a_)) return std::nullopt;
    return tree;
  }

  HloInstruction* b() const { return b_; }
  HloInstruction* a() const { return a_; }
  int64_t dimension() const { return dimension_; }
  int64_t dimension_of_a() const { return of_a_; }
  // For each dimension of a the one of b.
  const Dimensions& places() const { return places_; }

 private:
  // Of `next`, which adds a multiple of a part of `before`: the factor, as what it is spread from.
  std::optional<Source> FactorOf(HloInstruction* next, const HloInstruction& before,
                                 int64_t first = 0, int64_t stride = 1) const {
    if (next->opcode() != HloOpcode::kAdd) return std::nullopt;
    for (HloInstruction* product : next->operands()) {
      if (product->opcode() != HloOpcode::kMultiply) continue;
      for (int64_t k : {0, 1}) {
        if (!IsPart(*product->operand(k), before, dimension_, first, stride)) continue;
        Source source{product->mutable_operand(1 - k), Range(0, RankOf(*product))};
        while (StepBack(source)) continue;
        return source;
      }
    }
    return std::nullopt;
  }

  // Is `next` = a part of `a`, times the part of `before` from `first` on, and the part of `b` from
  // `place` on?
  bool IsNext(HloInstruction* next, const HloInstruction& before, int64_t first, int64_t stride,
              const HloInstruction* a, const HloInstruction& b, int64_t place) const {
    const std::optional<Source> factor = FactorOf(next, before, first, stride);
    if (!factor || a == nullptr || !IsPart(*factor->array, *a, of_a_, place, 2)) return false;
    for (size_t d = 0; d < places_.size(); ++d) {
      const bool is_one = factor->array->shape().dimensions(static_cast<int64_t>(d)) == 1;
      if (factor->places[d] != places_[d] && !is_one) return false;
    }
    return absl::c_any_of(next->operands(), [&](const HloInstruction* term) {
      return IsPart(*term, b, dimension_, place, 2);
    });
  }

  // Are these the products of pairs of `known`?
  bool AreProducts(const HloInstruction& pairs, const HloInstruction& known) const {
    if (pairs.opcode() != HloOpcode::kMultiply) return false;
    for (int64_t k : {0, 1}) {
      if (IsPart(*pairs.operand(k), known, of_a_, 0, 2) &&
          IsPart(*pairs.operand(1 - k), known, of_a_, 1, 2)) {
        return true;
      }
    }
    return false;
  }

  // Level by level: is `whole` the recurrence with factors `a` and terms `b`?
  bool IsRecurrence(HloInstruction* whole, HloInstruction* b, HloInstruction* a) const {
    for (;;) {
      if (whole->shape().dimensions(dimension_) == 1) return whole == b;
      const std::optional<Step> step = StepOf(whole);
      if (!step || step->dimension != dimension_ || step->first->operand(0) != b) return false;
      if (step->even != nullptr && !IsNext(step->even, *step->odd, 0, 1, a, *b, 2)) return false;
      // One level deeper.
      HloInstruction *pairs = step->odd, *factors = nullptr;
      if (pairs->shape().dimensions(dimension_) > 1) {
        const std::optional<Step> below = StepOf(step->odd);
        if (!below) return false;
        pairs = below->first->mutable_operand(0);
        // Of two, what they come to tells the factors; of more, what lies between.
        const std::optional<Source> factor = below->even == nullptr
                                                 ? FactorOf(below->odd, *pairs, 0, 2)
                                                 : FactorOf(below->even, *below->odd);
        if (!factor || factor->array->opcode() != HloOpcode::kSlice) return false;
        factors = factor->array->mutable_operand(0);
        if (!AreProducts(*factors, *a)) return false;
      }
      if (!IsNext(pairs, *b, 0, 2, a, *b, 1)) return false;
      whole = step->odd;
      b = pairs;
      a = factors;
    }
  }

  HloInstruction *a_ = nullptr, *b_ = nullptr;
  int64_t dimension_ = 0, of_a_ = 0;
  Dimensions places_;
};

// Is it part of a larger tree?
bool IsInTree(const HloInstruction& root) {
  for (HloInstruction* pad : root.users()) {
    if (pad->opcode() != HloOpcode::kPad) continue;
    for (HloInstruction* sum : pad->users()) {
      if (Tree::Of(sum)) return true;
    }
  }
  return false;
}

// The start of what lies at a place along a dimension.
std::vector<HloInstruction*> StartOf(const HloInstruction& array, int64_t dimension,
                                     HloInstruction* place, HloInstruction* zero) {
  std::vector<HloInstruction*> start(static_cast<size_t>(RankOf(array)), zero);
  start[static_cast<size_t>(dimension)] = place;
  return start;
}

HloInstruction* OneAt(HloInstruction* array, int64_t dimension, HloInstruction* place,
                      HloInstruction* zero) {
  std::vector<int64_t> sizes = emit::SizesOf(*array);
  sizes[static_cast<size_t>(dimension)] = 1;
  return emit::DynamicSlice(array, StartOf(*array, dimension, place, zero), sizes);
}

HloInstruction* Written(HloInstruction* array, HloInstruction* one, int64_t dimension,
                        HloInstruction* place, HloInstruction* zero) {
  return emit::DynamicUpdateSlice(array, one, StartOf(*array, dimension, place, zero));
}

HloInstruction* Loop(HloInstruction* root, const Tree& tree) {
  constexpr xla::PrimitiveType kPlace = xla::S32;
  HloComputation* const parent = root->parent();
  const int64_t steps = root->shape().dimensions(tree.dimension());
  HloInstruction* const zero = emit::Number(parent, kPlace, 0);
  HloInstruction* const start = emit::SliceAlong(tree.b(), tree.dimension(), 0, 1);
  HloInstruction* const none =
      emit::Broadcast(emit::Zero(parent, root->shape().element_type()), emit::SizesOf(*root), {});
  HloInstruction* const from = parent->AddInstruction(HloInstruction::CreateTuple(
      {emit::Number(parent, kPlace, 1), start, Written(none, start, tree.dimension(), zero, zero),
       tree.a(), tree.b()}));

  HloComputation* const body = OfState(*parent->parent(), "recurrence", from->shape());
  HloInstruction* const state = body->parameter_instruction(0);
  HloInstruction *const place = ElementOf(state, 0), *const a = ElementOf(state, 3),
                        *const b = ElementOf(state, 4),
                        *const origin = emit::Number(body, kPlace, 0);
  const Source factor{OneAt(a, tree.dimension_of_a(), place, origin), tree.places()};
  HloInstruction* const before = ElementOf(state, 1);
  HloInstruction* const product =
      emit::Binary(HloOpcode::kMultiply,
                   Spread(factor, Range(0, RankOf(*before)), emit::SizesOf(*before)), before);
  HloInstruction* const next =
      emit::Binary(HloOpcode::kAdd, product, OneAt(b, tree.dimension(), place, origin));
  body->set_root_instruction(
      body->AddInstruction(HloInstruction::CreateTuple(
          {emit::Binary(HloOpcode::kAdd, place, emit::Number(body, kPlace, 1)), next,
           Written(ElementOf(state, 2), next, tree.dimension(), place, origin), a, b})),
      /*accept_different_shape=*/true);

  HloComputation* const condition =
      OfState(*parent->parent(), "recurrence_condition", from->shape());
  condition->set_root_instruction(emit::Compare(xla::ComparisonDirection::kLt,
                                                ElementOf(condition->parameter_instruction(0), 0),
                                                emit::Number(condition, kPlace, steps)),
                                  /*accept_different_shape=*/true);
  HloInstruction* const loop =
      parent->AddInstruction(HloInstruction::CreateWhile(from->shape(), condition, body, from));
  root->SetupDerivedInstruction(loop);
  return ElementOf(loop, 2);
}

}  // namespace

absl::StatusOr<HloInstruction*> LinearRecurrences(HloInstruction* root) {
  const std::optional<Tree> tree = Tree::Of(root);
  if (!tree || IsInTree(*root)) return nullptr;
  return Loop(root, *tree);
}

}  // namespace hone::compiler
