#include "loops/hlo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

namespace hone::loops {
namespace {

using Shape = std::vector<int64_t>;

class Writer {
 public:
  explicit Writer(const Task& task) : task_(task) {}

  std::string Write() {
    for (int i = 0; i < task_.inputs; ++i) {
      values_.push_back(Let(At(i).element, At(i).shape, fmt::format("parameter({})", i)));
      if (!InfoOf(At(i).element).narrow()) continue;
      if (InfoOf(At(i).element).widening == Widening::kRounds) {
        values_.back() =
            Let(Element::kBF16, At(i).shape, fmt::format("convert({})", values_.back()));
      }
      values_.back() =
          Let(WideOf(At(i).element), At(i).shape, fmt::format("convert({})", values_.back()));
    }
    for (const Operation& op : task_.operations) values_.push_back(Operate(op));
    std::string types, names;
    for (const int output : task_.outputs) {
      types += (types.empty() ? "" : ", ") + Typed(At(output).element, At(output).shape);
      names += (names.empty() ? "" : ", ") + ValueOf(output);
    }
    text_ += fmt::format("  ROOT result = ({}) tuple({})\n", types, names);
    return "HloModule " + task_.name + "\n\n" + computations_ + "ENTRY main {\n" + text_ + "}\n";
  }

 private:
  const Tensor& At(int tensor) const { return task_.tensors[static_cast<size_t>(tensor)]; }
  const std::string& ValueOf(int tensor) const { return values_[static_cast<size_t>(tensor)]; }
  static std::string Typed(Element element, const Shape& shape) {
    return fmt::format("{}[{}]", InfoOf(element).stored(), fmt::join(shape, ","));
  }

  std::string Let(Element element, const Shape& shape, const std::string& what) {
    const std::string name = fmt::format("v{}", next_++);
    text_ += fmt::format("  {} = {} {}\n", name, Typed(element, shape), what);
    return name;
  }

  // A computation that combines two numbers.
  std::string Combiner(Element element, const char* opcode) {
    const std::string name = fmt::format("{}_{}", opcode, InfoOf(element).name);
    if (computations_.find(name + " {") == std::string::npos) {
      const char* const type = InfoOf(element).name;
      computations_ += fmt::format(
          "{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n  ROOT r = {1}[] {2}(a, "
          "b)\n}}\n\n",
          name, type, opcode);
    }
    return name;
  }

  // A computation that tells whether the first number comes before the second; positions come
  // along.
  std::string Less(Element element, bool positions) {
    const ElementInfo& info = InfoOf(element);
    const std::string name = fmt::format("less_{}{}", info.name, positions ? "_at" : "");
    if (computations_.find(name + " {") == std::string::npos) {
      computations_ += fmt::format(
          "{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n{2}  ROOT r = pred[] "
          "compare(a, b), direction=LT{3}\n}}\n\n",
          name, info.name, positions ? "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n" : "",
          info.floating ? ", type=TOTALORDER" : "");
    }
    return name;
  }

  std::string Sort(const std::string& x, Element element, const Shape& shape, bool positions) {
    const std::string how = "dimensions={1}, is_stable=true, to_apply=" + Less(element, positions);
    if (!positions) return Let(element, shape, fmt::format("sort({}), {}", x, how));
    const std::string iota = Let(Element::kI32, shape, "iota(), iota_dimension=1");
    const std::string both = fmt::format("v{}", next_++);
    text_ += fmt::format("  {} = ({}, {}) sort({}, {}), {}\n", both, Typed(element, shape),
                         Typed(Element::kI32, shape), x, iota, how);
    return Let(Element::kI32, shape, fmt::format("get-tuple-element({}), index=1", both));
  }

