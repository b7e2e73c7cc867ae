// Random bits of rng-bit-generator, as JAX's `rbg` keys ask for them. XLA:CPU writes them out after
// all else: four words of each round are put together, and each branch of what puts them together
// computes all rounds anew, for every word and for everything that takes it.
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/transforms/expanders/rng_bit_generator_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastWords = 256;

// The pass that XLA:CPU has for it, one instruction at a time.
class Expander : public xla::RngBitGeneratorExpander {
 public:
  Expander() : RngBitGeneratorExpander(xla::RandomAlgorithm::RNG_PHILOX) {}
  using RngBitGeneratorExpander::ExpandInstruction;
};

// Four words side by side, or two of twice the bits, as they lie in memory: one kernel makes them
// as two halves of a complex number. Null for others.
HloInstruction* TogetherInMemory(HloInstruction* words) {
  const xla::PrimitiveType type = words->shape().element_type();
  const auto number = static_cast<size_t>(words->operand_count());
  if (!(type == xla::U32 && number == 4) && !(type == xla::U64 && number == 2)) return nullptr;
  const int64_t rows = emit::Product(emit::SizesOf(*words->operand(0)));
  if (emit::SizesOf(*words) != std::vector<int64_t>{rows, words->operand_count()}) return nullptr;
  std::vector<Elements> halves;
  for (HloInstruction* word : words->mutable_operands()) {
    halves.push_back(Elements(emit::Reshape(word, {rows})).As(xla::U64));
  }
  if (number == 4) {
    const auto pair = [](Elements low, Elements high) {
      return low | high.Binary(HloOpcode::kShiftLeft, high.Bits(32));
    };
    halves = {pair(halves[0], halves[1]), pair(halves[2], halves[3])};
  }
  const Elements both(
      emit::Kept(Complex(halves[0].BitsAs(xla::F64), halves[1].BitsAs(xla::F64)).array()));
  const auto column = [&](Elements half) {
    return emit::Reshape(half.BitsAs(xla::U64).array(), {rows, 1});
  };
  HloInstruction* const together =
      emit::Concatenate({column(RealPart(both)), column(ImaginaryPart(both))}, 1);
  if (number == 2) return together;
  HloInstruction* const bits = words->AddInstruction(HloInstruction::CreateBitcastConvert(
      xla::ShapeUtil::MakeShape(type, {rows, 2, 2}), together));
  return emit::Reshape(bits, emit::SizesOf(*words));
}

}  // namespace

absl::StatusOr<HloInstruction*> RandomBits(HloInstruction* root) {
  if (!emit::Free(*root) || !root->shape().IsTuple() ||
      xla::ShapeUtil::ElementsIn(root->shape().tuple_shapes(1)) < kLeastWords) {
    return nullptr;
  }
  TF_ASSIGN_OR_RETURN(HloInstruction* const call, Expander().ExpandInstruction(root));
  if (call == nullptr || call->opcode() != HloOpcode::kCall) return nullptr;
  xla::HloComputation* const generator = call->to_apply();
  const std::vector<HloInstruction*> all = generator->MakeInstructionPostOrder();
  TF_ASSIGN_OR_RETURN(const xla::CallInliner::InlinedInstructionMap inlined,
                      xla::CallInliner::Inline(call));
  for (const HloInstruction* called : all) {
    HloInstruction* const one = inlined.at(called);
    if (one->opcode() != HloOpcode::kConcatenate ||
        xla::ShapeUtil::ElementsIn(one->shape()) < kLeastWords) {
      continue;
    }
    if (HloInstruction* const together = TogetherInMemory(one)) {
      TF_RETURN_IF_ERROR(one->ReplaceAllUsesWith(together));
      continue;
    }
    for (int64_t k = 0; k < one->operand_count(); ++k) {
      TF_RETURN_IF_ERROR(one->ReplaceOperandWith(k, emit::Kept(one->mutable_operand(k))));
    }
  }
  HloInstruction* const values = inlined.at(generator->root_instruction());
  TF_RETURN_IF_ERROR(root->GetModule()->RemoveEmbeddedComputation(generator));
  return values;
}

}  // namespace hone::compiler
