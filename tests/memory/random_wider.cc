#include "random_wider.h"

#include <algorithm>

namespace hone::memory {
namespace {

ShapeInfo F(Dimensions dimensions) { return Shape("f32", std::move(dimensions)); }
ShapeInfo S(Dimensions dimensions) { return Shape("s32", std::move(dimensions)); }

Dimensions AllOf(const Dimensions& dimensions) {
  Dimensions all;
  for (size_t d = 0; d < dimensions.size(); ++d) all.push_back(static_cast<int64_t>(d));
  return all;
}

class Wider {
 public:
  explicit Wider(const Making& making) : making_(making), entry_(making.entry) {}

  uint32_t Step() {
    const uint32_t value = making_.any();
    switch (Pick(0, 10)) {
      case 0:
      case 1:
        return InBf16(value);
      case 2:
      case 3:
        return Loop(value);
      case 4:
        return Conditional(value);
      case 5:
        return RandomBits(value);
      case 6:
        return SortPairs(value);
      case 7:
        return Tuples(value);
      case 8:
        return Columns(value);
      case 9:
        return Position(value);
      default:
        return Integers(value);
    }
  }

 private:
  int64_t Pick(int64_t low, int64_t high) {  // both included
    return low + static_cast<int64_t>(making_.random() % static_cast<uint64_t>(high - low + 1));
  }
  Dimensions Of(uint32_t value) const { return entry_.ShapeOf(value).dimensions; }
  uint32_t Number(const std::string& literal) { return entry_.Constant(F({}), literal); }
  // One more computation of the program; its index.
  uint32_t Finish(Computation& computation) {
    computation.Finish(false, making_.program);
    return static_cast<uint32_t>(making_.program.graph.computations.size() - 1);
  }
  std::string Name(const std::string& what) const {
    return what + "_" + std::to_string(making_.program.graph.computations.size());
  }

  uint32_t InBf16(uint32_t value) {
    const Dimensions in = Of(value);
    const ShapeInfo narrow = Shape("bf16", in);
    const uint32_t x = entry_.Add("convert", narrow, {value});
    uint32_t result;
    if (Pick(0, 1) == 0 && in.size() > 1) {
      const Dimensions right = {in.back(), Pick(1, 9)};
      const uint32_t other = entry_.Add("convert", Shape("bf16", right), {making_.like(right)});
      Dimensions out(in.begin(), in.end() - 1);
      out.push_back(right[1]);
      result = entry_.Add("dot", Shape("bf16", out), {x, other},
                          {{"lhs_contracting_dims", List({int64_t(in.size()) - 1})},
                           {"rhs_contracting_dims", "{0}"}});
      return entry_.Add("tanh", F(out), {entry_.Add("convert", F(out), {result})});
    }
    const uint32_t other = entry_.Add("convert", narrow, {making_.like(in)});
    constexpr const char* kOpcodes[] = {"add", "multiply", "maximum", "subtract"};
    result = entry_.Add(kOpcodes[Pick(0, 3)], narrow, {x, other});
    if (Pick(0, 1) == 0) result = entry_.Add("negate", narrow, {result});
    return entry_.Add("convert", F(in), {result});
  }

  // The body and the condition of a loop over (step, end, array); in it, another, `depth` times.
  std::pair<uint32_t, uint32_t> MakeLoop(const Dimensions& dimensions, int64_t depth) {
    std::pair<uint32_t, uint32_t> inner;
    if (depth > 0) inner = MakeLoop(dimensions, depth - 1);
    const ShapeInfo state = TupleOf({S({}), S({}), F(dimensions)});
    Computation body(Name("body"));
    const uint32_t in = body.Parameter(state);
    const uint32_t i = body.Element(in, 0), end = body.Element(in, 1), x = body.Element(in, 2);
    const uint32_t next = body.Add("add", S({}), {i, body.Constant(S({}), "1")});
    uint32_t y = body.Add("add", F(dimensions),
                          {body.Add("tanh", F(dimensions), {x}),
                           body.Add("multiply", F(dimensions),
                                    {x, body.Filled(F(dimensions), "0.5")})});
    switch (Pick(0, 3)) {
      case 0:
        y = body.Add("reverse", F(dimensions), {y}, {{"dimensions", "{0}"}});
        break;
      case 1: {  // one row comes from where the step says
        Dimensions row = dimensions;
        row[0] = 1;
        std::vector<uint32_t> from = {y, i}, to = {y, 0, end};
        for (size_t d = 1; d < row.size(); ++d) {
          from.push_back(body.Constant(S({}), "0"));
          to.push_back(from.back());
        }
        to[1] = body.Add("dynamic-slice", F(row), from, {{"dynamic_slice_sizes", List(row)}});
        y = body.Add("dynamic-update-slice", F(dimensions), to);
        break;
      }
      default:
        break;
    }
    if (depth > 0) {
      const uint32_t most = body.Add("reduce", F({}), {y, body.Constant(F({}), "-inf")},
                                     {{"dimensions", List(AllOf(dimensions))}},
                                     {{"to_apply", kMaximum}});
      const uint32_t any = body.Add("compare", Shape("pred", {}),
                                    {most, body.Constant(F({}), "1000000")}, {{"direction", "LT"}});
      const uint32_t times = body.Add("add", S({}), {i, body.Add("convert", S({}), {any})});
      const uint32_t first = body.Add("tuple", state, {body.Constant(S({}), "0"), times, y});
      y = body.Element(body.Add("while", state, {first}, {},
                                {{"body", inner.first}, {"condition", inner.second}}),
                       2);
    }
    body.Add("tuple", state, {next, end, y});
    const uint32_t made = Finish(body);
    Computation condition(Name("condition"));
    const uint32_t at = condition.Parameter(state);
    const uint32_t step = condition.Element(at, 0), last = condition.Element(at, 1);
    condition.Add("compare", Shape("pred", {}), {step, last}, {{"direction", "LT"}});
    return {made, Finish(condition)};
  }

