// --stand-in-constants: programs whose dump has elided constants, under made-up values.
#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

// A look-up by a constant: an index outside of [0, 5) would be clamped, and show the table's ends
// only.
constexpr const char* kText = R"(HloModule lookup

ENTRY main {
  x = f32[5,4]{1,0} parameter(0)
  rows = s32[40,1]{1,0} constant(ROWS), frontend_attributes={of="rows"}
  taken = f32[40,4]{1,0} gather(x, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  scale = f32[40,4]{0,1} constant(SCALE), metadata={op_name="scale"}
  scaled = f32[40,4]{1,0} divide(taken, scale)
  zero = f32[] constant(0)
  nothing = f32[40,4]{1,0} broadcast(zero), dimensions={}
  ROOT sum = f32[40,4]{1,0} add(scaled, nothing)
}
)";

std::string With(std::string text, const std::string& name, const std::string& value) {
  return text.replace(text.find("(" + name + ")") + 1, name.size(), value);
}

std::string Repeated(const std::string& value) {
  std::string all;
  for (int i = 0; i < 40; ++i) all += (i == 0 ? "" : ", ") + value;
  return "{ " + all + " }";
}

class StandInConstants : public HoneTest {
 protected:
  StandInConstants() {
    Write("elided.hlo", With(With(kText, "ROWS", "{...}"), "SCALE", "{...}"));
    Write("whole.hlo",
          With(With(kText, "ROWS", Repeated("{3}")), "SCALE", Repeated("{1, 2, 3, 4}")));
  }
};

TEST_F(StandInConstants, WithoutTheOptionTheMessageNamesIt) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"optimize", "elided.hlo", "--budget", "10steps"},
        std::vector<std::string>{"tune", "elided.hlo", "--budget", "1steps"},
        std::vector<std::string>{"bench", "elided.hlo"},
        std::vector<std::string>{"check", "elided.hlo", "elided.hlo"},
        std::vector<std::string>{"stats", "elided.hlo"}}) {
    const Ran ran = Hone(arguments);
    EXPECT_NE((ran.out + ran.err).find("--stand-in-constants"), std::string::npos)
        << arguments[0] << ran.out << ran.err;
  }
}

TEST_F(StandInConstants, OptimisedVerifiedComparedAndReplayed) {
  const Ran ran = Hone({"optimize", "elided.hlo", "--stand-in-constants", "--budget", "100steps",
                        "-o", "out.hlo", "--recipe", "recipe.json", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.Json()["verified"], true) << ran.out;
  EXPECT_EQ(ran.Json()["stand_in_constants"], 2);
  EXPECT_NE(ran.err.find("made-up values stand in for its 2 elided constants"), std::string::npos)
      << ran.err;
  // The result has the values with which it was verified.
  const Ran check = Hone({"check", "elided.hlo", "out.hlo", "--stand-in-constants", "--json"});
  EXPECT_EQ(check.Json()["verdict"], "equal") << check.out;
  EXPECT_EQ(check.Json()["stand_in_constants"], 2);
  EXPECT_EQ(check.Json()["finite_share"], 1.0) << "a scale of zero";
  EXPECT_EQ(Hone({"replay", "recipe.json", "--stand-in-constants", "-o", "again.hlo"}).code, 0);
  EXPECT_EQ(Read("again.hlo"), Read("out.hlo"));
  // What was found is also for the program with its real constants.
  const Ran real = Hone({"replay", "recipe.json", "--program", "whole.hlo", "-o", "real.hlo"});
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_NE(real.err.find("made-up constants"), std::string::npos) << real.err;
  EXPECT_EQ(Hone({"check", "whole.hlo", "real.hlo"}).code, 0);
}

TEST_F(StandInConstants, ValuesAreTheSameInEveryProcessAndLieInRange) {
  const std::vector<std::string> run = {"run", "elided.hlo", "--passes", "",
                                        "--stand-in-constants"};
  const Ran first = Hone(run);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, Hone(run).out);
  EXPECT_EQ(first.out.find("{...}"), std::string::npos);
  EXPECT_EQ(first.out.find("hone_elided"), std::string::npos);
  EXPECT_NE(first.out.find("of=\"rows\""), std::string::npos);
  // Each row in braces of its own: { {3}, {0}, … }.
  const size_t begin = first.out.find("s32[40,1]{1,0} constant(");
  ASSERT_NE(begin, std::string::npos);
  const std::string rows = first.out.substr(begin, first.out.find(')', begin) - begin);
  int seen = 0;
  for (size_t at = rows.find('{', 14); at != rows.npos; at = rows.find('{', at + 1)) {
    const char digit = rows[rows.find_first_not_of("{ \n", at)];
    EXPECT_TRUE(digit >= '0' && digit < '5') << rows.substr(at, 10);
    ++seen;
  }
  EXPECT_GE(seen, 40);
  // A fingerprint does not hang on what else was loaded before.
  const auto alone = Hone({"stats", "elided.hlo", "--json"}).Json();
  Write("another.hlo", With(With(kText, "ROWS", "{...}"), "SCALE", "{...}"));
  const auto both = Hone({"stats", "another.hlo", "elided.hlo", "--json"}).Json();
  EXPECT_EQ(both["results"][0]["fingerprint"], alone["fingerprint"]);
  EXPECT_EQ(both["results"][1]["fingerprint"], alone["fingerprint"]);
}

TEST_F(StandInConstants, ThePlanFitsTheProgramWithItsRealConstants) {
  const Ran ran = Hone({"tune", "elided.hlo", "--stand-in-constants", "--budget", "2steps",
                        "--plan", "plan.json", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.Json()["stand_in_constants"], 2);
  EXPECT_NE(ran.Json()["stop_reason"], "not_tunable");
  EXPECT_NE(Read("plan.json").find("\"stand_in_constants\": 2"), std::string::npos)
      << Read("plan.json");
  const Ran bench = Hone({"bench", "whole.hlo", "--plan", "plan.json", "--budget", "1s", "--json"});
  EXPECT_EQ(bench.code, 0) << bench.out << bench.err;
}

}  // namespace
}  // namespace hone
