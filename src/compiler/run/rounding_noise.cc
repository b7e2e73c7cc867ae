#include "compiler/run/rounding_noise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "compiler/implementations/emit.h"
#include "compiler/xla_names.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

// Noise is worth its compile time only where the value goes on: XLA's elementwise chains end at
// additions and subtractions (which may cancel), and at anything that is not elementwise.
bool MayCancelOrLeave(const HloInstruction& instruction) {
  if (&instruction == instruction.parent()->root_instruction()) return true;
  for (const HloInstruction* user : instruction.users()) {
    switch (user->opcode()) {
      case HloOpcode::kMultiply:
      case HloOpcode::kDivide:
      case HloOpcode::kNegate:
        break;
      default:
        return true;
    }
  }
  return false;
}

bool HasNoise(PrimitiveType type) {
  return xla::primitive_util::IsFloatingPointType(type) && xla::primitive_util::BitWidth(type) >= 8;
}

// Types that XLA:CPU computes in f32 and rounds to, or, where --xla_allow_excess_precision lets it
// and between what it fuses, does not.
bool IsNarrow(PrimitiveType type) { return type == xla::BF16 || type == xla::F16; }

// The distance of the subnormal numbers of a type so narrow that programs come to them: numbers
// below 6e-5 in f16. 0 for others.
double LeastSpacing(PrimitiveType type) {
  if (xla::primitive_util::BitWidth(type) > 16 || type == xla::BF16) return 0;
  return std::ldexp(1.0, xla::primitive_util::UnderflowExponent(type) -
                             xla::primitive_util::SignificandWidth(type));
}

// Products of narrow types are exact in f32 and added up there: what their sum is off by is nothing
// to the rounding of its result, or of the operands.
bool SumsInF32(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kConvolution;
}

// Terms of a sum of f32 from which on a wider sum may be told from it.
constexpr double kLongSum = 256;

// Whether it adds up narrow floats, or many of f32, by a computation of its own, one to the other.
bool IsNarrowSum(const HloInstruction& instruction) {
  const bool one =
      instruction.opcode() == HloOpcode::kScatter
          ? instruction.operand_count() == 3
          : instruction.operand_count() == 2 && (instruction.opcode() == HloOpcode::kReduce ||
                                                 instruction.opcode() == HloOpcode::kReduceWindow);
  const PrimitiveType type = one ? instruction.shape().element_type() : xla::TUPLE;
  return (IsNarrow(type) || (type == xla::F32 && instruction.opcode() != HloOpcode::kScatter &&
                             SummedTerms(instruction) >= kLongSum)) &&
         emit::ReducerOpcode(*instruction.to_apply()) == HloOpcode::kAdd;
}

class NoiseMaker {
 public:
  // `seed` is a u32 of the computation's, or null.
  NoiseMaker(HloComputation* computation, uint32_t salt, HloInstruction* seed, NarrowSums sums)
      : computation_(computation), salt_(salt), seed_(seed), sums_(sums) {}

  // x * (1 +- amount), the sign from x's bits; x itself where it has few significant bits.
  HloInstruction* Add(HloInstruction* x, double steps) {
    const PrimitiveType type = x->shape().element_type();
    if (type == xla::C64 || type == xla::C128) {
      const Shape part = ShapeUtil::ComplexComponentShape(x->shape());
      HloInstruction* real = Make(HloInstruction::CreateUnary(part, HloOpcode::kReal, x));
      HloInstruction* imag = Make(HloInstruction::CreateUnary(part, HloOpcode::kImag, x));
      return Make(HloInstruction::CreateBinary(x->shape(), HloOpcode::kComplex, Add(real, steps),
                                               Add(imag, steps)));
    }
    if (type == xla::F64) {
      return Move(x, xla::U64, (1ull << 26) - 1, 0x9E3779B97F4A7C15ull, x,
                  {steps * RelativeSpacing(type)});
    }
    if (type == xla::F32) {
      return Move(x, xla::U32, (1u << 12) - 1, 0x9E3779B9u, x, {steps * RelativeSpacing(type)});
    }
    // Narrow types: multiply in f32, whose bits also show how many are significant here, and round.
    HloInstruction* wide = Converted(x, xla::F32);
    const int bits = 23 - MantissaBits(type);
    const uint32_t low = ((1u << std::max(1, MantissaBits(type) / 2)) - 1) << bits;
    return Converted(Move(wide, xla::U32, low, 0x9E3779B9u, wide, OfNarrow(type, steps)), type);
  }

