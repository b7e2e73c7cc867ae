#include "random_program.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "random_computation.h"
#include "random_wider.h"

namespace hone::memory {
namespace {

constexpr int64_t kMostElements = 400;

class Maker {
 public:
  Maker(uint64_t seed, bool wider) : wider_(wider), random_(seed), entry_("main") {}

  RandomProgram Run() {
    program_.graph.name = "random";
    program_.text = "HloModule random\n\n";
    for (const char* opcode : {"add", "maximum", "minimum"}) {
      Computation body(std::string("do_") + opcode);
      const uint32_t a = body.Parameter(Shape("f32", {})), b = body.Parameter(Shape("f32", {}));
      body.Add(opcode, Shape("f32", {}), {a, b});
      body.Finish(false, program_);
    }
    for (const char* direction : {"GE", "LT"}) {
      Computation body(std::string("is_") + direction);
      const uint32_t a = body.Parameter(Shape("f32", {})), b = body.Parameter(Shape("f32", {}));
      body.Add("compare", Shape("pred", {}), {a, b}, {{"direction", direction}});
      body.Finish(false, program_);
    }
    const int64_t parameters = Pick(1, 3);
    for (int64_t k = 0; k < parameters; ++k) {
      values_.push_back(entry_.Parameter(Shape("f32", RandomDimensions())));
    }
    const int64_t steps = Pick(4, 14);
    for (int64_t k = 0; k < steps; ++k) {
      values_.push_back(wider_ && Pick(0, 2) == 0 ? Wider() : Step());
    }
    std::vector<uint32_t> outputs;
    ShapeInfo tuple;
    tuple.type = "tuple";
    for (int64_t k = Pick(1, 3); k-- > 0 && outputs.size() < values_.size();) {
      outputs.push_back(values_[values_.size() - 1 - outputs.size()]);
      tuple.tuple.push_back(entry_.ShapeOf(outputs.back()));
    }
    entry_.Add("tuple", tuple, outputs);
    entry_.Finish(true, program_);
    return std::move(program_);
  }

