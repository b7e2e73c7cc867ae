#include "loops/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "loops/merge.h"
#include "loops/nest_builder.h"

namespace hone::loops {
namespace {

Scalar::Kind KindOf(const std::string& kind) {
  static const std::map<std::string, Scalar::Kind> kinds = {
      {"add", Scalar::kAdd},       {"subtract", Scalar::kSubtract}, {"multiply", Scalar::kMultiply},
      {"divide", Scalar::kDivide}, {"maximum", Scalar::kMaximum},   {"minimum", Scalar::kMinimum},
      {"exp", Scalar::kExp},       {"log", Scalar::kLog},           {"tanh", Scalar::kTanh},
      {"sqrt", Scalar::kSqrt},     {"rsqrt", Scalar::kRsqrt},       {"negate", Scalar::kNegate},
      {"abs", Scalar::kAbs},       {"logistic", Scalar::kLogistic}};
  const auto found = kinds.find(kind);
  HONE_CHECK(found != kinds.end());
  return found->second;
}

// sum over the last loop(s) of a[rows_a] * b[rows_b].
void Contraction(Builder& builder, const std::string& suffix, std::vector<Loop> loops, int a,
                 const std::vector<size_t>& loops_a, int b, const std::vector<size_t>& loops_b,
                 int result, const std::vector<size_t>& loops_result) {
  Nest& nest = builder.Begin(suffix, std::move(loops));
  nest.reads = {builder.At(nest, a, loops_a), builder.At(nest, b, loops_b)};
  nest.write = builder.At(nest, result, loops_result);
  SumOfProducts(nest);
}

void Windowed(Builder& builder, const Operation& op, const std::vector<Tensor>& tensors) {
  const bool pool = op.kind != "conv2d";
  const auto& out = tensors[static_cast<size_t>(op.result)].shape;
  const auto window =
      pool ? op.Get("window", 2, 1)
           : std::vector<int64_t>(tensors[static_cast<size_t>(op.operands[1])].shape.begin() + 2,
                                  tensors[static_cast<size_t>(op.operands[1])].shape.end());
  const auto strides = op.Get("strides", 2, 1);
  const auto dilations = op.Get("dilations", 2, 1);
  std::vector<Loop> loops = ParallelLoops(out);  // n f oh ow, then c of a convolution, kh kw
  if (!pool) loops.push_back({tensors[static_cast<size_t>(op.operands[0])].shape[1], true});
  loops.push_back({window[0], true});
  loops.push_back({window[1], true});
  Nest& nest = builder.Begin("", loops);
  const size_t kh = pool ? 4 : 5;
  Access read = builder.At(nest, op.operands[0], {0, pool ? size_t{1} : size_t{4}, 2, 3});
  for (size_t d = 0; d < 2; ++d) {
    read.rows[2 + d] = Builder::Unit(nest, 2 + d, strides[d]);
    read.rows[2 + d][kh + d] = dilations[d];
  }
  nest.reads = {std::move(read)};
  nest.write = builder.At(nest, op.result, {0, 1, 2, 3});
  const int x = Node(nest, Scalar::kRead, 0);
  nest.combine = op.kind == "pool_max" ? Combine::kMaximum : Combine::kSum;
  if (!pool) {
    nest.reads.push_back(builder.At(nest, op.operands[1], {1, 4, 5, 6}));
    Node(nest, Scalar::kMultiply, x, Node(nest, Scalar::kRead, 1));
  }
}

// Nodes of a nest's body for elements of tensors, with those of definitions within; equal ones
// once.
class Elements {
 public:
  Elements(const Task& task, const Builder& builder, Nest& nest)
      : task_(task), builder_(builder), nest_(nest) {}

