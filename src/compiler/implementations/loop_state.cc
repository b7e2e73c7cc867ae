#include "compiler/implementations/loop_state.h"

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/primitive_util.h"

namespace hone::compiler {

using xla::HloComputation;
using xla::HloInstruction;
using xla::PrimitiveType;

bool IsTakenApart(const HloInstruction& tuple) {
  return absl::c_all_of(tuple.users(), [](const HloInstruction* user) {
    return user->opcode() == xla::HloOpcode::kGetTupleElement;
  });
}

bool IsOfKnownParts(const HloInstruction& loop) {
  return loop.opcode() == xla::HloOpcode::kWhile && emit::Free(loop) &&
         loop.operand(0)->opcode() == xla::HloOpcode::kTuple &&
         loop.while_body()->root_instruction()->opcode() == xla::HloOpcode::kTuple &&
         IsTakenApart(*loop.while_body()->parameter_instruction(0)) &&
         IsTakenApart(*loop.while_condition()->parameter_instruction(0));
}

const HloInstruction* NextOf(const HloInstruction& state) {
  const HloComputation& body = *state.parent();
  const HloInstruction& next = *body.root_instruction();
  const bool is_body =
      absl::c_any_of(body.caller_instructions(), [&](const HloInstruction* caller) {
        return caller->opcode() == xla::HloOpcode::kWhile && caller->while_body() == &body;
      });
  if (state.opcode() != xla::HloOpcode::kGetTupleElement ||
      state.operand(0)->opcode() != xla::HloOpcode::kParameter || !is_body ||
      next.opcode() != xla::HloOpcode::kTuple) {
    return nullptr;
  }
  return next.operand(state.tuple_index());
}

HloInstruction* ElementOf(HloInstruction* tuple, int64_t k) {
  if (tuple->opcode() == xla::HloOpcode::kTuple) return tuple->mutable_operand(k);
  return tuple->parent()->AddInstruction(HloInstruction::CreateGetTupleElement(tuple, k));
}

HloComputation* OfState(xla::HloModule& module, const std::string& name, const xla::Shape& state) {
  HloComputation::Builder builder(name);
  builder.AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
  return module.AddEmbeddedComputation(builder.Build());
}

HloComputation* WithState(HloComputation& computation, const xla::Shape& state) {
  HloComputation* const copy = computation.parent()->AddEmbeddedComputation(computation.Clone());
  *copy->parameter_instruction(0)->mutable_shape() = state;
  return copy;
}

absl::Status RemoveUnused(HloComputation& computation) {
  const std::vector<HloInstruction*> all = computation.MakeInstructionPostOrder();
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if ((*one)->IsDead() && computation.IsSafelyRemovable(*one) &&
        (*one)->opcode() != xla::HloOpcode::kParameter) {
      TF_RETURN_IF_ERROR(computation.RemoveInstruction(*one));
    }
  }
  return absl::OkStatus();
}

HloInstruction* LoopLike(HloInstruction* other, HloComputation* condition, HloComputation* body,
                         const std::vector<HloInstruction*>& first) {
  HloComputation* const parent = other->parent();
  HloInstruction* const loop = parent->AddInstruction(
      HloInstruction::CreateWhile(body->parameter_instruction(0)->shape(), condition, body,
                                  parent->AddInstruction(HloInstruction::CreateTuple(first))));
  other->SetupDerivedInstruction(loop);
  loop->CopyBackendConfigFrom(other);
  return loop;
}

HloInstruction* FirstParts(HloInstruction* loop, int64_t parts) {
  std::vector<HloInstruction*> results;
  for (int64_t part = 0; part < parts; ++part) results.push_back(ElementOf(loop, part));
  return loop->parent()->AddInstruction(HloInstruction::CreateTuple(results));
}

bool IsWidened(PrimitiveType type) {
  return xla::primitive_util::IsFloatingPointType(type) && type != xla::F16 &&
         (xla::primitive_util::BitWidth(type) == 8 || xla::primitive_util::BitWidth(type) == 16);
}

PrimitiveType BitsType(PrimitiveType type) {
  return xla::primitive_util::UnsignedIntegralTypeForBitWidth(xla::primitive_util::BitWidth(type));
}

xla::Shape BitsShape(xla::Shape shape) {
  if (IsWidened(shape.element_type())) shape.set_element_type(BitsType(shape.element_type()));
  return shape;
}

bool AreFloatsOfBits(const HloInstruction& x) {
  return x.opcode() == xla::HloOpcode::kBitcastConvert && IsWidened(x.shape().element_type()) &&
         x.operand(0)->shape().element_type() == BitsType(x.shape().element_type());
}

HloInstruction* BitsOf(HloInstruction* x) {
  if (AreFloatsOfBits(*x)) return x->mutable_operand(0);
  const PrimitiveType type = x->shape().element_type();
  return IsWidened(type) ? emit::BitcastConvert(x, BitsType(type)) : x;
}

HloInstruction* FromBits(HloInstruction* bits, PrimitiveType type) {
  return bits->shape().element_type() == type ? bits : emit::BitcastConvert(bits, type);
}

}  // namespace hone::compiler