  // As often as its data say, from none on.
  uint32_t Loop(uint32_t value) {
    const Dimensions dimensions = Of(value);
    const auto [body, condition] = MakeLoop(dimensions, Pick(0, 2));
    const ShapeInfo state = TupleOf({S({}), S({}), F(dimensions)});
    const uint32_t more = entry_.Constant(S({}), std::to_string(Pick(-1, 2)));
    const uint32_t times = entry_.Add("add", S({}), {making_.computed(value), more});
    const uint32_t first = entry_.Add("tuple", state, {entry_.Constant(S({}), "0"), times, value});
    return entry_.Element(
        entry_.Add("while", state, {first}, {}, {{"body", body}, {"condition", condition}}), 2);
  }

  uint32_t Conditional(uint32_t value) {
    const ShapeInfo shape = F(Of(value)), both = TupleOf({shape, shape});
    const uint32_t other = making_.like(Of(value));
    std::vector<uint32_t> branches;
    for (const char* opcode : {"add", "maximum"}) {
      Computation branch(Name("branch"));
      const uint32_t in = branch.Parameter(both);
      const uint32_t x = branch.Element(in, 0), y = branch.Element(in, 1);
      const uint32_t sum = branch.Add(opcode, shape, {x, y});
      branch.Add("tuple", both, {sum, branches.empty() ? x : branch.Add("sine", shape, {y})});
      branches.push_back(Finish(branch));
    }
    const uint32_t most =
        entry_.Add("reduce", F({}), {value, Number("-inf")},
                   {{"dimensions", List(AllOf(Of(value)))}}, {{"to_apply", kMaximum}});
    constexpr const char* kLimits[] = {"-1000000", "0.28125", "1000000"};
    const uint32_t limit = Number(kLimits[Pick(0, 2)]);
    const uint32_t which =
        entry_.Add("compare", Shape("pred", {}), {most, limit}, {{"direction", "LT"}});
    const uint32_t pair = entry_.Add("tuple", both, {value, other});
    const uint32_t made =
        entry_.Add("conditional", both, {which, pair, pair}, {},
                   {{"true_computation", branches[0]}, {"false_computation", branches[1]}});
    return entry_.Element(made, Pick(0, 1));
  }

  uint32_t RandomBits(uint32_t value) {
    const Dimensions dimensions = Of(value);
    const ShapeInfo state = Shape("u64", {2}), bits = Shape("u32", dimensions);
    const std::string key = List({Pick(0, 1 << 20), Pick(0, 99)});
    constexpr const char* kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
    const uint32_t made =
        entry_.Add("rng-bit-generator", TupleOf({state, bits}), {entry_.Constant(state, key)},
                   {{"algorithm", kAlgorithms[Pick(0, 2)]}});
    const uint32_t high = entry_.Add("shift-right-logical", bits,
                                     {entry_.Element(made, 1), entry_.Filled(bits, "8")});
    const uint32_t share = entry_.Add("multiply", F(dimensions),
                                      {entry_.Add("convert", F(dimensions), {high}),
                                       entry_.Filled(F(dimensions), "5.9604645e-08")});
    if (Pick(0, 1) == 0) return share;
    const uint32_t kept = entry_.Add("compare", Shape("pred", dimensions),
                                     {share, entry_.Filled(F(dimensions), "0.75")},
                                     {{"direction", "LT"}});
    return entry_.Add("select", F(dimensions), {kept, value, entry_.Filled(F(dimensions), "0")});
  }

  // Numbers of a sequence in an order of their own, each with a number of another array.
  uint32_t SortPairs(uint32_t value) {
    const Dimensions dimensions = Of(value);
    const int64_t along = Pick(0, int64_t(dimensions.size()) - 1);
    Computation less(Name("less"));
    const uint32_t a = less.Parameter(S({})), b = less.Parameter(S({}));
    less.Parameter(F({}));
    less.Parameter(F({}));
    less.Add("compare", Shape("pred", {}), {a, b}, {{"direction", Pick(0, 1) == 0 ? "LT" : "GT"}});
    const uint32_t by = Finish(less);
    const ShapeInfo keys = S(dimensions), both = TupleOf({keys, F(dimensions)});
    const uint32_t iota =
        entry_.Add("iota", keys, {}, {{"iota_dimension", std::to_string(along)}});
    const uint32_t turned = entry_.Add("xor", keys, {iota, entry_.Filled(keys, "5")});
    const uint32_t sorted = entry_.Add("sort", both, {turned, value},
                                       {{"dimensions", List({along})}, {"is_stable", "true"}},
                                       {{"to_apply", by}});
    return entry_.Element(sorted, 1);
  }