  // As LAPACK factors; the rows that were exchanged come last.
  std::string Lu(const std::string& x, Element element, const Shape& shape) {
    const Shape of = {shape[0], shape[2], shape[2]}, rows = {shape[0], shape[2]};
    const auto by_columns = [](const std::string& type) { return type + "{1,2,0}"; };
    const std::string matrices = by_columns(Typed(element, of));
    const std::string given = fmt::format("v{}", next_++), all = fmt::format("v{}", next_++);
    text_ += fmt::format("  {} = {} copy({})\n", given, matrices, x);
    text_ += fmt::format(
        "  {} = ({}, {}, s32[{}]) custom-call({}), custom_call_target=\"lapack_{}getrf_ffi\", "
        "operand_layout_constraints={{{}}}, api_version=API_VERSION_TYPED_FFI\n",
        all, matrices, Typed(Element::kI32, rows), shape[0], given,
        element == Element::kF64 ? "d" : "s", matrices);
    const std::string lu = Let(element, of, fmt::format("get-tuple-element({}), index=0", all));
    const std::string pivots =
        Let(Element::kI32, rows, fmt::format("get-tuple-element({}), index=1", all));
    const std::string numbers = Let(element, rows, fmt::format("convert({})", pivots));
    return WithRow(lu, "EQ", numbers, Let(element, rows, "negate(" + numbers + ")"), element,
                   shape);
  }
  std::string Exchanges(const std::string& x, const Shape& shape) {
    const Element type = Element::kI32;
    // Element k of each row, everywhere.
    const auto element = [&](const std::string& of, int64_t k) {
      const std::string row =
          Let(type, {shape[0], 1, 1},
              fmt::format("slice({}), slice={{[0:{}], [{}:{}], [0:1]}}", of, shape[0], k, k + 1));
      return Broadcast(type, Let(type, {shape[0]}, "reshape(" + row + ")"), shape, {0});
    };
    const auto number = [&](int64_t value) { return All(type, std::to_string(value), shape); };
    const auto op = [&](const std::string& text) { return Let(type, shape, text); };
    const std::string i = op("iota(), iota_dimension=1");
    std::string order = i;
    for (int64_t k = 0; k < shape[1]; ++k) {
      const std::string pivot = element(x, k), old = element(order, k);
      const std::string low = op("maximum(" + pivot + ", " + number(0) + ")");
      const std::string near = op("minimum(" + low + ", " + number(shape[1] - 1) + ")");
      const std::string here = Compared(near, "EQ", i, shape);
      const std::string alone = op("select(" + here + ", " + order + ", " + number(0) + ")");
      const std::string sum = Reduce(type, alone, {shape[0]}, {1, 2}, /*maximum=*/false);
      const std::string is = Compared(pivot, "EQ", i, shape);
      const std::string set = op("select(" + is + ", " + old + ", " + order + ")");
      order = op("select(" + Compared(i, "EQ", number(k), shape) + ", " +
                 Broadcast(type, sum, shape, {0}) + ", " + set + ")");
    }
    return order;
  }
  // With a last row that is `one` or, where the diagonal compares so with 0, `other`.
  std::string WithRow(const std::string& matrices, const char* how, const std::string& one,
                      const std::string& other, Element element, const Shape& shape) {
    const Shape of = {shape[0], shape[2], shape[2]}, rows = {shape[0], shape[2]};
    const std::string i = Let(Element::kI32, of, "iota(), iota_dimension=1");
    const std::string j = Let(Element::kI32, of, "iota(), iota_dimension=2");
    const std::string on = Compared(i, "EQ", j, of);
    const std::string zeros = All(element, "0", of);
    const std::string alone =
        Let(element, of, fmt::format("select({}, {}, {})", on, matrices, zeros));
    const std::string diagonal = Reduce(element, alone, rows, {2}, /*maximum=*/false);
    const std::string which = Compared(diagonal, how, All(element, "0", rows), rows);
    const std::string row =
        Let(element, rows, fmt::format("select({}, {}, {})", which, other, one));
    const std::string last = Let(element, {shape[0], 1, shape[2]}, fmt::format("reshape({})", row));
    return Let(element, shape,
               fmt::format("concatenate({}, {}), dimensions={{1}}", matrices, last));
  }
  std::string Compared(const std::string& x, const char* how, const std::string& y,
                       const Shape& shape) {
    const std::string name = fmt::format("v{}", next_++);
    text_ += fmt::format("  {} = pred[{}] compare({}, {}), direction={}\n", name,
                         fmt::join(shape, ","), x, y, how);
    return name;
  }