  // `wide` as a narrow type has it, rounded otherwise: only what is a number of that type stays.
  HloInstruction* Round(HloInstruction* wide, PrimitiveType type) {
    const Amount amount = OfNarrow(type, /*steps=*/1);
    const bool f64 = wide->shape().element_type() == xla::F64;
    const int bits = (f64 ? 52 : 23) - MantissaBits(type);
    const uint64_t low = (uint64_t{1} << bits) - 1;
    return Converted(f64 ? Move(wide, xla::U64, low, 0x9E3779B97F4A7C15ull, wide, amount)
                         : Move(wide, xla::U32, low, 0x9E3779B9u, wide, amount),
                     type);
  }

  // A long sum of f32, added up in f64; the instruction where it is none.
  HloInstruction* LongSum(HloInstruction* instruction) {
    const PrimitiveType type = instruction->shape().element_type();
    if (sums_ != NarrowSums::kWide || IsNarrow(type) || !IsNarrowSum(*instruction)) {
      return instruction;
    }
    return Converted(AddedUpWide(instruction), type);
  }

  // The instruction in f32, before its result is rounded to a narrow type; null where it cannot be
  // had. Its floating-point operands are of one type.
  HloInstruction* Unrounded(HloInstruction* instruction) {
    if (instruction->opcode() == HloOpcode::kConvert) return instruction->mutable_operand(0);
    if (sums_ == NarrowSums::kWide && IsNarrowSum(*instruction)) return AddedUpWide(instruction);
    if (!instruction->IsElementwise() && !SumsInF32(*instruction)) return nullptr;
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : instruction->operands()) {
      if (operand->shape().element_type() != instruction->shape().element_type()) return nullptr;
      operands.push_back(Converted(operand, xla::F32));
    }
    return Make(instruction->CloneWithNewOperands(
        ShapeUtil::ChangeElementType(instruction->shape(), xla::F32), operands));
  }

 private:
  HloInstruction* AddedUpWide(HloInstruction* sum) {
    const PrimitiveType type = sum->shape().element_type();
    const PrimitiveType wider = type == xla::F32 ? xla::F64 : xla::F32;
    std::vector<HloInstruction*> operands(sum->operands().begin(), sum->operands().end());
    for (HloInstruction*& operand : operands) {
      if (operand->shape().element_type() == type) operand = Converted(operand, wider);
    }
    HloInstruction* const wide = Make(
        sum->CloneWithNewOperands(ShapeUtil::ChangeElementType(sum->shape(), wider), operands));
    wide->set_to_apply(emit::Combiner(sum->GetModule(), HloOpcode::kAdd, wider));
    return wide;
  }

  // A little over half the spacing: moves to the next number, or is about as far from it as
  // rounding would have put it where it is not rounded after all.
  static constexpr double kOtherNumber = 0.505;

  struct Amount {
    double relative = 0;  // of a number's size
    double least = 0;     // and so much, whatever its size
    double spacing = 0;   // where there is a least: what is no multiple of it is not exact
  };
  static Amount OfNarrow(PrimitiveType type, double steps) {
    const double least = LeastSpacing(type);
    return {kOtherNumber * steps * RelativeSpacing(type), kOtherNumber * steps * least, least};
  }

  static int MantissaBits(PrimitiveType type) {
    return xla::primitive_util::SignificandWidth(type) - 1;
  }

  HloInstruction* Converted(HloInstruction* x, PrimitiveType type) {
    return Make(HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(x->shape(), type), x));
  }

  HloInstruction* Make(std::unique_ptr<HloInstruction> instruction) {
    return computation_->AddInstruction(std::move(instruction));
  }

  HloInstruction* Constant(PrimitiveType type, double value, uint64_t bits, const Shape& like) {
    const Shape shape = ShapeUtil::ChangeElementType(like, type);
    const auto key = std::make_tuple(shape.ToString(), value, bits);
    HloInstruction*& known = constants_[key];
    if (known != nullptr) return known;
    xla::Literal literal = type == xla::F64   ? xla::LiteralUtil::CreateR0<double>(value)
                           : type == xla::F32 ? xla::LiteralUtil::CreateR0<float>(value)
                           : type == xla::U64 ? xla::LiteralUtil::CreateR0<uint64_t>(bits)
                                              : xla::LiteralUtil::CreateR0<uint32_t>(bits);
    HloInstruction* scalar = Make(HloInstruction::CreateConstant(std::move(literal)));
    known = shape.dimensions().empty() ? scalar
                                       : Make(HloInstruction::CreateBroadcast(shape, scalar, {}));
    return known;
  }

  HloInstruction* Seed(const Shape& shape) {
    HloInstruction*& known = seeds_[shape.ToString()];
    if (known != nullptr) return known;
    HloInstruction* seed = seed_;
    if (shape.element_type() != xla::U32) seed = Converted(seed, shape.element_type());
    known =
        shape.dimensions().empty() ? seed : Make(HloInstruction::CreateBroadcast(shape, seed, {}));
    return known;
  }

  HloInstruction* Move(HloInstruction* x, PrimitiveType bits_type, uint64_t low_mask, uint64_t mix,
                       HloInstruction* like, Amount amount) {
    const Shape& shape = like->shape();
    const Shape bits_shape = ShapeUtil::ChangeElementType(shape, bits_type);
    const Shape pred_shape = ShapeUtil::ChangeElementType(shape, xla::PRED);
    const PrimitiveType type = shape.element_type();
    // An odd multiplier of its own for each computation.
    mix = (mix + 2 * static_cast<uint64_t>(salt_) * 0x632BE5ABull) | 1;
    if (bits_type == xla::U32) mix &= 0xFFFFFFFFull;
    HloInstruction* bits = Make(HloInstruction::CreateBitcastConvert(bits_shape, x));
    HloInstruction* seeded = seed_ == nullptr
                                 ? bits
                                 : Make(HloInstruction::CreateBinary(bits_shape, HloOpcode::kAdd,
                                                                     bits, Seed(bits_shape)));
    HloInstruction* mixed = Make(HloInstruction::CreateBinary(
        bits_shape, HloOpcode::kMultiply, seeded, Constant(bits_type, 0, mix, shape)));
    const uint64_t half = bits_type == xla::U64 ? 1ull << 63 : 1ull << 31;
    HloInstruction* up = Make(HloInstruction::CreateCompare(
        pred_shape, mixed, Constant(bits_type, 0, half, shape), xla::ComparisonDirection::kLt));
    HloInstruction* factor = Make(HloInstruction::CreateTernary(
        shape, HloOpcode::kSelect, up, Constant(type, 1 + amount.relative, 0, shape),
        Constant(type, 1 - amount.relative, 0, shape)));
    HloInstruction* low = Make(HloInstruction::CreateBinary(
        bits_shape, HloOpcode::kAnd, bits, Constant(bits_type, 0, low_mask, shape)));
    HloInstruction* exact = Make(HloInstruction::CreateCompare(
        pred_shape, low, Constant(bits_type, 0, 0, shape), xla::ComparisonDirection::kEq));
    HloInstruction* moved =
        Make(HloInstruction::CreateBinary(shape, HloOpcode::kMultiply, x, factor));
    if (amount.least > 0) {
      HloInstruction* spacings = Make(HloInstruction::CreateBinary(
          shape, HloOpcode::kMultiply, x, Constant(type, 1 / amount.spacing, 0, shape)));
      HloInstruction* whole = Make(HloInstruction::CreateUnary(shape, HloOpcode::kFloor, spacings));
      HloInstruction* is_multiple = Make(HloInstruction::CreateCompare(
          pred_shape, spacings, whole, xla::ComparisonDirection::kEq));
      exact = Make(HloInstruction::CreateBinary(pred_shape, HloOpcode::kAnd, exact, is_multiple));
      HloInstruction* least = Make(HloInstruction::CreateTernary(
          shape, HloOpcode::kSelect, up, Constant(type, amount.least, 0, shape),
          Constant(type, -amount.least, 0, shape)));
      moved = Make(HloInstruction::CreateBinary(shape, HloOpcode::kAdd, moved, least));
    }
    return Make(HloInstruction::CreateTernary(shape, HloOpcode::kSelect, exact, x, moved));
  }

  HloComputation* computation_;
  uint32_t salt_;
  HloInstruction* seed_;
  const NarrowSums sums_;
  std::map<std::string, HloInstruction*> seeds_;  // by shape
  std::map<std::tuple<std::string, double, uint64_t>, HloInstruction*> constants_;
};

