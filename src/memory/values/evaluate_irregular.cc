#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "memory/access.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

bool Has(const std::vector<int64_t>& list, size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
}

// The index vector at `batch` of start indices, with `vector` the dimension that holds the vector.
std::vector<int64_t> IndexVector(const Array& indices, std::vector<int64_t> batch, int64_t vector) {
  const size_t rank = indices.box.low.size();
  const auto at = static_cast<size_t>(vector);
  if (at == rank) return {indices.integers[static_cast<size_t>(Position(indices.box, batch))]};
  std::vector<int64_t> values;
  batch.insert(batch.begin() + vector, 0);
  for (int64_t k = 0; k < indices.box.high[at]; ++k) {
    batch[at] = k;
    values.push_back(indices.integers[static_cast<size_t>(Position(indices.box, batch))]);
  }
  return values;
}

Array Gather(const Op& op, const std::vector<int64_t>& dimensions, const Array& operand,
             const Array& indices, const Box& out) {
  const auto& offsets = ListOf(op, "offset_dims");
  const auto& collapsed = ListOf(op, "collapsed_slice_dims");
  const auto& batching = ListOf(op, "operand_batching_dims");
  const auto& index_batching = ListOf(op, "start_indices_batching_dims");
  const auto& map = ListOf(op, "start_index_map");
  const auto& sizes = ListOf(op, "slice_sizes");
  const int64_t vector = ListOf(op, "index_vector_dim")[0];
  Array result = MakeArray(operand.type, out);
  ForEach(out, [&](const std::vector<int64_t>& index, int64_t at) {
    std::vector<int64_t> batch, offset;
    for (size_t d = 0; d < index.size(); ++d)
      (Has(offsets, d) ? offset : batch).push_back(index[d]);
    const std::vector<int64_t> starts = IndexVector(indices, batch, vector);
    std::vector<int64_t> from(dimensions.size(), 0);
    for (size_t k = 0; k < map.size(); ++k) {
      const auto d = static_cast<size_t>(map[k]);
      from[d] = std::clamp<int64_t>(starts[k], 0, dimensions[d] - sizes[d]);
    }
    for (size_t k = 0; k < batching.size(); ++k) {
      int64_t position = index_batching[k];
      if (position > vector) --position;
      from[static_cast<size_t>(batching[k])] = batch[static_cast<size_t>(position)];
    }
    size_t next = 0;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (!Has(collapsed, d) && !Has(batching, d)) from[d] += offset[next++];
    }
    // Of a part of the operand (SumDimensions in access.h): zero for what another part has.
    for (size_t d = 0; d < from.size(); ++d) {
      if (from[d] < operand.box.low[d] || from[d] >= operand.box.high[d]) return;
    }
    CopyElement(operand, Position(operand.box, from), result, at);
  });
  return result;
}

// Updates that are made before a limit is looked at once more.
constexpr int64_t kBetweenChecks = 1024;

// `dimensions` and `update_dimensions` are the whole shapes; of the operand and the updates
// a box is enough, as ScatterInput in access.cc says.
StatusOr<Array> Scatter(const Op& op, const std::vector<Array>& operands,
                        const std::vector<int64_t>& dimensions,
                        const std::vector<int64_t>& update_dimensions) {
  const auto& window = ListOf(op, "update_window_dims");
  const auto& inserted = ListOf(op, "inserted_window_dims");
  const auto& batching = ListOf(op, "input_batching_dims");
  const auto& index_batching = ListOf(op, "scatter_indices_batching_dims");
  const auto& map = ListOf(op, "scatter_dims_to_operand_dims");
  const int64_t vector = ListOf(op, "index_vector_dim")[0];
  Array result = operands[0];
  const Array& indices = operands[1];
  const Array& updates = operands[2];
  std::vector<int64_t> sizes(dimensions.size(), 1);  // of the window, in the operand
  size_t next_window = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (Has(inserted, d) || Has(batching, d)) continue;
    sizes[d] = update_dimensions[static_cast<size_t>(window[next_window++])];
  }
  Status done;
  ForEach(updates.box, [&](const std::vector<int64_t>& index, int64_t at) {
    if (done && at % kBetweenChecks == 0) done = EvaluationLimit::Check();
    if (!done) return;
    std::vector<int64_t> batch, offset;
    for (size_t d = 0; d < index.size(); ++d) (Has(window, d) ? offset : batch).push_back(index[d]);
    const std::vector<int64_t> starts = IndexVector(indices, batch, vector);
    std::vector<int64_t> to(dimensions.size(), 0);
    for (size_t k = 0; k < map.size(); ++k) {
      const auto d = static_cast<size_t>(map[k]);
      if (starts[k] < 0 || starts[k] + sizes[d] > dimensions[d]) return;  // falls outside: no write
      to[d] = starts[k];
    }
    for (size_t k = 0; k < batching.size(); ++k) {
      int64_t position = index_batching[k];
      if (position > vector) --position;
      to[static_cast<size_t>(batching[k])] = batch[static_cast<size_t>(position)];
    }
    size_t next = 0;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (!Has(inserted, d) && !Has(batching, d)) to[d] += offset[next++];
    }
    for (size_t d = 0; d < to.size(); ++d) {
      if (to[d] < result.box.low[d] || to[d] >= result.box.high[d]) return;  // another tile's
    }
    const int64_t position = Position(result.box, to);
    std::vector<Array> pair(2, MakeArray(result.type, WholeBox({1})));
    CopyElement(result, position, pair[0], 0);
    CopyElement(updates, at, pair[1], 0);
    auto combined = EvaluateLanes(*op.bodies[0], pair);
    if (!combined) {
      done = tl::unexpected(combined.error());
      return;
    }
    CopyElement((*combined)[0], 0, result, position);
  });
  if (!done) return tl::unexpected(done.error());
  return result;
}

