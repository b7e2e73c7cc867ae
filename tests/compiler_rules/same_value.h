// Programs that should compute the same, on made-up inputs.
#ifndef HONE_TESTS_COMPILER_RULES_SAME_VALUE_H_
#define HONE_TESTS_COMPILER_RULES_SAME_VALUE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/load.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/run/execute.h"
#include "support/literals.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {

// Small whole numbers with ties, and for floats NaNs and infinities, where it is `special`.
inline xla::Literal RandomInput(const xla::Shape& shape, bool special, std::mt19937_64* random) {
  const xla::PrimitiveType type = shape.element_type();
  const bool floats = xla::primitive_util::IsFloatingPointType(type);
  xla::Literal wide =
      xla::Literal::Make(xla::ShapeUtil::ChangeElementType(shape, xla::F64)).value();
  for (double& value : wide.data<double>()) {
    const auto draw = static_cast<int64_t>((*random)() % 4096);
    value = special || !floats ? static_cast<double>(draw % 7 - 3)
                               : static_cast<double>(draw - 2048) / 1024;
    if (!special || !floats) continue;
    if (draw % 11 == 0) value = std::nan("");
    if (draw % 13 == 0) value = -std::numeric_limits<double>::infinity();
    if (draw % 17 == 0) value = std::numeric_limits<double>::infinity();
    if (draw % 19 == 0) value = -0.0;
  }
  return wide.Convert(type).value();
}

inline void ExpectNear(const xla::Literal& want, const xla::Literal& got) {
  if (want.shape().IsTuple()) {
    const auto parts = static_cast<int64_t>(want.shape().tuple_shapes().size());
    for (int64_t k = 0; k < parts; ++k) {
      xla::Literal a = xla::LiteralSlice(want, {k}).Clone(),
                   b = xla::LiteralSlice(got, {k}).Clone();
      ExpectNear(a, b);
    }
    return;
  }
  const xla::PrimitiveType type = want.shape().element_type();
  const double tolerance = !xla::primitive_util::IsFloatingPointType(type) ? 0
                           : xla::primitive_util::BitWidth(type) < 32      ? 4e-2
                                                                           : 1e-5;
  const xla::Literal a = want.Convert(xla::F64).value(), b = got.Convert(xla::F64).value();
  for (int64_t k = 0; k < a.element_count(); ++k) {
    const double x = a.data<double>()[k], y = b.data<double>()[k];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_LE(std::abs(x - y), tolerance * (1 + std::abs(x)))
        << "element " << k << ": " << x << " and " << y;
  }
}

inline std::unique_ptr<xla::HloModule> Parsed(const std::string& text) {
  auto loaded = LoadModule(text);
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message << "\n" << text;
  return loaded ? std::move(loaded->module) : nullptr;
}

// Both compiled and run.
inline void ExpectSameRuns(const xla::HloModule& before, const xla::HloModule& after,
                           const std::vector<xla::Literal>& inputs) {
  std::vector<Arrays> results;
  for (const xla::HloModule* module : {&before, &after}) {
    const auto program = Program::Compile(*module, CodeQuality::kQuickCompile);
    ASSERT_TRUE(program.ok()) << program.status() << "\n" << module->ToString();
    const auto arguments = program->Place(inputs);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    auto result = program->Run(*arguments);
    ASSERT_TRUE(result.ok()) << result.status();
    results.push_back(LiteralsOf(*result));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t k = 0; k < results[0].size(); ++k) ExpectNear(results[0][k], results[1][k]);
}

// Applies a rule to a program, as its pass does. Where it `applies`, `same` is to compare both on
// each of three sets of inputs; else the program has to stay as it was.
template <class Same>
void ExpectSameValueWhereItApplies(const InstructionRule& rule, const std::string& text,
                                   bool applies, bool special, Same same) {
  const std::unique_ptr<xla::HloModule> before = Parsed(text);
  ASSERT_NE(before, nullptr);
  const std::unique_ptr<xla::HloModule> after = before->Clone("");
  const auto changed = RulePass("implement:" + rule.name(), {&rule}).Run(after.get());
  ASSERT_TRUE(changed.ok()) << changed.status();
  ASSERT_EQ(*changed, applies);
  if (!*changed) {
    EXPECT_EQ(before->entry_computation()->ToString(), after->entry_computation()->ToString());
    return;
  }
  ASSERT_EQ(VerifyModule(*after), "");
  std::mt19937_64 random(7);
  for (int set = 0; set < 3; ++set) {
    std::vector<xla::Literal> inputs;
    for (const auto* parameter : before->entry_computation()->parameter_instructions()) {
      inputs.push_back(RandomInput(parameter->shape(), special, &random));
    }
    same(*before, *after, inputs);
  }
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_RULES_SAME_VALUE_H_
