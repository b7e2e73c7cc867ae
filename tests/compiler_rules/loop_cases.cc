#include "implementation_cases.h"
#include "loop_text.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// A loop of five trips, each of which writes a row, made of the one before it, into an array.
std::string WritingLoop(const std::string& type, const std::string& sizes,
                        const std::string& row_sizes, const std::string& trip = "") {
  const std::string array = type + "[" + sizes + "]", row = type + "[" + row_sizes + "]",
                    state = "(s32[], " + array + ")";
  const std::string write = "  r = " + row + " dynamic-slice(x, i, z), dynamic_slice_sizes={" +
                            row_sizes + "}\n  u = " + row + " add(r, r)\n  y = " + array +
                            " dynamic-update-slice(x, u, n, z)\n";
  return Entry(array,
               "zero = s32[] constant(0)\n  t = " + state + " tuple(zero, p0)\n  ROOT w = " +
                   state + " while(t), condition=condition, body=body",
               "body {\n  t = " + state +
                   " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  x = " + array +
                   " get-tuple-element(t), index=1\n  z = s32[] constant(0)\n  one = s32[] "
                   "constant(1)\n  n = s32[] add(i, one)\n" +
                   (trip.empty() ? write : trip) + "  ROOT o = " + state +
                   " tuple(n, y)\n}\ncondition {\n  t = " + state +
                   " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  five = s32[] "
                   "constant(5)\n  ROOT c = pred[] compare(i, five), direction=LT\n}\n");
}

// A loop of five trips, each of which calls what has thousands of instructions.
std::string LoopOfCalls() {
  std::string called = "called {\n  x0 = f32[8,16] parameter(0)\n";
  constexpr int kMany = 3000;
  for (int k = 1; k <= kMany; ++k) {
    const std::string before = "x" + std::to_string(k - 1);
    called += (k == kMany ? "  ROOT x" : "  x") + std::to_string(k) + " = f32[8,16] add(" + before +
              ", " + before + ")\n";
  }
  std::string text =
      WritingLoop("f32", "8,16", "1,16", "  y = f32[8,16] call(x), to_apply=called\n");
  return text.insert(text.find("body {"), called + "}\n");
}

// A loop of five trips, as JAX's random numbers have it: what is added depends on the trip; it is
// an element of a small array that goes round. `more` makes z of y.
std::string RoundsLoop(const std::string& more) {
  const std::string state = "(s32[], u32[8,32], u32[4])";
  return "HloModule rounds\nmix {\n  a = u32[8,32] parameter(0)\n  b = u32[] parameter(1)\n  c = "
         "u32[8,32] broadcast(b), dimensions={}\n  d = u32[8,32] shift-left(a, c)\n  ROOT e = "
         "u32[8,32] xor(d, a)\n}\nplus {\n  a = u32[] parameter(0)\n  b = u32[] parameter(1)\n  "
         "ROOT c = u32[] add(a, b)\n}\nbody {\n  t = " +
         state +
         " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  one = s32[] constant(1)\n  n "
         "= s32[] add(i, one)\n  x = u32[8,32] get-tuple-element(t), index=1\n  r = u32[4] "
         "get-tuple-element(t), index=2\n  first = u32[1] slice(r), slice={[0:1]}\n  rest = u32[3] "
         "slice(r), slice={[1:4]}\n  turned = u32[4] concatenate(rest, first), dimensions={0}\n  k "
         "= u32[] reshape(first)\n  y = u32[8,32] call(x, k), to_apply=mix\n" +
         more + "  ROOT o = " + state + " tuple(n, z, turned)\n}\ncondition {\n  t = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  most = s32[] constant(5)\n  "
         "ROOT c = pred[] compare(i, most), direction=LT\n}\nENTRY main {\n  p0 = u32[8,32] "
         "parameter(0)\n  zero = s32[] constant(0)\n  r = u32[4] constant({13, 15, 26, 6})\n  t "
         "= " +
         state + " tuple(zero, p0, r)\n  w = " + state +
         " while(t), condition=condition, body=body\n  ROOT v = u32[8,32] get-tuple-element(w), "
         "index=1\n}\n";
}