// Sorts `count` lines of `length` each, given by the positions of their elements one line after the
// other: runs are merged, all of a round side by side, so that one evaluation of the comparator
// compares for all of them. Equal elements keep their order.
Status SortLines(const Op& op, const std::vector<Array>& operands, size_t length,
                 std::vector<int64_t>& positions) {
  struct Merge {
    size_t left, middle, right, end, to;
  };
  std::vector<int64_t> merged(positions.size());
  std::vector<Merge> merges, going;
  for (size_t width = 1; width < length; width *= 2) {
    merges.clear();
    for (size_t line = 0; line < positions.size(); line += length) {
      for (size_t at = line; at < line + length; at += 2 * width) {
        const size_t middle = std::min(at + width, line + length);
        merges.push_back({at, middle, middle, std::min(middle + width, line + length), at});
      }
    }
    while (!merges.empty()) {
      going.clear();
      for (Merge& merge : merges) {
        while (merge.left < merge.middle && merge.right == merge.end) {
          merged[merge.to++] = positions[merge.left++];
        }
        while (merge.left == merge.middle && merge.right < merge.end) {
          merged[merge.to++] = positions[merge.right++];
        }
        if (merge.left < merge.middle) going.push_back(merge);
      }
      merges.swap(going);
      if (merges.empty()) break;
      if (Status going = EvaluationLimit::Check(); !going) return going;
      std::vector<Array> arguments;  // of each operand, what comes from the right, then the left
      for (const Array& operand : operands) {
        for (const bool right : {true, false}) {
          Array lanes = MakeArray(operand.type, WholeBox({static_cast<int64_t>(merges.size())}));
          for (size_t m = 0; m < merges.size(); ++m) {
            const size_t from = right ? merges[m].right : merges[m].left;
            CopyElement(operand, positions[from], lanes, static_cast<int64_t>(m));
          }
          arguments.push_back(std::move(lanes));
        }
      }
      auto less = EvaluateLanes(*op.bodies[0], arguments);
      if (!less) return tl::unexpected(less.error());
      for (size_t m = 0; m < merges.size(); ++m) {
        Merge& merge = merges[m];
        merged[merge.to++] = positions[(*less)[0].integers[m] != 0 ? merge.right++ : merge.left++];
      }
    }
    positions.swap(merged);
  }
  return {};
}

StatusOr<std::vector<Array>> Sort(const Op& op, const std::vector<Array>& operands,
                                  const Box& out) {
  const auto axis = static_cast<size_t>(ListOf(op, "dimensions")[0]);
  std::vector<Array> results;
  for (const Array& operand : operands) results.push_back(MakeArray(operand.type, out));
  Box lines = out;
  lines.high[axis] = lines.low[axis] + 1;
  const int64_t length = Extent(operands[0].box, axis);
  std::vector<int64_t> positions;
  ForEach(lines, [&](const std::vector<int64_t>& index, int64_t) {
    std::vector<int64_t> at = index;
    for (int64_t i = 0; i < length; ++i) {
      at[axis] = operands[0].box.low[axis] + i;
      positions.push_back(Position(operands[0].box, at));
    }
  });
  if (positions.empty()) return results;
  if (Status sorted = SortLines(op, operands, static_cast<size_t>(length), positions); !sorted) {
    return tl::unexpected(sorted.error());
  }
  ForEach(lines, [&](const std::vector<int64_t>& index, int64_t line) {
    std::vector<int64_t> at = index;
    for (int64_t i = out.low[axis]; i < out.high[axis]; ++i) {
      at[axis] = i;
      const int64_t from = positions[static_cast<size_t>(line * length + i)];
      for (size_t k = 0; k < operands.size(); ++k) {
        CopyElement(operands[k], from, results[k], Position(out, at));
      }
    }
  });
  return results;
}