// Whether instructions may be added: the entry, and bodies of loops, calls and branches. Reducers,
// comparators and fusions that a library or an emitter matches as a whole are left as they are.
bool MayGrow(const HloComputation& computation) {
  if (computation.IsEntryComputation()) return true;
  const auto callers = computation.caller_instructions();
  if (callers.empty()) return false;
  for (const HloInstruction* caller : callers) {
    switch (caller->opcode()) {
      case HloOpcode::kCall:
      case HloOpcode::kConditional:
        break;
      case HloOpcode::kWhile:
        if (caller->while_condition() == &computation) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

// Of a loop's body, what its condition computes too. There is no noise in a condition; were there
// any here, a loop whose body asks the same question (JAX makes one of a loop for each element of a
// batch) might go on for ever: the condition says that an element is not done, the body leaves it
// as it is.
std::set<const HloInstruction*> AskedByConditions(const HloComputation& body) {
  std::set<const HloInstruction*> asked;
  for (const HloInstruction* loop : body.caller_instructions()) {
    if (loop->opcode() != HloOpcode::kWhile || loop->while_body() != &body) continue;
    // Of the body and of the condition. The body may have several of one.
    std::set<std::pair<const HloInstruction*, const HloInstruction*>> alike;
    const auto are_alike = [&](const HloInstruction* in_body, const HloInstruction* in_condition) {
      return alike.count({in_body, in_condition}) != 0;
    };
    for (const HloInstruction* in_condition : loop->while_condition()->MakeInstructionPostOrder()) {
      for (const HloInstruction* in_body : body.instructions()) {
        if (in_body->opcode() != in_condition->opcode() ||
            !in_body->Identical(*in_condition, are_alike)) {
          continue;
        }
        asked.insert(in_body);
        alike.emplace(in_body, in_condition);
      }
    }
  }
  return asked;
}

// Whether what it puts together is rounded: of a maximum it is not, and whoever asks which element
// the maximum is must find one.
bool IsRounded(const HloComputation& reducer) {
  return absl::c_any_of(reducer.instructions(), [](const HloInstruction* instruction) {
    return Rounds(*instruction) || !instruction->called_computations().empty();
  });
}

}  // namespace

double SummedTerms(const xla::HloInstruction& instruction) {
  const auto size = [](const Shape& shape) {
    return static_cast<double>(ShapeUtil::ElementsIn(shape));
  };
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kConvolution:
      return static_cast<double>(std::max<int64_t>(1, emit::TermsOf(instruction)));
    case HloOpcode::kReduce: {
      if (!IsRounded(*instruction.to_apply())) return 0;
      double terms = 1;
      for (int64_t d : instruction.dimensions()) {
        terms *= instruction.operand(0)->shape().dimensions(d);
      }
      return std::max(terms, 1.0);
    }
    case HloOpcode::kReduceWindow: {
      if (!IsRounded(*instruction.to_apply())) return 0;
      double terms = 1;
      for (const auto& d : instruction.window().dimensions()) terms *= d.size();
      return std::max(terms, 1.0);
    }
    case HloOpcode::kBatchNormTraining:
    case HloOpcode::kBatchNormGrad:
      return size(instruction.operand(0)->shape()) /
             std::max<int64_t>(
                 1, instruction.operand(0)->shape().dimensions(instruction.feature_index()));
    case HloOpcode::kFft:
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
      return std::max<double>(1, instruction.operand(0)->shape().dimensions().back());
    case HloOpcode::kScatter:
      return IsRounded(*instruction.to_apply()) ? 8 : 0;
    case HloOpcode::kSelectAndScatter:
      return IsRounded(*instruction.scatter()) ? 8 : 0;
    default:
      return 0;
  }
}

double NoiseSteps(const xla::HloInstruction& instruction) {
  return std::max(1.0, std::sqrt(SummedTerms(instruction) / 32));
}

std::vector<int64_t> SummedOperands(const xla::HloInstruction& instruction) {
  if (SummedTerms(instruction) == 0) return {};
  const int64_t most =
      instruction.opcode() == HloOpcode::kReduce || instruction.opcode() == HloOpcode::kReduceWindow
          ? instruction.operand_count() / 2
          : std::min<int64_t>(instruction.operand_count(), 2);
  std::vector<int64_t> summed;
  for (int64_t k = 0; k < most; ++k) {
    const xla::Shape& shape = instruction.operand(k)->shape();
    if (!shape.IsArray() || !HasNoise(shape.element_type())) continue;
    if (SumsInF32(instruction) && IsNarrow(shape.element_type())) continue;
    summed.push_back(k);
  }
  return summed;
}

bool Rounds(const xla::HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract:
    case HloOpcode::kMultiply:
    case HloOpcode::kDivide:
    case HloOpcode::kPower:
    case HloOpcode::kExp:
    case HloOpcode::kExpm1:
    case HloOpcode::kLog:
    case HloOpcode::kLog1p:
    case HloOpcode::kTanh:
    case HloOpcode::kTan:
    case HloOpcode::kSin:
    case HloOpcode::kCos:
    case HloOpcode::kSqrt:
    case HloOpcode::kRsqrt:
    case HloOpcode::kCbrt:
    case HloOpcode::kErf:
    case HloOpcode::kLogistic:
    case HloOpcode::kAtan2:
      return true;
    case HloOpcode::kConvert:
      return xla::primitive_util::IsFloatingPointType(
                 instruction.operand(0)->shape().element_type()) &&
             RelativeSpacing(instruction.shape().element_type()) >
                 RelativeSpacing(instruction.operand(0)->shape().element_type());
    default:
      return false;
  }
}

