#include "memory/access.h"

#include <algorithm>

#include "memory/access_by_index.h"
#include "memory/deadline.h"

namespace hone::memory {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

Box EmptyBox(size_t rank) { return {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)}; }

struct Range {
  int64_t low;
  int64_t high;
};

Range Clip(Range range, int64_t size) {
  range.low = std::clamp<int64_t>(range.low, 0, size);
  range.high = std::clamp<int64_t>(range.high, range.low, size);
  return range;
}

// Positions of a padded and dilated input that windows at [out.low, out.high) look at.
Range WindowInput(Range out, const WindowDimension& window, int64_t size) {
  const int64_t reach = (window.size - 1) * window.window_dilation;
  const int64_t low = out.low * window.stride - window.pad_low;
  const int64_t high = (out.high - 1) * window.stride - window.pad_low + reach;
  return Clip({CeilDivide(low, window.base_dilation), FloorDivide(high, window.base_dilation) + 1},
              size);
}

// The smallest box of row-major positions first..last in an array with these sizes.
void SetInterval(int64_t first, int64_t last, const std::vector<int64_t>& sizes, size_t begin,
                 size_t end, Box& box) {
  int64_t below = 1;
  for (size_t d = begin; d < end; ++d) below *= sizes[d];
  bool same = true;  // the digits so far
  for (size_t d = begin; d < end; ++d) {
    below /= sizes[d];
    const int64_t a = first / below % sizes[d], b = last / below % sizes[d];
    box.low[d] = same ? a : 0;
    box.high[d] = same ? b + 1 : sizes[d];
    same = same && a == b;
  }
}

// Dimensions of both shapes fall into groups of equal products; within a group the box is an
// interval of positions, exact where the box is contiguous.
Box ReshapeInput(const std::vector<int64_t>& in, const std::vector<int64_t>& out, const Box& box) {
  Box result = WholeBox(in);
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    const size_t first_in = i, first_out = o;
    int64_t in_product = i < in.size() ? in[i++] : 1;
    int64_t out_product = o < out.size() ? out[o++] : 1;
    while (in_product != out_product) {
      if (in_product < out_product) {
        in_product *= in[i++];
      } else {
        out_product *= out[o++];
      }
    }
    if (i - first_in == 1 && o - first_out == 1) {
      result.low[first_in] = box.low[first_out];
      result.high[first_in] = box.high[first_out];
      continue;
    }
    int64_t first = 0, last = 0;
    for (size_t d = first_out; d < o; ++d) {
      first = first * out[d] + box.low[d];
      last = last * out[d] + box.high[d] - 1;
    }
    SetInterval(first, last, in, first_in, i, result);
  }
  return result;
}

Box DotInput(const Network& network, const Op& op, size_t operand, const Box& out) {
  const auto& batch = ListOf(op, operand == 0 ? "lhs_batch_dims" : "rhs_batch_dims");
  const auto& contracting =
      ListOf(op, operand == 0 ? "lhs_contracting_dims" : "rhs_contracting_dims");
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  Box box = WholeBox(dimensions);
  const auto set = [&](size_t to, size_t from) {
    box.low[to] = out.low[from];
    box.high[to] = out.high[from];
  };
  for (size_t b = 0; b < batch.size(); ++b) set(static_cast<size_t>(batch[b]), b);
  const auto free = [&](const std::vector<int64_t>& list, size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) == list.end();
  };
  size_t from = batch.size();
  if (operand == 1) {
    const size_t rank = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions.size();
    from += rank - batch.size() - ListOf(op, "lhs_contracting_dims").size();
  }
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (free(batch, d) && free(contracting, d)) set(d, from++);
  }
  return box;
}

int64_t GroupCount(const Op& op, const char* name) {
  const auto& count = ListOf(op, name);
  return count.empty() ? 1 : count[0];
}

