#include "loops/nest_builder.h"

#include <utility>

namespace hone::loops {
namespace {

Scalar::Kind KindOf(const std::string& kind) {
  static const std::map<std::string, Scalar::Kind> kinds = {
      {"add", Scalar::kAdd},           {"subtract", Scalar::kSubtract},
      {"multiply", Scalar::kMultiply}, {"divide", Scalar::kDivide},
      {"maximum", Scalar::kMaximum},   {"minimum", Scalar::kMinimum},
      {"exp", Scalar::kExp},           {"log", Scalar::kLog},
      {"tanh", Scalar::kTanh},         {"sqrt", Scalar::kSqrt},
      {"rsqrt", Scalar::kRsqrt},       {"negate", Scalar::kNegate},
      {"abs", Scalar::kAbs},           {"logistic", Scalar::kLogistic},
      {"expm1", Scalar::kExpm1},       {"log1p", Scalar::kLog1p},
      {"equal", Scalar::kEqual},       {"not_equal", Scalar::kNotEqual},
      {"less", Scalar::kLess},         {"less_equal", Scalar::kLessEqual}};
  const auto found = kinds.find(kind);
  HONE_CHECK(found != kinds.end());
  return found->second;
}

}  // namespace

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

int Elements::At(int tensor, const std::vector<size_t>& loops) {
  const auto key = std::make_pair(tensor, loops);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  int node = -1;
  if (task_.Defines(tensor)) {
    node = Of(task_.operations[static_cast<size_t>(tensor - task_.inputs)], loops);
  } else {
    nest_.reads.push_back(builder_.At(nest_, tensor, loops));
    if (loops.empty()) nest_.reads.back().rows.emplace_back(nest_.loops.size(), 0);
    node = Node(nest_, Scalar::kRead, static_cast<int>(nest_.reads.size()) - 1);
  }
  known_[key] = node;
  return node;
}

int Elements::Of(const Operation& op, const std::vector<size_t>& loops) {
  if (op.kind == "constant") return Node(nest_, Scalar::kConstant, -1, -1, op.value);
  if (op.kind == "slice") {
    nest_.reads.push_back(builder_.At(nest_, op.operands[0], loops));
    for (const int64_t start : op.Get("starts", 0, 0)) nest_.reads.back().low.push_back(-start);
    return Node(nest_, Scalar::kRead, static_cast<int>(nest_.reads.size()) - 1);
  }
  const bool whole = op.kind == "scores" || op.kind == "product" || op.kind == "convolve" ||
                     op.kind == "depthwise";
  if (whole) return Node(nest_, Scalar::kWhole);
  std::vector<size_t> from = SpreadFrom(op, loops);
  const int x = At(op.operands[0], from);
  if (op.kind == "transpose" || op.kind == "broadcast" || RoundedTo(op.kind)) return x;
  if (op.kind == "relu") return Node(nest_, Scalar::kMaximum, x, Node(nest_, Scalar::kConstant));
  if (IsUnary(op.kind)) return Node(nest_, KindOf(op.kind), x);
  if (op.kind == "select") {
    const int a = At(op.operands[1], from);
    const int b = At(op.operands[2], from);
    const int node = Node(nest_, Scalar::kSelect, a, b);
    nest_.body.back().c = x;
    return node;
  }
  const size_t rank = task_.tensors[static_cast<size_t>(op.operands[1])].shape.size();
  // A number is [1], and counts along no loop where it is spread.
  if (rank < from.size()) from.erase(from.begin(), from.end() - static_cast<ptrdiff_t>(rank));
  const int y = At(op.operands[1], from);
  return Node(nest_, KindOf(op.kind), x, y);
}

void EndWith(Nest& nest, int node) {
  if (node + 1 == static_cast<int>(nest.body.size())) return;
  nest.body.push_back(nest.body[static_cast<size_t>(node)]);
}

}  // namespace hone::loops