double RelativeSpacing(PrimitiveType type) {
  if (type == xla::C64) type = xla::F32;
  if (type == xla::C128) type = xla::F64;
  if (!xla::primitive_util::IsFloatingPointType(type)) return 0;
  return std::ldexp(1.0, 1 - xla::primitive_util::SignificandWidth(type));
}

bool HasNarrowSums(const xla::HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return MayGrow(*computation) &&
           absl::c_any_of(computation->instructions(),
                          [](const HloInstruction* one) { return IsNarrowSum(*one); });
  });
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> WithWideSums(const xla::HloModule& module) {
  std::unique_ptr<xla::HloModule> wide = module.Clone("wide");
  wide->clear_schedule();
  for (HloComputation* computation : wide->MakeComputationPostOrder()) {
    if (!MayGrow(*computation)) continue;
    NoiseMaker maker(computation, /*salt=*/0, /*seed=*/nullptr, NarrowSums::kWide);
    for (HloInstruction* sum : computation->MakeInstructionPostOrder()) {
      if (!IsNarrowSum(*sum)) continue;
      HloInstruction* const rounded = computation->AddInstruction(
          HloInstruction::CreateConvert(sum->shape(), maker.Unrounded(sum)));
      if (absl::Status status = sum->ReplaceAllUsesWith(rounded); !status.ok()) return status;
    }
  }
  return wide;
}