  std::string Constant(Element element, const std::string& value) {
    return Let(element, {}, "constant(" + value + ")");
  }
  std::string All(Element element, const std::string& value, const Shape& shape) {
    return Broadcast(element, Constant(element, value), shape, {});
  }
  std::string Neutral(Element element, bool maximum) {
    if (!maximum) return Constant(element, "0");
    return Constant(element, InfoOf(element).floating ? "-inf" : "-2147483648");
  }
  std::string Broadcast(Element element, const std::string& value, const Shape& shape,
                        const Shape& dimensions) {
    return Let(element, shape,
               fmt::format("broadcast({}), dimensions={{{}}}", value, fmt::join(dimensions, ",")));
  }
  std::string Reduce(Element element, const std::string& value, const Shape& result,
                     const Shape& axes, bool maximum) {
    const std::string start = Neutral(element, maximum);
    return Let(element, result,
               fmt::format("reduce({}, {}), dimensions={{{}}}, to_apply={}", value, start,
                           fmt::join(axes, ","), Combiner(element, maximum ? "maximum" : "add")));
  }

  static Shape Dimensions(size_t from, size_t to) {
    Shape dimensions(to - from);
    std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(from));
    return dimensions;
  }

  std::string Softmax(Element element, const std::string& x, const Shape& shape) {
    const Shape rows(shape.begin(), shape.end() - 1);
    const Shape last = {static_cast<int64_t>(rows.size())};
    const Shape kept = Dimensions(0, rows.size());
    const std::string most = Reduce(element, x, rows, last, true);
    const std::string whole = Broadcast(element, most, shape, kept);
    const std::string less = Let(element, shape, fmt::format("subtract({}, {})", x, whole));
    const std::string grown = Let(element, shape, fmt::format("exponential({})", less));
    const std::string sum = Reduce(element, grown, rows, last, false);
    const std::string sums = Broadcast(element, sum, shape, kept);
    return Let(element, shape, fmt::format("divide({}, {})", grown, sums));
  }

  std::string LayerNorm(const Operation& op, Element element, const Shape& shape) {
    const Shape rows(shape.begin(), shape.end() - 1);
    const Shape last = {static_cast<int64_t>(rows.size())};
    const Shape kept = Dimensions(0, rows.size());
    const std::string& x = ValueOf(op.operands[0]);
    const auto mean = [&](const std::string& value) {
      const std::string sum = Reduce(element, value, rows, last, false);
      const std::string size =
          Broadcast(element, Constant(element, std::to_string(shape.back())), rows, {});
      return Let(element, rows, fmt::format("divide({}, {})", sum, size));
    };
    const std::string middle = Broadcast(element, mean(x), shape, kept);
    const std::string centred = Let(element, shape, fmt::format("subtract({}, {})", x, middle));
    const std::string square = Let(element, shape, fmt::format("multiply({0}, {0})", centred));
    const std::string epsilon = All(element, "1e-5", rows);
    const std::string variance =
        Let(element, rows, fmt::format("add({}, {})", mean(square), epsilon));
    const std::string factor = Let(element, rows, fmt::format("rsqrt({})", variance));
    const std::string factors = Broadcast(element, factor, shape, kept);
    const std::string normal =
        Let(element, shape, fmt::format("multiply({}, {})", centred, factors));
    const std::string gain = Broadcast(element, ValueOf(op.operands[1]), shape, last);
    const std::string bias = Broadcast(element, ValueOf(op.operands[2]), shape, last);
    const std::string scaled = Let(element, shape, fmt::format("multiply({}, {})", normal, gain));
    return Let(element, shape, fmt::format("add({}, {})", scaled, bias));
  }

  std::string Attention(const Operation& op, Element element, const Shape& shape) {
    const Shape& q = At(op.operands[0]).shape;
    const Shape scores_shape = {q[0], q[1], q[2], At(op.operands[1]).shape[2]};
    const std::string scores =
        Let(element, scores_shape,
            fmt::format("dot({}, {}), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, "
                        "rhs_batch_dims={{0,1}}, rhs_contracting_dims={{3}}",
                        ValueOf(op.operands[0]), ValueOf(op.operands[1])));
    const std::string scale = Broadcast(
        element, Constant(element, fmt::format("{:.9g}", 1 / std::sqrt(static_cast<double>(q[3])))),
        scores_shape, {});
    const std::string scaled =
        Let(element, scores_shape, fmt::format("multiply({}, {})", scores, scale));
    const std::string weights = Softmax(element, scaled, scores_shape);
    return Let(element, shape,
               fmt::format("dot({}, {}), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, "
                           "rhs_batch_dims={{0,1}}, rhs_contracting_dims={{2}}",
                           weights, ValueOf(op.operands[2])));
  }

