#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class MemoryTest : public HoneTest {
 protected:
  MemoryTest() { Copy("small.hlo"); }
};

TEST_F(MemoryTest, PlansSimulatesAndReadsBack) {
  for (const std::string machine : {"generic", "neuroncore_v2"}) {
    const Ran ran =
        Hone({"memory", "small.hlo", "--machine", machine, "-o", "plan.json", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto json = ran.Json();
    EXPECT_EQ(json["file"], "small.hlo");
    EXPECT_EQ(json["machine"], machine);
    EXPECT_TRUE(json["verified"].is_boolean() && json["verified"].get<bool>()) << ran.out;
    EXPECT_LE(json["pairs_eliminated"], json["pairs"]);
    for (const char* way : {"operator", "local", "hone", "bound"}) {
      EXPECT_GT(json["dram_bytes"][way].get<int64_t>(), 0) << way;
    }
    EXPECT_GE(json["dram_bytes"]["hone"], json["dram_bytes"]["bound"]);
    EXPECT_LE(json["dram_bytes"]["hone"], json["dram_bytes"]["operator"]);
    for (const char* field : {"peak_scratchpad", "planning_seconds"}) {
      EXPECT_TRUE(json[field].is_number()) << field;
    }
    const Ran again = Hone({"memory", "simulate", "plan.json", "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(
        again.Json()["loaded_bytes"].get<int64_t>() + again.Json()["stored_bytes"].get<int64_t>(),
        json["dram_bytes"]["hone"].get<int64_t>());
  }
}

TEST_F(MemoryTest, APlanThatClaimsOtherTrafficIsFoundOut) {
  ASSERT_EQ(Hone({"memory", "small.hlo", "-o", "plan.json"}).code, 0);
  std::string plan = Read("plan.json");
  const std::string field = "\"loaded_bytes\":";
  const size_t at = plan.find(field);
  ASSERT_NE(at, plan.npos);
  plan.insert(at + field.size(), "1");
  Write("plan.json", plan);
  const Ran ran = Hone({"memory", "simulate", "plan.json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("claims"), std::string::npos) << ran.out;
}

// As an adaptive solver has them: a loop in a loop, how often either runs depends on data, and a
// table of more than 16 numbers that the inner one looks things up in.
constexpr const char* kNestedLoops = R"(HloModule nested
inner_condition {
  s = (f32[4], s32[], f32[]) parameter(0)
  t = f32[] get-tuple-element(s), index=2
  k = s32[] get-tuple-element(s), index=1
  one = f32[] constant(1)
  most = s32[] constant(50)
  going = pred[] compare(t, one), direction=LT
  few = pred[] compare(k, most), direction=LT
  ROOT both = pred[] and(going, few)
}
inner_body {
  s = (f32[4], s32[], f32[]) parameter(0)
  y = f32[4] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  t = f32[] get-tuple-element(s), index=2
  table = f32[5,4] constant({{0.1,0.2,0.3,0.4},{0.5,0.6,0.7,0.8},{0.9,1,1.1,1.2},{1,2,3,4},{5,6,7,8}})
  row = f32[1,4] slice(table), slice={[1:2], [0:4]}
  add = f32[4] reshape(row)
  next = f32[4] add(y, add)
  one = s32[] constant(1)
  k1 = s32[] add(k, one)
  first = f32[1] slice(y), slice={[0:1]}
  size = f32[] reshape(first)
  step = f32[] logistic(size)
  t1 = f32[] add(t, step)
  ROOT r = (f32[4], s32[], f32[]) tuple(next, k1, t1)
}
outer_condition {
  s = (f32[4], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=1
  five = s32[] constant(9)
  ROOT going = pred[] compare(k, five), direction=LT
}
outer_body {
  s = (f32[4], s32[]) parameter(0)
  y = f32[4] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  zero = f32[] constant(0)
  state = (f32[4], s32[], f32[]) tuple(y, k, zero)
  done = (f32[4], s32[], f32[]) while(state), condition=inner_condition, body=inner_body
  y1 = f32[4] get-tuple-element(done), index=0
  k1 = s32[] get-tuple-element(done), index=1
  ROOT r = (f32[4], s32[]) tuple(y1, k1)
}
ENTRY main {
  y = f32[4] parameter(0)
  k = s32[] parameter(1)
  state = (f32[4], s32[]) tuple(y, k)
  ROOT r = (f32[4], s32[]) while(state), condition=outer_condition, body=outer_body
}
)";

// The bits of an rng-bit-generator's key are parts of larger numbers, and larger numbers are made
// of them.
constexpr const char* kRegrouped = R"(HloModule regrouped
ENTRY main {
  key = u32[4] parameter(0)
  halves = u32[2,2] reshape(key)
  whole = u64[2] bitcast-convert(halves)
  one = u64[] constant(1)
  ones = u64[2] broadcast(one), dimensions={}
  more = u64[2] add(whole, ones)
  known = u64[2] constant({4294967297, 8589934595})
  known_parts = u32[2,2] bitcast-convert(known)
  parts = u32[2,2] bitcast-convert(more)
  sum = u32[2,2] add(parts, known_parts)
  x = bf16[64,2] parameter(1)
  word = u32[64] bitcast-convert(x)
  ROOT r = (u32[2,2], u32[64]) tuple(sum, word)
}
)";

// Angles, the greatest of them, and a constant of rank 3, which XLA writes with comments.
constexpr const char* kAngles = R"(HloModule angles
twice {
  a = f32[] parameter(0)
  ROOT b = f32[] add(a, a)
}
ENTRY main {
  x = f32[4,40] parameter(0)
  y = f32[4,40] parameter(1)
  angle = f32[4,40] atan2(x, y)
  double = f32[4,40] map(angle), dimensions={0,1}, to_apply=twice
  best = (f32[4,3], s32[4,3]) topk(double), k=3, largest=true
  values = f32[4,3] get-tuple-element(best), index=0
  places = s32[4,3] get-tuple-element(best), index=1
  z = c64[4,40] complex(x, y)
  more = c64[4,40] log-plus-one(z)
  mask = f32[1,2,6] constant({ { {0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11} } })
  flat = f32[4,3] reshape(mask)
  sum = f32[4,3] add(values, flat)
  ROOT r = (f32[4,3], s32[4,3], c64[4,40]) tuple(sum, places, more)
}
)";

TEST_F(MemoryTest, ComputesAsXlaDoes) {
  for (const char* program : {kNestedLoops, kRegrouped, kAngles}) {
    Write("program.hlo", program);
    const Ran ran = Hone({"memory", "program.hlo", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto json = ran.Json();
    EXPECT_TRUE(json["verified"].is_boolean() && json["verified"].get<bool>()) << ran.out;
  }
}

// XLA does in a fraction of a second what takes the simulator minutes, and nothing says so before:
// how often the loop runs depends on data.
constexpr const char* kLong = R"(HloModule long
condition {
  s = (f32[128,128], s32[]) parameter(0)
  k = s32[] get-tuple-element(s), index=1
  most = s32[] constant(40000)
  ROOT going = pred[] compare(k, most), direction=LT
}
body {
  s = (f32[128,128], s32[]) parameter(0)
  y = f32[128,128] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1
  half = f32[] constant(0.5)
  halves = f32[128,128] broadcast(half), dimensions={}
  less = f32[128,128] multiply(y, halves)
  more = f32[128,128] add(less, halves)
  one = s32[] constant(1)
  next = s32[] add(k, one)
  ROOT r = (f32[128,128], s32[]) tuple(more, next)
}
ENTRY main {
  y = f32[128,128] parameter(0)
  k = s32[] parameter(1)
  few = s32[] constant(63)
  small = s32[] and(k, few)
  state = (f32[128,128], s32[]) tuple(y, small)
  ROOT r = (f32[128,128], s32[]) while(state), condition=condition, body=body
}
)";

TEST_F(MemoryTest, ComparesNumbersForAsLongAsItMay) {
  Write("long.hlo", kLong);
  const Ran ran =
      Hone({"memory", "long.hlo", "--verify-budget", "3s", "-o", "plan.json", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "traffic");
  const std::string said = ran.Json()["verification"];
  EXPECT_NE(said.find("not compared within 3 s; --verify-budget"), std::string::npos) << said;
  const Ran again = Hone({"memory", "simulate", "plan.json", "--verify-budget", "2s"});
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.out.find("within 2 s"), std::string::npos) << again.out;
}

TEST_F(MemoryTest, AnInterruptKeepsThePlan) {
  Write("long.hlo", kLong);
  const Ran ran = RunProcess(
      {HONE_BINARY, "memory", "long.hlo", "--verify-budget", "300s", "-o", "plan.json", "--json"},
      folder(), "simulating");
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "traffic");
  const std::string said = ran.Json()["verification"];
  EXPECT_NE(said.find("interrupted"), std::string::npos) << said;
  EXPECT_EQ(Hone({"memory", "simulate", "plan.json", "--no-numbers"}).code, 0);
}

// Every algorithm, widths of 8 to 64 bits, odd and even sizes, also in a loop that ends by them.
constexpr const char* kRandomBits = R"(HloModule bits
body {
  s = (s32[], u64[2]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  state = u64[2] get-tuple-element(s), index=1
  r = (u64[2], u32[5]) rng-bit-generator(state), algorithm=rng_default
  next = u64[2] get-tuple-element(r), index=0
  bits = u32[5] get-tuple-element(r), index=1
  first = u32[1] slice(bits), slice={[0:1]}
  step = u32[] reshape(first)
  three = u32[] constant(3)
  some = u32[] and(step, three)
  forward = s32[] convert(some)
  ahead = s32[] add(k, forward)
  ROOT t = (s32[], u64[2]) tuple(ahead, next)
}
condition {
  s = (s32[], u64[2]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  most = s32[] constant(20)
  ROOT going = pred[] compare(k, most), direction=LT
}
ENTRY e {
  s = u64[2] parameter(0)
  r = (u64[2], u32[3,5]) rng-bit-generator(s), algorithm=rng_default
  n = u64[2] get-tuple-element(r), index=0
  b = u32[3,5] get-tuple-element(r), index=1
  r2 = (u64[2], u16[6,5]) rng-bit-generator(n), algorithm=rng_philox
  n2 = u64[2] get-tuple-element(r2), index=0
  b2 = u16[6,5] get-tuple-element(r2), index=1
  r3 = (u64[2], u64[7]) rng-bit-generator(n2), algorithm=rng_three_fry
  n3 = u64[2] get-tuple-element(r3), index=0
  b3 = u64[7] get-tuple-element(r3), index=1
  r4 = (u64[2], u8[7,3]) rng-bit-generator(n3), algorithm=rng_three_fry
  n4 = u64[2] get-tuple-element(r4), index=0
  b4 = u8[7,3] get-tuple-element(r4), index=1
  zero = s32[] constant(0)
  start = (s32[], u64[2]) tuple(zero, n4)
  looped = (s32[], u64[2]) while(start), condition=condition, body=body
  n5 = u64[2] get-tuple-element(looped), index=1
  ROOT t = (u64[2], u32[3,5], u16[6,5], u64[7], u8[7,3]) tuple(n5, b, b2, b3, b4)
}
)";

TEST_F(MemoryTest, ComputesRandomBitsAsXlaDoes) {
  Write("bits.hlo", kRandomBits);
  const Ran ran = Hone({"memory", "bits.hlo", "--machine", "generic"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("outputs equal to XLA's"), std::string::npos) << ran.out;
}

// XLA:CPU's own loses them unless it is told.
TEST_F(MemoryTest, AMaximumKeepsNans) {
  Write("roots.hlo", R"(HloModule roots
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  d = f32[64] divide(y, x)
  r = f32[64] sqrt(d)
  s = f32[64] subtract(y, r)
  ROOT m = f32[64] maximum(x, s)
}
)");
  const Ran ran = Hone({"memory", "roots.hlo", "--machine", "generic"});
  ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("outputs equal to XLA's"), std::string::npos) << ran.out;
}

TEST_F(MemoryTest, SaysWhatIsWrong) {
  const auto bad = [&](const std::vector<std::string>& arguments, const std::string& what) {
    std::vector<std::string> all = {"memory"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = Hone(all);
    EXPECT_EQ(ran.code, 2) << what;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
  };
  bad({}, "give a program");
  bad({"nowhere.hlo"}, "nowhere.hlo");
  bad({"small.hlo", "--machine", "abacus"}, "there is no machine 'abacus'");
  bad({"simulate", "small.hlo"}, "not a plan");
  Write("machine.json", "{\"name\": \"m\"}");
  bad({"small.hlo", "--machine", "machine.json"}, "is missing");
}

TEST_F(MemoryTest, ListsMachines) {
  const Ran ran = Hone({"memory", "machines", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["machines"].size(), 5u);
}

}  // namespace
}  // namespace hone
