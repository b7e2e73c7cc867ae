#include <algorithm>

#include "loops/merge.h"
#include "loops/nest_builder.h"

namespace hone::loops {
namespace {

// The result's dimensions are these loops.
void End(Builder& builder, Nest& nest, const Operation& last, const std::vector<size_t>& loops,
         const Task& task) {
  nest.write = builder.At(nest, last.result, loops);
  nest.combine = Combine::kSum;
  EndWith(nest, Elements(task, builder, nest).Of(last, loops));
}

}  // namespace

// a b, the leading dimensions one by one.
void BuildProduct(Builder& builder, const Operation& op, const Operation& last, const Task& task) {
  const auto shape = [&](int tensor) { return task.tensors[static_cast<size_t>(tensor)].shape; };
  const std::vector<int64_t> a = shape(op.operands[0]), b = shape(op.operands[1]);
  const size_t rank = a.size();
  std::vector<Loop> loops = ParallelLoops(a);
  loops[rank - 1].extent = b[rank - 1];
  loops.push_back({a[rank - 1], true});
  Nest& nest = builder.Begin("", loops);
  nest.kind = NestKind::kMultiplies;
  std::vector<size_t> left = Range(rank), right = Range(rank);
  left[rank - 1] = rank;
  right[rank - 2] = rank;
  for (const auto& [tensor, places] :
       {Stored(task, op.operands[0], left), Stored(task, op.operands[1], right)}) {
    nest.reads.push_back(builder.At(nest, tensor, places));
  }
  End(builder, nest, last, Permuted(op, rank), task);
}

// A convolution as a product: rows are the result's positions, in its order; terms are taps and
// features, in the second operand's, so that what is read in either runs through memory.
void BuildConvolution(Builder& builder, const Operation& op, const Operation& last,
                      const Task& task) {
  const auto shape = [&](int tensor) { return task.tensors[static_cast<size_t>(tensor)].shape; };
  const std::vector<int64_t> x = shape(op.operands[0]), w = shape(op.operands[1]);
  const size_t rank = x.size(), spatial = rank - 2;
  const auto sizes = op.Get("sizes", spatial, 1), strides = op.Get("strides", spatial, 1);
  const auto dilations = op.Get("dilations", spatial, 1), pads = op.Get("pads", spatial, 0);
  // Which loop each dimension is: of positions and columns in the result as it is before the
  // permutation, and of taps and features in the second operand as it is before its transposes.
  std::vector<size_t> position(rank), tap(rank - 1);
  std::vector<Loop> loops;
  for (const size_t d : Permuted(op, rank)) {
    position[d] = loops.size();
    loops.push_back({d == 0 ? x[0] : d + 1 < rank ? sizes[d - 1] : w[rank - 1], false});
  }
  std::vector<size_t> summed = Stored(task, op.operands[1], Range(rank)).second;
  summed.erase(std::find(summed.begin(), summed.end(), rank - 1));  // the columns
  // The last of them runs through memory.
  std::stable_partition(summed.begin(), summed.end(), [&](size_t d) { return w[d] == 1; });
  // Taps that lie behind features are read in runs of both (TapsLie), for the first operand's
  // memory runs along features.
  const auto [input, in_input] = Stored(task, op.operands[0], Range(rank));
  const auto along =
      std::find_if(in_input.rbegin(), in_input.rend(), [&](size_t d) { return x[d] != 1; });
  if (along != in_input.rend() && *along == rank - 1) {
    std::stable_partition(summed.begin(), summed.end(), [&](size_t d) { return d != spatial; });
  }
  for (const size_t d : summed) {
    tap[d] = loops.size();
    loops.push_back({w[d], true});
  }
  Nest& nest = builder.Begin("", loops);
  nest.kind = NestKind::kMultiplies;
  nest.row_loops = nest.term_loops = static_cast<int>(rank) - 1;
  // The first operand's dimensions: batches, positions, features.
  Access read{input, task.tensors[static_cast<size_t>(input)].element, shape(input), {}};
  for (const size_t d : in_input) {
    const bool slides = d > 0 && d + 1 < rank;
    Row row(nest.loops.size(), 0);
    if (d + 1 < rank) row[position[d]] = slides ? strides[d - 1] : 1;
    if (slides) row[tap[d - 1]] = dilations[d - 1];
    if (d + 1 == rank) row[tap[spatial]] = 1;
    read.rows.push_back(std::move(row));
    read.low.push_back(slides ? pads[d - 1] : 0);
  }
  nest.reads.push_back(std::move(read));
  std::vector<size_t> right = tap;
  right.push_back(position[rank - 1]);
  const auto [kernel, in_kernel] = Stored(task, op.operands[1], right);
  nest.reads.push_back(builder.At(nest, kernel, in_kernel));
  End(builder, nest, last, Range(rank), task);
  MergeToProduct(nest);
}

// The first operand lies as it is named: features last.
void BuildDepthwise(Builder& builder, const Operation& op, const Operation& last,
                    const Task& task) {
  const Tensor& x = task.tensors[static_cast<size_t>(op.operands[0])];
  const std::vector<int64_t>& w = task.tensors[static_cast<size_t>(op.operands[1])].shape;
  const size_t rank = x.shape.size(), spatial = rank - 2;
  const auto sizes = op.Get("sizes", spatial, 1), strides = op.Get("strides", spatial, 1);
  const auto dilations = op.Get("dilations", spatial, 1), pads = op.Get("pads", spatial, 0);
  std::vector<Loop> loops = ParallelLoops(x.shape);
  for (size_t k = 0; k < spatial; ++k) {
    loops[k + 1].extent = sizes[k];
    loops.push_back({w[k], true});
  }
  Nest& nest = builder.Begin("", loops);
  nest.kind = NestKind::kSlides;
  Access read = builder.At(nest, op.operands[0], Range(rank));
  read.low.assign(rank, 0);
  std::vector<size_t> of_kernel;
  for (size_t k = 0; k < spatial; ++k) {
    read.rows[k + 1][k + 1] = strides[k];
    read.rows[k + 1][rank + k] = dilations[k];
    read.low[k + 1] = pads[k];
    of_kernel.push_back(rank + k);
  }
  nest.reads.push_back(std::move(read));
  of_kernel.push_back(rank - 1);
  const auto [kernel, in_kernel] = Stored(task, op.operands[1], of_kernel);
  nest.reads.push_back(builder.At(nest, kernel, in_kernel));
  End(builder, nest, last, Range(rank), task);
}

}  // namespace hone::loops
