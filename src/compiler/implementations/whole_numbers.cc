#include "compiler/implementations/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int kMostOperations = 256;           // operations
constexpr int64_t kMostElementsListed = 4096;  // elements of a constant
constexpr int kMostBits = 53;                  // of whole numbers that doubles have

using Bounds = std::optional<WholeNumbers>;

bool IsFloat(xla::PrimitiveType type) { return xla::primitive_util::IsFloatingPointType(type); }

// What the type alone says.
Bounds OfType(xla::PrimitiveType type) {
  if (type == xla::PRED) return WholeNumbers{0, 1};
  if (!xla::primitive_util::IsIntegralType(type)) return std::nullopt;
  const int bits = xla::primitive_util::BitWidth(type);
  if (bits > kMostBits) return std::nullopt;
  if (xla::primitive_util::IsUnsignedIntegralType(type)) {
    return WholeNumbers{0, std::ldexp(1, bits) - 1};
  }
  return WholeNumbers{-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

// Bounds that the type has as well: an integer that may wrap round has its type's, and a float has
// all whole numbers up to 2 to the power of its fraction's bits.
Bounds Within(xla::PrimitiveType type, Bounds bounds) {
  const Bounds all = OfType(type);
  if (!bounds) return all;
  double most = std::ldexp(1, kMostBits);
  if (IsFloat(type))
    most = std::min(most, std::ldexp(1, xla::primitive_util::SignificandWidth(type)));
  double least = xla::primitive_util::IsUnsignedIntegralType(type) ? 0 : -most;
  if (all) least = all->least, most = all->most;
  return bounds->least >= least && bounds->most <= most ? bounds : all;
}

Bounds OfConstant(const HloInstruction& constant) {
  if (xla::ShapeUtil::ElementsIn(constant.shape()) > kMostElementsListed) return std::nullopt;
  const absl::StatusOr<xla::Literal> doubles = constant.literal().Convert(xla::F64);
  if (!doubles.ok()) return std::nullopt;
  Bounds bounds;
  for (const double value : doubles->data<double>()) {
    if (!(std::fabs(value) <= std::ldexp(1, kMostBits)) || value != std::floor(value))
      return std::nullopt;
    bounds = bounds ? WholeNumbers{std::min(bounds->least, value), std::max(bounds->most, value)}
                    : WholeNumbers{value, value};
  }
  return bounds;
}

Bounds Join(Bounds x, Bounds y) {
  if (!x || !y) return std::nullopt;
  return WholeNumbers{std::min(x->least, y->least), std::max(x->most, y->most)};
}

Bounds Times(Bounds x, Bounds y) {
  if (!x || !y) return std::nullopt;
  const auto [least, most] =
      std::minmax({x->least * y->least, x->least * y->most, x->most * y->least, x->most * y->most});
  return WholeNumbers{least, most};
}

Bounds Find(const HloInstruction& array, int& left);

// Before what the type can have is looked at.
Bounds OfOperation(const HloInstruction& array, int& left) {
  const auto of = [&](int64_t k) { return Find(*array.operand(k), left); };
  switch (array.opcode()) {
    case HloOpcode::kConstant:
      return OfConstant(array);
    case HloOpcode::kIota: {
      const int64_t dimension = xla::Cast<xla::HloIotaInstruction>(&array)->iota_dimension();
      return WholeNumbers{
          0, std::max(0.0, static_cast<double>(array.shape().dimensions(dimension)) - 1)};
    }
    case HloOpcode::kBroadcast:
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return of(0);
    case HloOpcode::kPad:
      return Join(of(0), of(1));
    case HloOpcode::kConcatenate: {
      Bounds bounds = of(0);
      for (int64_t k = 1; bounds && k < array.operand_count(); ++k) bounds = Join(bounds, of(k));
      return bounds;
    }
    case HloOpcode::kSelect:
      return Join(of(1), of(2));
    case HloOpcode::kNegate: {
      const Bounds x = of(0);
      return x ? Bounds({-x->most, -x->least}) : x;
    }
    case HloOpcode::kAbs: {
      const Bounds x = of(0);
      return x ? Bounds({std::max({0.0, x->least, -x->most}), std::max(-x->least, x->most)}) : x;
    }
    case HloOpcode::kAdd: {
      const Bounds x = of(0), y = of(1);
      return x && y ? Bounds({x->least + y->least, x->most + y->most}) : std::nullopt;
    }
    case HloOpcode::kSubtract: {
      const Bounds x = of(0), y = of(1);
      return x && y ? Bounds({x->least - y->most, x->most - y->least}) : std::nullopt;
    }
    case HloOpcode::kMultiply:
      return Times(of(0), of(1));
    case HloOpcode::kMaximum: {
      const Bounds x = of(0), y = of(1);
      return x && y ? Bounds({std::max(x->least, y->least), std::max(x->most, y->most)})
                    : std::nullopt;
    }
    case HloOpcode::kMinimum: {
      const Bounds x = of(0), y = of(1);
      return x && y ? Bounds({std::min(x->least, y->least), std::min(x->most, y->most)})
                    : std::nullopt;
    }
    case HloOpcode::kClamp: {
      const Bounds low = of(0), x = of(1), high = of(2);
      if (!low || !x || !high) return std::nullopt;
      return WholeNumbers{std::min(std::max(x->least, low->least), high->least),
                          std::min(std::max(x->most, low->most), high->most)};
    }
    default:
      return std::nullopt;
  }
}

// `left`: how many operations may still be looked at.
Bounds Find(const HloInstruction& array, int& left) {
  if (!IsArray(array.shape())) return std::nullopt;
  const xla::PrimitiveType type = array.shape().element_type();
  if (type != xla::PRED && !IsFloat(type) && !xla::primitive_util::IsIntegralType(type))
    return std::nullopt;
  return Within(type, left-- > 0 ? OfOperation(array, left) : std::nullopt);
}

}  // namespace

std::optional<WholeNumbers> WholeNumbersOf(const HloInstruction& array) {
  int left = kMostOperations;
  return Find(array, left);
}

}  // namespace hone::compiler
