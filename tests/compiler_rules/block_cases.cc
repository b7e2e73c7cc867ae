// Loops over large arrays, element by element.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// A loop over a state of these types, with `;` between them: x0, which begins as `first`, and large
// arrays. `trip` makes what `next` names.
std::string ElementLoop(std::string types, const std::string& first, const std::string& trip,
                        const std::string& next, const std::string& condition,
                        const std::string& before = "") {
  const std::string given = types.substr(types.find(';') + 1);
  std::string start = "start = " + first, parts, all = "start", state = "(";
  types += ";";
  size_t begin = 0;
  for (int k = 0; begin < types.size(); ++k) {
    const size_t end = types.find(';', begin);
    const std::string type = types.substr(begin, end - begin), number = std::to_string(k);
    parts += "  x" + number + " = " + type + " get-tuple-element(t), index=" + number + "\n";
    state += (k > 0 ? ", " : "") + type;
    if (k > 0) all += ", p" + std::to_string(k - 1);
    begin = end + 1;
  }
  state += ")";
  return Entry(given,
               start + "\n  t = " + state + " tuple(" + all + ")\n  ROOT w = " + state +
                   " while(t), condition=condition, body=body",
               before + "body {\n  t = " + state + " parameter(0)\n" + parts + trip +
                   "  ROOT o = " + state + " tuple(" + next + ")\n}\ncondition {\n  t = " + state +
                   " parameter(0)\n" + parts + condition + "}\n");
}

// Of some trips over arrays of this type.
std::string CountedElementLoop(const std::string& array, const std::string& trip,
                               const std::string& before = "", const std::string& trips = "6") {
  return ElementLoop("s32[];" + array, "s32[] constant(0)",
                     "  one = s32[] constant(1)\n  n = s32[] add(x0, one)\n" + trip, "n, y",
                     "  limit = s32[] constant(" + trips +
                         ")\n  ROOT c = pred[] compare(x0, limit), direction=LT\n",
                     before);
}

// Halves elements until each is small, as jax.vmap makes it; `old` is what those become that have
// stopped.
std::string StoppingLoop(const std::string& old) {
  const std::string large =
      "  k = f32[] constant(0.25)\n  h = f32[16384] broadcast(k), "
      "dimensions={}\n  a = f32[16384] abs(x1)\n  q = pred[16384] "
      "compare(a, h), direction=GT\n";
  return ElementLoop("f32[];f32[16384];s32[16384]", "f32[] constant(0.5)",
                     large +
                         "  half = f32[16384] broadcast(x0), dimensions={}\n  y = f32[16384] "
                         "multiply(x1, half)\n  z = f32[16384] select(q, y, " +
                         old +
                         ")\n  one = s32[] constant(1)\n  ones = s32[16384] broadcast(one), "
                         "dimensions={}\n  m = s32[16384] add(x2, ones)\n  n = s32[16384] "
                         "select(q, m, x2)\n",
                     "x0, z, n",
                     large +
                         "  no = pred[] constant(false)\n  ROOT c = pred[] reduce(q, no), "
                         "dimensions={0}, to_apply=either\n",
                     Binary("either", "pred", "or"));
}

}  // namespace

std::vector<Case> BlockCases() {
  return {
      {"loop_by_blocks", "two arrays and a step",
       ElementLoop("s32[];f32[16384];f32[16384];f32[]", "s32[] constant(0)",
                   "  one = s32[] constant(1)\n  n = s32[] add(x0, one)\n  h = f32[16384] "
                   "broadcast(x3), dimensions={}\n  a = f32[16384] multiply(x2, h)\n  y = "
                   "f32[16384] add(x1, a)\n  b = f32[16384] multiply(y, h)\n  z = f32[16384] "
                   "subtract(x2, b)\n",
                   "n, y, z, x3",
                   "  limit = s32[] constant(6)\n  ROOT c = pred[] compare(x0, limit), "
                   "direction=LT\n")},
      {"loop_by_blocks", "of two dimensions, with an array that stays, counters and rows",
       ElementLoop("s32[];f32[128,144];f32[128,144];f32[144]", "s32[] constant(0)",
                   "  two = s32[] constant(2)\n  n = s32[] add(x0, two)\n  k = f32[] convert(n)\n"
                   "  h = f32[128,144] broadcast(k), dimensions={}\n  r = f32[128,144] "
                   "broadcast(x3), dimensions={1}\n  j = s32[128,144] iota(), iota_dimension=1\n"
                   "  f = f32[128,144] convert(j)\n  a = f32[128,144] divide(x2, h)\n  b = "
                   "f32[128,144] multiply(x1, r)\n  d = f32[128,144] add(a, b)\n  q = "
                   "pred[128,144] compare(f, h), direction=LT\n  y = f32[128,144] select(q, d, "
                   "x1)\n",
                   "n, y, x2, x3",
                   "  limit = s32[] constant(12)\n  ROOT c = pred[] compare(x0, limit), "
                   "direction=LT\n")},
      {"loop_by_blocks", "until a time",
       ElementLoop("f32[];f32[16384]", "f32[] constant(0)",
                   "  step = f32[] constant(0.125)\n  n = f32[] add(x0, step)\n  h = f32[16384] "
                   "broadcast(x0), dimensions={}\n  a = f32[16384] multiply(x1, h)\n  y = "
                   "f32[16384] cosine(a)\n",
                   "n, y",
                   "  limit = f32[] constant(1)\n  ROOT c = pred[] compare(x0, limit), "
                   "direction=LT\n"),
       true, true},
      {"loop_by_blocks", "narrow floats",
       CountedElementLoop("bf16[16384]",
                          "  a = bf16[16384] multiply(x1, x1)\n  y = bf16[16384] cosine(a)\n")},
      {"loop_by_blocks", "until each element has stopped", StoppingLoop("x1")},
      {"loop_by_blocks", "elements that go on after they have stopped", StoppingLoop("y"), false},
      {"loop_by_blocks", "a sum of all elements",
       CountedElementLoop("f32[16384]",
                          "  zero = f32[] constant(0)\n  m = f32[] reduce(x1, zero), "
                          "dimensions={0}, to_apply=sum\n  h = f32[16384] broadcast(m), "
                          "dimensions={}\n  y = f32[16384] subtract(x1, h)\n",
                          Binary("sum", "f32", "add")),
       false},
      {"loop_by_blocks", "neighbours",
       CountedElementLoop("f32[16384]",
                          "  a = f32[16383] slice(x1), slice={[1:16384]}\n  b = f32[1] slice(x1), "
                          "slice={[0:1]}\n  d = f32[16384] concatenate(a, b), dimensions={0}\n  "
                          "y = f32[16384] subtract(d, x1)\n"),
       false},
      {"loop_by_blocks", "rows",
       CountedElementLoop("f32[128,128]", "  y = f32[128,128] transpose(x1), dimensions={1,0}\n"),
       false},
      {"loop_by_blocks", "few elements",
       CountedElementLoop("f32[8192]", "  y = f32[8192] cosine(x1)\n"), false},
      {"loop_by_blocks", "a prime number of elements",
       CountedElementLoop("f32[16411]", "  y = f32[16411] cosine(x1)\n"), false},
      {"loop_by_blocks", "few trips",
       CountedElementLoop("f32[16384]", "  y = f32[16384] cosine(x1)\n", "", "3"), false},
  };
}

}  // namespace hone::compiler
