#include <cmath>

#include "memory/values/evaluate.h"
#include "memory/values/transform.h"

namespace hone::memory {
namespace {

using Complex = std::complex<double>;

Complex ComplexAt(const Array& array, int64_t at) {
  return KindOf(array.type) == ValueKind::kComplex ? array.complexes[static_cast<size_t>(at)]
                                                   : Complex(AsReal(array, at));
}

// FFT and IFFT of the last dimensions; RFFT keeps the first half of the last dimension, IRFFT
// restores the other half as its conjugate.
StatusOr<Array> Fft(const Op& op, const Array& operand, ElementType type, const Box& out) {
  const std::string& kind = op.texts.at("fft_type");
  const auto& lengths = ListOf(op, "fft_length");
  const size_t rank = out.low.size(), first = rank - lengths.size();
  const int sign = kind == "FFT" || kind == "RFFT" ? -1 : 1;
  Box full = operand.box;
  for (size_t k = 0; k < lengths.size(); ++k) {
    if (operand.box.high[first + k] == 0) return MakeArray(type, out);
    full.high[first + k] = lengths[k];
  }
  std::vector<Complex> values(static_cast<size_t>(Elements(full)));
  ForEach(full, [&](const std::vector<int64_t>& index, int64_t at) {
    bool given = true;
    for (size_t d = first; d < rank; ++d) given = given && index[d] < operand.box.high[d];
    if (given) {
      values[static_cast<size_t>(at)] = ComplexAt(operand, Position(operand.box, index));
      return;
    }
    std::vector<int64_t> mirror = index;  // of IRFFT
    for (size_t k = 0; k < lengths.size(); ++k) {
      mirror[first + k] = (lengths[k] - index[first + k]) % lengths[k];
    }
    values[static_cast<size_t>(at)] = std::conj(ComplexAt(operand, Position(operand.box, mirror)));
  });
  const std::vector<int64_t> strides = Strides(full);
  for (size_t d = first; d < rank; ++d) {
    Box lines = full;
    lines.high[d] = lines.low[d] + 1;
    const Transform transform(static_cast<size_t>(Extent(full, d)), sign);
    std::vector<Complex> line(static_cast<size_t>(Extent(full, d)));
    ForEach(lines, [&](const std::vector<int64_t>& index, int64_t) {
      const int64_t base = Position(full, index);
      for (size_t i = 0; i < line.size(); ++i) {
        line[i] = values[static_cast<size_t>(base + static_cast<int64_t>(i) * strides[d])];
      }
      transform.Run(line);
      const double scale = sign > 0 ? 1.0 / static_cast<double>(line.size()) : 1.0;
      for (size_t i = 0; i < line.size(); ++i) {
        values[static_cast<size_t>(base + static_cast<int64_t>(i) * strides[d])] = line[i] * scale;
      }
    });
  }
  Array result = MakeArray(type, out);
  ForEach(out, [&](const std::vector<int64_t>& index, int64_t at) {
    const Complex value = values[static_cast<size_t>(Position(full, index))];
    const auto k = static_cast<size_t>(at);
    if (KindOf(type) == ValueKind::kReal) {
      result.reals[k] = Round(value.real(), type);
    } else {
      result.complexes[k] = {Round(value.real(), type), Round(value.imag(), type)};
    }
  });
  return result;
}

// Lower triangle of each matrix of the last two dimensions (or its transpose, the upper).
Array Cholesky(const Op& op, const Array& operand) {
  const bool lower = !op.texts.contains("lower") || op.texts.at("lower") == "true";
  Array result = MakeArray(operand.type, operand.box);
  const size_t rank = operand.box.low.size();
  const int64_t n = operand.box.high[rank - 1];
  for (int64_t base = 0; base < Elements(operand.box); base += n * n) {
    const auto at = [&](int64_t i, int64_t j) {
      return static_cast<size_t>(base + (lower ? i * n + j : j * n + i));
    };
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = j; i < n; ++i) {
        double sum = operand.reals[at(i, j)];
        for (int64_t k = 0; k < j; ++k) sum -= result.reals[at(i, k)] * result.reals[at(j, k)];
        result.reals[at(i, j)] = i == j ? std::sqrt(sum) : sum / result.reals[at(j, j)];
      }
    }
  }
  for (double& value : result.reals) value = Round(value, result.type);
  return result;
}

// op(a) x = b, or x op(a) = b where a stands on the right.
Array TriangularSolve(const Op& op, const Array& a, const Array& b) {
  const auto flag = [&](const char* name) {
    return op.texts.contains(name) && op.texts.at(name) == "true";
  };
  const bool left = flag("left_side"), unit = flag("unit_diagonal");
  const bool transpose =
      op.texts.contains("transpose_a") && op.texts.at("transpose_a") != "NO_TRANSPOSE";
  const bool lower = flag("lower") != transpose;
  const size_t rank = b.box.low.size();
  const int64_t rows = b.box.high[rank - 2], columns = b.box.high[rank - 1];
  const int64_t n = left ? rows : columns, others = left ? columns : rows;
  Array x = b;
  for (int64_t matrix = 0; matrix * rows * columns < Elements(b.box); ++matrix) {
    const auto element = [&](int64_t i, int64_t j) {
      // From the right, x a = b is a' x' = b'.
      const bool swap = transpose != !left;
      return a.reals[static_cast<size_t>(matrix * n * n + (swap ? j * n + i : i * n + j))];
    };
    const auto at = [&](int64_t i, int64_t other) {
      return static_cast<size_t>(matrix * rows * columns +
                                 (left ? i * columns + other : other * columns + i));
    };
    const bool forward = left ? lower : !lower;
    for (int64_t other = 0; other < others; ++other) {
      for (int64_t step = 0; step < n; ++step) {
        const int64_t i = forward ? step : n - 1 - step;
        double sum = x.reals[at(i, other)];
        for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) {
          sum -= element(i, k) * x.reals[at(k, other)];
        }
        x.reals[at(i, other)] = unit ? sum : sum / element(i, i);
      }
    }
  }
  for (double& value : x.reals) value = Round(value, x.type);
  return x;
}

