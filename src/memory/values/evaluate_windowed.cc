#include <algorithm>
#include <cmath>
#include <numeric>

#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

// The opcode of a body that does one thing to its two parameters; empty for any other.
std::string SingleOperation(const Network& body) {
  if (body.ops.size() != 1 || body.parameters.size() != 2 || body.outputs.size() != 1) return "";
  const Op& op = body.ops[0];
  if (op.inputs.size() != 2 || !IsElementwise(op.opcode)) return "";
  const auto leaf = [&](ExprId id) {
    const Expr& expr = body.exprs[static_cast<size_t>(id)];
    return expr.movement == Movement::kTensor ? expr.tensor : kNone;
  };
  if (leaf(body.outputs[0]) != op.results[0]) return "";
  const TensorId a = leaf(op.inputs[0]), b = leaf(op.inputs[1]);
  const bool both = (a == body.parameters[0] && b == body.parameters[1]) ||
                    (a == body.parameters[1] && b == body.parameters[0]);
  return both && op.opcode != "subtract" && op.opcode != "divide" ? op.opcode : "";
}

// What a reduction has accumulated for each element of its results, of each operand.
class Accumulators {
  enum class Way { kSum, kProduct, kMaximum, kMinimum, kOther };

 public:
  // Sums of floating-point numbers are kept in double precision to the end.
  Accumulators(const Network& body, std::vector<Array> initial)
      : body_(body), values_(std::move(initial)) {
    if (values_.size() != 1 || KindOf(values_[0].type) != ValueKind::kReal) return;
    const std::string opcode = SingleOperation(body);
    way_ = opcode == "add"        ? Way::kSum
           : opcode == "multiply" ? Way::kProduct
           : opcode == "maximum"  ? Way::kMaximum
           : opcode == "minimum"  ? Way::kMinimum
                                  : Way::kOther;
  }

  bool fast() const { return way_ != Way::kOther; }

  void Take(size_t lane, double value) {
    double& sum = values_[0].reals[lane];
    switch (way_) {
      case Way::kSum:
        sum += value;
        break;
      case Way::kProduct:
        sum *= value;
        break;
      case Way::kMaximum:
        sum = value > sum || value != value ? value : sum;
        break;
      case Way::kMinimum:
        sum = value < sum || value != value ? value : sum;
        break;
      case Way::kOther:
        break;
    }
  }

  // One more element for the lanes listed.
  Status Take(const std::vector<size_t>& lanes, const std::vector<Array>& elements) {
    std::vector<Array> arguments;
    for (const Array& value : values_) {
      Array some = MakeArray(value.type, WholeBox({static_cast<int64_t>(lanes.size())}));
      for (size_t k = 0; k < lanes.size(); ++k) {
        CopyElement(value, static_cast<int64_t>(lanes[k]), some, static_cast<int64_t>(k));
      }
      arguments.push_back(std::move(some));
    }
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    auto results = EvaluateLanes(body_, arguments);
    if (!results) return tl::unexpected(results.error());
    for (size_t v = 0; v < values_.size(); ++v) {
      for (size_t k = 0; k < lanes.size(); ++k) {
        CopyElement((*results)[v], static_cast<int64_t>(k), values_[v],
                    static_cast<int64_t>(lanes[k]));
      }
    }
    return {};
  }

  std::vector<Array> Finish() {
    for (Array& value : values_) RoundAll(value.reals, value.type);
    return std::move(values_);
  }

 private:
  const Network& body_;
  std::vector<Array> values_;
  Way way_ = Way::kOther;
};

std::vector<Array> Initial(const std::vector<Array>& operands, const Box& out) {
  std::vector<Array> initial;
  for (size_t k = operands.size() / 2; k < operands.size(); ++k) {
    Array array = MakeArray(operands[k].type, out);
    Fill(operands[k], array);
    initial.push_back(std::move(array));
  }
  return initial;
}

thread_local InitialValueWatch* watch = nullptr;

bool Same(const std::vector<Array>& a, const std::vector<Array>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].integers != b[k].integers || a[k].complexes != b[k].complexes) return false;
    if (!std::equal(a[k].reals.begin(), a[k].reals.end(), b[k].reals.begin(), same)) return false;
  }
  return true;
}

// Whether an element that was combined with the initial value becomes another where that is taken
// again: not with an identity, nor with any bound of a maximum. With one element for each result
// XLA may not take it at all, so there it is to change nothing. Asks some of the elements and the
// initial value itself.
bool InitialValueCounts(const Network& body, const std::vector<Array>& operands, const Box& out) {
  const int64_t elements = Elements(operands[0].box);
  const int64_t asked = std::min<int64_t>(elements, 4096);
  if (asked == 0) return false;
  std::vector<Array> initial, some;
  const size_t values = operands.size() / 2;
  for (size_t v = 0; v < values; ++v) {
    initial.push_back(MakeArray(operands[v].type, WholeBox({asked + 1})));
    Fill(operands[values + v], initial.back());
    some.push_back(initial.back());
    for (int64_t k = 0; k < asked; ++k) {
      CopyElement(operands[v], k * (elements / asked), some.back(), k);
    }
  }
  const auto combined = [&](std::vector<Array> left, const std::vector<Array>& right) {
    left.insert(left.end(), right.begin(), right.end());
    return EvaluateLanes(body, left);
  };
  const auto once = combined(initial, some);
  if (!once) return false;
  if (elements == Elements(out) && !Same(*once, some)) return true;
  const auto before = combined(initial, *once), after = combined(*once, initial);
  return (before && !Same(*before, *once)) || (after && !Same(*after, *once));
}

