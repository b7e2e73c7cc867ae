// Fourier transforms of real numbers, and those of which the real part alone is wanted, as the
// library's own transforms of real numbers, which are half the work.
//
// What a real array transforms to is Hermitian: at -k it has the conjugate of what is at k, so half
// of it tells all. And of an inverse transform the real part is the transform of the Hermitian
// part, (z[k] + conj(z[-k])) / 2, of which half is enough.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kShort = 8;         // along the last dimension: not worth it
constexpr size_t kMostFollowed = 64;  // instructions between a transform and its inverse

bool IsFft(const HloInstruction& x, xla::FftType type) {
  return x.opcode() == HloOpcode::kFft && x.fft_type() == type;
}

HloInstruction* Conjugate(HloInstruction* x) {
  return Complex(RealPart(Elements(x)), -ImaginaryPart(Elements(x))).array();
}

HloInstruction* Reverse(HloInstruction* x, int64_t dimension) {
  return x->parent()->AddInstruction(HloInstruction::CreateReverse(x->shape(), x, {dimension}));
}

// The real numbers that it is the complex form of; null where it may be anything.
HloInstruction* RealNumbers(HloInstruction* x) {
  const auto is_real = [](const HloInstruction& y) {
    return xla::primitive_util::IsFloatingPointType(y.shape().element_type());
  };
  if (x->opcode() == HloOpcode::kConvert && is_real(*x->operand(0))) {
    return emit::Convert(x->mutable_operand(0),
                         xla::primitive_util::ComplexComponentType(x->shape().element_type()));
  }
  const bool real = x->opcode() == HloOpcode::kComplex && NumberOf(*x->operand(1)) == 0.0;
  return real ? x->mutable_operand(0) : nullptr;
}

// Transforms of arrays of one shape over their last dimensions.
class Spectrum {
 public:
  // `fft` is of complex numbers.
  explicit Spectrum(const HloInstruction& fft)
      : shape_(fft.shape()),
        lengths_(fft.fft_length().begin(), fft.fft_length().end()),
        last_(static_cast<int64_t>(fft.shape().dimensions().size()) - 1),
        size_(fft.shape().dimensions(static_cast<int>(last_))) {}

  bool IsLong() const { return size_ >= kShort; }

  // Half of the transform of real numbers.
  HloInstruction* OfReal(HloInstruction* x) const {
    xla::Shape half = shape_;
    half.set_dimensions(static_cast<int>(last_), size_ / 2 + 1);
    return x->parent()->AddInstruction(
        HloInstruction::CreateFft(half, x, xla::FftType::RFFT, lengths_));
  }

  // All of it.
  HloInstruction* Whole(HloInstruction* half) const {
    const int64_t rest = size_ - (size_ / 2 + 1);
    HloInstruction* mirrored = Reverse(emit::SliceAlong(half, last_, 1, rest + 1), last_);
    return emit::Concatenate({half, Conjugate(MirroredBefore(mirrored))}, last_);
  }

