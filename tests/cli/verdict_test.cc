// What hone check says of wrong results among right ones, of chaos, and of inputs that it is given.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hone_process.h"

namespace hone {
namespace {

// An array in a file as numpy.savez writes it: a zip archive, stored.
class Npz {
 public:
  void Add(const std::string& name, const std::string& type, const std::string& shape,
           const std::string& data) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape +
                         "), }";
    header.resize((header.size() + 10) / 64 * 64 + 54, ' ');
    header.back() = '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    Number(bytes, header.size(), 2);
    bytes += header + data;
    const size_t at = file_.size();
    file_ += "PK\x03\x04";
    std::string common;
    for (const size_t number : {20, 0, 0, 0, 0}) Number(common, number, 2);
    Number(common, 0, 4);  // a checksum that nobody looks at
    Number(common, bytes.size(), 4);
    Number(common, bytes.size(), 4);
    Number(common, name.size() + 4, 2);
    Number(common, 0, 2);
    file_ += common + name + ".npy" + bytes;
    table_ += "PK\x01\x02";
    Number(table_, 20, 2);
    table_ += common;
    for (const size_t number : {0, 0, 0}) Number(table_, number, 2);
    Number(table_, 0, 4);
    Number(table_, at, 4);
    table_ += name + ".npy";
    ++count_;
  }
  void AddFloats(const std::string& name, const std::string& shape,
                 const std::vector<float>& values) {
    Add(name, "<f4", shape,
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  std::string Bytes() const {
    std::string bytes = file_ + table_ + "PK\x05\x06";
    Number(bytes, 0, 4);
    Number(bytes, count_, 2);
    Number(bytes, count_, 2);
    Number(bytes, table_.size(), 4);
    Number(bytes, file_.size(), 4);
    Number(bytes, 0, 2);
    return bytes;
  }

 private:
  static void Number(std::string& to, size_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xFF);
  }
  std::string file_, table_;
  size_t count_ = 0;
};

class Verdicts : public HoneTest {
 protected:
  static std::string Program(const std::string& body) {
    return "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
           "  ROOT s = f32[] add(a, b)\n}\n\nadd16 {\n  a = bf16[] parameter(0)\n"
           "  b = bf16[] parameter(1)\n  ROOT s = bf16[] add(a, b)\n}\n\nENTRY main {\n" +
           body + "}\n";
  }
  int Check(const std::string& a, const std::string& b) {
    Write("a.hlo", Program(a));
    Write("b.hlo", Program(b));
    ran = Hone({"check", "a.hlo", "b.hlo"});
    return ran.code;
  }
  Ran ran;
};

TEST_F(Verdicts, AnIndexOffByOneIsFound) {
  const std::string x = "  x = f32[64,32] parameter(0)\n";
  EXPECT_EQ(Check(x + "  ROOT r = f32[63,32] slice(x), slice={[0:63], [0:32]}\n",
                  x + "  ROOT r = f32[63,32] slice(x), slice={[1:64], [0:32]}\n"),
            1)
      << ran.out << ran.err;
  const std::string i = "  x = f32[64] parameter(0)\n  i = s32[] parameter(1)\n";
  EXPECT_EQ(Check(i + "  ROOT r = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8}\n",
                  i + "  o = s32[] constant(1)\n  j = s32[] add(i, o)\n"
                      "  ROOT r = f32[8] dynamic-slice(x, j), dynamic_slice_sizes={8}\n"),
            1)
      << ran.out << ran.err;
}

// The same sum, of f32 and of bf16 on the way.
TEST_F(Verdicts, ASumThatLosesPrecisionIsFound) {
  const std::string x = "  x = f32[16,4096] parameter(0)\n";
  EXPECT_EQ(Check(x + "  z = f32[] constant(0)\n"
                      "  ROOT r = f32[16] reduce(x, z), dimensions={1}, to_apply=add\n",
                  x + "  z = bf16[] constant(0)\n  y = bf16[16,4096] convert(x)\n"
                      "  s = bf16[16] reduce(y, z), dimensions={1}, to_apply=add16\n"
                      "  ROOT r = f32[16] convert(s)\n"),
            1)
      << ran.out << ran.err;
}

TEST_F(Verdicts, AnotherOrderOfASumIsNoDifference) {
  const std::string x =
      "  x = f32[16,4096] parameter(0)\n  e = f32[16,4096] exponential(x)\n  z = f32[] constant(0)\n";
  EXPECT_EQ(Check(x + "  ROOT r = f32[16] reduce(e, z), dimensions={1}, to_apply=add\n",
                  x + "  p = f32[16,64,64] reshape(e)\n"
                      "  s = f32[16,64] reduce(p, z), dimensions={1}, to_apply=add\n"
                      "  ROOT r = f32[16] reduce(s, z), dimensions={1}, to_apply=add\n"),
            0)
      << ran.out << ran.err;
}

TEST_F(Verdicts, AWrongNanIsFound) {
  const std::string x = "  x = f32[64] parameter(0)\n  i = f32[] constant(inf)\n"
                        "  is = f32[64] broadcast(i), dimensions={}\n"
                        "  m = f32[64] multiply(x, is)\n";
  EXPECT_EQ(Check(x + "  ROOT r = f32[64] copy(m)\n",
                  x + "  z = f32[] constant(0)\n  zs = f32[64] broadcast(z), dimensions={}\n"
                      "  p = pred[64] compare(x, zs), direction=EQ\n"
                      "  ROOT r = f32[64] select(p, zs, m)\n"),
            1)
      << "0 * inf on wide inputs: " << ran.out << ran.err;
}

TEST_F(Verdicts, AnIntegerByOneAndABf16ElementAreFound) {
  const std::string x = "  x = s32[64] parameter(0)\n";
  EXPECT_EQ(Check(x + "  ROOT r = s32[64] negate(x)\n", x + "  ROOT r = s32[64] not(x)\n"), 1);
  const std::string y = "  x = bf16[64] parameter(0)\n  i = s32[64] iota(), iota_dimension=0\n"
                        "  c = s32[] constant(9)\n  cs = s32[64] broadcast(c), dimensions={}\n"
                        "  p = pred[64] compare(i, cs), direction=EQ\n  f = bf16[] constant(1.5)\n"
                        "  fs = bf16[64] broadcast(f), dimensions={}\n"
                        "  m = bf16[64] multiply(x, fs)\n";
  EXPECT_EQ(Check(y + "  ROOT r = bf16[64] exponential(x)\n",
                  y + "  s = bf16[64] select(p, m, x)\n  ROOT r = bf16[64] exponential(s)\n"),
            1)
      << ran.out << ran.err;
}

// A loop for each element, as JAX's vmap makes one: body and condition ask the same question, and
// with rounding noise they have to agree on the answer, or it never ends.
TEST_F(Verdicts, ALoopOfElementsEndsUnderNoise) {
  Copy("newton.hlo");
  std::string other = Read("newton.hlo");
  const std::string step = "  step = f32[64,64] divide(d, slope)\n";
  ASSERT_NE(other.find(step), std::string::npos);
  other.replace(other.find(step), step.size(),
                "  f = f32[] constant(1.01)\n  fs = f32[64,64] broadcast(f), dimensions={}\n"
                "  g = f32[64,64] divide(fs, slope)\n  step = f32[64,64] multiply(d, g)\n");
  Write("other.hlo", other);
  const Ran ran = Hone({"check", "newton.hlo", "other.hlo", "--budget", "5s"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
}

// A logistic map turns the last bit into everything: its integer is another in every rounding.
TEST_F(Verdicts, AnIntegerThatHangsOnChaosCannotBeTold) {
  const auto map = [](const std::string& term) {
    return "HloModule m\n\nbody {\n  s = (s32[], f32[256]) parameter(0)\n"
           "  i = s32[] get-tuple-element(s), index=0\n  x = f32[256] get-tuple-element(s), index=1\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  f = f32[] constant(1)\n"
           "  fs = f32[256] broadcast(f), dimensions={}\n  r = f32[] constant(3.99)\n"
           "  rs = f32[256] broadcast(r), dimensions={}\n  d = f32[256] subtract(fs, x)\n" +
           term +
           "  ROOT t = (s32[], f32[256]) tuple(j, y)\n}\n\ncond {\n"
           "  s = (s32[], f32[256]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
           "  n = s32[] constant(200)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n\n"
           "ENTRY main {\n  p = f32[256] parameter(0)\n  x = f32[256] logistic(p)\n"
           "  z = s32[] constant(0)\n  t = (s32[], f32[256]) tuple(z, x)\n"
           "  w = (s32[], f32[256]) while(t), condition=cond, body=body\n"
           "  y = f32[256] get-tuple-element(w), index=1\n  k = f32[] constant(1000)\n"
           "  ks = f32[256] broadcast(k), dimensions={}\n  m = f32[256] multiply(y, ks)\n"
           "  ROOT o = s32[256] convert(m)\n}\n";
  };
  Write("a.hlo", map("  e = f32[256] multiply(x, d)\n  y = f32[256] multiply(e, rs)\n"));
  Write("b.hlo", map("  e = f32[256] multiply(x, rs)\n  g = f32[256] multiply(e, x)\n"
                     "  y = f32[256] subtract(e, g)\n"));
  const Ran ran = Hone({"check", "a.hlo", "b.hlo"});
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("hang on the last bit"), std::string::npos) << ran.out;
}

// Equal wherever generated inputs reach; the given ones reach further.
class GivenInputs : public Verdicts {
 protected:
  GivenInputs() {
    const std::string head = "  x = f32[4] parameter(0)\n  h = f32[] constant(1e6)\n"
                             "  hs = f32[4] broadcast(h), dimensions={}\n";
    Write("a.hlo", Program(head + "  ROOT r = f32[4] multiply(x, x)\n"));
    Write("b.hlo", Program(head + "  m = f32[4] minimum(x, hs)\n  ROOT r = f32[4] multiply(m, x)\n"));
  }
  Ran CheckOn(const std::string& bytes) {
    Write("in.npz", bytes);
    return Hone({"check", "a.hlo", "b.hlo", "--inputs", "in.npz"});
  }
};

TEST_F(GivenInputs, AreTaken) {
  EXPECT_EQ(Hone({"check", "a.hlo", "b.hlo"}).code, 0);
  Npz same;
  same.AddFloats("x", "4,", {1, 2, 3, 4});
  EXPECT_EQ(CheckOn(same.Bytes()).code, 0);
  Npz far;
  far.AddFloats("arr_0", "4,", {1, 2, 3, 1e7f});
  const Ran ran = CheckOn(far.Bytes());
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("the given inputs"), std::string::npos) << ran.out;
  const Ran optimized = Hone({"optimize", "a.hlo", "--budget", "1s", "--inputs", "in.npz"});
  EXPECT_EQ(optimized.code, 0) << optimized.err;
}

TEST_F(GivenInputs, OfAnotherShapeNameOrTypeAreBadInput) {
  Npz shape, name, type, count;
  shape.AddFloats("x", "5,", {1, 2, 3, 4, 5});
  name.AddFloats("weights", "4,", {1, 2, 3, 4});
  type.Add("x", "<f8", "4,", std::string(32, 0));
  count.AddFloats("arr_0", "4,", {1, 2, 3, 4});
  count.AddFloats("arr_1", "4,", {1, 2, 3, 4});
  for (const auto& [bytes, said] : {std::pair(shape.Bytes(), "is f32[5], parameter 0 (x) is f32[4]"),
                                    std::pair(name.Bytes(), "array weights is none"),
                                    std::pair(type.Bytes(), "is f64[4]"),
                                    std::pair(count.Bytes(), "it has 2 arrays"),
                                    std::pair(std::string("no zip"), "it is no .npz file"),
                                    std::pair(shape.Bytes().substr(0, 100), "no .npz file")}) {
    const Ran ran = CheckOn(bytes);
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err));
  }
  EXPECT_EQ(Hone({"check", "a.hlo", "b.hlo", "--inputs", "nowhere.npz"}).code, 2);
  EXPECT_EQ(Hone({"check", "a.hlo", "b.hlo", "--inputs", "0"}).code, 2);
}

}  // namespace
}  // namespace hone
