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

void Pointwise(Builder& builder, const Operation& op, const Task& task) {
  const auto& shape = task.tensors[static_cast<size_t>(op.result)].shape;
  Nest& nest = builder.Begin("", ParallelLoops(shape));
  nest.write = builder.At(nest, op.result, Range(shape.size()));
  EndWith(nest, Elements(task, builder, nest).Of(op, Range(shape.size())));
}

constexpr int64_t kMostParts = 16, kLeastParts = 4;

// The largest number of equal parts of a loop, within these bounds; else 1.
int64_t EqualParts(int64_t extent) {
  int64_t parts = kMostParts;
  while (extent % parts != 0) --parts;
  return parts < kLeastParts ? 1 : parts;
}

// Of a reduction to a single element: the outermost loop in parts; where it has no equal ones and
// is not all, element by element.
std::pair<size_t, int64_t> PartsOfAll(const std::vector<Loop>& loops) {
  constexpr int64_t kLeastPoints = 16384;
  int64_t points = 1;
  for (const Loop& loop : loops) points *= loop.extent;
  if (points < kLeastPoints) return {0, 1};
  const int64_t parts = EqualParts(loops[0].extent);
  return {0, parts == 1 && loops[0].extent < points ? loops[0].extent : parts};
}

// Of a reduction of many rows to few: which loop is done in how many parts, each a run through
// memory that a processor can take, put together afterwards; {0, 1}: in one. Long sums are in parts
// for their exactness, too, as XLA's are (its TreeReductionRewriter). Along rows vectors see to
// that.
std::pair<size_t, int64_t> PartsOf(const std::vector<Loop>& loops) {
  constexpr int64_t kMostColumns = 4096, kLeastPoints = 65536, kManyTerms = 512;
  int64_t columns = 1, terms = 1;
  std::pair<size_t, int64_t> in_one{0, 1}, found = in_one;
  bool outermost = true;  // are the loops that reduce
  for (size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].extent == 1) continue;
    (loops[i].reduction ? terms : columns) *= loops[i].extent;
    if (!loops[i].reduction) continue;
    outermost = outermost && columns == 1;
    if (found.second == 1) found = {i, EqualParts(loops[i].extent)};
  }
  if (loops.back().reduction) return in_one;
  const bool large = outermost && columns <= kMostColumns && terms * columns >= kLeastPoints;
  return large || terms >= kManyTerms ? found : in_one;
}

// The reduction's results for each part of a loop, in `partial`: the parts are a new loop, and a
// new dimension of the results, in front of the first loop that reduces.
void SplitReduction(Nest& nest, size_t loop, int64_t parts, size_t front, int partial) {
  const auto at = static_cast<ptrdiff_t>(front);
  const int64_t each = nest.loops[loop].extent / parts;
  nest.loops[loop].extent = each;
  nest.loops.insert(nest.loops.begin() + at, {parts, false});
  Row of_parts(nest.loops.size(), 0);
  of_parts[front] = 1;
  ++loop;
  const auto widen = [&](Access& access) {
    for (Row& row : access.rows) row.insert(row.begin() + at, 0);
  };
  for (Access& read : nest.reads) {
    widen(read);
    for (size_t d = 0; d < read.rows.size(); ++d) {
      if (PlainLoop(read.rows[d]) != static_cast<int>(loop)) continue;
      if (read.view[d] != each * parts) {  // a slice stays one dimension
        read.rows[d][front] = each;
        continue;
      }
      const auto here = static_cast<ptrdiff_t>(d);
      read.view[d] = each;
      read.view.insert(read.view.begin() + here, parts);
      read.rows.insert(read.rows.begin() + here, of_parts);
      if (!read.low.empty()) read.low.insert(read.low.begin() + here, 0);
      ++d;
    }
  }
  widen(nest.write);
  nest.write.tensor = partial;
  nest.write.view.insert(nest.write.view.begin() + at, parts);
  nest.write.rows.insert(nest.write.rows.begin() + at, of_parts);
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
  if (kept.empty()) {
    nest.write.rows.emplace_back(rank, 0);
    DropUnitLoops(nest);
    MergeLoops(nest);
  }
  const auto [loop, parts] = kept.empty() ? PartsOfAll(nest.loops) : PartsOf(nest.loops);
  if (parts == 1) return;
  // Parts of it in a nest before it.
  Nest part = nest;
  part.site += ".part";
  size_t front = 0;
  while (!nest.loops[front].reduction) ++front;
  std::vector<int64_t> shape;
  if (!kept.empty()) shape = tensors[static_cast<size_t>(op.result)].shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(front), parts);
  const int partial = builder.Temporary("part", shape);
  SplitReduction(part, loop, parts, front, partial);
  nest.loops = ParallelLoops(shape);
  nest.loops[front].reduction = true;
  std::vector<size_t> results = Range(shape.size());
  nest.reads = {builder.At(nest, partial, results)};
  results.erase(results.begin() + static_cast<ptrdiff_t>(front));
  nest.write = builder.At(nest, op.result, results);
  if (kept.empty()) nest.write.rows.emplace_back(1, 0);
  nest.body = {{Scalar::kRead, 0}};
  builder.InsertBeforeLast(std::move(part));
}