// Integers in the order of an array's elements: of numbers, XLA's total one, in which -NaN < -inf,
// -0 < 0 and inf < NaN.
std::vector<int64_t> Ranks(const Array& array) {
  std::vector<int64_t> ranks = array.integers;
  if (array.type == ElementType::kU64) {
    for (int64_t& rank : ranks) rank ^= std::numeric_limits<int64_t>::min();
  }
  for (double value : array.reals) {
    const auto bits = std::bit_cast<int64_t>(value);
    ranks.push_back(bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits);
  }
  return ranks;
}

// The k greatest (or least) of the last dimension, and where they stand; of equal ones, the first.
StatusOr<std::vector<Array>> TopK(const Op& op, const Array& operand, ElementType index_type,
                                  const std::vector<Box>& out) {
  if (KindOf(operand.type) == ValueKind::kComplex) return NoArithmetic(op, "its type");
  const bool largest = !op.texts.contains("largest") || op.texts.at("largest") == "true";
  const std::vector<int64_t> ranks = Ranks(operand);
  std::vector<Array> results = {MakeArray(operand.type, out[0]), MakeArray(index_type, out[1])};
  const size_t axis = out[0].low.size() - 1;
  Box lines = out[0];
  lines.high[axis] = lines.low[axis] + 1;
  std::vector<int64_t> order(static_cast<size_t>(Extent(operand.box, axis)));
  ForEach(lines, [&](const std::vector<int64_t>& index, int64_t) {
    std::vector<int64_t> at = index;
    at[axis] = operand.box.low[axis];
    const int64_t first = Position(operand.box, at);
    const auto before = [&](int64_t a, int64_t b) {
      const int64_t x = ranks[static_cast<size_t>(first + a)];
      const int64_t y = ranks[static_cast<size_t>(first + b)];
      if (x == y) return a < b;
      return largest ? x > y : x < y;
    };
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + out[0].high[axis], order.end(), before);
    for (int64_t k = out[0].low[axis]; k < out[0].high[axis]; ++k) {
      at[axis] = k;
      const int64_t chosen = order[static_cast<size_t>(k)];
      CopyElement(operand, first + chosen, results[0], Position(out[0], at));
      results[1].integers[static_cast<size_t>(Position(out[1], at))] = chosen;
    }
  });
  return results;
}

std::vector<int64_t> Starts(const std::vector<Array>& operands, size_t first,
                            const std::vector<int64_t>& outer, const std::vector<int64_t>& inner) {
  std::vector<int64_t> starts;
  for (size_t d = 0; d < outer.size(); ++d) {
    starts.push_back(std::clamp<int64_t>(operands[first + d].integers[0], 0, outer[d] - inner[d]));
  }
  return starts;
}

// `captured` points to the first of the body's large constants among the operator's operands.
StatusOr<std::vector<Array>> RunBody(const Network& body, const std::vector<Array>& arguments,
                                     const Array* captured, const ChangeResult& change) {
  const ReadTensor leaves = [&](TensorId tensor, const Box& box) {
    const int32_t parameter = body.tensors[static_cast<size_t>(tensor)].parameter;
    if (parameter != kNone) return Cut(arguments[static_cast<size_t>(parameter)], box);
    const auto at = std::find(body.captured.begin(), body.captured.end(), tensor);
    HONE_CHECK(at != body.captured.end());
    return Cut(captured[at - body.captured.begin()], box);
  };
  return EvaluateNetwork(body, leaves, change);
}

// Iterations of this thread's outermost loop and all loops in it: what XLA has ended may go on for
// ever with numbers rounded otherwise.
class Iterations {
 public:
  Iterations() {
    if (depth_++ == 0) count_ = 0;
  }
  ~Iterations() { --depth_; }
  Iterations(const Iterations&) = delete;
  Iterations& operator=(const Iterations&) = delete;

  bool Another() { return ++count_ <= kMost; }

  static constexpr int64_t kMost = 50'000;

 private:
  static thread_local int64_t depth_, count_;
};
thread_local int64_t Iterations::depth_ = 0;
thread_local int64_t Iterations::count_ = 0;