  // With all dimensions but the last two of both as batches.
  std::string Dot(Element element, const Shape& shape, const std::string& a, const std::string& b,
                  size_t of_a, size_t of_b) {
    const Shape batch = Dimensions(0, shape.size() - 2);
    return Let(element, shape,
               fmt::format("dot({}, {}), lhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, "
                           "rhs_batch_dims={{{}}}, rhs_contracting_dims={{{}}}",
                           a, b, fmt::join(batch, ","), of_a, fmt::join(batch, ","), of_b));
  }

  std::string Attend(const Operation& op, Element element) {
    const Shape& seen = At(op.operands[0]).shape;
    const Shape& values = At(op.operands[1]).shape;
    const size_t rank = seen.size();
    std::string scores = ValueOf(op.operands[0]);
    if (const auto until = op.attributes.find("until"); until != op.attributes.end()) {
      const std::string shape = fmt::format("[{}]", fmt::join(seen, ","));
      const std::string base = fmt::format("u{}", next_++);
      text_ += fmt::format(
          "  {0}r = s32{1} iota(), iota_dimension={2}\n  {0}c = s32{1} iota(), iota_dimension={3}\n"
          "  {0}n = s32[] constant({4})\n  {0}b = s32{1} broadcast({0}n), dimensions={{}}\n"
          "  {0}l = s32{1} add({0}r, {0}b)\n  {0} = pred{1} compare({0}c, {0}l), direction=LE\n",
          base, shape, rank - 2, rank - 1, until->second[0]);
      const std::string least = All(element, "-inf", seen);
      scores = Let(element, seen, fmt::format("select({}, {}, {})", base, scores, least));
    }
    Shape out = seen;
    out[rank - 1] = values[rank - 1];
    const std::string made = Dot(element, out, Softmax(element, scores, seen),
                                 ValueOf(op.operands[1]), rank - 1, rank - 2);
    return Permuted(op, element, made);
  }

  std::string Product(const Operation& op, Element element) {
    Shape out = At(op.operands[0]).shape;
    const size_t rank = out.size();
    out[rank - 1] = At(op.operands[1]).shape[rank - 1];
    return Permuted(
        op, element,
        Dot(element, out, ValueOf(op.operands[0]), ValueOf(op.operands[1]), rank - 1, rank - 2));
  }

  std::string Convolution(const Operation& op, Element element) {
    const Shape& x = At(op.operands[0]).shape;
    const Shape& w = At(op.operands[1]).shape;
    const size_t spatial = x.size() - 2;
    const Shape sizes = op.Get("sizes", spatial, 1), strides = op.Get("strides", spatial, 1);
    const Shape dilations = op.Get("dilations", spatial, 1), pads = op.Get("pads", spatial, 0);
    const bool depthwise = op.kind == "depthwise";
    const auto taps_end = w.begin() + static_cast<ptrdiff_t>(spatial);
    std::string kernel = ValueOf(op.operands[1]);
    if (depthwise) {
      Shape grouped(w.begin(), taps_end);
      grouped.insert(grouped.end(), {1, w.back()});
      kernel = Let(element, grouped, fmt::format("reshape({})", kernel));
    }
    Shape out = {x[0]};
    out.insert(out.end(), sizes.begin(), sizes.end());
    out.push_back(w.back());
    std::vector<std::string> pad;
    Shape steps, reversed;
    for (size_t d = 0; d < spatial; ++d) {
      steps.push_back(std::abs(dilations[d]));
      reversed.push_back(dilations[d] < 0 ? 1 : 0);
      const int64_t low = pads[d] + reversed[d] * (w[d] - 1) * steps[d];
      const int64_t reach = (sizes[d] - 1) * strides[d] + (w[d] - 1) * steps[d] + 1;
      pad.push_back(fmt::format("{}_{}", low, reach - low - x[d + 1]));
    }
    const std::string space = std::string("012").substr(0, spatial);
    return Permuted(
        op, element,
        Let(element, out,
            fmt::format("convolution({}, {}), window={{size={} stride={} pad={} rhs_dilate={} "
                        "rhs_reversal={}}}, dim_labels=b{}f_{}io->b{}f{}",
                        ValueOf(op.operands[0]), kernel, fmt::join(w.begin(), taps_end, "x"),
                        fmt::join(strides, "x"), fmt::join(pad, "x"), fmt::join(steps, "x"),
                        fmt::join(reversed, "x"), space, space, space,
                        depthwise ? fmt::format(", feature_group_count={}", w.back()) : "")));
  }

