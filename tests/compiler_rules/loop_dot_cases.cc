// Loops that multiply what they read, write or add up.
#include "implementation_cases.h"
#include "loop_text.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// One row of g1 [6,4,3].
std::string Row(const std::string& index, const std::string& type = "f32") {
  return "  d = " + type + "[1,4,3] dynamic-slice(g1, " + index +
         ", z, z), dynamic_slice_sizes={1,4,3}\n  x = " + type + "[4,3] reshape(d)\n";
}

// A state of [4,5] that takes a product in: h = tanh(h + m).
std::string Step(const std::string& h = "g3", const std::string& type = "f32") {
  return "  s = " + type + "[4,5] add(" + h + ", m)\n  h = " + type + "[4,5] tanh(s)\n";
}

// Sums of products of rows of g1 and of g2 [6,4,5] into g3.
std::string Sums(const std::string& type, const std::string& added, const std::string& index = "b",
                 const std::string& trips = "six = s32[] constant(6)") {
  return Loop("f32[6,4,3];f32[6,4,5];" + type,
              {{"f32[6,4,3]", "p0", "g1"}, {"f32[6,4,5]", "p1", "g2"}, {type, "p2", "a"}},
              Row(index) + "  e = f32[1,4,5] dynamic-slice(g2, " + index +
                  ", z, z), dynamic_slice_sizes={1,4,5}\n  y = f32[4,5] reshape(e)\n" + added +
                  "  a = " + type + " add(g3, q)\n",
              "", trips);
}

// A recurrent state g2 [4,5] that is multiplied by g3 [5,3] and written into g4.
std::string Written(const std::string& what, const std::string& row = "f32[4,3]",
                    const std::string& next = "v", const std::string& index = "i") {
  const std::string rows = row.substr(0, 4) + "6," + row.substr(4);
  const std::string one = row.substr(0, 4) + "1," + row.substr(4);
  return Loop("f32[4,5];f32[5,3];f32[3]",
              {{"f32[4,5]", "p0", "h"},
               {"f32[5,3]", "p1", "g2"},
               {"f32[3]", "p2", "g3"},
               {rows, "rows", next}},
              "  h = f32[4,5] tanh(g1)\n" + what + "  u = " + one + " reshape(q)\n  v = " + rows +
                  " dynamic-update-slice(g4, u, " + index + ", z, z)\n",
              Zeros("rows", rows));
}

}  // namespace