void Accumulate(Builder& builder, const Operation& op, const Task& task) {
  std::vector<Loop> loops = ParallelLoops(task.tensors[static_cast<size_t>(op.result)].shape);
  loops[1].reduction = true;
  const size_t rank = loops.size();
  Nest& nest = builder.Begin("", std::move(loops));
  nest.kind = NestKind::kAccumulates;
  nest.reverse = op.Get("reverse", 1, 0)[0] != 0;
  nest.combine = op.kind == "running_max"       ? Combine::kMaximum
                 : op.kind == "running_product" ? Combine::kProduct
                                                : Combine::kSum;
  nest.reads = {builder.At(nest, op.operands[0], Range(rank))};
  nest.write = builder.At(nest, op.result, Range(rank));
  Node(nest, Scalar::kRead, 0);
}

void Sort(Builder& builder, const Operation& op, const Task& task) {
  std::vector<Loop> loops = ParallelLoops(task.tensors[static_cast<size_t>(op.result)].shape);
  loops[1].reduction = true;
  Nest& nest = builder.Begin("", std::move(loops));
  nest.kind = NestKind::kSorts;
  nest.positions = op.kind == "argsort";
  nest.reads = {builder.At(nest, op.operands[0], Range(2))};
  nest.write = builder.At(nest, op.result, Range(2));
  Node(nest, Scalar::kRead, 0);
}

void Factor(Builder& builder, const Operation& op, const Task& task) {
  std::vector<Loop> loops = ParallelLoops(task.tensors[static_cast<size_t>(op.result)].shape);
  loops.push_back({task.tensors[static_cast<size_t>(op.operands[0])].shape[1], true});
  loops[1].reduction = loops[2].reduction = true;
  Nest& nest = builder.Begin("", std::move(loops));
  nest.kind = NestKind::kFactors;
  nest.factors = op.kind == "lu"          ? Factors::kLu
                 : op.kind == "cholesky"  ? Factors::kCholesky
                 : op.kind == "exchanges" ? Factors::kExchanges
                                          : Factors::kSolve;
  nest.lower = op.Get("lower", 1, 0)[0] != 0;
  nest.unit = op.Get("unit", 1, 0)[0] != 0;
  nest.transposed = op.Get("transposed", 1, 0)[0] != 0;
  const bool solves = nest.factors == Factors::kSolve;
  const std::vector<size_t> matrix = {0, 3, solves ? size_t{1} : size_t{2}};
  nest.reads = {builder.At(nest, op.operands[0], matrix)};
  if (solves) nest.reads.push_back(builder.At(nest, op.operands[1], Range(3)));
  nest.write = builder.At(nest, op.result, Range(3));
  for (size_t read = 0; read < nest.reads.size(); ++read) {
    Node(nest, Scalar::kRead, static_cast<int>(read));
  }
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
  nest.kind = NestKind::kAttends;
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
    const int score = Node(nest, Scalar::kWhole);
    const double scale = 1 / std::sqrt(static_cast<double>(q[rank - 1]));
    Node(nest, Scalar::kMultiply, score, Node(nest, Scalar::kConstant, -1, -1, scale));
    return;
  }
  EndWith(nest, Elements(task, builder, nest).At(op.operands[0], at(rank - 2, keys)));
}

// The product or convolution that the operation is, or that is among its definitions; null where
// there is none.
const Operation* MadeWithin(const Task& task, const Operation& op) {
  if (op.kind == "product" || op.kind == "convolve" || op.kind == "depthwise") return &op;
  for (const int operand : op.operands) {
    if (!task.Defines(operand)) continue;
    const Operation& of = task.operations[static_cast<size_t>(operand - task.inputs)];
    if (const Operation* const made = MadeWithin(task, of)) return made;
  }
  return nullptr;
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
    Builder builder(program, result.name, WideOf(result.element));
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
    } else if (IsRunning(op.kind)) {
      Accumulate(builder, op, task);
    } else if (Sorts(op.kind)) {
      Sort(builder, op, task);
    } else if (IsFactor(op.kind)) {
      Factor(builder, op, task);
    } else if (op.kind == "softmax") {
      BuildSoftmax(builder, op, result.shape);
    } else if (op.kind == "layer_norm") {
      BuildLayerNorm(builder, op, result.shape);
    } else if (op.kind == "attention" || op.kind == "attend") {
      Attend(builder, op, task);
    } else {
      const Operation* const made = MadeWithin(task, op);
      if (made == nullptr) {
        Pointwise(builder, op, task);
      } else if (made->kind == "product") {
        BuildProduct(builder, *made, op, task);
      } else if (made->kind == "depthwise") {
        BuildDepthwise(builder, *made, op, task);
      } else {
        BuildConvolution(builder, *made, op, task);
      }
    }
  }
  for (Nest& nest : program.nests) {
    if (!nest.own_text()) DropUnitLoops(nest);
  }
  MergeLoops(program.nests);
  return program;
}

}  // namespace hone::loops
