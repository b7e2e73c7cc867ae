// What a rule file may say, what the parser answers to bad ones, and that a rule keeps to what it
// says: conditions, uses, gain, termination.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/rules/parse.h"
#include "compiler/rules/pattern_rule.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/rules/rule_table.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hone::compiler {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto rules = ParseRules(text, "mine", "mine.rules");
  return rules ? "no error" : rules.error().message;
}

// A rule named r with what is given.
std::string Rule1(const std::string& body) {
  return "rule r {\n  meaning \"m\"\n" + body + "\n}\n";
}

struct BadFile {
  std::string text;
  std::string where;  // line:column
  std::string says;
};

TEST(RuleFormat, ErrorsSayWhereAndWhatToDo) {
  const std::vector<BadFile> files = {
      {"rul x {}", "1:1", "a rule begins with `rule NAME {`"},
      {"rule r { meaning \"m }", "1:18", "this text has no end"},
      {Rule1("  patern { add(x, y) }"), "3:3", "did you mean 'pattern'?"},
      {Rule1("  pattern { ad(x, y) }\n  replacement { x }"), "3:13", "there is no opcode 'ad'"},
      {Rule1("  pattern { add(x) }"), "3:13", "'add' takes 2 operands, not 1"},
      {Rule1("  pattern { add(x, y) }\n  replacement { z }"), "4:17", "the pattern has no 'z'"},
      {Rule1("  pattern { transpose(x, dims=P) }"), "3:26", "it has dimensions"},
      {Rule1("  pattern { transpose(x, dimensions=P) }\n"
             "  replacement { transpose(x, dimensions=Q) }"),
       "4:41", "nothing binds 'Q'"},
      {Rule1("  pattern { transpose(x, dimensions=P) }\n"
             "  replacement { transpose(x, dimensions=revert(P)) }"),
       "4:41", "there is no function 'revert'"},
      {Rule1("  pattern { transpose(x, dimensions=P) }\n"
             "  replacement { transpose(x, dimensions=inverse(P, P)) }"),
       "4:41", "'inverse' takes 1 argument, not 2"},
      {Rule1("  pattern { transpose(x, dimensions=P) }\n  replacement { transpose(x) }"), "4:17",
       "'transpose' needs the attribute 'dimensions'"},
      {Rule1("  pattern { unary:F(x) }\n  replacement { G(x) }"), "4:17",
       "no operator of the pattern is called 'G'"},
      {Rule1("  pattern { add(x, y) }"), "1:6", "rule 'r' has no replacement { … }"},
      {Rule1("  pattern { add(x, y) }\n  replacement { x }") +
           Rule1("  pattern { add(x, y) }\n  replacement { x }"),
       "6:6", "there is a rule 'r' above"},
      {Rule1("  pattern { g32[2] add(x, y) }"), "3:13", "'g32' is no element type"},
      {Rule1("  pattern { add(x, y) @ }"), "3:23", "has no meaning here"},
  };
  for (const BadFile& file : files) {
    const std::string error = ErrorOf(file.text);
    EXPECT_EQ(error.rfind("mine.rules:" + file.where + ": ", 0), 0U) << error << "\n" << file.text;
    EXPECT_NE(error.find(file.says), std::string::npos) << error;
  }
}

TEST(RuleFormat, UsersRulesMustNotTakeANameThatExists) {
  const auto table =
      LoadRules({{"a.rules", Rule1("pattern { add(x, y) }\nreplacement { add(y, x) }")},
                 {"b.rules", Rule1("pattern { add(x, y) }\nreplacement { x }")}});
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("b.rules:1:6: there is a rule 'r' already (a.rules)"),
            std::string::npos)
      << table.error().message;
}

TEST(RuleFormat, EveryShippedRuleHasARow) {
  const auto rows = RulePasses({});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->front().info.name, "rules");
  EXPECT_GT(rows->size(), 200U);
  for (const PassEntry& row : *rows) EXPECT_EQ(row.make()->name(), row.info.name);
}

// The root after a pass of one rule over a program with this entry computation.
std::string RootAfter(const std::string& rule_text, const std::string& entry,
                      bool* changed = nullptr) {
  auto rules = ParseRules(rule_text, "mine", "mine.rules");
  if (!rules) return rules.error().message;
  const PatternRule rule(std::move(rules->front()));
  auto module = xla::ParseAndReturnUnverifiedModule("HloModule m\nENTRY e {\n" + entry + "\n}\n");
  if (!module.ok()) return std::string(module.status().message());
  RulePass pass("mine", {&rule});
  const auto done = pass.Run(module->get());
  if (!done.ok()) return std::string(done.status().message());
  if (changed != nullptr) *changed = *done;
  return std::string((*module)->entry_computation()->root_instruction()->ToString(
      xla::HloPrintOptions::ShortParsable()
          .set_print_operand_shape(false)
          .set_print_result_shape(false)
          .set_include_layout_in_shapes(false)));
}

constexpr char kTwoTransposes[] = R"(
  x = f32[2,3,4] parameter(0)
  a = f32[3,2,4] transpose(x), dimensions={1,0,2}
  ROOT r = f32[4,2,3] transpose(a), dimensions={2,1,0}
)";

