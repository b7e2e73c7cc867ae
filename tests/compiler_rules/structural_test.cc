// The rewrites whose size is that of the program: IR in, IR out, and the same values by XLA's
// evaluator, which shares no code with them.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "compiler/load.h"
#include "compiler/rules/batch_lanes.h"
#include "compiler/rules/share_computations.h"
#include "gtest/gtest.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace hone::compiler {
namespace {

std::unique_ptr<xla::HloModule> Parse(const std::string& text) {
  auto loaded = LoadModule(text);
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
  return loaded ? std::move(loaded->module) : nullptr;
}

int64_t Count(const xla::HloModule& module, xla::HloOpcode opcode) {
  int64_t count = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    count += absl::c_count_if(computation->instructions(), [&](const auto* instruction) {
      return instruction->opcode() == opcode;
    });
  }
  return count;
}

// Every parameter an f32 array of values in [0.5, 2).
std::vector<float> Evaluate(const xla::HloModule& module) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0.5f, 2.0f);
  std::vector<xla::Literal> arguments;
  for (const auto* parameter : module.entry_computation()->parameter_instructions()) {
    auto literal = xla::Literal::Make(parameter->shape());
    EXPECT_TRUE(literal.ok()) << literal.status();
    for (float& value : literal->data<float>()) value = uniform(random);
    arguments.push_back(*std::move(literal));
  }
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
  auto result = xla::HloEvaluator().Evaluate(module, pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<float> values;
  if (!result.ok()) return values;
  std::vector<xla::Literal> leaves;
  if (result->shape().IsTuple()) {
    leaves = result->DecomposeTuple();
  } else {
    leaves.push_back(*std::move(result));
  }
  for (const xla::Literal& leaf : leaves) {
    for (float value : leaf.data<float>()) values.push_back(value);
  }
  return values;
}

// Runs the pass; the program must stay valid and compute the same. True where it changed.
template <typename Pass>
bool RunAndCheck(Pass&& pass, xla::HloModule& module) {
  const std::vector<float> before = Evaluate(module);
  const int64_t count = module.instruction_count();
  auto changed = pass.Run(&module);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(VerifyModule(module), "");
  if (changed.ok() && *changed) {
    EXPECT_LT(module.instruction_count(), count) << module.ToString();
  } else {
    EXPECT_EQ(module.instruction_count(), count) << module.ToString();
  }
  const std::vector<float> after = Evaluate(module);
  EXPECT_EQ(before.size(), after.size());
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    EXPECT_NEAR(before[i], after[i], 1e-5 * std::max(1.0f, std::abs(before[i]))) << i;
  }
  auto again = pass.Run(&module);
  EXPECT_TRUE(again.ok() && !*again) << "not at rest after one run";
  return changed.ok() && *changed;
}

// An Adam step: for each shape parameters p, g, m, v, and three results.
std::string Adam(const std::vector<std::string>& shapes) {
  std::string body = "HloModule adam\n\nENTRY e {\n";
  std::string results;
  for (const char* constant : {"b1=0.9", "c1=0.1", "b2=0.99", "c2=0.01", "eps=0.001", "lr=-0.1"}) {
    const std::string text(constant);
    const size_t at = text.find('=');
    absl::StrAppend(&body, "  ", text.substr(0, at), " = f32[] constant(", text.substr(at + 1),
                    ")\n");
  }
  int parameter = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string s = shapes[i];
    const auto line = [&](const std::string& name, const std::string& rest) {
      absl::StrAppend(&body, "  ", name, i, " = ", s, " ", rest, "\n");
    };
    const auto of = [&](const std::string& opcode, const std::string& a, const std::string& b) {
      return absl::StrCat(opcode, "(", a, i, b.empty() ? "" : ", ", b,
                          b.empty() ? "" : absl::StrCat(i), ")");
    };
    for (const char* name : {"p", "g", "m", "v"}) {
      line(name, absl::StrCat("parameter(", parameter++, ")"));
    }
    for (const char* name : {"b1", "c1", "b2", "c2", "eps", "lr"}) {
      line(absl::StrCat(name, "_"), absl::StrCat("broadcast(", name, "), dimensions={}"));
    }
    line("old_m", of("multiply", "m", "b1_"));
    line("new_g", of("multiply", "g", "c1_"));
    line("next_m", of("add", "old_m", "new_g"));
    line("old_v", of("multiply", "v", "b2_"));
    line("square", of("multiply", "g", "g"));
    line("new_square", of("multiply", "square", "c2_"));
    line("next_v", of("add", "old_v", "new_square"));
    line("root", of("sqrt", "next_v", ""));
    line("safe", of("add", "root", "eps_"));
    line("step", of("divide", "next_m", "safe"));
    line("scaled", of("multiply", "step", "lr_"));
    line("next_p", of("add", "p", "scaled"));
    absl::StrAppend(&results, i == 0 ? "" : ", ", "next_p", i, ", next_m", i, ", next_v", i);
  }
  std::string types;
  for (const std::string& s : shapes) {
    absl::StrAppend(&types, types.empty() ? "" : ", ", s, ", ", s, ", ", s);
  }
  return absl::StrCat(body, "  ROOT out = (", types, ") tuple(", results, ")\n}\n");
}