Box ConvolutionInput(const Network& network, const Op& op, size_t operand, const Box& out) {
  const ConvolutionDimensions& labels = op.convolution;
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  Box box = WholeBox(dimensions);
  const auto set = [&](int64_t d, Range range) {
    range = Clip(range, dimensions[static_cast<size_t>(d)]);
    box.low[static_cast<size_t>(d)] = range.low;
    box.high[static_cast<size_t>(d)] = range.high;
  };
  const auto out_range = [&](int64_t d) {
    return Range{out.low[static_cast<size_t>(d)], out.high[static_cast<size_t>(d)]};
  };
  const Range features = out_range(labels.output_feature);
  if (operand == 1) {
    set(labels.kernel_output, features);
    return box;
  }
  const auto& kernel = network.exprs[static_cast<size_t>(op.inputs[1])].dimensions;
  const int64_t out_features = kernel[static_cast<size_t>(labels.kernel_output)];
  if (const int64_t groups = GroupCount(op, "feature_group_count"); groups > 1) {
    const int64_t out_size = out_features / groups;
    const int64_t in_size = dimensions[static_cast<size_t>(labels.feature)] / groups;
    set(labels.feature,
        {features.low / out_size * in_size, ((features.high - 1) / out_size + 1) * in_size});
  }
  const Range batch = out_range(labels.output_batch);
  if (const int64_t groups = GroupCount(op, "batch_group_count"); groups > 1) {
    const int64_t out_size = out_features / groups;
    const int64_t in_size = dimensions[static_cast<size_t>(labels.batch)] / groups;
    set(labels.batch, {features.low / out_size * in_size + batch.low,
                       (features.high - 1) / out_size * in_size + batch.high});
  } else {
    set(labels.batch, batch);
  }
  for (size_t s = 0; s < labels.spatial.size(); ++s) {
    set(labels.spatial[s], WindowInput(out_range(labels.output_spatial[s]), op.window[s],
                                       dimensions[static_cast<size_t>(labels.spatial[s])]));
  }
  return box;
}

Box ReduceInput(const Op& op, const std::vector<int64_t>& dimensions, const Box& out) {
  Box box = WholeBox(dimensions);
  const auto& reduced = ListOf(op, "dimensions");
  size_t from = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end()) {
      continue;
    }
    box.low[d] = out.low[from];
    box.high[d] = out.high[from++];
  }
  return box;
}

Box WindowedInput(const Op& op, const std::vector<int64_t>& dimensions, const Box& out) {
  Box box = WholeBox(dimensions);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const Range range = WindowInput({out.low[d], out.high[d]}, op.window[d], dimensions[d]);
    box.low[d] = range.low;
    box.high[d] = range.high;
  }
  return box;
}

// Windows whose choice may fall into the box, and all that these windows look at.
Box SelectAndScatterInput(const Network& network, const Op& op, size_t operand, const Box& out) {
  const auto& outer = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const auto& source = network.exprs[static_cast<size_t>(op.inputs[1])].dimensions;
  Box box = out;
  for (size_t d = 0; d < outer.size(); ++d) {
    const WindowDimension& window = op.window[d];
    const Range windows =
        Clip({CeilDivide(out.low[d] + window.pad_low - window.size + 1, window.stride),
              FloorDivide(out.high[d] - 1 + window.pad_low, window.stride) + 1},
             source[d]);
    Range range = windows;
    if (operand == 0) {
      range = windows.low == windows.high ? Range{0, 0} : WindowInput(windows, window, outer[d]);
    }
    box.low[d] = range.low;
    box.high[d] = range.high;
  }
  return box;
}

// Whole along the last `whole` dimensions, as the result along the others.
Box BatchedInput(const std::vector<int64_t>& dimensions, const Box& out, size_t whole) {
  Box box = WholeBox(dimensions);
  for (size_t d = 0; d + whole < dimensions.size(); ++d) {
    box.low[d] = out.low[d];
    box.high[d] = out.high[d];
  }
  return box;
}

bool IsTileableScatter(const Op& op) { return op.opcode == "scatter" && op.inputs.size() == 3; }

}  // namespace

