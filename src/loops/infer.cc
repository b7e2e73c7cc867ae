#include "loops/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace hone::loops {
namespace {

constexpr int64_t kMostAttribute = 1000000;

int64_t Window(int64_t size, int64_t window, int64_t stride, int64_t dilation) {
  return (size - (window - 1) * dilation - 1) / stride + 1;
}

// Whether the permutation names each of so many dimensions once.
bool IsPermutation(Shape permutation, size_t rank) {
  std::sort(permutation.begin(), permutation.end());
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (permutation[d] != static_cast<int64_t>(d)) return false;
  }
  return permutation.size() == rank;
}

// The shape with dimension d that of number permutation[d], where the operation has a permutation.
StatusOr<Shape> Permuted(const Operation& op, const Shape& shape) {
  if (op.attributes.count("permutation") == 0) return shape;
  const Shape permutation = op.Get("permutation", 0, 0);
  if (!IsPermutation(permutation, shape.size())) {
    return MakeError(ErrorCode::kInvalidInput, op.kind + ": that is no permutation");
  }
  Shape permuted;
  for (const int64_t d : permutation) permuted.push_back(shape[static_cast<size_t>(d)]);
  return permuted;
}

bool EndsInColumns(const Operation& op, size_t rank) {
  const Shape permutation = op.Get("permutation", 0, 0);
  return permutation.empty() || permutation.back() == static_cast<int64_t>(rank) - 1;
}

StatusOr<Shape> InferProduct(const Operation& op, const std::vector<Shape>& in) {
  const size_t rank = in[0].size();
  if (rank < 2 || rank > kMostRank - 1 || in[1].size() != rank ||
      in[0][rank - 1] != in[1][rank - 2] ||
      !std::equal(in[0].begin(), in[0].end() - 2, in[1].begin())) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("product: it takes [...,M,K] and [...,K,N], with 2 to {} "
                                 "dimensions",
                                 kMostRank - 1));
  }
  Shape out = in[0];
  out[rank - 1] = in[1][rank - 1];
  StatusOr<Shape> permuted = Permuted(op, out);
  if (permuted && !EndsInColumns(op, rank)) {
    return MakeError(ErrorCode::kInvalidInput, "product: the result's last dimension is N");
  }
  return permuted;
}

StatusOr<Shape> InferConvolution(const Operation& op, const std::vector<Shape>& in) {
  const auto wrong = [&](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput, op.kind + ": " + what);
  };
  const bool depthwise = op.kind == "depthwise";
  const size_t rank = in[0].size(), kernel_rank = depthwise ? rank - 1 : rank;
  if (rank < 3 || rank > 5 || in[1].size() != kernel_rank || in[0][rank - 1] != in[1][rank - 2]) {
    return wrong(std::string("it takes [N,S...,C] and ") + (depthwise ? "[K...,C]" : "[K...,C,F]") +
                 ", with one to three spatial dimensions");
  }
  for (const auto& [name, values] : op.attributes) {
    if (name == "permutation") continue;
    const bool any_sign = name == "pads" || name == "dilations";
    const int64_t least = any_sign ? -kMostAttribute : 1;
    if (name == "dilations" && std::count(values.begin(), values.end(), 0) != 0) {
      return wrong("a dilation is not 0");
    }
    if (values.size() != rank - 2 || *std::min_element(values.begin(), values.end()) < least ||
        *std::max_element(values.begin(), values.end()) > kMostAttribute) {
      return wrong(name + fmt::format("= is a number from {} to a million for each of {} spatial "
                                      "dimensions",
                                      least, rank - 2));
    }
  }
  if (op.attributes.count("sizes") == 0) return wrong("sizes=, the result's, is missing");
  const Shape sizes = op.Get("sizes", 0, 0);
  Shape out = {in[0][0]};
  out.insert(out.end(), sizes.begin(), sizes.end());
  out.push_back(in[1].back());
  StatusOr<Shape> permuted = Permuted(op, out);
  if (permuted && !EndsInColumns(op, rank)) return wrong("the result's last dimension is F");
  return permuted;
}