absl::StatusOr<NoisyModule> AddRoundingNoise(const xla::HloModule& module, NarrowSums sums) {
  NoisyModule noisy;
  noisy.module = module.Clone("noise");
  noisy.module->clear_schedule();
  HloComputation* const entry = noisy.module->entry_computation();
  HloInstruction* const seed = entry->AddEntryComputationParameter(HloInstruction::CreateParameter(
      entry->num_parameters(), ShapeUtil::MakeShape(xla::U32, {}), "seed"));
  uint32_t salt = 0;
  for (HloComputation* computation : noisy.module->MakeComputationPostOrder()) {
    ++salt;
    if (!MayGrow(*computation)) continue;
    NoiseMaker maker(computation, salt, computation == entry ? seed : nullptr, sums);
    std::map<std::pair<HloInstruction*, double>, HloInstruction*> noisy_operands;
    std::map<HloInstruction*, double> made;
    const std::set<const HloInstruction*> asked = AskedByConditions(*computation);
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (asked.count(instruction) != 0) continue;
      const double terms = SummedTerms(*instruction);
      const double steps = NoiseSteps(*instruction);
      if (terms > 0) {
        for (const int64_t k : SummedOperands(*instruction)) {
          HloInstruction* operand = instruction->mutable_operand(k);
          const auto known = made.find(operand);
          if (known != made.end() && known->second >= steps) continue;
          HloInstruction*& replacement = noisy_operands[{operand, steps}];
          if (replacement == nullptr) {
            replacement = maker.Add(operand, steps);
            ++noisy.places;
          }
          absl::Status status = instruction->ReplaceOperandWith(k, replacement);
          if (!status.ok()) return status;
        }
      }
      if (!instruction->shape().IsArray() || !HasNoise(instruction->shape().element_type())) {
        continue;
      }
      if (terms == 0 && !(Rounds(*instruction) && MayCancelOrLeave(*instruction))) continue;
      const std::vector<HloInstruction*> users(instruction->users().begin(),
                                               instruction->users().end());
      const bool is_root = computation->root_instruction() == instruction;
      HloInstruction* const unrounded =
          IsNarrow(instruction->shape().element_type()) ? maker.Unrounded(instruction) : nullptr;
      HloInstruction* replacement =
          unrounded == nullptr ? maker.Add(maker.LongSum(instruction), steps)
                               : maker.Round(unrounded, instruction->shape().element_type());
      made[replacement] = steps;
      ++noisy.places;
      for (HloInstruction* user : users) {
        absl::Status status = instruction->ReplaceUseWith(user, replacement);
        if (!status.ok()) return status;
      }
      if (is_root) computation->set_root_instruction(replacement);
    }
  }
  return noisy;
}

}  // namespace hone::compiler