// Rounds of two words, shaped as JAX's Threefry; `end` takes w, or l and r, of it.
std::string TwoWordsLoop(const std::string& words, const std::string& end) {
  const std::string state = "(s32[], " + words + ", " + words + ", u32[2])";
  return "HloModule words\nbody {\n  t = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  one = s32[] constant(1)\n  n "
         "= s32[] add(i, one)\n  x = " +
         words + " get-tuple-element(t), index=1\n  y = " + words +
         " get-tuple-element(t), index=2\n  k = u32[2] get-tuple-element(t), index=3\n  a = " +
         words +
         " add(x, y)\n  front = u32[1] slice(k), slice={[0:1]}\n  by = u32[] reshape(front)\n  s "
         "= " +
         words + " broadcast(by), dimensions={}\n  h = " + words +
         " shift-left(y, s)\n  o1 = u32[] constant(32)\n  o2 = u32[] subtract(o1, by)\n  o = " +
         words + " broadcast(o2), dimensions={}\n  q = " + words +
         " shift-right-logical(y, o)\n  b = " + words + " or(h, q)\n  c = " + words +
         " xor(a, b)\n  turned = u32[2] reverse(k), dimensions={0}\n  ROOT u = " + state +
         " tuple(n, a, c, turned)\n}\ncondition {\n  t = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  five = s32[] constant(5)\n  "
         "ROOT c = pred[] compare(i, five), direction=LT\n}\nENTRY main {\n  p0 = " +
         words + " parameter(0)\n  p1 = " + words +
         " parameter(1)\n  zero = s32[] constant(0)\n  k = u32[2] constant({13, 17})\n  t = " +
         state + " tuple(zero, p0, p1, k)\n  w = " + state +
         " while(t), condition=condition, body=body\n  l = " + words +
         " get-tuple-element(w), index=1\n  r = " + words + " get-tuple-element(w), index=2\n  " +
         end + "\n}\n";
}

// Steps of g1 by g2, which `first` of g1 and `last` of y, the next one, change: g and h. g3 is a
// matrix. `next` is what becomes of these.
std::string Leapfrog(const std::string& first, const std::string& last,
                     const std::vector<std::string>& next = {"y", "w", "g3"}) {
  const std::string vector = "f32[40]", matrix = "f32[40,40]";
  return Loop(vector + ";" + vector + ";" + matrix,
              {{vector, "p0", next[0]}, {vector, "p1", next[1]}, {matrix, "p2", next[2]}},
              "  none = f32[] constant(0)\n  "
              "e0 = f32[] constant(0.05)\n  e = f32[40] broadcast(e0), dimensions={}\n  " +
                  first +
                  "  k = f32[40] multiply(g, e)\n  u = f32[40] subtract(g2, k)\n  d = f32[40] "
                  "multiply(u, e)\n  y = f32[40] add(g1, d)\n  " +
                  last + "  q = f32[40] multiply(h, e)\n  w = f32[40] subtract(u, q)\n");
}
// to = g3 from.
std::string Force(const std::string& to, const std::string& from) {
  return to + " = f32[40] dot(g3, " + from +
         "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ";
}
// to = tanh(from), times its sum.
std::string Damped(const std::string& to, const std::string& from) {
  const std::string t = to + "t", s = to + "s", b = to + "b";
  return t + " = f32[40] tanh(" + from + ")\n  " + s + " = f32[] reduce(" + t +
         ", none), dimensions={0}, to_apply=plus\n  " + b + " = f32[40] broadcast(" + s +
         "), dimensions={}\n  " + to + " = f32[40] multiply(" + t + ", " + b + ")\n  ";
}

// The array is one of a loop within a loop.
std::string WritingLoopWithin() {
  std::string text = WritingLoop("bf16", "8,16", "1,16");
  const size_t entry = text.find("ENTRY");
  const std::string state = "(s32[], bf16[8,16])";
  return text.substr(0, entry) + "outer {\n  t = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  one = s32[] constant(1)\n"
         "  n = s32[] add(i, one)\n  x = bf16[8,16] get-tuple-element(t), index=1\n  zero = s32[] "
         "constant(0)\n  s = " +
         state + " tuple(zero, x)\n  w = " + state +
         " while(s), condition=condition, body=body\n  y = bf16[8,16] get-tuple-element(w), "
         "index=1\n  ROOT o = " +
         state +
         " tuple(n, y)\n}\nENTRY main {\n  p0 = bf16[8,16] "
         "parameter(0)\n  zero = s32[] constant(0)\n  t = " +
         state + " tuple(zero, p0)\n  ROOT w = " + state +
         " while(t), condition=condition, body=outer\n}\n";
}

