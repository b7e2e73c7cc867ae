// Nests of operations over rows: softmax and layer norm.
#include <utility>

#include "loops/nest_builder.h"

namespace hone::loops {
namespace {

// What stays of a shape when its last dimension is reduced; never nothing.
std::vector<int64_t> RowsOf(std::vector<int64_t> shape) {
  if (shape.size() > 1) {
    shape.pop_back();
  } else {
    shape[0] = 1;
  }
  return shape;
}

// A nest over a shape whose last loop reduces, with its result at the others.
Nest& RowReduction(Builder& builder, const std::string& suffix, const std::vector<int64_t>& shape,
                   int result, Combine combine) {
  std::vector<Loop> loops = ParallelLoops(shape);
  loops.back().reduction = true;
  if (shape.size() == 1) loops.insert(loops.begin(), {1, false});
  Nest& nest = builder.Begin(suffix, std::move(loops));
  nest.write = builder.At(nest, result, Range(nest.loops.size() - 1));
  nest.combine = combine;
  return nest;
}

// A read of a whole row's tensor in a nest that RowReduction made, or in one over the shape itself.
Access Whole(const Builder& builder, const Nest& nest, int tensor, size_t rank) {
  std::vector<size_t> loops = Range(nest.loops.size());
  loops.erase(loops.begin(), loops.end() - static_cast<ptrdiff_t>(rank));
  return builder.At(nest, tensor, loops);
}

// A read of what RowReduction wrote, in a nest over the shape.
Access PerRow(const Builder& builder, const Nest& nest, int tensor, size_t rank) {
  Access access = builder.At(nest, tensor, Range(rank > 1 ? rank - 1 : 0));
  if (access.rows.empty()) access.rows.push_back(Row(nest.loops.size(), 0));
  return access;
}

// exp(x - max) and its sums, the softmax's nests but the last. Returns {exponentials, sums}.
std::pair<int, int> Exponentials(Builder& builder, int x, const std::vector<int64_t>& shape) {
  const int most = builder.Temporary("max", RowsOf(shape));
  const int exponentials = builder.Temporary("exp", shape);
  const int sums = builder.Temporary("sum", RowsOf(shape));
  {
    Nest& nest = RowReduction(builder, "max", shape, most, Combine::kMaximum);
    nest.reads = {Whole(builder, nest, x, shape.size())};
    Node(nest, Scalar::kRead, 0);
  }
  {
    Nest& nest = builder.Begin("exp", ParallelLoops(shape));
    nest.write = builder.At(nest, exponentials, Range(shape.size()));
    nest.reads = {Whole(builder, nest, x, shape.size()), PerRow(builder, nest, most, shape.size())};
    const int left = Node(nest, Scalar::kRead, 0);
    const int less = Node(nest, Scalar::kSubtract, left, Node(nest, Scalar::kRead, 1));
    Node(nest, Scalar::kExp, less);
  }
  Nest& nest = RowReduction(builder, "sum", shape, sums, Combine::kSum);
  nest.reads = {Whole(builder, nest, exponentials, shape.size())};
  Node(nest, Scalar::kRead, 0);
  return {exponentials, sums};
}

// result = x / sums, a row each.
void DivideRows(Builder& builder, int x, int sums, int result, const std::vector<int64_t>& shape) {
  Nest& nest = builder.Begin("", ParallelLoops(shape));
  nest.write = builder.At(nest, result, Range(shape.size()));
  nest.reads = {Whole(builder, nest, x, shape.size()), PerRow(builder, nest, sums, shape.size())};
  const int left = Node(nest, Scalar::kRead, 0);
  Node(nest, Scalar::kDivide, left, Node(nest, Scalar::kRead, 1));
}

}  // namespace

void BuildSoftmax(Builder& builder, const Operation& op, const std::vector<int64_t>& shape) {
  const auto [exponentials, sums] = Exponentials(builder, op.operands[0], shape);
  DivideRows(builder, exponentials, sums, op.result, shape);
}

void BuildLayerNorm(Builder& builder, const Operation& op, const std::vector<int64_t>& shape) {
  const double size = static_cast<double>(shape.back());
  const int sums = builder.Temporary("sum", RowsOf(shape));
  const int squares = builder.Temporary("squares", RowsOf(shape));
  // x - sum / size
  const auto centred = [&](Nest& nest) {
    nest.reads = {Whole(builder, nest, op.operands[0], shape.size()),
                  PerRow(builder, nest, sums, shape.size())};
    const int x = Node(nest, Scalar::kRead, 0);
    const int sum = Node(nest, Scalar::kRead, 1);
    const int share = Node(nest, Scalar::kConstant, -1, -1, 1 / size);
    return Node(nest, Scalar::kSubtract, x, Node(nest, Scalar::kMultiply, sum, share));
  };
  {
    Nest& nest = RowReduction(builder, "sum", shape, sums, Combine::kSum);
    nest.reads = {Whole(builder, nest, op.operands[0], shape.size())};
    Node(nest, Scalar::kRead, 0);
  }
  {
    Nest& nest = RowReduction(builder, "squares", shape, squares, Combine::kSum);
    const int x = centred(nest);
    Node(nest, Scalar::kMultiply, x, x);
  }
  Nest& nest = builder.Begin("", ParallelLoops(shape));
  nest.write = builder.At(nest, op.result, Range(shape.size()));
  const int x = centred(nest);
  nest.reads.push_back(PerRow(builder, nest, squares, shape.size()));
  nest.reads.push_back(builder.At(nest, op.operands[1], {shape.size() - 1}));
  nest.reads.push_back(builder.At(nest, op.operands[2], {shape.size() - 1}));
  const int share = Node(nest, Scalar::kConstant, -1, -1, 1 / size);
  const int variance = Node(nest, Scalar::kMultiply, Node(nest, Scalar::kRead, 2), share);
  const int epsilon = Node(nest, Scalar::kConstant, -1, -1, 1e-5);
  const int factor = Node(nest, Scalar::kRsqrt, Node(nest, Scalar::kAdd, variance, epsilon));
  const int normal = Node(nest, Scalar::kMultiply, x, factor);
  const int scaled = Node(nest, Scalar::kMultiply, normal, Node(nest, Scalar::kRead, 3));
  Node(nest, Scalar::kAdd, scaled, Node(nest, Scalar::kRead, 4));
}

}  // namespace hone::loops