StatusOr<std::vector<Array>> Loop(const Op& op, const std::vector<Array>& operands,
                                  const ChangeResult& change) {
  const auto leaves = static_cast<std::ptrdiff_t>(op.results.size());
  std::vector<Array> state(operands.begin(), operands.begin() + leaves);
  const Array* const of_body = operands.data() + leaves;
  const Array* const of_condition = of_body + op.bodies[0]->captured.size();
  Iterations iterations;
  while (iterations.Another()) {
    auto going = RunBody(*op.bodies[1], state, of_condition, change);
    if (!going) return going;
    if ((*going)[0].integers[0] == 0) return state;
    auto next = RunBody(*op.bodies[0], state, of_body, change);
    if (!next) return next;
    state = *std::move(next);
  }
  return NoArithmetic(op, "more than " + std::to_string(Iterations::kMost) + " iterations");
}

// Arguments of the branches follow upon each other, then their large constants.
StatusOr<std::vector<Array>> Branch(const Op& op, const std::vector<Array>& operands,
                                    const ChangeResult& change) {
  const Array& predicate = operands[0];
  const auto branches = static_cast<int64_t>(op.bodies.size());
  int64_t branch = predicate.integers[0];
  if (predicate.type == ElementType::kPred) branch = branch ? 0 : 1;
  if (branch < 0 || branch >= branches) branch = branches - 1;
  size_t first = 1, captured = 1;
  for (int64_t b = 0; b < branches; ++b) {
    const Network& body = *op.bodies[static_cast<size_t>(b)];
    captured += body.parameters.size();
    if (b >= branch) continue;
    first += body.parameters.size();
    captured += body.captured.size();
  }
  const Network& body = *op.bodies[static_cast<size_t>(branch)];
  const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(first);
  return RunBody(body, {begin, begin + static_cast<std::ptrdiff_t>(body.parameters.size())},
                 operands.data() + captured, change);
}

// By the arithmetic that XLA makes of it, where the program's graph has it (DescribeForPlan).
StatusOr<std::vector<Array>> RandomBits(const Op& op, const std::vector<Array>& operands,
                                        const std::vector<Box>& out) {
  if (op.bodies.empty()) return NoArithmetic(op);
  auto results = RunBody(*op.bodies[0], {operands[0]}, operands.data() + 1, nullptr);
  if (!results) return results;
  for (size_t r = 0; r < results->size(); ++r) (*results)[r] = Cut((*results)[r], out[r]);
  return results;
}

}  // namespace

StatusOr<std::vector<Array>> EvaluateIrregular(const Network& network, const Op& op,
                                               const std::vector<Array>& operands,
                                               const std::vector<Box>& out,
                                               const ChangeResult& change) {
  const auto dimensions = [&](size_t input) -> const std::vector<int64_t>& {
    return network.exprs[static_cast<size_t>(op.inputs[input])].dimensions;
  };
  if (op.opcode == "gather") {
    return std::vector<Array>{Gather(op, dimensions(0), operands[0], operands[1], out[0])};
  }
  if (op.opcode == "scatter") {
    if (operands.size() != 3) return NoArithmetic(op, "of several operands");
    auto result = Scatter(op, operands, dimensions(0), dimensions(2));
    if (!result) return tl::unexpected(result.error());
    return std::vector<Array>{*std::move(result)};
  }
  if (op.opcode == "sort") return Sort(op, operands, out[0]);
  if (op.opcode == "topk") {
    const ElementType indices = network.tensors[static_cast<size_t>(op.results[1])].type;
    return TopK(op, operands[0], indices, out);
  }
  if (op.opcode == "while") return Loop(op, operands, change);
  if (op.opcode == "conditional") return Branch(op, operands, change);
  if (op.opcode == "rng-bit-generator") return RandomBits(op, operands, out);
  const bool slice = op.opcode == "dynamic-slice";
  const auto& result_dimensions = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  const std::vector<int64_t> starts = slice ? Starts(operands, 1, dimensions(0), result_dimensions)
                                            : Starts(operands, 2, dimensions(0), dimensions(1));
  Array result = MakeArray(operands[0].type, out[0]);
  ForEach(out[0], [&](const std::vector<int64_t>& index, int64_t at) {
    std::vector<int64_t> from = index;
    bool inside = true;
    for (size_t d = 0; d < from.size(); ++d) {
      from[d] += slice ? starts[d] : -starts[d];
      inside = inside && from[d] >= 0 && from[d] < dimensions(slice ? 0 : 1)[d];
    }
    if (slice) return CopyElement(operands[0], Position(operands[0].box, from), result, at);
    if (inside) return CopyElement(operands[1], Position(operands[1].box, from), result, at);
    CopyElement(operands[0], Position(operands[0].box, index), result, at);
  });
  return std::vector<Array>{std::move(result)};
}

}  // namespace hone::memory
