#include "loops/nest_builder.h"

namespace hone::loops {

int Node(Nest& nest, Scalar::Kind kind, int a, int b, double value) {
  nest.body.push_back({kind, a, b, value});
  return static_cast<int>(nest.body.size()) - 1;
}

void SumOfProducts(Nest& nest) {
  const int left = Node(nest, Scalar::kRead, 0);
  Node(nest, Scalar::kMultiply, left, Node(nest, Scalar::kRead, 1));
  nest.combine = Combine::kSum;
}

std::vector<size_t> Range(size_t count) {
  std::vector<size_t> range(count);
  for (size_t i = 0; i < count; ++i) range[i] = i;
  return range;
}

std::vector<Loop> ParallelLoops(const std::vector<int64_t>& shape) {
  std::vector<Loop> loops;
  for (const int64_t size : shape) loops.push_back({size, false});
  return loops;
}

std::vector<size_t> SpreadFrom(const Operation& op, const std::vector<size_t>& loops) {
  std::vector<size_t> from = loops;
  if (op.kind == "transpose") {
    const auto permutation = op.Get("permutation", 0, 0);
    for (size_t d = 0; d < from.size(); ++d) from[static_cast<size_t>(permutation[d])] = loops[d];
  } else if (op.kind == "broadcast") {
    from.clear();
    for (const int64_t d : op.Get("dimensions", 0, 0)) {  // none of [1]
      from.push_back(loops[static_cast<size_t>(d)]);
    }
  }
  return from;
}

std::pair<int, std::vector<size_t>> Stored(const Task& task, int tensor,
                                           std::vector<size_t> loops) {
  while (task.Defines(tensor)) {
    const Operation& spread = task.operations[static_cast<size_t>(tensor - task.inputs)];
    loops = SpreadFrom(spread, loops);
    tensor = spread.operands[0];
  }
  return {tensor, std::move(loops)};
}

std::vector<size_t> Permuted(const Operation& op, size_t rank) {
  std::vector<size_t> loops = Range(rank);
  const auto permutation = op.Get("permutation", 0, 0);
  for (size_t d = 0; d < permutation.size(); ++d) loops[d] = static_cast<size_t>(permutation[d]);
  return loops;
}

}  // namespace hone::loops