// Rounds: in each, `source(index, round)` says which position of the operands goes to which lane.
template <class Source>
StatusOr<std::vector<Array>> Accumulate(const Network& body, const std::vector<Array>& operands,
                                        const Box& out, int64_t rounds, Source source) {
  Accumulators accumulators(body, Initial(operands, out));
  const size_t values = operands.size() / 2;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<size_t> lanes;
    std::vector<int64_t> positions;
    ForEach(out, [&](const std::vector<int64_t>& index, int64_t lane) {
      const int64_t position = source(index, round);
      if (position < 0) return;
      if (accumulators.fast()) {
        accumulators.Take(static_cast<size_t>(lane),
                          operands[0].reals[static_cast<size_t>(position)]);
        return;
      }
      lanes.push_back(static_cast<size_t>(lane));
      positions.push_back(position);
    });
    if (lanes.empty()) continue;
    std::vector<Array> elements;
    for (size_t v = 0; v < values; ++v) {
      Array some = MakeArray(operands[v].type, WholeBox({static_cast<int64_t>(lanes.size())}));
      for (size_t k = 0; k < lanes.size(); ++k) {
        CopyElement(operands[v], positions[k], some, static_cast<int64_t>(k));
      }
      elements.push_back(std::move(some));
    }
    if (Status taken = accumulators.Take(lanes, elements); !taken) {
      return tl::unexpected(taken.error());
    }
  }
  return accumulators.Finish();
}

StatusOr<std::vector<Array>> Reduce(const Op& op, const std::vector<Array>& operands,
                                    const Box& out) {
  const Box& box = operands[0].box;
  const auto& reduced = ListOf(op, "dimensions");
  Box inner;
  std::vector<size_t> kept;
  for (size_t d = 0; d < box.low.size(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end()) {
      kept.push_back(d);
    }
  }
  for (int64_t d : reduced) {
    inner.low.push_back(box.low[static_cast<size_t>(d)]);
    inner.high.push_back(box.high[static_cast<size_t>(d)]);
  }
  const std::vector<int64_t> strides = Strides(box);
  std::vector<int64_t> offsets;
  ForEach(inner, [&](const std::vector<int64_t>& index, int64_t) {
    int64_t offset = 0;
    for (size_t k = 0; k < reduced.size(); ++k) {
      offset += (index[k] - inner.low[k]) * strides[static_cast<size_t>(reduced[k])];
    }
    offsets.push_back(offset);
  });
  return Accumulate(*op.bodies[0], operands, out, static_cast<int64_t>(offsets.size()),
                    [&](const std::vector<int64_t>& index, int64_t round) {
                      int64_t position = offsets[static_cast<size_t>(round)];
                      for (size_t k = 0; k < kept.size(); ++k) {
                        position += (index[k] - box.low[kept[k]]) * strides[kept[k]];
                      }
                      return position;
                    });
}

// Where in the operand a window's place lies; -1 where it is padding.
int64_t WindowPosition(const std::vector<int64_t>& index, const std::vector<int64_t>& place,
                       const std::vector<WindowDimension>& window,
                       const std::vector<int64_t>& dimensions, const Box& box) {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    const WindowDimension& w = window[d];
    const int64_t at = index[d] * w.stride - w.pad_low + place[d] * w.window_dilation;
    if (at < 0 || at % w.base_dilation != 0 || at / w.base_dilation >= dimensions[d]) return -1;
    const int64_t input = at / w.base_dilation;
    HONE_CHECK(input >= box.low[d] && input < box.high[d]);
    position = position * Extent(box, d) + (input - box.low[d]);
  }
  return position;
}

std::vector<std::vector<int64_t>> Places(const std::vector<WindowDimension>& window) {
  std::vector<int64_t> sizes;
  for (const WindowDimension& w : window) sizes.push_back(w.size);
  std::vector<std::vector<int64_t>> places;
  ForEach(WholeBox(sizes), [&](const auto& index, int64_t) { places.push_back(index); });
  return places;
}

StatusOr<std::vector<Array>> ReduceWindow(const Network& network, const Op& op,
                                          const std::vector<Array>& operands, const Box& out) {
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const auto places = Places(op.window);
  return Accumulate(*op.bodies[0], operands, out, static_cast<int64_t>(places.size()),
                    [&](const std::vector<int64_t>& index, int64_t round) {
                      return WindowPosition(index, places[static_cast<size_t>(round)], op.window,
                                            dimensions, operands[0].box);
                    });
}