  // The node of the tensor's element at loops[0], loops[1], ...
  int At(int tensor, const std::vector<size_t>& loops) {
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

  // The node of what an operation makes there.
  int Of(const Operation& op, const std::vector<size_t>& loops) {
    if (op.kind == "constant") return Node(nest_, Scalar::kConstant, -1, -1, op.value);
    if (op.kind == "scores") return Node(nest_, Scalar::kScore);
    std::vector<size_t> from = SpreadFrom(op, loops);
    const int x = At(op.operands[0], from);
    if (op.kind == "transpose" || op.kind == "broadcast") return x;
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
    from.erase(from.begin(), from.end() - static_cast<ptrdiff_t>(rank));
    const int y = At(op.operands[1], from);
    return Node(nest_, KindOf(op.kind), x, y);
  }

 private:
  const Task& task_;
  const Builder& builder_;
  Nest& nest_;
  std::map<std::pair<int, std::vector<size_t>>, int> known_;
};

// The last node is the result: a node again, where it is another.
void EndWith(Nest& nest, int node) {
  if (node + 1 == static_cast<int>(nest.body.size())) return;
  nest.body.push_back(nest.body[static_cast<size_t>(node)]);
}

void Pointwise(Builder& builder, const Operation& op, const Task& task) {
  const auto& shape = task.tensors[static_cast<size_t>(op.result)].shape;
  Nest& nest = builder.Begin("", ParallelLoops(shape));
  nest.write = builder.At(nest, op.result, Range(shape.size()));
  EndWith(nest, Elements(task, builder, nest).Of(op, Range(shape.size())));
}

// Of a reduction of many rows to one that is not long: which loop is done in how many parts, each a
// run through memory that a processor can take, put together afterwards. {0, 1}: in one.
std::pair<size_t, int64_t> PartsOf(const std::vector<Loop>& loops) {
  constexpr int64_t kMostColumns = 4096, kMostParts = 16, kLeastParts = 4, kLeastPoints = 65536;
  int64_t columns = 1, points = 1;
  size_t first = loops.size();
  bool kept = false;
  for (size_t i = 0; i < loops.size(); ++i) {
    points *= loops[i].extent;
    if (loops[i].extent == 1) continue;
    if (loops[i].reduction && kept) return {0, 1};  // rows, or something between
    if (loops[i].reduction && first == loops.size()) first = i;
    kept = kept || !loops[i].reduction;
    if (!loops[i].reduction) columns *= loops[i].extent;
  }
  if (first == loops.size() || columns > kMostColumns || points < kLeastPoints) return {0, 1};
  int64_t parts = kMostParts;
  while (loops[first].extent % parts != 0) --parts;
  return parts < kLeastParts ? std::make_pair(size_t{0}, int64_t{1}) : std::make_pair(first, parts);
}

// The reduction's results for each part of a loop, in `partial`: the parts are a new loop in front.
void SplitReduction(Nest& nest, size_t loop, int64_t parts, int partial) {
  const int64_t each = nest.loops[loop].extent / parts;
  nest.loops[loop].extent = each;
  nest.loops.insert(nest.loops.begin(), {parts, false});
  Row of_parts(nest.loops.size(), 0);
  of_parts[0] = 1;
  const auto widen = [&](Access& access) {
    for (Row& row : access.rows) row.insert(row.begin(), 0);
  };
  for (Access& read : nest.reads) {
    widen(read);
    for (size_t d = 0; d < read.rows.size(); ++d) {
      if (PlainLoop(read.rows[d]) != static_cast<int>(loop) + 1) continue;
      const auto at = static_cast<ptrdiff_t>(d);
      read.view[d] = each;
      read.view.insert(read.view.begin() + at, parts);
      read.rows.insert(read.rows.begin() + at, of_parts);
      ++d;
    }
  }
  widen(nest.write);
  nest.write.tensor = partial;
  nest.write.view.insert(nest.write.view.begin(), parts);
  nest.write.rows.insert(nest.write.rows.begin(), of_parts);
}

void Reduce(Builder& builder, const Operation& op, const Task& task) {
  const std::vector<Tensor>& tensors = task.tensors;
  std::vector<Loop> loops = ParallelLoops(tensors[static_cast<size_t>(op.operands[0])].shape);
  for (const int64_t axis : op.Get("axes", 0, 0)) loops[static_cast<size_t>(axis)].reduction = true;
  std::vector<size_t> kept;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!loops[i].reduction) kept.push_back(i);
  }
  const size_t rank = loops.size();
  const Combine combine = op.kind == "reduce_max" ? Combine::kMaximum : Combine::kSum;
  const auto [loop, parts] = PartsOf(loops);
  Nest& nest = builder.Begin(parts > 1 ? "part" : "", std::move(loops));
  nest.write = builder.At(nest, op.result, kept);
  EndWith(nest, Elements(task, builder, nest).At(op.operands[0], Range(rank)));
  nest.combine = combine;
  if (parts == 1) return;
  const std::vector<int64_t> shape = tensors[static_cast<size_t>(op.result)].shape;
  std::vector<int64_t> with_parts = shape;
  with_parts.insert(with_parts.begin(), parts);
  const int partial = builder.Temporary("part", with_parts);
  SplitReduction(nest, loop, parts, partial);
  loops = ParallelLoops(with_parts);
  loops[0].reduction = true;
  Nest& last = builder.Begin("", std::move(loops));
  std::vector<size_t> results = Range(with_parts.size());
  last.reads = {builder.At(last, partial, results)};
  results.erase(results.begin());
  last.write = builder.At(last, op.result, results);
  last.combine = combine;
  Node(last, Scalar::kRead, 0);
}

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

// exp((x - max) * scale) and its sums, the softmax's nests but the last. Returns {exponentials,
// sums}.
std::pair<int, int> Exponentials(Builder& builder, int x, const std::vector<int64_t>& shape,
                                 double scale) {
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
    int less = Node(nest, Scalar::kSubtract, left, Node(nest, Scalar::kRead, 1));
    if (scale != 1) {
      less = Node(nest, Scalar::kMultiply, less, Node(nest, Scalar::kConstant, -1, -1, scale));
    }
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

void LayerNorm(Builder& builder, const Operation& op, const std::vector<int64_t>& shape) {
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

// softmax(u) v, where u's definitions take scores; or of scaled scores, of attention.
void Attend(Builder& builder, const Operation& op, const Task& task) {
  const bool whole = op.kind == "attention";
  const auto shape = [&](int tensor) { return task.tensors[static_cast<size_t>(tensor)].shape; };
  const Operation* scores = &op;
  if (!whole) {
    std::vector<int> next = {op.operands[0]};
    while (scores->kind != "scores") {
      const Operation& of = task.operations[static_cast<size_t>(next.back() - task.inputs)];
      next.pop_back();
      if (of.kind == "scores") scores = &of;
      for (const int operand : of.operands) {
        if (task.Defines(operand)) next.push_back(operand);
      }
    }
  }
  const std::vector<int64_t> q = shape(scores->operands[0]), v = shape(op.operands[whole ? 2 : 1]);
  const size_t rank = q.size();
  std::vector<Loop> loops = ParallelLoops(q);
  loops[rank - 1].extent = v[rank - 1];
  loops.push_back({v[rank - 2], true});
  loops.push_back({q[rank - 1], true});
  Nest& nest = builder.Begin("", loops);
  nest.attends = true;
  nest.combine = Combine::kSum;
  nest.until = op.Get("until", 1, -1)[0];
  const auto at = [&](size_t row, size_t column) {
    std::vector<size_t> places = Range(rank);
    places[rank - 2] = row;
    places[rank - 1] = column;
    return places;
  };
  const size_t keys = rank, inner = rank + 1;
  for (const auto& [tensor, places] :
       {Stored(task, scores->operands[0], at(rank - 2, inner)),
        Stored(task, scores->operands[1], at(keys, inner)),
        Stored(task, op.operands[whole ? 2 : 1], at(keys, rank - 1))}) {
    nest.reads.push_back(builder.At(nest, tensor, places));
  }
  nest.write = builder.At(nest, op.result, Permuted(op, rank));
  if (whole) {
    const int score = Node(nest, Scalar::kScore);
    const double scale = 1 / std::sqrt(static_cast<double>(q[rank - 1]));
    Node(nest, Scalar::kMultiply, score, Node(nest, Scalar::kConstant, -1, -1, scale));
    return;
  }
  EndWith(nest, Elements(task, builder, nest).At(op.operands[0], at(rank - 2, keys)));
}

}  // namespace

size_t LastDimension(const Access& access) {
  size_t last = access.view.size() - 1;
  while (last > 0 && access.view[last] == 1) --last;
  return access.view[last] == 1 ? access.view.size() - 1 : last;
}

double Apart(const Access& access, size_t loop) {
  double apart = 0, stride = 1;
  for (size_t d = access.rows.size(); d-- > 0;) {
    apart += static_cast<double>(access.rows[d][loop]) * stride;
    stride *= static_cast<double>(access.view[d]);
  }
  return apart;
}

int PlainLoop(const Row& row) {
  int found = -1;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0) continue;
    if (row[i] != 1 || found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

int Program::FindSite(std::string_view site) const {
  for (size_t i = 0; i < nests.size(); ++i) {
    if (nests[i].site == site) return static_cast<int>(i);
  }
  return -1;
}

int Program::ProducerOf(int tensor) const {
  for (size_t i = 0; i < nests.size(); ++i) {
    if (nests[i].write.tensor == tensor) return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> Program::ConsumersOf(int tensor) const {
  std::vector<int> consumers;
  for (size_t i = 0; i < nests.size(); ++i) {
    const bool reads = std::any_of(nests[i].reads.begin(), nests[i].reads.end(),
                                   [&](const Access& read) { return read.tensor == tensor; });
    if (reads) consumers.push_back(static_cast<int>(i));
  }
  return consumers;
}

bool Program::IsOutput(int tensor) const {
  return std::count(outputs.begin(), outputs.end(), tensor) != 0;
}

Program Expand(const Task& task) {
  Program program{task.name, task.tensors, task.inputs, task.outputs, {}};
  for (const Operation& op : task.operations) {
    if (op.definition) continue;
    const Tensor& result = task.tensors[static_cast<size_t>(op.result)];
    Builder builder(program, result.name, result.element);
    if (op.kind == "matmul" || op.kind == "batch_matmul") {
      const bool batch = op.kind == "batch_matmul";
      std::vector<Loop> loops = ParallelLoops(result.shape);
      loops.push_back({task.tensors[static_cast<size_t>(op.operands[0])].shape.back(), true});
      using Loops = std::vector<size_t>;
      Contraction(builder, "", loops, op.operands[0], batch ? Loops{0, 1, 3} : Loops{0, 2},
                  op.operands[1], batch ? Loops{0, 3, 2} : Loops{2, 1}, op.result,
                  Range(result.shape.size()));
    } else if (op.kind == "conv2d" || op.kind == "pool_max" || op.kind == "pool_sum") {
      Windowed(builder, op, task.tensors);
    } else if (op.kind == "reduce_sum" || op.kind == "reduce_max") {
      Reduce(builder, op, task);
    } else if (op.kind == "softmax") {
      const auto [exponentials, sums] = Exponentials(builder, op.operands[0], result.shape, 1);
      DivideRows(builder, exponentials, sums, op.result, result.shape);
    } else if (op.kind == "layer_norm") {
      LayerNorm(builder, op, result.shape);
    } else if (op.kind == "attention" || op.kind == "attend") {
      Attend(builder, op, task);
    } else if (op.kind == "product") {
      BuildProduct(builder, op, task);
    } else if (op.kind == "convolve") {
      BuildConvolution(builder, op, task);
    } else {
      Pointwise(builder, op, task);
    }
  }
  for (Nest& nest : program.nests) {
    if (!nest.own_text()) DropUnitLoops(nest);
  }
  MergeLoops(program.nests);
  return program;
}

}  // namespace hone::loops
