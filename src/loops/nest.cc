#include "loops/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace hone::loops {
namespace {

// Builds nests of one operation.
class Builder {
 public:
  Builder(Program& program, std::string name, Element element)
      : program_(program), name_(std::move(name)), element_(element) {}

  // A tensor between the operation's nests.
  int Temporary(const std::string& suffix, std::vector<int64_t> shape) {
    program_.tensors.push_back({name_ + "." + suffix, element_, std::move(shape)});
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Nest& Begin(const std::string& suffix, std::vector<Loop> loops) {
    Nest nest;
    nest.site = suffix.empty() ? name_ : name_ + "." + suffix;
    nest.element = element_;
    nest.loops = std::move(loops);
    program_.nests.push_back(std::move(nest));
    return program_.nests.back();
  }

  // The tensor at loops[0], loops[1], ...
  Access At(const Nest& nest, int tensor, const std::vector<size_t>& loops) const {
    Access access{tensor, program_.tensors[static_cast<size_t>(tensor)].shape, {}};
    for (const size_t loop : loops) access.rows.push_back(Unit(nest, loop));
    return access;
  }
  static Row Unit(const Nest& nest, size_t loop, int64_t coefficient = 1) {
    Row row(nest.loops.size(), 0);
    row[loop] = coefficient;
    return row;
  }

 private:
  Program& program_;
  const std::string name_;
  const Element element_;
};

int Node(Nest& nest, Scalar::Kind kind, int a = -1, int b = -1, double value = 0) {
  nest.body.push_back({kind, a, b, value});
  return static_cast<int>(nest.body.size()) - 1;
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
  const int left = Node(nest, Scalar::kRead, 0);
  Node(nest, Scalar::kMultiply, left, Node(nest, Scalar::kRead, 1));
  nest.combine = Combine::kSum;
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
    const bool definition = tensor >= task_.inputs &&
                            task_.operations[static_cast<size_t>(tensor - task_.inputs)].definition;
    int node = -1;
    if (definition) {
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
    const int x = At(op.operands[0], from);
    if (op.kind == "transpose" || op.kind == "broadcast") return x;
    if (op.kind == "relu") return Node(nest_, Scalar::kMaximum, x, Node(nest_, Scalar::kConstant));
    if (IsUnary(op.kind)) return Node(nest_, KindOf(op.kind), x);
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

void Reduce(Builder& builder, const Operation& op, const Task& task) {
  const std::vector<Tensor>& tensors = task.tensors;
  std::vector<Loop> loops = ParallelLoops(tensors[static_cast<size_t>(op.operands[0])].shape);
  for (const int64_t axis : op.Get("axes", 0, 0)) loops[static_cast<size_t>(axis)].reduction = true;
  std::vector<size_t> kept;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!loops[i].reduction) kept.push_back(i);
  }
  const size_t rank = loops.size();
  Nest& nest = builder.Begin("", std::move(loops));
  nest.write = builder.At(nest, op.result, kept);
  EndWith(nest, Elements(task, builder, nest).At(op.operands[0], Range(rank)));
  nest.combine = op.kind == "reduce_max" ? Combine::kMaximum : Combine::kSum;
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

void Attention(Builder& builder, const Operation& op, const std::vector<Tensor>& tensors) {
  const auto& q = tensors[static_cast<size_t>(op.operands[0])].shape;
  const auto& v = tensors[static_cast<size_t>(op.operands[2])].shape;
  const std::vector<int64_t> scores_shape = {q[0], q[1], q[2], v[2]};
  const std::vector<int64_t> out_shape = {q[0], q[1], q[2], v[3]};
  const int scores = builder.Temporary("scores", scores_shape);
  const int mixed = builder.Temporary("mixed", out_shape);
  std::vector<Loop> loops = ParallelLoops(scores_shape);
  loops.push_back({q[3], true});
  Contraction(builder, "scores", loops, op.operands[0], {0, 1, 2, 4}, op.operands[1], {0, 1, 3, 4},
              scores, {0, 1, 2, 3});
  const auto [exponentials, sums] =
      Exponentials(builder, scores, scores_shape, 1 / std::sqrt(static_cast<double>(q[3])));
  loops = ParallelLoops(out_shape);
  loops.push_back({v[2], true});
  Contraction(builder, "mixed", loops, exponentials, {0, 1, 2, 4}, op.operands[2], {0, 1, 4, 3},
              mixed, {0, 1, 2, 3});
  DivideRows(builder, mixed, sums, op.result, out_shape);
}

void RemoveLoop(Nest& nest, size_t loop) {
  nest.loops.erase(nest.loops.begin() + static_cast<ptrdiff_t>(loop));
  const auto remove = [&](Access& access) {
    for (Row& row : access.rows) row.erase(row.begin() + static_cast<ptrdiff_t>(loop));
  };
  for (Access& read : nest.reads) remove(read);
  remove(nest.write);
}

bool IsZero(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](int64_t c) { return c == 0; });
}

void DropUnitLoops(Nest& nest) {
  for (size_t loop = nest.loops.size(); loop-- > 0;) {
    if (nest.loops[loop].extent == 1 && nest.loops.size() > 1) RemoveLoop(nest, loop);
  }
  const auto drop = [](Access& access) {
    for (size_t d = access.rows.size(); d-- > 0;) {
      if (access.view[d] != 1 || access.rows.size() == 1) continue;
      if (!IsZero(access.rows[d])) continue;
      access.rows.erase(access.rows.begin() + static_cast<ptrdiff_t>(d));
      access.view.erase(access.view.begin() + static_cast<ptrdiff_t>(d));
    }
  };
  for (Access& read : nest.reads) drop(read);
  drop(nest.write);
}

// Where two neighbouring dimensions are these two loops, whole, in this order: which; -1 where
// neither loop occurs; -2 where they occur otherwise.
int Neighbours(const Nest& nest, const Access& access, size_t loop) {
  int found = -1;
  for (size_t d = 0; d < access.rows.size(); ++d) {
    const Row& row = access.rows[d];
    if (row[loop] == 0 && row[loop + 1] == 0) continue;
    const bool second = found >= 0 && static_cast<size_t>(found) + 1 == d;
    const size_t wanted = second ? loop + 1 : loop;
    if ((found >= 0 && !second) || PlainLoop(row) != static_cast<int>(wanted) ||
        access.view[d] != nest.loops[wanted].extent) {
      return -2;
    }
    if (!second) found = static_cast<int>(d);
  }
  if (found == -1) return -1;
  const size_t next = static_cast<size_t>(found) + 1;
  return next < access.rows.size() && access.rows[next][loop + 1] == 1 ? found : -2;
}

std::vector<Access*> AccessesOf(Nest& nest) {
  std::vector<Access*> accesses = {&nest.write};
  for (Access& read : nest.reads) accesses.push_back(&read);
  return accesses;
}

bool MayMerge(Nest& nest, size_t loop) {
  if (loop + 1 >= nest.loops.size()) return false;
  if (nest.loops[loop].reduction != nest.loops[loop + 1].reduction) return false;
  const auto accesses = AccessesOf(nest);
  return std::none_of(accesses.begin(), accesses.end(),
                      [&](const Access* access) { return Neighbours(nest, *access, loop) == -2; });
}

void Merge(Nest& nest, size_t loop) {
  for (Access* const access : AccessesOf(nest)) {
    const int d = Neighbours(nest, *access, loop);
    if (d < 0) continue;
    access->view[static_cast<size_t>(d)] *= access->view[static_cast<size_t>(d) + 1];
    access->view.erase(access->view.begin() + d + 1);
    access->rows.erase(access->rows.begin() + d + 1);
  }
  nest.loops[loop].extent *= nest.loops[loop + 1].extent;
  RemoveLoop(nest, loop + 1);
}

// Loops that run through memory as one, where they do so in all nests: else a tensor would have
// another shape for who makes it than for who takes it, and neither could be fused into the other.
void MergeLoops(std::vector<Nest>& nests) {
  for (size_t loop = 0; loop < 8;) {
    const bool may =
        std::all_of(nests.begin(), nests.end(), [&](Nest& nest) { return MayMerge(nest, loop); });
    if (may) {
      for (Nest& nest : nests) Merge(nest, loop);
    } else {
      ++loop;
    }
  }
}

}  // namespace

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
    } else if (op.kind == "attention") {
      Attention(builder, op, task.tensors);
    } else {
      Pointwise(builder, op, task);
    }
  }
  for (Nest& nest : program.nests) DropUnitLoops(nest);
  MergeLoops(program.nests);
  return program;
}

