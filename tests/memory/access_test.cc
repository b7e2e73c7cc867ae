// Boxes (access.h) against exact maps (access_isl.h), and maps against what the arithmetic reads.
#include "memory/access.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "access_isl.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

using Dimensions = std::vector<int64_t>;

struct Small {
  Network network;

  ExprId Leaf(const Dimensions& dimensions) {
    Tensor tensor;
    tensor.dimensions = dimensions;
    network.tensors.push_back(tensor);
    Expr expr;
    expr.dimensions = dimensions;
    expr.tensor = static_cast<TensorId>(network.tensors.size() - 1);
    network.exprs.push_back(expr);
    return static_cast<ExprId>(network.exprs.size() - 1);
  }
  Expr Make(Movement movement, const Dimensions& dimensions, std::vector<ExprId> inputs,
            Dimensions numbers = {}, Dimensions strides = {}, int64_t axis = 0) {
    Expr expr;
    expr.movement = movement;
    expr.dimensions = dimensions;
    expr.inputs = std::move(inputs);
    expr.numbers = std::move(numbers);
    expr.strides = std::move(strides);
    expr.axis = axis;
    return expr;
  }
  Op Result(const std::string& opcode, const Dimensions& dimensions, std::vector<ExprId> inputs) {
    Op op;
    op.opcode = opcode;
    op.inputs = std::move(inputs);
    Leaf(dimensions);
    op.results = {static_cast<TensorId>(network.tensors.size() - 1)};
    return op;
  }
};

Box RandomBox(const Dimensions& dimensions, std::mt19937_64& random) {
  Box box = WholeBox(dimensions);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const auto size = static_cast<uint64_t>(dimensions[d]);
    box.low[d] = static_cast<int64_t>(random() % size);
    box.high[d] = box.low[d] + 1 +
                  static_cast<int64_t>(random() % (size - static_cast<uint64_t>(box.low[d])));
  }
  return box;
}

// `exact`: the box must be isl's hull; else it must contain it.
void Hold(const StatusOr<std::string>& map, const Box& out, const Box& box, bool exact) {
  ASSERT_TRUE(map) << map.error().message;
  const auto image = ImageOf(*map, out, box.low.size());
  ASSERT_TRUE(image) << image.error().message;
  if (exact && image->elements > 0) {
    EXPECT_EQ(box, image->hull) << *map << " of " << ToText(out);
  } else {
    EXPECT_TRUE(Contains(box, image->elements > 0 ? image->hull : box)) << *map;
  }
}

TEST(Access, MovementsAsIslHasThem) {
  Small s;
  const ExprId a = s.Leaf({6, 8}), b = s.Leaf({2, 3}), c = s.Leaf({4, 8}), one = s.Leaf({});
  const std::vector<std::pair<Expr, bool>> movements = {
      {s.Make(Movement::kReshape, {48}, {a}), true},
      {s.Make(Movement::kReshape, {6, 2, 4}, {a}), false},
      {s.Make(Movement::kReshape, {2, 3, 8}, {a}), false},
      {s.Make(Movement::kReshape, {8, 6}, {a}), false},
      {s.Make(Movement::kTranspose, {8, 6}, {a}, {1, 0}), true},
      {s.Make(Movement::kBroadcast, {5, 6, 8}, {a}, {1, 2}), true},
      {s.Make(Movement::kSlice, {2, 3}, {a}, {1, 2}, {2, 2}), true},
      {s.Make(Movement::kReverse, {6, 8}, {a}, {1}), true},
      {s.Make(Movement::kPad, {10, 9}, {a, one}, {2, 1}, {1, 1}), true},
      {s.Make(Movement::kPad, {13, 8}, {a, one}, {1, 0}, {2, 1}), true},
      {s.Make(Movement::kConcatenate, {10, 8}, {a, c}), true},
      {s.Make(Movement::kUpdate, {6, 8}, {a, b}, {3, 4}), false},
  };
  std::mt19937_64 random(1);
  for (const auto& [expr, exact] : movements) {
    for (int round = 0; round < 40; ++round) {
      const Box out = RandomBox(expr.dimensions, random);
      for (size_t input = 0; input < expr.inputs.size(); ++input) {
        const bool scalar =
            s.network.exprs[static_cast<size_t>(expr.inputs[input])].dimensions.empty();
        if (scalar) continue;
        Hold(AccessMap(s.network, expr, input), out, InputBox(s.network, expr, input, out), exact);
      }
    }
  }
}

