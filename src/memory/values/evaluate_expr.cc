#include "memory/access.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

const Expr& At(const Network& network, ExprId expr) {
  return network.exprs[static_cast<size_t>(expr)];
}

void FillIota(const Expr& expr, Array& result) {
  ForEach(result.box, [&](const std::vector<int64_t>& index, int64_t at) {
    const int64_t value = index[static_cast<size_t>(expr.axis)];
    const auto k = static_cast<size_t>(at);
    switch (KindOf(result.type)) {
      case ValueKind::kInteger:
        result.integers[k] = Wrap(value, result.type);
        break;
      case ValueKind::kReal:
        result.reals[k] = Round(static_cast<double>(value), result.type);
        break;
      case ValueKind::kComplex:
        result.complexes[k] = static_cast<double>(value);
        break;
      case ValueKind::kNone:
        break;
    }
  });
}

// Copies a box of an operand to where it comes to lie in the result.
void Place(const Array& part, Array& result, const std::vector<int64_t>& shift,
           const std::vector<int64_t>& steps) {
  std::vector<int64_t> to(shift.size());
  ForEach(part.box, [&](const std::vector<int64_t>& index, int64_t at) {
    for (size_t d = 0; d < to.size(); ++d) to[d] = index[d] * steps[d] + shift[d];
    CopyElement(part, at, result, Position(result.box, to));
  });
}

void Fill(const Array& scalar, Array& result) {
  const int64_t count = Elements(result.box);
  for (int64_t i = 0; i < count; ++i) CopyElement(scalar, 0, result, i);
}

// For each element of the result, where it comes from.
template <class Source>
void Pull(const Array& part, Array& result, Source source) {
  std::vector<int64_t> from(part.box.low.size());
  ForEach(result.box, [&](const std::vector<int64_t>& index, int64_t at) {
    source(index, from);
    CopyElement(part, Position(part.box, from), result, at);
  });
}

}  // namespace

Array Materialise(const Network& network, ExprId id, const Box& box, const ReadTensor& read) {
  const Expr& expr = At(network, id);
  if (IsEmpty(box)) return MakeArray(expr.type, box);  // the tensor may be gone
  if (expr.movement == Movement::kTensor) return read(expr.tensor, box);
  Array result = MakeArray(expr.type, box);
  const auto operand = [&](size_t input) {
    return Materialise(network, expr.inputs[input], InputBox(network, expr, input, box), read);
  };
  const std::vector<int64_t> ones(box.low.size(), 1), zeros(box.low.size(), 0);
  switch (expr.movement) {
    case Movement::kLiteral:
      CopyBox(*expr.literal, result, box);
      break;
    case Movement::kIota:
      FillIota(expr, result);
      break;
    case Movement::kReshape: {
      const Array part = operand(0);
      const std::vector<int64_t>& in = At(network, expr.inputs[0]).dimensions;
      const std::vector<int64_t> strides = Strides(expr.dimensions);
      Pull(part, result, [&](const auto& index, auto& from) {
        int64_t linear = 0;
        for (size_t d = 0; d < index.size(); ++d) linear += index[d] * strides[d];
        for (size_t d = in.size(); d-- > 0;) {
          from[d] = linear % in[d];
          linear /= in[d];
        }
      });
      break;
    }
    case Movement::kTranspose:
      Pull(operand(0), result, [&](const auto& index, auto& from) {
        for (size_t d = 0; d < index.size(); ++d) {
          from[static_cast<size_t>(expr.numbers[d])] = index[d];
        }
      });
      break;
    case Movement::kBroadcast:
      Pull(operand(0), result, [&](const auto& index, auto& from) {
        for (size_t d = 0; d < from.size(); ++d) {
          from[d] = index[static_cast<size_t>(expr.numbers[d])];
        }
      });
      break;
    case Movement::kSlice:
      Pull(operand(0), result, [&](const auto& index, auto& from) {
        for (size_t d = 0; d < index.size(); ++d) {
          from[d] = expr.numbers[d] + expr.strides[d] * index[d];
        }
      });
      break;
    case Movement::kReverse:
      Pull(operand(0), result, [&](const auto& index, auto& from) {
        from = index;
        for (int64_t d : expr.numbers) {
          const auto k = static_cast<size_t>(d);
          from[k] = expr.dimensions[k] - 1 - index[k];
        }
      });
      break;
    case Movement::kPad: {
      Fill(operand(1), result);
      Place(operand(0), result, expr.numbers, expr.strides);
      break;
    }
    case Movement::kConcatenate: {
      std::vector<int64_t> shift = zeros;
      for (size_t input = 0; input < expr.inputs.size(); ++input) {
        Place(operand(input), result, shift, ones);
        const auto axis = static_cast<size_t>(expr.axis);
        shift[axis] += At(network, expr.inputs[input]).dimensions[axis];
      }
      break;
    }
    case Movement::kUpdate:
      Place(operand(0), result, zeros, ones);
      Place(operand(1), result, expr.numbers, ones);
      break;
    case Movement::kTensor:
      break;
  }
  return result;
}

}  // namespace hone::memory