StatusOr<Shape> InferAttending(const Operation& op, const std::vector<Shape>& in) {
  const auto wrong = [&](const char* what) {
    return MakeError(ErrorCode::kInvalidInput, op.kind + ": " + what);
  };
  const size_t rank = in[0].size();
  const bool scores = op.kind == "scores";
  // The dimension that both have, but for the leading ones.
  const size_t inner = rank - (scores ? 1 : 2);
  if (rank < 2 || in[1].size() != rank || in[0][rank - 1] != in[1][inner] ||
      !std::equal(in[0].begin(), in[0].end() - 2, in[1].begin())) {
    return wrong(scores ? "it takes [...,S,D] and [...,T,D]" : "it takes [...,S,T] and [...,T,E]");
  }
  Shape out = in[0];
  out[rank - 1] = in[1][scores ? rank - 2 : rank - 1];
  if (const auto until = op.attributes.find("until"); until != op.attributes.end()) {
    if (until->second.size() != 1 || until->second[0] < 0 || until->second[0] > kMostAttribute) {
      return wrong("until= is a number from 0 to a million");
    }
  }
  return Permuted(op, out);
}

}  // namespace

StatusOr<Shape> Infer(const Operation& op, const std::vector<Shape>& in) {
  const auto wrong = [&](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput, op.kind + ": " + what);
  };
  const auto rank = [&](size_t operand, size_t wanted) { return in[operand].size() == wanted; };
  for (const auto& [name, values] : op.attributes) {
    if (name == "axes" || name == "permutation" || name == "until" || op.kind == "broadcast") {
      continue;
    }
    if (op.kind == "convolve" || op.kind == "depthwise" || op.kind == "slice" ||
        op.kind == "solve" || name == "reverse")
      continue;
    if (values.size() != 2 || *std::min_element(values.begin(), values.end()) < 1 ||
        *std::max_element(values.begin(), values.end()) > kMostAttribute) {
      return wrong(name + " is two positive numbers, at most a million");
    }
  }
  if (op.kind == "matmul") {
    if (!rank(0, 2) || !rank(1, 2) || in[0][1] != in[1][0])
      return wrong("it takes [M,K] and [K,N]");
    return Shape{in[0][0], in[1][1]};
  }
  if (op.kind == "batch_matmul") {
    if (!rank(0, 3) || !rank(1, 3) || in[0][2] != in[1][1] || in[0][0] != in[1][0]) {
      return wrong("it takes [B,M,K] and [B,K,N]");
    }
    return Shape{in[0][0], in[0][1], in[1][2]};
  }
  if (op.kind == "conv2d" || op.kind == "pool_max" || op.kind == "pool_sum") {
    const bool pool = op.kind != "conv2d";
    if (!rank(0, 4)) return wrong("its first operand is [N,C,H,W]");
    if (!pool && (!rank(1, 4) || in[0][1] != in[1][1])) return wrong("its filter is [F,C,KH,KW]");
    if (pool && op.attributes.count("window") == 0) return wrong("window=KH,KW is missing");
    const Shape window = pool ? op.Get("window", 2, 1) : Shape{in[1][2], in[1][3]};
    const Shape strides = op.Get("strides", 2, 1);
    const Shape dilations = op.Get("dilations", 2, 1);
    Shape out = {in[0][0], pool ? in[0][1] : in[1][0], 0, 0};
    for (size_t d = 0; d < 2; ++d) {
      if (window[d] > in[0][d + 2] || (window[d] - 1) * dilations[d] + 1 > in[0][d + 2]) {
        return wrong("the window is larger than what it slides over");
      }
      out[d + 2] = Window(in[0][d + 2], window[d], strides[d], dilations[d]);
    }
    return out;
  }
  if (IsUnary(op.kind) || RoundedTo(op.kind)) return in[0];
  if (IsBinary(op.kind)) {
    if (in[1].size() > in[0].size() || !std::equal(in[1].rbegin(), in[1].rend(), in[0].rbegin())) {
      return wrong("the second operand's shape must be the end of the first one's");
    }
    return in[0];
  }
  if (op.kind == "reduce_sum" || op.kind == "reduce_max") {
    const Shape axes = op.Get("axes", 0, 0);
    const std::set<int64_t> set(axes.begin(), axes.end());
    if (axes.empty() || set.size() != axes.size() || *set.begin() < 0 ||
        *set.rbegin() >= static_cast<int64_t>(in[0].size())) {
      return wrong("axes=I,J must name dimensions of the operand, each once");
    }
    Shape out;
    for (size_t d = 0; d < in[0].size(); ++d) {
      if (set.count(static_cast<int64_t>(d)) == 0) out.push_back(in[0][d]);
    }
    return out.empty() ? Shape{1} : out;
  }
  if (IsRunning(op.kind)) {
    const Shape reverse = op.Get("reverse", 1, 0);
    if (!rank(0, 2) && !rank(0, 3)) return wrong("it takes [A,N] or [A,N,B]");
    if (reverse != Shape{0} && reverse != Shape{1}) return wrong("reverse= is 0 or 1");
    return in[0];
  }
  if (Sorts(op.kind)) {
    if (!rank(0, 2)) return wrong("it takes [A,N]");
    return in[0];
  }
  if (op.kind == "exchanges") {
    if (!rank(0, 3) || in[0][2] != 1) return wrong("it takes rows [A,N,1]");
    return in[0];
  }
  if (IsFactor(op.kind)) {
    if (!rank(0, 3) || in[0][1] != in[0][2]) return wrong("it takes matrices [A,N,N]");
    if (op.kind != "solve") return Shape{in[0][0], in[0][1] + 1, in[0][1]};
    if (!rank(1, 3) || in[1][0] != in[0][0] || in[1][1] != in[0][1]) {
      return wrong("its right sides are [A,N,M]");
    }
    for (const char* flag : {"lower", "unit", "transposed"}) {
      const Shape value = op.Get(flag, 1, 0);
      if (value != Shape{0} && value != Shape{1}) {
        return wrong(fmt::format("{}= is 0 or 1", flag));
      }
    }
    return in[1];
  }
  if (op.kind == "transpose") {
    const Shape permutation = op.Get("permutation", 0, 0);
    if (!IsPermutation(permutation, in[0].size())) {
      return wrong("permutation= is no permutation of the dimensions");
    }
    Shape out;
    for (const int64_t d : permutation) out.push_back(in[0][static_cast<size_t>(d)]);
    return out;
  }
  if (op.kind == "slice") {
    const Shape starts = op.Get("starts", 0, 0), sizes = op.Get("sizes", 0, 0);
    bool fits = starts.size() == in[0].size() && sizes.size() == in[0].size();
    for (size_t d = 0; fits && d < sizes.size(); ++d) {
      fits = starts[d] >= 0 && sizes[d] >= 1 && sizes[d] <= in[0][d] &&
             starts[d] <= in[0][d] - sizes[d];
    }
    if (!fits) return wrong("starts= and sizes= must lie within the operand, a number a dimension");
    return sizes;
  }
  if (op.kind == "softmax" || op.kind == "constant") return in[0];
  if (op.kind == "broadcast") {
    const Shape sizes = op.Get("sizes", 0, 0), dimensions = op.Get("dimensions", 0, 0);
    const bool single = in[0] == Shape{1} && dimensions.empty();
    bool fits = single || dimensions.size() == in[0].size();
    for (size_t d = 0; fits && d < dimensions.size(); ++d) {
      fits = dimensions[d] >= 0 && dimensions[d] < static_cast<int64_t>(sizes.size()) &&
             (d == 0 || dimensions[d - 1] < dimensions[d]) &&
             sizes[static_cast<size_t>(dimensions[d])] == in[0][d];
    }
    if (!fits) return wrong("dimensions= must say where each dimension is in sizes=, in order");
    return sizes;
  }
  if (op.kind == "layer_norm") {
    const Shape last = {in[0].back()};
    if (in[1] != last || in[2] != last)
      return wrong("gain and bias have the last dimension's size");
    return in[0];
  }
  if (op.kind == "select") {
    if (in[0] != in[1] || in[0] != in[2]) return wrong("its operands are alike in shape");
    return in[0];
  }
  if (op.kind == "scores" || op.kind == "attend") return InferAttending(op, in);
  if (op.kind == "product") return InferProduct(op, in);
  if (op.kind == "convolve" || op.kind == "depthwise") return InferConvolution(op, in);
  if (!rank(0, 4) || !rank(1, 4) || !rank(2, 4)) return wrong("it takes [B,H,S,D] three times");
  for (size_t d = 0; d < 2; ++d) {
    if (in[0][d] != in[1][d] || in[0][d] != in[2][d]) return wrong("batches and heads differ");
  }
  if (in[0][3] != in[1][3] || in[1][2] != in[2][2]) return wrong("queries, keys and values differ");
  return Shape{in[0][0], in[0][1], in[0][2], in[2][3]};
}

}  // namespace hone::loops