// Each window chooses one of its elements, by the first body; its source element is added there, by
// the second.
StatusOr<std::vector<Array>> SelectAndScatter(const Network& network, const Op& op,
                                              const std::vector<Array>& operands, const Box& out) {
  const Network& select = *op.bodies[0];
  const Network& scatter = *op.bodies[1];
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const Array& operand = operands[0];
  const Array& source = operands[1];
  if (SingleOperation(select).empty() &&
      (select.ops.size() != 1 || select.ops[0].opcode != "compare")) {
    return NoArithmetic(op, "its choice is not a single comparison");
  }
  const std::string& direction = select.ops[0].texts.at("direction");
  if (KindOf(operand.type) != ValueKind::kReal || SingleOperation(scatter) != "add" ||
      (direction != "GE" && direction != "GT")) {
    return NoArithmetic(op, "only the greatest element and sums are known");
  }
  const auto places = Places(op.window);
  Array result = MakeArray(source.type, out);
  for (double& value : result.reals) value = operands[2].reals[0];
  ForEach(source.box, [&](const std::vector<int64_t>& index, int64_t at) {
    std::vector<int64_t> chosen;
    double best = 0;
    for (const auto& place : places) {
      const int64_t position = WindowPosition(index, place, op.window, dimensions, operand.box);
      if (position < 0) continue;
      const double value = operand.reals[static_cast<size_t>(position)];
      const bool stays = !chosen.empty() && (direction == "GE" ? best >= value : best > value);
      if (stays) continue;
      best = value;
      chosen.resize(index.size());
      for (size_t d = 0; d < index.size(); ++d) {
        chosen[d] = index[d] * op.window[d].stride - op.window[d].pad_low + place[d];
      }
    }
    Box point{chosen, chosen};
    for (int64_t& high : point.high) ++high;
    if (!chosen.empty() && Contains(out, point)) {
      result.reals[static_cast<size_t>(Position(out, chosen))] +=
          source.reals[static_cast<size_t>(at)];
    }
  });
  RoundAll(result.reals, result.type);
  return std::vector<Array>{std::move(result)};
}

}  // namespace

StatusOr<std::vector<Array>> EvaluateWindowed(const Network& network, const Op& op,
                                              const std::vector<Array>& operands,
                                              const std::vector<Box>& out) {
  for (const Array& operand : operands) {
    if (KindOf(operand.type) == ValueKind::kNone) return NoArithmetic(op, "its type");
  }
  const bool reduces = op.opcode == "reduce" || op.opcode == "reduce-window";
  if (watch != nullptr && reduces && InitialValueCounts(*op.bodies[0], operands, out[0])) {
    watch->Notice(op.name);
  }
  if (op.opcode == "reduce") return Reduce(op, operands, out[0]);
  if (op.opcode == "reduce-window") return ReduceWindow(network, op, operands, out[0]);
  return SelectAndScatter(network, op, operands, out[0]);
}

InitialValueWatch::InitialValueWatch() { watch = this; }
InitialValueWatch::~InitialValueWatch() { watch = nullptr; }

// Operators of scalars work on vectors just as well: every scalar becomes a vector of lanes.
StatusOr<std::vector<Array>> EvaluateLanes(const Network& body,
                                           const std::vector<Array>& arguments) {
  const Box lanes = arguments[0].box;
  std::vector<Array> tensors(body.tensors.size());
  for (size_t p = 0; p < body.parameters.size(); ++p) {
    tensors[static_cast<size_t>(body.parameters[p])] = arguments[p];
  }
  const auto value = [&](ExprId id) -> StatusOr<Array> {
    const Expr* expr = &body.exprs[static_cast<size_t>(id)];
    while (expr->inputs.size() == 1 && Elements(expr->dimensions) == 1) {
      expr = &body.exprs[static_cast<size_t>(expr->inputs[0])];
    }
    if (expr->movement == Movement::kTensor &&
        tensors[static_cast<size_t>(expr->tensor)].box == lanes) {
      return tensors[static_cast<size_t>(expr->tensor)];
    }
    if (expr->movement != Movement::kLiteral || Elements(expr->dimensions) != 1) {
      return MakeError(ErrorCode::kUnsupported,
                       "a computation of '" + body.name + "' that is not of scalars only");
    }
    Array array = MakeArray(expr->type, lanes);
    Fill(*expr->literal, array);
    return array;
  };
  for (const Op& op : body.ops) {
    if (!IsElementwise(op.opcode)) {
      return NoArithmetic(op, "in the computation '" + body.name + "'");
    }
    std::vector<Array> operands;
    for (ExprId input : op.inputs) {
      auto operand = value(input);
      if (!operand) return tl::unexpected(operand.error());
      operands.push_back(*std::move(operand));
    }
    const auto result = static_cast<size_t>(op.results[0]);
    auto computed = EvaluateElementwise(op, operands, body.tensors[result].type, lanes);
    if (!computed) return tl::unexpected(computed.error());
    tensors[result] = *std::move(computed);
  }
  std::vector<Array> results;
  for (ExprId output : body.outputs) {
    auto result = value(output);
    if (!result) return tl::unexpected(result.error());
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace hone::memory