  uint32_t Tuples(uint32_t value) {
    const uint32_t other = making_.any();
    const ShapeInfo first = F(Of(value)), second = F(Of(other));
    const uint32_t in = entry_.Add("tuple", TupleOf({first, second}), {value, other});
    const uint32_t out =
        entry_.Add("tuple", TupleOf({entry_.ShapeOf(in), first}), {in, value});
    const uint32_t behind = entry_.Add("opt-barrier", entry_.ShapeOf(out), {out});
    return entry_.Element(entry_.Element(behind, 0), Pick(0, 1));
  }

  // Columns that the program chooses, taken out or put in.
  uint32_t Columns(uint32_t value) {
    if (Of(value).size() != 2) return Tuples(value);
    const int64_t rows = Of(value)[0], count = Pick(1, 8);
    const uint32_t start =
        entry_.Add("broadcast", S({count}), {making_.computed(value)}, {{"dimensions", "{}"}});
    const uint32_t iota = entry_.Add("iota", S({count}), {}, {{"iota_dimension", "0"}});
    const uint32_t at = entry_.Add("subtract", S({count}), {iota, start});  // from -1 on
    const uint32_t indices = entry_.Add("reshape", S({count, 1}), {at});
    if (Pick(0, 1) == 0) {
      return entry_.Add("gather", F({rows, count}), {value, indices},
                        {{"offset_dims", "{0}"},
                         {"collapsed_slice_dims", "{1}"},
                         {"start_index_map", "{1}"},
                         {"index_vector_dim", "1"},
                         {"slice_sizes", List({rows, 1})}});
    }
    return entry_.Add("scatter", F(Of(value)), {value, indices, making_.like({rows, count})},
                      {{"update_window_dims", "{0}"},
                       {"inserted_window_dims", "{1}"},
                       {"scatter_dims_to_operand_dims", "{1}"},
                       {"index_vector_dim", "1"}},
                      {{"to_apply", Pick(0, 1) == 0 ? kMaximum : kAdd}});
  }

  // Of the largest number of each row, which comes first where several are equal.
  uint32_t Position(uint32_t value) {
    const Dimensions dimensions = Of(value);
    if (dimensions.size() < 2) return Integers(value);
    Computation body(Name("largest"));
    const uint32_t a = body.Parameter(F({})), i = body.Parameter(S({}));
    const uint32_t b = body.Parameter(F({})), j = body.Parameter(S({}));
    const ShapeInfo truth = Shape("pred", {});
    const uint32_t more = body.Add("compare", truth, {a, b}, {{"direction", "GT"}});
    const uint32_t same = body.Add("compare", truth, {a, b}, {{"direction", "EQ"}});
    const uint32_t before = body.Add("compare", truth, {i, j}, {{"direction", "LT"}});
    const uint32_t first = body.Add("or", truth, {more, body.Add("and", truth, {same, before})});
    body.Add("tuple", TupleOf({F({}), S({})}),
             {body.Add("select", F({}), {first, a, b}), body.Add("select", S({}), {first, i, j})});
    const uint32_t by = Finish(body);
    const int64_t along = Pick(0, int64_t(dimensions.size()) - 1);
    Dimensions kept = dimensions;
    kept.erase(kept.begin() + along);
    const uint32_t iota =
        entry_.Add("iota", S(dimensions), {}, {{"iota_dimension", std::to_string(along)}});
    const uint32_t made = entry_.Add(
        "reduce", TupleOf({F(kept), S(kept)}),
        {value, iota, Number("-inf"), entry_.Constant(S({}), "0")},
        {{"dimensions", List({along})}}, {{"to_apply", by}});
    return entry_.Element(made, 0);
  }

  uint32_t Integers(uint32_t value) {
    const Dimensions dimensions = Of(value);
    const ShapeInfo whole = S(dimensions);
    const uint32_t x = entry_.Add("iota", whole, {}, {{"iota_dimension", "0"}});
    const uint32_t one =
        entry_.Add("broadcast", whole, {making_.computed(value)}, {{"dimensions", "{}"}});
    constexpr const char* kOpcodes[] = {"xor", "add", "multiply", "shift-left", "remainder", "and"};
    const uint32_t mixed = entry_.Add(kOpcodes[Pick(0, 5)], whole, {x, one});
    const uint32_t real = entry_.Add("convert", F(dimensions), {mixed});
    const uint32_t part =
        entry_.Add("multiply", F(dimensions), {real, entry_.Filled(F(dimensions), "0.125")});
    return entry_.Add("add", F(dimensions), {part, value});
  }

  const Making& making_;
  Computation& entry_;
};

}  // namespace

uint32_t WiderStep(const Making& making) { return Wider(making).Step(); }

}  // namespace hone::memory