bool MayPack(const Nest& nest, size_t loop) {
  const auto plain = [&](const Access& access) {
    for (size_t d = 0; d < access.rows.size(); ++d) {
      if (access.rows[d][loop] == 0) continue;
      if (PlainLoop(access.rows[d]) != static_cast<int>(loop)) return false;
      if (access.view[d] != nest.loops[loop].extent) return false;  // only a part of it is read
    }
    return true;
  };
  return plain(nest.write) && std::all_of(nest.reads.begin(), nest.reads.end(), plain);
}

void Pack(Program& program, int index, const std::vector<int64_t>& blocks) {
  Nest nest = program.nests[static_cast<size_t>(index)];
  const Nest before = nest;
  std::vector<int> inner(before.loops.size(), -1);
  for (size_t loop = 0; loop < before.loops.size(); ++loop) {
    if (blocks[loop] == 0) continue;
    HONE_CHECK(before.loops[loop].extent % blocks[loop] == 0 && MayPack(before, loop));
    inner[loop] = static_cast<int>(nest.loops.size());
    nest.loops[loop].extent /= blocks[loop];
    nest.loops.push_back({blocks[loop], before.loops[loop].reduction});
  }
  const auto split = [&](Access& access) {
    bool changed = false;
    Access next{access.tensor, {}, {}};
    for (size_t d = 0; d < access.rows.size(); ++d) {
      Row row = access.rows[d];
      row.resize(nest.loops.size(), 0);
      const int loop = PlainLoop(access.rows[d]);
      if (loop < 0 || inner[static_cast<size_t>(loop)] < 0) {
        next.rows.push_back(row);
        next.view.push_back(access.view[d]);
        continue;
      }
      changed = true;
      next.rows.push_back(row);
      next.view.push_back(access.view[d] / blocks[static_cast<size_t>(loop)]);
      Row block(nest.loops.size(), 0);
      block[static_cast<size_t>(inner[static_cast<size_t>(loop)])] = 1;
      next.rows.push_back(block);
      next.view.push_back(blocks[static_cast<size_t>(loop)]);
    }
    access = next;
    return changed;
  };
  split(nest.write);
  std::vector<Nest> packing;
  for (size_t i = 0; i < nest.reads.size(); ++i) {
    Access& read = nest.reads[i];
    if (!split(read)) continue;
    // The dimensions in the order of the loops that they are counted by first.
    std::vector<size_t> order = Range(read.rows.size());
    const auto first = [&](size_t d) {
      const auto found =
          std::find_if(read.rows[d].begin(), read.rows[d].end(), [](int64_t c) { return c != 0; });
      return found - read.rows[d].begin();
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return first(a) < first(b); });
    if (order == Range(order.size())) continue;  // it lies so already
    Nest copy;
    copy.site = fmt::format("{}.pack{}", nest.site, i);
    copy.element = nest.element;
    Access packed{static_cast<int>(program.tensors.size()), {}, {}};
    for (const size_t d : order) {
      packed.view.push_back(read.view[d]);
      packed.rows.push_back(read.rows[d]);
      copy.loops.push_back({read.view[d], false});
    }
    program.tensors.push_back({copy.site, nest.element, packed.view});
    copy.write = {packed.tensor, packed.view, {}};
    copy.reads = {{read.tensor, read.view, {}}};
    copy.reads[0].rows.resize(read.rows.size());
    for (size_t k = 0; k < order.size(); ++k) {
      Row unit(order.size(), 0);
      unit[k] = 1;
      copy.write.rows.push_back(unit);
      copy.reads[0].rows[order[k]] = unit;
    }
    Node(copy, Scalar::kRead, 0);
    packing.push_back(std::move(copy));
    read = packed;
  }
  program.nests[static_cast<size_t>(index)] = std::move(nest);
  program.nests.insert(program.nests.begin() + index, packing.begin(), packing.end());
}

}  // namespace hone::loops