// A binary search of 100 queries in a table, as JAX writes it: floats, or where `type` is none
// integers.
std::string SearchLoop(const std::string& type, int table, const std::string& order, int trips = 8,
                       const std::string& sorts = "") {
  const std::string n = std::to_string(table), all = type + "[100]",
                    state = "(s32[], u32[100], u32[100], " + type + "[" + n + "], " + all + ")";
  const std::string body =
      "body {\n  t = " + state +
      " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  one = s32[] constant(1)\n  j = "
      "s32[] add(i, one)\n  l = u32[100] get-tuple-element(t), index=1\n  h = u32[100] "
      "get-tuple-element(t), index=2\n  a = " +
      type + "[" + n + "] get-tuple-element(t), index=3\n  q = " + all +
      " get-tuple-element(t), index=4\n  d = u32[100] subtract(h, l)\n  two0 = s32[] constant(2)\n "
      " "
      "two1 = u32[] convert(two0)\n  two = u32[100] broadcast(two1), dimensions={}\n  half = "
      "u32[100] divide(d, two)\n  m = u32[100] add(l, half)\n  mi = u32[100,1] reshape(m)\n  g = " +
      type +
      "[100,1] gather(a, mi), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1}\n  v = " +
      all + " reshape(g)\n  n0 = " + type + "[] constant(0)\n  n = " + all +
      " broadcast(n0), dimensions={}\n  ez = pred[100] compare(v, n), direction=EQ\n  vz = " + all +
      " select(ez, n, v)\n  c = pred[100] compare(q, vz), " + order +
      "\n  ln = u32[100] select(c, l, m)\n  hn = u32[100] select(c, m, h)\n  ROOT o = " + state +
      " tuple(j, ln, hn, a, q)\n}\ncondition {\n  t = " + state +
      " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  most = s32[] constant(" +
      std::to_string(trips) + ")\n  ROOT c = pred[] compare(i, most), direction=LT\n}\n";
  return Entry(type + "[" + n + "];" + all,
               sorts +
                   "  zero = s32[] constant(0)\n  low0 = u32[] constant(0)\n  low = u32[100] "
                   "broadcast(low0), dimensions={}\n  high0 = u32[] constant(" +
                   n + ")\n  high = u32[100] broadcast(high0), dimensions={}\n  t = " + state +
                   " tuple(zero, low, high, " + (sorts.empty() ? "p0" : "sorted") +
                   ", p1)\n  w = " + state +
                   " while(t), condition=condition, body=body\n  f = u32[100] "
                   "get-tuple-element(w), index=2\n  ROOT r = s32[100] convert(f)",
               Comparator("less", type, "direction=LT") + body);
}

std::string Sorted(const std::string& array) {
  return "sorted = " + array + " sort(p0), dimensions={0}, to_apply=less\n";
}

// A loop that takes the least of an array and one of its rows.
std::string LeastOfRows(const std::string& sizes, const std::string& columns) {
  const std::string array = "f32[" + sizes + "]";
  return WritingLoop("f32", sizes, "1," + columns,
                     "  r = f32[1," + columns +
                         "] dynamic-slice(x, i, z), dynamic_slice_sizes={1," + columns +
                         "}\n  v = f32[" + columns + "] reshape(r)\n  b = " + array +
                         " broadcast(v), dimensions={1}\n  s = " + array +
                         " add(b, b)\n  y = " + array + " minimum(x, s)\n");
}

}  // namespace