  std::string Permuted(const Operation& op, Element element, const std::string& made) {
    if (op.attributes.count("permutation") == 0) return made;
    return Let(element, At(op.result).shape,
               fmt::format("transpose({}), dimensions={{{}}}", made,
                           fmt::join(op.Get("permutation", 0, 0), ",")));
  }

  std::string Windowed(const Operation& op, Element element, const Shape& shape) {
    const Shape strides = op.Get("strides", 2, 1);
    if (op.kind == "conv2d") {
      const Shape& filter = At(op.operands[1]).shape;
      const Shape dilations = op.Get("dilations", 2, 1);
      return Let(element, shape,
                 fmt::format("convolution({}, {}), window={{size={}x{} stride={}x{} "
                             "rhs_dilate={}x{}}}, dim_labels=bf01_oi01->bf01",
                             ValueOf(op.operands[0]), ValueOf(op.operands[1]), filter[2], filter[3],
                             strides[0], strides[1], dilations[0], dilations[1]));
    }
    const Shape window = op.Get("window", 2, 1);
    const bool maximum = op.kind == "pool_max";
    const std::string start = Neutral(element, maximum);
    return Let(element, shape,
               fmt::format("reduce-window({}, {}), window={{size=1x1x{}x{} stride=1x1x{}x{}}}, "
                           "to_apply={}",
                           ValueOf(op.operands[0]), start, window[0], window[1], strides[0],
                           strides[1], Combiner(element, maximum ? "maximum" : "add")));
  }