Box InputBox(const Network& network, const Expr& expr, size_t input, const Box& out) {
  const auto& in = network.exprs[static_cast<size_t>(expr.inputs[input])].dimensions;
  if (IsEmpty(out)) return EmptyBox(in.size());
  Box box = WholeBox(in);
  switch (expr.movement) {
    case Movement::kReshape:
      return ReshapeInput(in, expr.dimensions, out);
    case Movement::kTranspose:
      for (size_t d = 0; d < in.size(); ++d) {
        const auto to = static_cast<size_t>(expr.numbers[d]);
        box.low[to] = out.low[d];
        box.high[to] = out.high[d];
      }
      return box;
    case Movement::kBroadcast:
      for (size_t d = 0; d < in.size(); ++d) {
        const auto from = static_cast<size_t>(expr.numbers[d]);
        box.low[d] = out.low[from];
        box.high[d] = out.high[from];
      }
      return box;
    case Movement::kSlice:
      for (size_t d = 0; d < in.size(); ++d) {
        box.low[d] = expr.numbers[d] + expr.strides[d] * out.low[d];
        box.high[d] = expr.numbers[d] + expr.strides[d] * (out.high[d] - 1) + 1;
      }
      return box;
    case Movement::kReverse:
      box = out;
      for (int64_t d : expr.numbers) {
        const auto k = static_cast<size_t>(d);
        box.low[k] = in[k] - out.high[k];
        box.high[k] = in[k] - out.low[k];
      }
      return box;
    case Movement::kPad:
      if (input == 1) return box;  // the scalar
      for (size_t d = 0; d < in.size(); ++d) {
        const Range range =
            Clip({CeilDivide(out.low[d] - expr.numbers[d], expr.strides[d]),
                  FloorDivide(out.high[d] - 1 - expr.numbers[d], expr.strides[d]) + 1},
                 in[d]);
        box.low[d] = range.low;
        box.high[d] = range.high;
      }
      return box;
    case Movement::kConcatenate: {
      const auto axis = static_cast<size_t>(expr.axis);
      int64_t before = 0;
      for (size_t k = 0; k < input; ++k) {
        before += network.exprs[static_cast<size_t>(expr.inputs[k])].dimensions[axis];
      }
      box = out;
      const Range range = Clip({out.low[axis] - before, out.high[axis] - before}, in[axis]);
      box.low[axis] = range.low;
      box.high[axis] = range.high;
      return IsEmpty(box) ? EmptyBox(in.size()) : box;
    }
    case Movement::kUpdate: {
      Box place = network.exprs[static_cast<size_t>(expr.inputs[1])].dimensions.empty()
                      ? Box{}
                      : WholeBox(network.exprs[static_cast<size_t>(expr.inputs[1])].dimensions);
      for (size_t d = 0; d < place.low.size(); ++d) {
        place.low[d] += expr.numbers[d];
        place.high[d] += expr.numbers[d];
      }
      if (input == 0) return Without(out, place);
      box = Intersect(out, place);
      if (IsEmpty(box)) return EmptyBox(in.size());
      for (size_t d = 0; d < box.low.size(); ++d) {
        box.low[d] -= expr.numbers[d];
        box.high[d] -= expr.numbers[d];
      }
      return box;
    }
    case Movement::kTensor:
    case Movement::kLiteral:
    case Movement::kIota:
      break;
  }
  return box;
}

Box OperandBox(const Network& network, const Op& op, size_t operand, const Box& out) {
  const auto& in = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  if (IsEmpty(out)) return EmptyBox(in.size());
  const std::string& opcode = op.opcode;
  if (IsElementwise(opcode)) return in.size() == out.low.size() ? out : WholeBox(in);
  if (opcode == "dot") return DotInput(network, op, operand, out);
  if (opcode == "convolution") return ConvolutionInput(network, op, operand, out);
  if (opcode == "reduce" || opcode == "reduce-window") {
    if (operand >= op.inputs.size() / 2) return WholeBox(in);  // initial values
    return opcode == "reduce" ? ReduceInput(op, in, out) : WindowedInput(op, in, out);
  }
  if (opcode == "select-and-scatter" && operand < 2) {
    return SelectAndScatterInput(network, op, operand, out);
  }
  if (opcode == "gather") return GatherInput(network, op, operand, out);
  if (opcode == "regroup-bytes") {
    Box box = WholeBox(in);
    for (size_t d = 0; d < std::min(in.size(), out.low.size()); ++d) {
      box.low[d] = out.low[d];
      box.high[d] = out.high[d];
    }
    return box;
  }
  if (IsTileableScatter(op)) return ScatterInput(network, op, operand, out);
  if (opcode == "dynamic-update-slice" && operand == 0) return out;
  if (opcode == "dynamic-slice" && operand == 0) {
    Box box = WholeBox(in);
    const auto& result = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
    for (size_t d = 0; d < in.size(); ++d) {
      if (result[d] != in[d]) continue;
      box.low[d] = out.low[d];
      box.high[d] = out.high[d];
    }
    return box;
  }
  if (opcode == "sort") {
    Box box = out;
    const auto axis = static_cast<size_t>(ListOf(op, "dimensions")[0]);
    box.low[axis] = 0;
    box.high[axis] = in[axis];
    return box;
  }
  if (opcode == "fft") return BatchedInput(in, out, ListOf(op, "fft_length").size());
  if (opcode == "cholesky" || opcode == "triangular-solve") return BatchedInput(in, out, 2);
  return WholeBox(in);
}

