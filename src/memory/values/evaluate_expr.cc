#include <algorithm>

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
  const std::vector<int64_t> strides = Strides(result.box);
  std::vector<int64_t> to(shift.size());
  ForEachRow(part.box, [&](const std::vector<int64_t>& index, int64_t from, int64_t count) {
    for (size_t d = 0; d < to.size(); ++d) to[d] = index[d] * steps[d] + shift[d];
    const int64_t step = to.empty() ? 1 : steps.back() * strides.back();
    CopyRun(part, from, 1, result, Position(result.box, to), step, count);
  });
}

// Where an operand's element lies that a result's looks at: linear in the result's index.
struct Steps {
  Steps(const Array& part, size_t rank) : strides(Strides(part.box)), along(rank, 0) {
    for (size_t d = 0; d < strides.size(); ++d) first -= part.box.low[d] * strides[d];
  }
  // Dimension `from` of the operand is at `begin` + `step` times the result's index `d`.
  void Follow(size_t from, size_t d, int64_t begin = 0, int64_t step = 1) {
    first += begin * strides[from];
    along[d] += step * strides[from];
  }

  std::vector<int64_t> strides;  // of the operand's box
  std::vector<int64_t> along;    // each dimension of the result
  int64_t first = 0;
};

void Pull(const Array& part, Array& result, const Steps& steps) {
  ForEachRow(result.box, [&](const std::vector<int64_t>& index, int64_t to, int64_t count) {
    int64_t from = steps.first;
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * steps.along[d];
    const int64_t step = steps.along.empty() ? 1 : steps.along.back();
    CopyRun(part, from, step, result, to, 1, count);
  });
}

// Whether a box's elements follow upon each other in the whole array.
bool IsOneRun(const Box& box, const std::vector<int64_t>& dimensions) {
  size_t d = 0;
  while (d < dimensions.size() && Extent(box, d) == 1) ++d;
  for (++d; d < dimensions.size(); ++d) {
    if (Extent(box, d) != dimensions[d]) return false;
  }
  return true;
}

int64_t Linear(const std::vector<int64_t>& index, const std::vector<int64_t>& dimensions) {
  return Position(WholeBox(dimensions), index);
}

void Reshape(const Array& part, const std::vector<int64_t>& in, Array& result,
             const std::vector<int64_t>& out) {
  if (IsOneRun(part.box, in) && IsOneRun(result.box, out)) {
    const int64_t from = Linear(result.box.low, out) - Linear(part.box.low, in);
    return CopyRun(part, from, 1, result, 0, 1, Elements(result.box));
  }
  const std::vector<int64_t> strides = Strides(out);
  std::vector<int64_t> from(in.size());
  ForEach(result.box, [&](const std::vector<int64_t>& index, int64_t at) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d) linear += index[d] * strides[d];
    for (size_t d = in.size(); d-- > 0;) {
      from[d] = linear % in[d];
      linear /= in[d];
    }
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
  const size_t rank = box.low.size();
  const std::vector<int64_t> ones(rank, 1), zeros(rank, 0);
  switch (expr.movement) {
    case Movement::kLiteral:
      CopyBox(*expr.literal, result, box);
      break;
    case Movement::kIota:
      FillIota(expr, result);
      break;
    case Movement::kReshape:
      Reshape(operand(0), At(network, expr.inputs[0]).dimensions, result, expr.dimensions);
      break;
    case Movement::kTranspose: {
      const Array part = operand(0);
      Steps steps(part, rank);
      for (size_t d = 0; d < rank; ++d) steps.Follow(static_cast<size_t>(expr.numbers[d]), d);
      Pull(part, result, steps);
      break;
    }
    case Movement::kBroadcast: {
      const Array part = operand(0);
      Steps steps(part, rank);
      for (size_t d = 0; d < part.box.low.size(); ++d) {
        steps.Follow(d, static_cast<size_t>(expr.numbers[d]));
      }
      Pull(part, result, steps);
      break;
    }
    case Movement::kSlice: {
      const Array part = operand(0);
      Steps steps(part, rank);
      for (size_t d = 0; d < rank; ++d) steps.Follow(d, d, expr.numbers[d], expr.strides[d]);
      Pull(part, result, steps);
      break;
    }
    case Movement::kReverse: {
      const Array part = operand(0);
      Steps steps(part, rank);
      for (size_t d = 0; d < rank; ++d) {
        const bool turned =
            std::count(expr.numbers.begin(), expr.numbers.end(), static_cast<int64_t>(d)) > 0;
        steps.Follow(d, d, turned ? expr.dimensions[d] - 1 : 0, turned ? -1 : 1);
      }
      Pull(part, result, steps);
      break;
    }
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
    case Movement::kUpdate: {
      // One after the other upon what lies below them all: chains of updates are long.
      std::vector<std::pair<const Expr*, Box>> updates;
      ExprId below = id;
      Box rest = box;
      while (At(network, below).movement == Movement::kUpdate && !IsEmpty(rest)) {
        const Expr& update = At(network, below);
        updates.emplace_back(&update, InputBox(network, update, 1, rest));
        rest = InputBox(network, update, 0, rest);
        below = update.inputs[0];
      }
      Place(Materialise(network, below, rest, read), result, zeros, ones);
      for (size_t k = updates.size(); k-- > 0;) {
        const auto& [update, part] = updates[k];
        Place(Materialise(network, update->inputs[1], part, read), result, update->numbers, ones);
      }
      break;
    }
    case Movement::kTensor:
      break;
  }
  return result;
}

}  // namespace hone::memory