std::vector<Case> LoopDotCases() {
  const std::string product = DotText("q", "f32[4,3]", "h, g2", 1, 0);
  const std::string sum = DotText("q", "f32[3,5]", "x, y", 0, 0);
  const auto reading = [](const std::string& parameters, const std::string& weights,
                          const std::string& body) {
    return Loop(parameters,
                {{"f32[6,4,3]", "p0", "g1"}, {weights, "p1", "g2"}, {"f32[4,5]", "p2", "h"}}, body);
  };
  return {
      {"dots_out_of_loop", "of rows that are read",
       reading("f32[6,4,3];f32[3,5];f32[4,5]", "f32[3,5]",
               Row("i") + DotText("m", "f32[4,5]", "x, g2", 1, 0) + Step())},
      {"dots_out_of_loop", "from the last row to the first, by the weights' columns",
       reading("f32[6,4,3];f32[5,3];f32[4,5]", "f32[5,3]",
               Row("b") + "  xs = f32[4,3] sine(x)\n" + DotText("v", "f32[5,4]", "g2, xs", 1, 1) +
                   "  m = f32[4,5] transpose(v), dimensions={1,0}\n" + Step())},
      {"dots_out_of_loop", "with batches",
       reading("f32[6,4,3];f32[4,3,5];f32[4,5]", "f32[4,3,5]",
               Row("i") +
                   "  m = f32[4,5] dot(g2, x), lhs_batch_dims={0}, lhs_contracting_dims={1}, "
                   "rhs_batch_dims={0}, rhs_contracting_dims={1}\n" +
                   Step())},
      {"dots_out_of_loop", "of rows that are read with others",
       reading("f32[6,4,3];f32[8,5];f32[4,5]", "f32[8,5]",
               Row("i") + "  both = f32[4,8] concatenate(x, g3), dimensions={1}\n" +
                   DotText("m", "f32[4,5]", "both, g2", 1, 0) + Step())},
      {"dots_out_of_loop", "narrow, of rows that are read with others",
       Loop("bf16[6,4,3];bf16[8,5];bf16[4,5]",
            {{"bf16[6,4,3]", "p0", "g1"}, {"bf16[8,5]", "p1", "g2"}, {"bf16[4,5]", "p2", "h"}},
            Row("i", "bf16") + "  both = bf16[4,8] concatenate(g3, x), dimensions={1}\n" +
                DotText("m", "bf16[4,5]", "both, g2", 1, 0) + Step("g3", "bf16"))},
      {"dots_out_of_loop", "sums over trips", Sums("f32[3,5]", sum)},
      {"dots_out_of_loop", "sums, transposed and turned",
       Sums("f32[5,3]", DotText("r", "f32[3,5]", "x, y", 0, 0) +
                            "  m = f32[3,5] negate(r)\n"
                            "  q = f32[5,3] transpose(m), dimensions={1,0}\n")},
      {"dots_out_of_loop", "sums of two products and over one of their dimensions",
       Sums("f32[3,5]", "  x2 = f32[4,3] multiply(x, x)\n" +
                            DotText("r", "f32[3,5]", "x, y", 0, 0) +
                            "  k = f32[4,3,5] dot(x2, y), lhs_batch_dims={0}, rhs_batch_dims={0}\n"
                            "  zf = f32[] constant(0)\n"
                            "  s = f32[3,5] reduce(k, zf), dimensions={0}, to_apply=plus\n"
                            "  q = f32[3,5] subtract(r, s)\n")},
      {"dots_out_of_loop", "sums of outer products",
       Sums("f32[4,3,4,5]",
            "  q = f32[4,3,4,5] dot(x, y), lhs_contracting_dims={}, "
            "rhs_contracting_dims={}\n")},
      {"dots_out_of_loop", "sums with a batch and two dimensions",
       Sums("f32[4]",
            "  q = f32[4] dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n")},
      {"dots_out_of_loop", "sums of what trips compute",
       Loop("f32[4,5];f32[5,5]", {{"f32[4,5]", "p0", "h"}, {"f32[5,5]", "p1", "a"}},
            "  h = f32[4,5] sine(g1)\n" + DotText("q", "f32[5,5]", "g1, h", 0, 0) +
                "  a = f32[5,5] add(q, g2)\n")},
      {"dots_out_of_loop", "narrow sums of what trips compute",
       Loop("bf16[4,5];bf16[5,5]", {{"bf16[4,5]", "p0", "h"}, {"bf16[5,5]", "p1", "a"}},
            "  h = bf16[4,5] sine(g1)\n" + DotText("q", "bf16[5,5]", "g1, h", 0, 0) +
                "  a = bf16[5,5] add(q, g2)\n")},
      {"dots_out_of_loop", "rows that are written", Written(product)},
      {"dots_out_of_loop", "rows that are written from the last one on, by products of products",
       Written(DotText("r", "f32[4,3]", "h, g2", 1, 0) +
                   "  bias = f32[4,3] broadcast(g3), dimensions={1}\n"
                   "  l = f32[4,3] add(r, bias)\n  c = f32[4,3] cosine(l)\n"
                   "  q = f32[4,5] dot(c, g2), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={1}\n",
               "f32[4,5]", "v", "b")},
      {"dots_out_of_loop", "written, sliced, padded and put together",
       Written(DotText("r", "f32[4,3]", "h, g2", 1, 0) +
                   "  zf = f32[] constant(0)\n  l = f32[2,3] slice(r), slice={[0:4:2], [0:3]}\n"
                   "  k = f32[4,3] pad(l, zf), padding=1_0_1x0_0\n"
                   "  hs = f32[4,3] slice(h), slice={[0:4], [1:4]}\n"
                   "  q = f32[4,6] concatenate(k, hs), dimensions={1}\n",
               "f32[4,6]")},
      {"dots_out_of_loop", "columns that are written, beside others",
       Loop("f32[4,5];f32[5,8]",
            {{"f32[4,5]", "p0", "s"}, {"f32[5,8]", "p1", "g2"}, {"f32[6,4,3]", "rows", "v"}},
            DotText("q", "f32[4,8]", "g1, g2", 1, 0) +
                "  y = f32[4,3] slice(q), slice={[0:4], [5:8]}\n"
                "  u = f32[1,4,3] reshape(y)\n"
                "  v = f32[6,4,3] dynamic-update-slice(g3, u, b, z, z)\n"
                "  k = f32[4,5] slice(q), slice={[0:4], [0:5]}\n  s = f32[4,5] sine(k)\n",
            Zeros("rows", "f32[6,4,3]"))},
      {"dots_out_of_loop", "places that are found by a comparison", Sums("f32[3,5]", sum, "j")},
      {"dots_out_of_loop", "sums, an unknown number of trips",
       Loop("f32[4,5];f32[5,5];s32[]",
            {{"f32[4,5]", "p0", "h"}, {"f32[5,5]", "p1", "a"}, {"s32[]", "p2", "g3"}},
            "  h = f32[4,5] sine(g1)\n" + DotText("q", "f32[5,5]", "g1, h", 0, 0) +
                "  a = f32[5,5] add(q, g2)\n",
            "", "most = s32[] get-tuple-element(t), index=3"),
       false},
      {"dots_out_of_loop", "sums that trips read",
       Loop("f32[4,5];f32[5,5]", {{"f32[4,5]", "p0", "h"}, {"f32[5,5]", "p1", "a"}},
            DotText("h", "f32[4,5]", "g1, g2", 1, 0) + DotText("q", "f32[5,5]", "g1, h", 0, 0) +
                "  a = f32[5,5] add(q, g2)\n"),
       false},
      {"dots_out_of_loop", "a product of what trips compute alone",
       Written(DotText("r", "f32[4,4]", "h, h", 1, 1) +
               "  q = f32[4,3] slice(r), slice={[0:4], [0:3]}\n"),
       false},
      {"dots_out_of_loop", "rows that are read where they are written",
       Written(DotText("r", "f32[4,3]", "h, g2", 1, 0) +
               "  was = f32[1,4,3] dynamic-slice(g4, b, z, z), dynamic_slice_sizes={1,4,3}\n"
               "  old = f32[4,3] reshape(was)\n  q = f32[4,3] add(r, old)\n"),
       false},
      {"turned_weights", "on the left, summed along columns",
       Loop("f32[30,4];f32[30,30]", {{"f32[30,4]", "p0", "h"}, {"f32[30,30]", "p1", "g2"}},
            DotText("q", "f32[30,4]", "g2, g1", 0, 0) + "  h = f32[30,4] tanh(q)\n")},
      {"turned_weights", "transposed in the loop, and as they are",
       Loop("f64[30,4];f64[30,30]", {{"f64[30,4]", "p0", "h"}, {"f64[30,30]", "p1", "g2"}},
            "  w = f64[30,30] transpose(g2), dimensions={1,0}\n" +
                DotText("q", "f64[30,4]", "w, g1", 1, 0) +
                DotText("r", "f64[30,4]", "g2, q", 1, 0) + "  h = f64[30,4] tanh(r)\n")},
      {"turned_weights", "on the right, summed along rows",
       Loop("f32[4,30];f32[30,30];f32[20,30]",
            {{"f32[4,30]", "p0", "h"},
             {"f32[30,30]", "p1", "g2"},
             {"f32[20,30]", "p2", "g3"},
             {"f32[4,20]", "a0", "a"}},
            DotText("q", "f32[4,30]", "g1, g2", 1, 1) + DotText("a", "f32[4,20]", "g1, g3", 1, 1) +
                "  h = f32[4,30] tanh(q)\n",
            Zeros("a0", "f32[4,20]"))},
      {"turned_weights", "that lie well",
       Loop("f32[30,4];f32[30,30]", {{"f32[30,4]", "p0", "h"}, {"f32[30,30]", "p1", "g2"}},
            DotText("q", "f32[30,4]", "g2, g1", 1, 0) + "  h = f32[30,4] tanh(q)\n"),
       false},
      {"turned_weights", "that the loop changes",
       Loop("f32[30,4];f32[30,30]", {{"f32[30,4]", "p0", "h"}, {"f32[30,30]", "p1", "v"}},
            DotText("q", "f32[30,4]", "g2, g1", 0, 0) +
                "  h = f32[30,4] tanh(q)\n  v = f32[30,30] sine(g2)\n"),
       false},
      {"turned_weights", "few",
       Loop("f32[20,4];f32[20,20]", {{"f32[20,4]", "p0", "h"}, {"f32[20,20]", "p1", "g2"}},
            DotText("q", "f32[20,4]", "g2, g1", 0, 0) + "  h = f32[20,4] tanh(q)\n"),
       false},
      {"dots_out_of_loop", "written at one place", Written(product, "f32[4,3]", "v", "one"), false},
  };
}

}  // namespace hone::compiler