// Per-feature sums over everything but the feature dimension.
struct Features {
  Features(const Op& op, const Box& box)
      : box(box), axis(static_cast<size_t>(ListOf(op, "feature_index")[0])) {
    count = static_cast<double>(Elements(box)) / static_cast<double>(Extent(box, axis));
  }
  template <class Term>
  std::vector<double> Sum(Term term) const {
    std::vector<double> sums(static_cast<size_t>(Extent(box, axis)), 0.0);
    ForEach(box, [&](const std::vector<int64_t>& index, int64_t at) {
      const auto f = static_cast<size_t>(index[axis] - box.low[axis]);
      sums[f] += term(static_cast<size_t>(at), f);
    });
    return sums;
  }
  const Box& box;
  size_t axis;
  double count;
};

double Epsilon(const Op& op) {
  if (op.texts.contains("epsilon")) return std::strtod(op.texts.at("epsilon").c_str(), nullptr);
  return ListOf(op, "epsilon").empty() ? 0 : static_cast<double>(ListOf(op, "epsilon")[0]);
}

std::vector<Array> BatchNorm(const Op& op, const std::vector<Array>& operands) {
  const Array& x = operands[0];
  const Features features(op, x.box);
  const double epsilon = Epsilon(op);
  Array result = MakeArray(x.type, x.box);
  const Box lane = operands[1].box;
  std::vector<double> mean, variance;
  if (op.opcode == "batch-norm-inference") {
    mean = operands[3].reals;
    variance = operands[4].reals;
  } else if (op.opcode == "batch-norm-grad") {
    mean = operands[2].reals;
    variance = operands[3].reals;
  } else {
    mean = features.Sum([&](size_t at, size_t) { return x.reals[at] / features.count; });
    variance = features.Sum([&](size_t at, size_t f) {
      return (x.reals[at] - mean[f]) * (x.reals[at] - mean[f]) / features.count;
    });
  }
  const auto vector = [&](const std::vector<double>& values) {
    Array array = MakeArray(x.type, lane);
    for (size_t f = 0; f < values.size(); ++f) array.reals[f] = Round(values[f], x.type);
    return array;
  };
  if (op.opcode != "batch-norm-grad") {
    ForEach(x.box, [&](const std::vector<int64_t>& index, int64_t position) {
      const auto f = static_cast<size_t>(index[features.axis]), at = static_cast<size_t>(position);
      result.reals[at] =
          Round((x.reals[at] - mean[f]) / std::sqrt(variance[f] + epsilon) * operands[1].reals[f] +
                    operands[2].reals[f],
                x.type);
    });
    if (op.opcode == "batch-norm-inference") return {result};
    return {result, vector(mean), vector(variance)};
  }
  const Array& gradient = operands[4];
  const std::vector<double> sums =
      features.Sum([&](size_t at, size_t) { return gradient.reals[at]; });
  const std::vector<double> products = features.Sum(
      [&](size_t at, size_t f) { return gradient.reals[at] * (x.reals[at] - mean[f]); });
  std::vector<double> scale(sums.size());
  ForEach(x.box, [&](const std::vector<int64_t>& index, int64_t position) {
    const auto f = static_cast<size_t>(index[features.axis]), at = static_cast<size_t>(position);
    const double inverse = 1 / (variance[f] + epsilon);
    result.reals[at] = Round(operands[1].reals[f] * std::sqrt(inverse) *
                                 (gradient.reals[at] - sums[f] / features.count -
                                  (x.reals[at] - mean[f]) * inverse * products[f] / features.count),
                             x.type);
    scale[f] = products[f] * std::sqrt(inverse);
  });
  return {result, vector(scale), vector(sums)};
}

}  // namespace

StatusOr<std::vector<Array>> EvaluateLinearAlgebra(const Network& network, const Op& op,
                                                   const std::vector<Array>& operands,
                                                   const std::vector<Box>& out) {
  const ElementType type = network.tensors[static_cast<size_t>(op.results[0])].type;
  if (op.opcode == "fft") {
    auto result = Fft(op, operands[0], type, out[0]);
    if (!result) return tl::unexpected(result.error());
    return std::vector<Array>{*std::move(result)};
  }
  if (KindOf(type) != ValueKind::kReal) return NoArithmetic(op, "its type");
  if (op.opcode == "cholesky") return std::vector<Array>{Cholesky(op, operands[0])};
  if (op.opcode == "triangular-solve") {
    return std::vector<Array>{TriangularSolve(op, operands[0], operands[1])};
  }
  return BatchNorm(op, operands);
}

}  // namespace hone::memory