 private:
  int64_t Pick(int64_t low, int64_t high) {  // both included
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  Dimensions RandomDimensions() {
    Dimensions dimensions(static_cast<size_t>(Pick(1, 4)));
    for (int64_t& d : dimensions) d = Pick(1, dimensions.size() > 2 ? 6 : 14);
    return dimensions;
  }
  uint32_t Any() { return values_[static_cast<size_t>(Pick(0, int64_t(values_.size()) - 1))]; }
  // Not a reference: to add an instruction moves the others.
  Dimensions Of(uint32_t value) const { return entry_.ShapeOf(value).dimensions; }
  static ShapeInfo F(Dimensions dimensions) { return Shape("f32", std::move(dimensions)); }
  uint32_t Scalar(const std::string& literal) { return entry_.Constant(F({}), literal); }
  uint32_t Index(int64_t value) { return entry_.Constant(Shape("s32", {}), std::to_string(value)); }

  // Keeps values of the order of one, however long the program.
  uint32_t Tame(uint32_t value) { return entry_.Add("tanh", F(Of(value)), {value}); }

  // A value of these dimensions: one that is there, or made of one.
  uint32_t Like(const Dimensions& dimensions) {
    for (int tries = 0; tries < 4; ++tries) {
      const uint32_t value = Any();
      if (Of(value) == dimensions) return value;
    }
    for (int tries = 0; tries < 4; ++tries) {
      const uint32_t value = Any();
      if (Count(Of(value)) == Count(dimensions)) {
        return entry_.Add("reshape", F(dimensions), {value});
      }
    }
    for (uint32_t value : values_) {  // along one dimension
      if (Of(value).size() != 1) continue;
      for (size_t d = 0; d < dimensions.size(); ++d) {
        if (dimensions[d] != Of(value)[0]) continue;
        return entry_.Add("broadcast", F(dimensions), {value},
                          {{"dimensions", List({int64_t(d)})}});
      }
    }
    const ShapeInfo shape = Shape("s32", dimensions);
    const uint32_t iota =
        entry_.Add("iota", shape, {},
                   {{"iota_dimension", std::to_string(Pick(0, int64_t(dimensions.size()) - 1))}});
    const uint32_t real = entry_.Add("convert", F(dimensions), {iota});
    const uint32_t share =
        entry_.Add("broadcast", F(dimensions), {Scalar("0.0625")}, {{"dimensions", "{}"}});
    return entry_.Add("multiply", F(dimensions), {real, share});
  }

  uint32_t Wider() {
    return WiderStep({random_, program_, entry_, [this] { return Any(); },
                      [this](const Dimensions& dimensions) { return Like(dimensions); },
                      [this](uint32_t value) { return Computed(value); }});
  }

  uint32_t Step() {
    switch (Pick(0, 21)) {
      case 0:
      case 1: {
        const uint32_t value = Any();
        constexpr const char* kOpcodes[] = {"negate", "abs", "tanh", "cosine", "sine", "logistic"};
        return entry_.Add(kOpcodes[Pick(0, 5)], F(Of(value)), {value});
      }
      case 2:
      case 3:
      case 4: {
        const uint32_t value = Any(), other = Like(Of(value));
        constexpr const char* kOpcodes[] = {"add", "subtract", "multiply", "maximum", "minimum"};
        return entry_.Add(kOpcodes[Pick(0, 4)], F(Of(value)), {value, other});
      }
      case 5:
        return Transpose(Any());
      case 6:
        return Slice(Any());
      case 7:
        return Pad(Any());
      case 8:
        return Concatenate(Any());
      case 9: {
        const uint32_t value = Any();
        return entry_.Add("reverse", F(Of(value)), {value},
                          {{"dimensions", List({RandomDimension(value)})}});
      }
      case 10:
      case 11:
        return Reduce(Any());
      case 12:
        return ReduceWindow(Any());
      case 13:
        return SelectAndScatter(Any());
      case 14:
      case 15:
      case 16:
        return Dot(Any());
      case 17:
        return Convolution(Any());
      case 18:
        return Dynamic(Any());
      case 19:
        return Gather(Any());
      case 20: {
        const uint32_t value = Any();
        return entry_.Add("sort", F(Of(value)), {value},
                          {{"dimensions", List({RandomDimension(value)})}}, {{"to_apply", kLess}});
      }
      default:
        return While(Any());
    }
  }

  int64_t RandomDimension(uint32_t value) { return Pick(0, int64_t(Of(value).size()) - 1); }

  uint32_t Transpose(uint32_t value) {
    Dimensions order(Of(value).size()), dimensions;
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
    std::shuffle(order.begin(), order.end(), random_);
    for (int64_t d : order) dimensions.push_back(Of(value)[static_cast<size_t>(d)]);
    return entry_.Add("transpose", F(dimensions), {value}, {{"dimensions", List(order)}});
  }

  uint32_t Slice(uint32_t value) {
    std::string text;
    Dimensions dimensions;
    for (int64_t size : Of(value)) {
      const int64_t low = Pick(0, size - 1), high = Pick(low + 1, size), stride = Pick(1, 2);
      text += (text.empty() ? "[" : ", [") + std::to_string(low) + ":" + std::to_string(high) +
              (stride == 1 ? "]" : ":2]");
      dimensions.push_back((high - low + stride - 1) / stride);
    }
    return entry_.Add("slice", F(dimensions), {value}, {{"slice", "{" + text + "}"}});
  }

  uint32_t Pad(uint32_t value) {
    std::string text;
    Dimensions dimensions;
    for (int64_t size : Of(value)) {
      const int64_t low = Pick(0, 1), high = Pick(size > 1 ? -1 : 0, 1), inner = Pick(0, 1);
      const int64_t padded = size + (size - 1) * inner + low + high;
      text += (text.empty() ? "" : "x") + std::to_string(low) + "_" + std::to_string(high) + "_" +
              std::to_string(inner);
      dimensions.push_back(padded);
    }
    if (Count(dimensions) > kMostElements) return Tame(value);
    return entry_.Add("pad", F(dimensions), {value, Scalar("0.5")}, {{"padding", text}});
  }

  uint32_t Concatenate(uint32_t value) {
    const auto d = static_cast<size_t>(RandomDimension(value));
    Dimensions dimensions = Of(value);
    dimensions[d] *= 2;
    if (Count(dimensions) > kMostElements) return Tame(value);
    return entry_.Add("concatenate", F(dimensions), {value, Like(Of(value))},
                      {{"dimensions", List({int64_t(d)})}});
  }

  uint32_t Reduce(uint32_t value) {
    Dimensions reduced, kept;
    const bool more = Of(value).size() > 1;
    for (size_t d = 0; d < Of(value).size(); ++d) {
      if (Pick(0, 1) == 1 || (!more && reduced.empty())) {
        reduced.push_back(static_cast<int64_t>(d));
      } else {
        kept.push_back(Of(value)[d]);
      }
    }
    if (reduced.empty() || kept.empty()) return Tame(value);
    const int64_t does = Pick(0, 2);
    const uint32_t start = Scalar(does == 0 ? "0" : does == 1 ? "-inf" : "inf");
    return entry_.Add("reduce", F(kept), {value, start}, {{"dimensions", List(reduced)}},
                      {{"to_apply", static_cast<uint32_t>(does)}});
  }

  // Sizes, strides and paddings of windows over these dimensions, and what comes of them.
  std::string Window(const Dimensions& in, Dimensions& out, bool strides_are_sizes) {
    Dimensions sizes, strides;
    std::string pads;
    out.clear();
    for (int64_t size : in) {
      const int64_t window = Pick(1, std::min<int64_t>(3, size));
      const int64_t stride = strides_are_sizes ? window : Pick(1, 2);
      const int64_t low = strides_are_sizes ? 0 : Pick(0, window - 1);
      sizes.push_back(window);
      strides.push_back(stride);
      pads += (pads.empty() ? "" : "x") + std::to_string(low) + "_0";
      out.push_back((size + low - window) / stride + 1);
    }
    return "{size=" + Joined(sizes, "x") + " stride=" + Joined(strides, "x") + " pad=" + pads + "}";
  }

  uint32_t ReduceWindow(uint32_t value) {
    Dimensions out;
    const std::string window = Window(Of(value), out, false);
    const int64_t does = Pick(0, 2);
    const uint32_t start = Scalar(does == 0 ? "0" : does == 1 ? "-inf" : "inf");
    return entry_.Add("reduce-window", F(out), {value, start}, {{"window", window}},
                      {{"to_apply", static_cast<uint32_t>(does)}});
  }

  uint32_t SelectAndScatter(uint32_t value) {
    Dimensions out;
    const std::string window = Window(Of(value), out, true);
    return entry_.Add("select-and-scatter", F(Of(value)), {value, Like(out), Scalar("0")},
                      {{"window", window}}, {{"select", kGreaterEqual}, {"scatter", kAdd}});
  }

  // Contracts one dimension of a value with the first of another, batch dimensions before it.
  uint32_t Dot(uint32_t value) {
    const Dimensions in = Of(value);
    const size_t batch = in.size() > 2 ? static_cast<size_t>(Pick(0, 1)) : 0;
    const auto contracted = static_cast<size_t>(Pick(int64_t(batch), int64_t(in.size()) - 1));
    Dimensions right(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(batch)), out = right;
    right.push_back(in[contracted]);
    right.push_back(Pick(1, 9));
    for (size_t d = batch; d < in.size(); ++d) {
      if (d != contracted) out.push_back(in[d]);
    }
    out.push_back(right.back());
    if (Count(out) > kMostElements) return Tame(value);
    Attributes attributes = {{"lhs_contracting_dims", List({int64_t(contracted)})},
                             {"rhs_contracting_dims", List({int64_t(batch)})}};
    if (batch > 0) {
      attributes.insert(attributes.begin(), {{"lhs_batch_dims", "{0}"}, {"rhs_batch_dims", "{0}"}});
    }
    return Tame(entry_.Add("dot", F(out), {value, Like(right)}, attributes));
  }

  uint32_t Convolution(uint32_t value) {
    Dimensions in = {Pick(1, 3), Pick(2, 8), Pick(1, 4)};  // b0f
    const int64_t groups = in[2] % 2 == 0 ? Pick(1, 2) : 1;
    const Dimensions kernel = {Pick(1, std::min<int64_t>(3, in[1])), in[2] / groups,
                               groups * Pick(1, 3)};  // 0io
    const int64_t stride = Pick(1, 2), pad = Pick(0, kernel[0] - 1), dilation = Pick(1, 2);
    const int64_t reach = (kernel[0] - 1) * dilation + 1;
    if (in[1] + 2 * pad < reach) return Tame(value);
    const Dimensions out = {in[0], (in[1] + 2 * pad - reach) / stride + 1, kernel[2]};
    const std::string p = std::to_string(pad);
    Attributes attributes = {
        {"window", "{size=" + std::to_string(kernel[0]) + " stride=" + std::to_string(stride) +
                       " pad=" + p + "_" + p + " rhs_dilate=" + std::to_string(dilation) + "}"},
        {"dim_labels", "b0f_0io->b0f"}};
    if (groups > 1) attributes.emplace_back("feature_group_count", std::to_string(groups));
    return Tame(entry_.Add("convolution", F(out), {Like(in), Like(kernel)}, attributes));
  }

  // A number that is not known before the program runs.
  uint32_t Computed(uint32_t value) {
    Dimensions all;
    for (size_t d = 0; d < Of(value).size(); ++d) all.push_back(static_cast<int64_t>(d));
    const uint32_t most = entry_.Add("reduce", F({}), {value, Scalar("-inf")},
                                     {{"dimensions", List(all)}}, {{"to_apply", kMaximum}});
    const uint32_t same =
        entry_.Add("compare", Shape("pred", {}), {most, Scalar("1000000")}, {{"direction", "LT"}});
    return entry_.Add("convert", Shape("s32", {}), {same});
  }

  uint32_t Dynamic(uint32_t value) {
    Dimensions sizes;
    for (int64_t size : Of(value)) sizes.push_back(Pick(1, size));
    std::vector<uint32_t> starts;
    for (size_t d = 0; d < sizes.size(); ++d) {
      starts.push_back(d == 0 ? Computed(value) : Index(Pick(0, 2)));
    }
    std::vector<uint32_t> operands = {value};
    if (Pick(0, 1) == 0) {
      operands.insert(operands.end(), starts.begin(), starts.end());
      return entry_.Add("dynamic-slice", F(sizes), operands,
                        {{"dynamic_slice_sizes", List(sizes)}});
    }
    operands.push_back(Like(sizes));
    operands.insert(operands.end(), starts.begin(), starts.end());
    return entry_.Add("dynamic-update-slice", F(Of(value)), operands);
  }

  uint32_t Gather(uint32_t value) {
    if (Of(value).size() != 2) return Tame(value);
    const int64_t count = Pick(1, 8), columns = Of(value)[1];
    const uint32_t start =
        entry_.Add("broadcast", Shape("s32", {count}), {Computed(value)}, {{"dimensions", "{}"}});
    const uint32_t iota = entry_.Add("iota", Shape("s32", {count}), {}, {{"iota_dimension", "0"}});
    const uint32_t rows = entry_.Add("add", Shape("s32", {count}), {start, iota});
    const uint32_t indices = entry_.Add("reshape", Shape("s32", {count, 1}), {rows});
    if (Pick(0, 1) == 0) {
      return entry_.Add("gather", F({count, columns}), {value, indices},
                        {{"offset_dims", "{1}"},
                         {"collapsed_slice_dims", "{0}"},
                         {"start_index_map", "{0}"},
                         {"index_vector_dim", "1"},
                         {"slice_sizes", List({1, columns})}});
    }
    return entry_.Add("scatter", F(Of(value)), {value, indices, Like({count, columns})},
                      {{"update_window_dims", "{1}"},
                       {"inserted_window_dims", "{0}"},
                       {"scatter_dims_to_operand_dims", "{0}"},
                       {"index_vector_dim", "1"}},
                      {{"to_apply", kAdd}});
  }

  // Three times x <- tanh(x) + x / 2, in a loop.
  uint32_t While(uint32_t value) {
    const std::string number = std::to_string(program_.graph.computations.size());
    ShapeInfo state;
    state.type = "tuple";
    state.tuple = {Shape("s32", {}), F(Of(value))};
    const auto next = static_cast<uint32_t>(program_.graph.computations.size());
    Computation body("body_" + number);
    const uint32_t in = body.Parameter(state);
    const uint32_t i = body.Add("get-tuple-element", state.tuple[0], {in}, {{"index", "0"}});
    const uint32_t x = body.Add("get-tuple-element", state.tuple[1], {in}, {{"index", "1"}});
    const uint32_t one = body.Constant(state.tuple[0], "1");
    const uint32_t more = body.Add("add", state.tuple[0], {i, one});
    const uint32_t half = body.Constant(F({}), "0.5");
    const uint32_t halves = body.Add("broadcast", state.tuple[1], {half}, {{"dimensions", "{}"}});
    const uint32_t less = body.Add("multiply", state.tuple[1], {x, halves});
    const uint32_t bent = body.Add("tanh", state.tuple[1], {x});
    const uint32_t sum = body.Add("add", state.tuple[1], {bent, less});
    body.Add("tuple", state, {more, sum});
    body.Finish(false, program_);
    Computation condition("condition_" + number);
    const uint32_t at = condition.Parameter(state);
    const uint32_t step =
        condition.Add("get-tuple-element", state.tuple[0], {at}, {{"index", "0"}});
    const uint32_t three = condition.Constant(state.tuple[0], "3");
    condition.Add("compare", Shape("pred", {}), {step, three}, {{"direction", "LT"}});
    condition.Finish(false, program_);
    const uint32_t first = entry_.Add("tuple", state, {Index(0), value});
    const uint32_t loop =
        entry_.Add("while", state, {first}, {}, {{"body", next}, {"condition", next + 1}});
    return entry_.Add("get-tuple-element", F(Of(value)), {loop}, {{"index", "1"}});
  }

  const bool wider_;
  std::mt19937_64 random_;
  RandomProgram program_;
  Computation entry_;
  std::vector<uint32_t> values_;
};

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed, bool wider) { return Maker(seed, wider).Run(); }

}  // namespace hone::memory