std::vector<SumDimension> SumDimensions(const Network& network, const Op& op) {
  std::vector<SumDimension> sums;
  if (op.results.size() != 1) return sums;
  const Tensor& result = network.tensors[static_cast<size_t>(op.results[0])];
  const bool coarse = KindOf(result.type) == ValueKind::kReal && BitsOf(result.type) < 32;
  const bool known = KindOf(result.type) != ValueKind::kNone;
  const auto in = [&](size_t k) -> const std::vector<int64_t>& {
    return network.exprs[static_cast<size_t>(op.inputs[k])].dimensions;
  };
  const auto add = [&](int64_t first, int64_t second) {
    const auto d = static_cast<size_t>(first);
    sums.push_back({d, static_cast<size_t>(second), in(0)[d]});
  };
  if (op.opcode == "dot" && known && !coarse) {
    const auto& lhs = ListOf(op, "lhs_contracting_dims");
    const auto& rhs = ListOf(op, "rhs_contracting_dims");
    for (size_t k = 0; k < lhs.size(); ++k) add(lhs[k], rhs[k]);
  } else if (op.opcode == "convolution" && known && !coarse) {
    if (GroupCount(op, "feature_group_count") > 1 || GroupCount(op, "batch_group_count") > 1) {
      return sums;
    }
    add(op.convolution.feature, op.convolution.kernel_input);
  } else if (op.opcode == "reduce" && op.inputs.size() == 2 && known) {
    const std::string& does = op.bodies[0]->ops.size() == 1 ? op.bodies[0]->ops[0].opcode : "";
    const Expr& initial = network.exprs[static_cast<size_t>(op.inputs[1])];
    // Parts begin with the initial value, too: it must change nothing, however often it is taken.
    const bool zero = initial.movement == Movement::kLiteral && initial.literal &&
                      KindOf(initial.type) != ValueKind::kComplex &&
                      AsReal(*initial.literal, 0) == 0;
    const bool sum = does == "add" && zero && !coarse;
    if (sum || does == "maximum" || does == "minimum" || does == "and" || does == "or") {
      for (int64_t d : ListOf(op, "dimensions")) add(d, 0);
    }
  } else if (op.opcode == "gather" && known && result.type != ElementType::kPred) {
    // Every part adds the elements that it has, and zeros for the others.
    const Expr& operand = network.exprs[static_cast<size_t>(op.inputs[0])];
    const bool computed = operand.movement != Movement::kTensor ||
                          network.tensors[static_cast<size_t>(operand.tensor)].producer != kNone;
    if (!computed) return sums;
    for (int64_t d : ListOf(op, "collapsed_slice_dims")) add(d, 0);
  }
  return sums;
}

bool IsLastPart(const Network& network, const Op& op, const Box& sum) {
  const std::vector<SumDimension> dimensions = SumDimensions(network, op);
  for (size_t k = 0; k < sum.low.size(); ++k) {
    if (sum.high[k] != dimensions[k].size) return false;
  }
  return true;
}

Box OperandBox(const Network& network, const Op& op, size_t operand, const Box& out,
               const Box& sum) {
  Box box = OperandBox(network, op, operand, out);
  if (sum.low.empty() || (operand == 1 && (op.opcode == "reduce" || op.opcode == "gather"))) {
    return box;
  }
  const std::vector<SumDimension> dimensions = SumDimensions(network, op);
  for (size_t k = 0; k < dimensions.size(); ++k) {
    const size_t d = operand == 0 ? dimensions[k].first : dimensions[k].second;
    box.low[d] = std::max(box.low[d], sum.low[k]);
    box.high[d] = std::min(box.high[d], sum.high[k]);
  }
  return box;
}

void ForEachLeaf(const Network& network, ExprId id, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need) {
  Work::Add(1);
  const Expr& expr = network.exprs[static_cast<size_t>(id)];
  if (IsEmpty(out)) return;
  if (expr.movement == Movement::kTensor) return need(expr.tensor, out);
  for (size_t i = 0; i < expr.inputs.size(); ++i) {
    ForEachLeaf(network, expr.inputs[i], InputBox(network, expr, i, out), need);
  }
}

bool ReadsFromDram(const Network& network, const Op& op) {
  if (op.opcode != "gather" && op.opcode != "dynamic-slice") return false;
  const Expr& operand = network.exprs[static_cast<size_t>(op.inputs[0])];
  if (operand.movement != Movement::kTensor) return false;
  const Tensor& tensor = network.tensors[static_cast<size_t>(operand.tensor)];
  return tensor.producer == kNone &&
         tensor.Bytes() > network.tensors[static_cast<size_t>(op.results[0])].Bytes();
}

void ForEachRead(const Network& network, const Op& op, const Box& out,
                 const std::function<void(TensorId, const Box&)>& need, const Box& sum) {
  for (size_t k = ReadsFromDram(network, op) ? 1 : 0; k < op.inputs.size(); ++k) {
    ForEachLeaf(network, op.inputs[k], OperandBox(network, op, k, out, sum), need);
  }
}

bool CanTile(const Network& network, const Op& op) {
  const auto& first = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  for (TensorId result : op.results) {
    if (network.tensors[static_cast<size_t>(result)].dimensions != first) return false;
  }
  if (first.empty() && SumDimensions(network, op).empty()) return false;
  return op.conservative.empty() || op.opcode == "gather" || IsTileableScatter(op);
}

}  // namespace hone::memory