TEST(Rule, ComposesPermutations) {
  const std::string root =
      RootAfter(Rule1("pattern { transpose(transpose(x, dimensions=P), dimensions=Q) }\n"
                      "replacement { transpose(x, dimensions=compose(P, Q)) }"),
                kTwoTransposes);
  EXPECT_NE(root.find("transpose(x), dimensions={2,0,1}"), std::string::npos) << root;
}

TEST(Rule, KeepsToItsConditions) {
  bool changed = true;
  RootAfter(Rule1("pattern { transpose(transpose(x, dimensions=P), dimensions=Q) }\n"
                  "where { P == Q }\n"
                  "replacement { transpose(x, dimensions=compose(P, Q)) }"),
            kTwoTransposes, &changed);
  EXPECT_FALSE(changed);
}

TEST(Rule, KeepsToElementTypes) {
  bool changed = true;
  RootAfter(Rule1("pattern { transpose(transpose(x, dimensions=P), dimensions=Q) }\n"
                  "where { integer(x) }\n"
                  "replacement { transpose(x, dimensions=compose(P, Q)) }"),
            kTwoTransposes, &changed);
  EXPECT_FALSE(changed);
}

TEST(Rule, DoesNotReplaceWhereNothingIsSaved) {
  // a is used twice: two multiplications would become an addition and a multiplication, and one
  // multiplication would stay.
  bool changed = true;
  RootAfter(Rule1("pattern { add(multiply(a, b), multiply(a, c)) }\n"
                  "replacement { multiply(a, add(b, c)) }"),
            R"(
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] parameter(2)
  p = f32[2] multiply(a, b)
  q = f32[2] multiply(a, c)
  s = f32[2] add(p, q)
  t = f32[2] multiply(p, q)
  ROOT r = f32[2] add(s, t)
)",
            &changed);
  EXPECT_FALSE(changed);
}

TEST(Rule, LeavesSideEffectsShardingsAndControlAlone) {
  const std::string rule = Rule1("pattern { negate(negate(x)) }\nreplacement { x }");
  bool changed = false;
  RootAfter(rule, "x = f32[2] parameter(0)\na = f32[2] negate(x)\nROOT r = f32[2] negate(a)",
            &changed);
  EXPECT_TRUE(changed);
  RootAfter(rule,
            "x = f32[2] parameter(0)\na = f32[2] negate(x), sharding={replicated}\n"
            "ROOT r = f32[2] negate(a)",
            &changed);
  EXPECT_FALSE(changed);
  RootAfter(rule,
            "x = f32[2] parameter(0)\nb = f32[2] exponential(x)\n"
            "a = f32[2] negate(x), control-predecessors={b}\nROOT r = f32[2] negate(a)",
            &changed);
  EXPECT_FALSE(changed);
}

TEST(Rule, ThatUndoesItselfEnds) {
  bool changed = false;
  const std::string root =
      RootAfter(Rule1("gain 0\npattern { add(x, y) }\nreplacement { add(y, x) }"),
                "x = f32[2] parameter(0)\ny = f32[2] parameter(1)\n"
                "ROOT r = f32[2] add(x, y)",
                &changed);
  EXPECT_TRUE(changed);
  EXPECT_NE(root.find("add("), std::string::npos) << root;
}

TEST(Rule, SharedScalarsMustPayOff) {
  const std::string rule = Rule1(
      "shared\n"
      "pattern { multiply(multiply(x, U[S] broadcast(s, dimensions={})), "
      "U[S] broadcast(t, dimensions={})) }\n"
      "where { scalar(s) scalar(t) }\n"
      "replacement { multiply(x, U[S] broadcast(multiply(s, t), dimensions={})) }");
  EXPECT_NE(RootAfter(rule, "").find("mine.rules"), std::string::npos) << "conditions need lines";
  const std::string good = Rule1(
      "shared\n"
      "pattern { multiply(multiply(x, U[S] broadcast(s, dimensions={})), "
      "U[S] broadcast(t, dimensions={})) }\n"
      "where { scalar(s); scalar(t) }\n"
      "replacement { multiply(x, U[S] broadcast(multiply(s, t), dimensions={})) }");
  const auto program = [](int places) {
    std::string text =
        "s = f32[] parameter(0)\nt = f32[] parameter(1)\n"
        "bs = f32[2] broadcast(s), dimensions={}\nbt = f32[2] broadcast(t), dimensions={}\n";
    std::string all;
    std::string shapes;
    for (int i = 0; i < places; ++i) {
      const std::string n = std::to_string(i);
      text += "x" + n + " = f32[2] parameter(" + std::to_string(i + 2) + ")\n";
      text += "a" + n + " = f32[2] multiply(x" + n + ", bs)\n";
      text += "b" + n + " = f32[2] multiply(a" + n + ", bt)\n";
      all += (i == 0 ? "b" : ", b") + n;
      shapes += i == 0 ? "f32[2]" : ", f32[2]";
    }
    return text + "ROOT r = (" + shapes + ") tuple(" + all + ")";
  };
  bool changed = true;
  RootAfter(good, program(2), &changed);
  EXPECT_FALSE(changed);  // two saved, two added
  RootAfter(good, program(3), &changed);
  EXPECT_TRUE(changed);
}

}  // namespace
}  // namespace hone::compiler