std::vector<Case> LoopCases() {
  return {
      {"slices_first", "the least of an array and a row of it", LeastOfRows("40,64", "64")},
      {"slices_first", "written into it", WritingLoop("f32", "40,64", "1,64")},
      {"slices_first", "of a small array", LeastOfRows("8,16", "16"), false},
      {"slices_first", "of few rows", LeastOfRows("3,800", "800"), false},
      {"search_short_table", "in a sorted table, the first place",
       SearchLoop("f32", 37, "direction=LE, type=TOTALORDER", 6, Sorted("f32[37]")), true, true},
      {"search_short_table", "the last place, of integers",
       SearchLoop("s32", 64, "direction=LT", 7, Sorted("s32[64]"))},
      {"search_short_table", "in a table that is not sorted",
       SearchLoop("f32", 20, "direction=LT, type=TOTALORDER"), true, true},
      {"search_short_table", "too few trips",
       SearchLoop("f32", 37, "direction=LE, type=TOTALORDER", 5), false},
      {"search_short_table", "the other way round, floats in no total order",
       SearchLoop("f32", 37, "direction=GE"), true, true},
      {"search_short_table", "a long table",
       SearchLoop("f32", 200, "direction=LE, type=TOTALORDER", 9), false},
      {"unroll_short_loop", "three trips",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=body",
           "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  y = f32[4] cosine(x)\n  ROOT u = (s32[], f32[4]) "
           "tuple(j, y)\n}\ncondition {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] "
           "get-tuple-element(t), index=0\n  three = s32[] constant(3)\n  ROOT c = pred[] "
           "compare(i, three), direction=LT\n}\n")},
      {"loop_one_kernel", "with a loop inside of it",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=outer",
           "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  y = f32[4] cosine(x)\n  ROOT u = (s32[], f32[4]) "
           "tuple(j, y)\n}\ncondition {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] "
           "get-tuple-element(t), index=0\n  three = s32[] constant(3)\n  ROOT c = pred[] "
           "compare(i, three), direction=LT\n}\n"
           "outer {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), "
           "index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  zero = s32[] constant(0)\n  s = (s32[], f32[4]) "
           "tuple(zero, x)\n  w = (s32[], f32[4]) while(s), condition=condition, body=body\n"
           "  y = f32[4] get-tuple-element(w), index=1\n  ROOT u = (s32[], f32[4]) tuple(j, y)\n"
           "}\n")},
      {"loop_one_kernel", "a sort in it",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=body",
           Comparator("less", "f32", "direction=LT") +
               "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), "
               "index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
               "get-tuple-element(t), index=1\n  y = f32[4] sort(x), dimensions={0}, "
               "to_apply=less\n  ROOT u = (s32[], f32[4]) tuple(j, y)\n}\ncondition {\n  t = "
               "(s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  three = "
               "s32[] constant(3)\n  ROOT c = pred[] compare(i, three), direction=LT\n}\n"),
       false},
      {"unroll_short_loop", "what is called counts", LoopOfCalls(), false},
      {"unroll_elementwise_loop", "rounds of random numbers",
       RoundsLoop("  z = u32[8,32] multiply(y, x)\n")},
      {"unroll_elementwise_loop", "elements of others' places",
       RoundsLoop("  z = u32[8,32] reverse(y), dimensions={1}\n"), false},
      {"unroll_elementwise_loop", "sums",
       RoundsLoop("  u = u32[] constant(0)\n  q = u32[8] reduce(y, u), dimensions={1}, "
                  "to_apply=plus\n  z = u32[8,32] broadcast(q), dimensions={0}\n"),
       false},
      {"unroll_elementwise_loop", "the difference of two words",
       TwoWordsLoop("u32[8,32]", "ROOT x = u32[8,32] xor(l, r)"), true, true},
      {"unroll_elementwise_loop", "both words",
       TwoWordsLoop("u32[70]", "ROOT x = (u32[70], u32[70]) tuple(r, l)"), true, true},
      {"unroll_elementwise_loop", "words alone, and their difference",
       TwoWordsLoop("u32[]", "c = u32[] xor(l, r)\n  ROOT x = (u32[], u32[]) tuple(c, l)"), true,
       true},
      {"unroll_elementwise_loop", "the first of two words",
       TwoWordsLoop("u32[70]", "ROOT x = u32[70] add(l, l)"), true, true},
      {"unroll_elementwise_loop", "two words and the count",
       TwoWordsLoop("u32[70]",
                    "i = s32[] get-tuple-element(w), index=0\n  ROOT x = (u32[70], u32[70], s32[]) "
                    "tuple(l, r, i)"),
       true, true},
      {"carried_values", "the force at both ends of a step",
       Leapfrog(Force("g", "g1"), Force("h", "y"))},
      {"carried_values", "what follows from a force",
       Leapfrog(Force("a", "g1") + Damped("g", "a"), Force("c", "y") + Damped("h", "c"))},
      {"carried_values", "all of it written as the state, too",
       Leapfrog(Force("g", "g1"), Force("h", "y"), {"y", "g", "g3"})},
      {"carried_values", "of another matrix in the next trip",
       Leapfrog(Force("g", "g1"), Force("h", "y") + "a = f32[40,40] add(g3, g3)\n  ",
                {"y", "w", "a"}),
       false},
      {"carried_values", "another force", Leapfrog(Damped("g", "g1"), Force("h", "y")), false},
      {"carried_values", "little work",
       Leapfrog("g = f32[40] add(g1, e)\n  ", "h = f32[40] add(y, e)\n  "), false},
      {"loop_in_bits", "rows of an array", WritingLoop("bf16", "8,16", "1,16"), true, true},
      {"loop_in_bits", "bytes", WritingLoop("f8e4m3fn", "8,16", "1,16")},
      {"loop_in_bits", "within a loop", WritingLoopWithin()},
      {"loop_in_bits", "f16, of which XLA has writes", WritingLoop("f16", "8,16", "1,16"), false},
      {"loop_in_bits", "few", WritingLoop("bf16", "6,2", "1,2"), false},
      {"loop_in_bits", "all of it",
       WritingLoop("bf16", "8,16", "1,16", "  y = bf16[8,16] add(x, x)\n"), false},
  };
}

}  // namespace hone::compiler