TEST(BatchLanes, OptimizerOverVectorsOfDifferentLengths) {
  auto module = Parse(Adam({"f32[3]", "f32[5]", "f32[7]", "f32[2]"}));
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSqrt), 1);
  EXPECT_EQ(Count(*module, xla::HloOpcode::kConcatenate), 4);  // p, g, m, v
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSlice), 12);
}

TEST(BatchLanes, OptimizerOverMatricesThatAgreeInOneDimension) {
  auto module = Parse(Adam({"f32[3,4]", "f32[3,6]", "f32[3,2]"}));
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSqrt), 1);
  EXPECT_EQ(Count(*module, xla::HloOpcode::kReshape), 0);
}

TEST(BatchLanes, OptimizerOverUnlikeShapesIsFlattened) {
  std::vector<std::string> shapes;
  for (int i = 2; i < 14; ++i) shapes.push_back(absl::StrCat("f32[", i, ",", 20 - i, ",2]"));
  auto module = Parse(Adam(shapes));
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSqrt), 1);
  BatchLanesOptions without;
  without.flatten = false;
  module = Parse(Adam(shapes));
  EXPECT_FALSE(RunAndCheck(BatchLanes(without), *module));
}

TEST(BatchLanes, OneParameterIsLeftAlone) {
  auto module = Parse(Adam({"f32[8]"}));
  EXPECT_FALSE(RunAndCheck(BatchLanes(), *module));
}

// Two additions would need as many concatenates and slices as they save.
TEST(BatchLanes, WhatDoesNotPayIsLeftAlone) {
  auto module = Parse(R"(HloModule m
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4] parameter(2)
  d = f32[4] parameter(3)
  x = f32[4] add(a, b)
  y = f32[4] add(c, d)
  ROOT out = (f32[4], f32[4]) tuple(x, y)
})");
  EXPECT_FALSE(RunAndCheck(BatchLanes(), *module));
}

// Alike, and many, but each needs the one before.
TEST(BatchLanes, AChainIsNotACycle) {
  std::string body =
      "HloModule m\nENTRY e {\n  x0 = f32[6] parameter(0)\n  w = f32[6] parameter(1)\n";
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&body, "  a", i, " = f32[6] multiply(x", i, ", w)\n", "  b", i,
                    " = f32[6] tanh(a", i, ")\n", "  c", i, " = f32[6] add(b", i, ", x", i, ")\n",
                    i == 7 ? "  ROOT " : "  ", "x", i + 1, " = f32[6] sqrt(c", i, ")\n");
  }
  auto module = Parse(body + "}\n");
  EXPECT_FALSE(RunAndCheck(BatchLanes(), *module));
}

// The last instructions of the lanes are independent, but further up lane 1 needs what only lane 0
// makes: packing sqrt would make the packed instruction its own operand.
TEST(BatchLanes, NoCycleThroughOtherInstructions) {
  auto module = Parse(R"(HloModule m
ENTRY e {
  p0 = f32[6] parameter(0)
  p1 = f32[6] parameter(1)
  p2 = f32[6] parameter(2)
  r0 = f32[6] sqrt(p0)
  e0 = f32[6] exponential(r0)
  n0 = f32[6] tanh(e0)
  t0 = f32[6] cosine(n0)
  q1 = f32[6] add(p1, r0)
  r1 = f32[6] sqrt(q1)
  e1 = f32[6] exponential(r1)
  n1 = f32[6] tanh(e1)
  t1 = f32[6] cosine(n1)
  q2 = f32[6] add(p2, r1)
  r2 = f32[6] sqrt(q2)
  e2 = f32[6] exponential(r2)
  n2 = f32[6] tanh(e2)
  t2 = f32[6] cosine(n2)
  o0 = f32[6] negate(t0)
  o1 = f32[6] negate(t1)
  o2 = f32[6] negate(t2)
  ROOT out = (f32[6], f32[6], f32[6]) tuple(o0, o1, o2)
})");
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kNegate), 1);
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSqrt), 3);
}

