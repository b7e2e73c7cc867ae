// Every rule against its own laws: programs made at random in which its pattern stands compute the
// same after the rule as before, by XLA's evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/rules/rule_table.h"
#include "law.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

constexpr int kDraws = 60;  // of a law and type
constexpr int kEnough = 6;  // that the rule applied to

xla::Literal RandomInput(const xla::Shape& shape, std::mt19937_64& random) {
  std::vector<float> values(xla::ShapeUtil::ElementsIn(shape));
  const bool is_float = xla::primitive_util::IsFloatingPointType(shape.element_type());
  for (float& value : values) {
    const auto drawn = static_cast<int>(random() % 4001);
    value = is_float                            ? static_cast<float>(drawn - 2000) / 997.0F
            : shape.element_type() == xla::PRED ? static_cast<float>(drawn % 2)
                                                : static_cast<float>(drawn % 19 - 9);
  }
  return xla::LiteralUtil::CreateR1<float>(values)
      .Convert(shape.element_type())
      ->Reshape(shape.dimensions())
      .value();
}

double At(const xla::Literal& literal, int64_t index) {
  const xla::Literal flat = literal.Reshape({xla::ShapeUtil::ElementsIn(literal.shape())}).value();
  if (literal.shape().element_type() == xla::PRED ||
      xla::primitive_util::IsIntegralType(literal.shape().element_type())) {
    return static_cast<double>(flat.GetIntegralAsS64({index}).value());
  }
  return flat.GetAsDouble({index}).value();
}

// Empty where equal up to rounding; NaN stays NaN, infinities stay themselves.
std::string Difference(const xla::Literal& a, const xla::Literal& b, bool narrow) {
  if (!xla::ShapeUtil::Compatible(a.shape(), b.shape())) return "other shapes";
  const bool is_float = xla::primitive_util::IsFloatingPointType(a.shape().element_type());
  const int64_t count = xla::ShapeUtil::ElementsIn(a.shape());
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isfinite(At(a, i))) largest = std::max(largest, std::fabs(At(a, i)));
  }
  const double tolerance = is_float ? (narrow ? 4e-2 : 1e-4) * (1 + largest) : 0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = At(a, i);
    const double y = At(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y || std::fabs(x - y) <= tolerance) continue;
    return "element " + std::to_string(i) + " was " + std::to_string(x) + " and is " +
           std::to_string(y);
  }
  return "";
}

bool HasNarrow(const xla::HloModule& module) {
  for (const xla::HloInstruction* instruction : module.entry_computation()->instructions()) {
    if (instruction->shape().element_type() == xla::BF16) return true;
  }
  return false;
}

class Laws : public testing::TestWithParam<Rule> {};

TEST_P(Laws, Hold) {
  const Rule& rule = GetParam();
  std::mt19937_64 random(7);
  int applied = 0;
  int drawn = 0;
  std::string last_failure = "none";
  for (const Law& law : LawsOf(rule)) {
    for (const xla::PrimitiveType type : LawTypes(rule)) {
      int enough = 0;
      for (int draw = 0; draw < kDraws && enough < kEnough; ++draw) {
        auto module = DrawLaw(rule, law, type, random);
        if (!module.ok()) {
          last_failure = std::string(module.status().message());
          continue;
        }
        ++drawn;
        const std::unique_ptr<xla::HloModule> after = (*module)->Clone("");
        auto changed = ApplyOnce(rule, *after);
        ASSERT_TRUE(changed.ok()) << changed.status().message() << "\n" << (*module)->ToString();
        if (!*changed) continue;
        ++applied;
        ++enough;
        std::vector<xla::Literal> inputs;
        std::vector<const xla::Literal*> pointers;
        for (const auto* parameter : (*module)->entry_computation()->parameter_instructions()) {
          inputs.push_back(RandomInput(parameter->shape(), random));
        }
        for (const xla::Literal& input : inputs) pointers.push_back(&input);
        xla::HloEvaluator evaluator;
        auto before = evaluator.Evaluate(*(*module)->entry_computation(), pointers);
        ASSERT_TRUE(before.ok()) << before.status().message() << "\n" << (*module)->ToString();
        xla::HloEvaluator second;
        auto now = second.Evaluate(*after->entry_computation(), pointers);
        ASSERT_TRUE(now.ok()) << now.status().message() << "\n" << after->ToString();
        const std::string difference = Difference(*before, *now, HasNarrow(**module));
        EXPECT_EQ(difference, "") << (*module)->ToString() << "\nbecame\n" << after->ToString();
        if (!difference.empty()) return;
      }
    }
  }
  EXPECT_GE(applied, 3) << "the rule hardly ever applies to its own laws: " << drawn
                        << " programs drawn; the last that could not be: " << last_failure;
}

std::vector<Rule> AllRules() {
  StatusOr<std::vector<Rule>> rules = LoadRules({});
  if (!rules) {
    ADD_FAILURE() << rules.error().message;
    return {};
  }
  return *std::move(rules);
}

INSTANTIATE_TEST_SUITE_P(Rules, Laws, testing::ValuesIn(AllRules()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::compiler