  std::string Operate(const Operation& op) {
    const Tensor& result = At(op.result);
    const Element element = result.element;
    const Shape& shape = result.shape;
    const std::string& x = ValueOf(op.operands[0]);
    if (op.kind == "matmul" || op.kind == "batch_matmul") {
      const bool batch = op.kind == "batch_matmul";
      return Let(
          element, shape,
          fmt::format("dot({}, {}), {}lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}", x,
                      ValueOf(op.operands[1]),
                      batch ? "lhs_batch_dims={0}, rhs_batch_dims={0}, " : "", batch ? 2 : 1,
                      batch ? 1 : 0));
    }
    if (op.kind == "conv2d" || op.kind == "pool_max" || op.kind == "pool_sum") {
      return Windowed(op, element, shape);
    }
    if (op.kind == "reduce_sum" || op.kind == "reduce_max") {
      const Shape axes = op.Get("axes", 0, 0);
      const bool maximum = op.kind == "reduce_max";
      if (axes.size() < At(op.operands[0]).shape.size()) {
        return Reduce(element, x, shape, axes, maximum);
      }
      return Let(element, shape, fmt::format("reshape({})", Reduce(element, x, {}, axes, maximum)));
    }
    if (IsRunning(op.kind)) {
      const bool maximum = op.kind == "running_max", reverse = op.Get("reverse", 1, 0)[0] != 0;
      const bool product = op.kind == "running_product";
      const std::string start = product ? Constant(element, "1") : Neutral(element, maximum);
      const int64_t before = shape[1] - 1;
      return Let(element, shape,
                 fmt::format("reduce-window({}, {}), window={{size=1x{}{} pad=0_0x{}{}}}, "
                             "to_apply={}",
                             x, start, shape[1], shape.size() == 3 ? "x1" : "",
                             reverse ? fmt::format("0_{}", before) : fmt::format("{}_0", before),
                             shape.size() == 3 ? "x0_0" : "",
                             Combiner(element, maximum   ? "maximum"
                                               : product ? "multiply"
                                                         : "add")));
    }
    if (Sorts(op.kind)) {
      return Sort(x, WideOf(At(op.operands[0]).element), shape, op.kind == "argsort");
    }
    if (op.kind == "exchanges") return Exchanges(x, shape);
    if (op.kind == "lu") return Lu(x, element, shape);
    if (op.kind == "cholesky") {
      const Shape rows = {shape[0], shape[2]};
      const std::string factor =
          Let(element, {shape[0], shape[2], shape[2]}, fmt::format("cholesky({}), lower=true", x));
      return WithRow(factor, "GT", All(element, "0", rows), All(element, "1", rows), element,
                     shape);
    }
    if (op.kind == "solve") {
      const auto flag = [&](const char* name) { return op.Get(name, 1, 0)[0] != 0; };
      return Let(element, shape,
                 fmt::format("triangular-solve({}, {}), left_side=true, lower={}, "
                             "unit_diagonal={}, transpose_a={}",
                             x, ValueOf(op.operands[1]), flag("lower"), flag("unit"),
                             flag("transposed") ? "TRANSPOSE" : "NO_TRANSPOSE"));
    }
    if (op.kind == "transpose") {
      return Let(element, shape,
                 fmt::format("transpose({}), dimensions={{{}}}", x,
                             fmt::join(op.Get("permutation", 0, 0), ",")));
    }
    if (op.kind == "slice") {
      const Shape starts = op.Get("starts", 0, 0);
      std::string bounds;
      for (size_t d = 0; d < starts.size(); ++d) {
        bounds += fmt::format("{}[{}:{}]", d == 0 ? "" : ", ", starts[d], starts[d] + shape[d]);
      }
      return Let(element, shape, fmt::format("slice({}), slice={{{}}}", x, bounds));
    }
    if (op.kind == "broadcast") return Broadcast(element, x, shape, op.Get("dimensions", 0, 0));
    if (op.kind == "constant") {
      const std::string value = InfoOf(element).floating
                                    ? fmt::format("{}", op.value)
                                    : std::to_string(static_cast<int64_t>(op.value));
      return All(element, value, shape);
    }
    if (op.kind == "softmax") return Softmax(element, x, shape);
    if (op.kind == "layer_norm") return LayerNorm(op, element, shape);
    if (op.kind == "attention") return Attention(op, element, shape);
    if (op.kind == "scores") {
      return Dot(element, shape, x, ValueOf(op.operands[1]), shape.size() - 1, shape.size() - 1);
    }
    if (op.kind == "attend") return Attend(op, element);
    if (op.kind == "product") return Product(op, element);
    if (op.kind == "convolve" || op.kind == "depthwise") return Convolution(op, element);
    if (op.kind == "select") {
      const std::string zero = All(element, "0", shape);
      return Let(element, shape,
                 fmt::format("select({}, {}, {})", Compared(x, "NE", zero, shape),
                             ValueOf(op.operands[1]), ValueOf(op.operands[2])));
    }
    if (op.kind == "relu") {
      const std::string zero = All(element, "0", shape);
      return Let(element, shape, fmt::format("maximum({}, {})", x, zero));
    }
    if (RoundedTo(op.kind)) return Let(*RoundedTo(op.kind), shape, fmt::format("convert({})", x));
    if (IsUnary(op.kind)) {
      static const std::map<std::string, const char*> opcodes = {
          {"exp", "exponential"}, {"expm1", "exponential-minus-one"}, {"log1p", "log-plus-one"}};
      const auto opcode = opcodes.find(op.kind);
      return Let(element, shape,
                 fmt::format("{}({})", opcode == opcodes.end() ? op.kind : opcode->second, x));
    }
    std::string y = ValueOf(op.operands[1]);
    const size_t rank = At(op.operands[1]).shape.size();
    if (rank != shape.size()) {
      y = Broadcast(element, y, shape, Dimensions(shape.size() - rank, shape.size()));
    }
    static const std::map<std::string, const char*> directions = {
        {"equal", "EQ"}, {"not_equal", "NE"}, {"less", "LT"}, {"less_equal", "LE"}};
    if (const auto found = directions.find(op.kind); found != directions.end()) {
      const std::string name = fmt::format("v{}", next_++);
      text_ += fmt::format("  {} = pred[{}] compare({}, {}), direction={}\n", name,
                           fmt::join(shape, ","), x, y, found->second);
      return Let(element, shape, fmt::format("convert({})", name));
    }
    return Let(element, shape, fmt::format("{}({}, {})", op.kind, x, y));
  }

  const Task& task_;
  std::vector<std::string> values_;
  std::string computations_;
  std::string text_;
  int next_ = 0;
};

}  // namespace

std::string HloText(const Task& task) { return Writer(task).Write(); }

}  // namespace hone::loops