TEST(Access, OperatorsAsIslHasThem) {
  Small s;
  std::vector<Op> ops;
  Op dot = s.Result("dot", {2, 5, 4}, {s.Leaf({5, 2, 3}), s.Leaf({2, 4, 3})});
  dot.lists = {{"lhs_batch_dims", {1}},
               {"rhs_batch_dims", {0}},
               {"lhs_contracting_dims", {2}},
               {"rhs_contracting_dims", {2}}};
  ops.push_back(dot);
  Op reduce = s.Result("reduce", {4, 5}, {s.Leaf({4, 3, 5}), s.Leaf({})});
  reduce.lists = {{"dimensions", {1}}};
  ops.push_back(reduce);
  Op window = s.Result("reduce-window", {5, 6}, {s.Leaf({9, 6}), s.Leaf({})});
  window.window = {{3, 2, 1, 1, 1, 1, false}, {1, 1, 0, 0, 1, 1, false}};
  ops.push_back(window);
  for (const int64_t groups : {1, 2}) {
    Op convolution = s.Result("convolution", {2, 4, 5, 4},
                              {s.Leaf({2, 8, 9, 4}), s.Leaf({3, 3, 4 / groups, 4})});
    convolution.window = {{3, 2, 1, 0, 1, 1, false}, {3, 2, 1, 1, 1, 1, true}};
    convolution.convolution = {0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}};
    convolution.lists["feature_group_count"] = {groups};
    ops.push_back(convolution);
  }
  std::mt19937_64 random(2);
  for (const Op& op : ops) {
    const auto& dimensions = s.network.tensors[static_cast<size_t>(op.results[0])].dimensions;
    for (int round = 0; round < 40; ++round) {
      const Box out = RandomBox(dimensions, random);
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        Hold(AccessMap(s.network, op, k), out, OperandBox(s.network, op, k, out), true);
      }
    }
  }
}

// Materialise reads exactly the elements that the map relates: every source element is another
// number.
TEST(Access, MapsAreWhatIsRead) {
  Small s;
  const ExprId a = s.Leaf({6, 8});
  const std::vector<Expr> movements = {
      s.Make(Movement::kReshape, {8, 6}, {a}),
      s.Make(Movement::kTranspose, {8, 6}, {a}, {1, 0}),
      s.Make(Movement::kSlice, {2, 3}, {a}, {1, 2}, {2, 2}),
      s.Make(Movement::kReverse, {6, 8}, {a}, {0, 1}),
      s.Make(Movement::kBroadcast, {6, 2, 8}, {a}, {0, 2}),
  };
  for (const Expr& expr : movements) {
    s.network.exprs.push_back(expr);
    const auto id = static_cast<ExprId>(s.network.exprs.size() - 1);
    const Array result =
        Materialise(s.network, id, WholeBox(expr.dimensions), [](TensorId, const Box& box) {
          Array part = MakeArray(ElementType::kF32, box);
          ForEach(box, [&](const std::vector<int64_t>& index, int64_t at) {
            part.reals[static_cast<size_t>(at)] = static_cast<double>(index[0] * 8 + index[1]);
          });
          return part;
        });
    const auto map = AccessMap(s.network, expr, 0);
    ASSERT_TRUE(map);
    ForEach(WholeBox(expr.dimensions), [&](const std::vector<int64_t>& index, int64_t at) {
      Box point{index, index};
      for (int64_t& high : point.high) ++high;
      const auto image = ImageOf(*map, point, 2);
      ASSERT_TRUE(image);
      ASSERT_EQ(image->elements, 1) << *map;
      const double expected = static_cast<double>(image->hull.low[0] * 8 + image->hull.low[1]);
      EXPECT_EQ(result.reals[static_cast<size_t>(at)], expected) << *map;
    });
  }
}

}  // namespace
}  // namespace hone::memory