  // The real numbers that transform to the Hermitian part of z, twice.
  HloInstruction* TwiceRealInverse(HloInstruction* z) {
    const Halves halves = HalvesOf(z);
    HloInstruction* const sum = emit::Binary(
        HloOpcode::kAdd, halves.here, halves.mirrored == nullptr ? halves.here : halves.mirrored);
    const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
        shape_, xla::primitive_util::ComplexComponentType(shape_.element_type()));
    return z->parent()->AddInstruction(
        HloInstruction::CreateFft(shape, sum, xla::FftType::IRFFT, lengths_));
  }

 private:
  // z[k] and conj(z[-k]), for half of all k; no second one where it is the same.
  struct Halves {
    HloInstruction* here;
    HloInstruction* mirrored;
  };

  // Along the transformed dimensions but the last one, what is at -k.
  HloInstruction* MirroredBefore(HloInstruction* x) const {
    for (int64_t d = last_ + 1 - static_cast<int64_t>(lengths_.size()); d < last_; ++d) {
      x = MirroredAlong(x, d, x->shape().dimensions(static_cast<int>(d)));
    }
    return x;
  }
  // At -k, for the first `count` k.
  static HloInstruction* MirroredAlong(HloInstruction* x, int64_t d, int64_t count) {
    const int64_t size = x->shape().dimensions(static_cast<int>(d));
    if (size == 1) return x;
    return emit::Concatenate(
        {emit::SliceAlong(x, d, 0, 1), Reverse(emit::SliceAlong(x, d, size - count + 1, size), d)},
        d);
  }

  HloInstruction* Half(HloInstruction* x) const {
    return emit::SliceAlong(x, last_, 0, size_ / 2 + 1);
  }
  HloInstruction* Mirrored(HloInstruction* x) const {
    return MirroredBefore(MirroredAlong(x, last_, size_ / 2 + 1));
  }

  // Half of what real numbers transform to; null where it is something else.
  HloInstruction* HalfOfReal(HloInstruction* x) const {
    if (IsFft(*x, xla::FftType::FFT) && x->fft_length() == absl::MakeConstSpan(lengths_)) {
      HloInstruction* const real = RealNumbers(x->mutable_operand(0));
      return real == nullptr ? nullptr : OfReal(real);
    }
    // As Whole has put it together.
    const bool whole = x->opcode() == HloOpcode::kConcatenate && x->operand_count() == 2 &&
                       x->concatenate_dimension() == last_ &&
                       IsFft(*x->operand(0), xla::FftType::RFFT) &&
                       x->operand(0)->fft_length() == absl::MakeConstSpan(lengths_);
    return whole ? x->mutable_operand(0) : nullptr;
  }

  Halves HalvesOf(HloInstruction* x) {
    if (const auto known = halves_.find(x); known != halves_.end()) return known->second;
    return halves_[x] = FindHalves(x);
  }

  Halves FindHalves(HloInstruction* x) {
    if (HloInstruction* const half = HalfOfReal(x)) return {half, nullptr};
    const bool follow = halves_.size() < kMostFollowed &&
                        xla::primitive_util::IsComplexType(x->shape().element_type());
    switch (follow ? x->opcode() : HloOpcode::kParameter) {
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract:
      case HloOpcode::kMultiply:
      case HloOpcode::kDivide: {
        const Halves a = HalvesOf(x->mutable_operand(0)), b = HalvesOf(x->mutable_operand(1));
        HloInstruction* const here = emit::Binary(x->opcode(), a.here, b.here);
        if (a.mirrored == nullptr && b.mirrored == nullptr) return {here, nullptr};
        const auto mirrored = [](const Halves& of) {
          return of.mirrored == nullptr ? of.here : of.mirrored;
        };
        return {here, emit::Binary(x->opcode(), mirrored(a), mirrored(b))};
      }
      case HloOpcode::kNegate: {
        const Halves a = HalvesOf(x->mutable_operand(0));
        return {emit::Unary(HloOpcode::kNegate, a.here),
                a.mirrored == nullptr ? nullptr : emit::Unary(HloOpcode::kNegate, a.mirrored)};
      }
      case HloOpcode::kBroadcast:
        if (!x->operand(0)->shape().dimensions().empty()) break;
        return OfScalar(x->mutable_operand(0), Half(x));
      default:
        break;
    }
    if (HloInstruction* const real = RealNumbers(x)) {
      const xla::PrimitiveType type = x->shape().element_type();
      return {emit::Convert(Half(real), type), emit::Convert(Mirrored(real), type)};
    }
    return {Half(x), Conjugate(Mirrored(x))};
  }

  static Halves OfScalar(HloInstruction* scalar, HloInstruction* everywhere) {
    const bool real = scalar->IsConstant() && scalar->literal().Convert(xla::C128).ok() &&
                      scalar->literal().Convert(xla::C128)->Get<xla::complex128>({}).imag() == 0;
    return {everywhere, real ? nullptr : Conjugate(everywhere)};
  }

  const xla::Shape shape_;
  const std::vector<int64_t> lengths_;
  const int64_t last_;  // dimension
  const int64_t size_;  // along it
  std::map<const HloInstruction*, Halves> halves_;
};

bool OnlyRealPartsAreWanted(const HloInstruction& x) {
  for (const HloInstruction* user : x.users()) {
    if (user->opcode() != HloOpcode::kReal) return false;
  }
  return !x.IsRoot();
}

}  // namespace

absl::StatusOr<HloInstruction*> FftOfReals(HloInstruction* root) {
  if (!emit::Free(*root)) return nullptr;
  if (IsFft(*root, xla::FftType::FFT)) {
    const Spectrum spectrum(*root);
    HloInstruction* const real = RealNumbers(root->mutable_operand(0));
    if (real == nullptr || !spectrum.IsLong()) return nullptr;
    return spectrum.Whole(spectrum.OfReal(real));
  }
  if (root->opcode() != HloOpcode::kReal) return nullptr;
  HloInstruction* const inverse = root->mutable_operand(0);
  if (!IsFft(*inverse, xla::FftType::IFFT) || !emit::Free(*inverse) ||
      !OnlyRealPartsAreWanted(*inverse)) {
    return nullptr;
  }
  Spectrum spectrum(*inverse);
  if (!spectrum.IsLong()) return nullptr;
  return (Elements(spectrum.TwiceRealInverse(inverse->mutable_operand(0))) * 0.5).array();
}

}  // namespace hone::compiler