// Sums of squares of equal shapes, their roots compared: scalars packed as vectors.
TEST(BatchLanes, NormsAreStacked) {
  std::string body = R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  zero = f32[] constant(0)
  one = f32[] constant(1)
)";
  std::string results;
  std::string types;
  for (int i = 0; i < 6; ++i) {
    absl::StrAppend(&body, "  p", i, " = f32[3,4] parameter(", i, ")\n", "  sq", i,
                    " = f32[3,4] multiply(p", i, ", p", i, ")\n", "  n", i, " = f32[] reduce(sq", i,
                    ", zero), dimensions={0,1}, to_apply=add\n", "  r", i, " = f32[] sqrt(n", i,
                    ")\n", "  k", i, " = pred[] compare(r", i, ", zero), direction=EQ\n", "  d", i,
                    " = f32[] divide(one, r", i, ")\n", "  l", i, " = f32[] select(k", i,
                    ", one, d", i, ")\n", "  b", i, " = f32[3,4] broadcast(l", i,
                    "), dimensions={}\n", "  o", i, " = f32[3,4] multiply(p", i, ", b", i, ")\n");
    absl::StrAppend(&results, i == 0 ? "" : ", ", "o", i);
    absl::StrAppend(&types, i == 0 ? "" : ", ", "f32[3,4]");
  }
  auto module = Parse(absl::StrCat(body, "  ROOT out = (", types, ") tuple(", results, ")\n}\n"));
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kReduce), 1);
  EXPECT_EQ(Count(*module, xla::HloOpcode::kSqrt), 1);
}

// Two broadcasts of one vector into one shape, along rows and along columns.
TEST(BatchLanes, BroadcastsOfOneOperandAreToldApart) {
  std::string body = "HloModule m\nENTRY e {\n  w = f32[3] parameter(0)\n";
  body += "  r = f32[3,3] broadcast(w), dimensions={0}\n";
  body += "  c = f32[3,3] broadcast(w), dimensions={1}\n";
  for (int i = 0; i < 5; ++i) {
    absl::StrAppend(&body, "  p", i, " = f32[3,3] parameter(", i + 1, ")\n");
    absl::StrAppend(&body, "  x", i, " = f32[3,3] multiply(p", i, ", r)\n");
    absl::StrAppend(&body, "  y", i, " = f32[3,3] subtract(x", i, ", c)\n");
    absl::StrAppend(&body, "  t", i, " = f32[3,3] tanh(y", i, ")\n");
  }
  const std::string type = "f32[3,3]";
  auto module = Parse(absl::StrCat(body, "  ROOT out = (", type, ", ", type, ", ", type, ", ", type,
                                   ", ", type, ") tuple(t0, t1, t2, t3, t4)\n}\n"));
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kTanh), 1);
}

// Query, key and value: one dot, one bias, then slices.
TEST(BatchLanes, DotsThatShareAnOperandAreMerged) {
  std::string body = "HloModule m\nENTRY e {\n  x = f32[5,4] parameter(0)\n";
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(
        &body, "  w", i, " = f32[4,", i + 2, "] parameter(", 2 * i + 1, ")\n", "  b", i, " = f32[",
        i + 2, "] parameter(", 2 * i + 2, ")\n", "  d", i, " = f32[5,", i + 2, "] dot(x, w", i,
        "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n", "  c", i, " = f32[5,", i + 2,
        "] broadcast(b", i, "), dimensions={1}\n", "  a", i, " = f32[5,", i + 2, "] add(d", i,
        ", c", i, ")\n", "  t", i, " = f32[5,", i + 2, "] tanh(a", i, ")\n");
  }
  auto module = Parse(body + "  ROOT out = (f32[5,2], f32[5,3], f32[5,4]) tuple(t0, t1, t2)\n}\n");
  EXPECT_TRUE(RunAndCheck(BatchLanes(), *module));
  EXPECT_EQ(Count(*module, xla::HloOpcode::kDot), 1);
  BatchLanesOptions light;
  light.heavy = false;
  module = Parse(body + "  ROOT out = (f32[5,2], f32[5,3], f32[5,4]) tuple(t0, t1, t2)\n}\n");
  RunAndCheck(BatchLanes(light), *module);
  EXPECT_EQ(Count(*module, xla::HloOpcode::kDot), 3);
}

constexpr char kTwoReducers[] = R"(HloModule m
add_1 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
add_2 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
greater {
  d = f32[] parameter(0)
  e = f32[] parameter(1)
  ROOT f = f32[] maximum(d, e)
}
body_1 {
  g = f32[] parameter(0)
  ROOT h = f32[] sqrt(g)
}
body_2 {
  i = f32[] parameter(0)
  ROOT j = f32[] sqrt(i)
}
ENTRY e {
  zero = f32[] constant(0)
  p = f32[3,4] parameter(0)
  r = f32[3] reduce(p, zero), dimensions={1}, to_apply=add_1
  s = f32[4] reduce(p, zero), dimensions={0}, to_apply=add_2
  t = f32[4] reduce(p, zero), dimensions={0}, to_apply=greater
  q = f32[] parameter(1)
  u = f32[] call(q), to_apply=body_1
  v = f32[] call(u), to_apply=body_2
  ROOT out = (f32[3], f32[4], f32[4], f32[]) tuple(r, s, t, v)
})";

TEST(ShareComputations, EqualReducersOnly) {
  auto module = Parse(kTwoReducers);
  EXPECT_TRUE(RunAndCheck(ShareComputations(), *module));
  EXPECT_EQ(module->computation_count(), 5);  // the two functions stay two
}

}  // namespace
}  // namespace hone::compiler
