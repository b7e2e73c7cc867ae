// Loops as text.
#ifndef HONE_TESTS_COMPILER_RULES_LOOP_TEXT_H_
#define HONE_TESTS_COMPILER_RULES_LOOP_TEXT_H_

#include <string>
#include <vector>

#include "program_text.h"

namespace hone::compiler {

struct Part {
  std::string type, first, next;  // `first`: of the entry's instructions; `next`: of the body's
};

// A loop of six trips over parts g1, g2, …, and i, which counts; z is 0; b and j count back to it.
inline std::string Loop(const std::string& parameters, const std::vector<Part>& parts,
                        const std::string& body, const std::string& before = "",
                        const std::string& trips = "six = s32[] constant(6)") {
  std::string state = "(s32[]", first = "(zero", next = "(n", taken;
  for (size_t k = 0; k < parts.size(); ++k) {
    state += ", " + parts[k].type;
    first += ", " + parts[k].first;
    next += ", " + parts[k].next;
    const std::string number = std::to_string(k + 1);
    taken +=
        "  g" + number + " = " + parts[k].type + " get-tuple-element(t), index=" + number + "\n";
  }
  state += ")";
  return Entry(
      parameters,
      "zero = s32[] constant(0)\n  nought = f32[] constant(0)\n" + before + "  t = " + state +
          " tuple" + first + ")\n  ROOT w = " + state + " while(t), condition=condition, body=body",
      Binary("plus", "f32", "add") + "body {\n  t = " + state +
          " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  z = s32[] constant(0)\n"
          "  one = s32[] constant(1)\n  n = s32[] add(i, one)\n  five = s32[] constant(5)\n"
          "  b = s32[] subtract(five, i)\n  m1 = s32[] constant(-1)\n  f = s32[] subtract(m1, i)\n"
          "  six = s32[] constant(6)\n  fb = s32[] add(f, six)\n"
          "  fn = pred[] compare(f, z), direction=LT\n  j = s32[] select(fn, fb, f)\n" +
          taken + body + "  ROOT o = " + state + " tuple" + next + ")\n}\ncondition {\n  t = " +
          state + " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  " + trips +
          "\n  ROOT c = pred[] compare(i, " + trips.substr(0, trips.find(' ')) +
          "), direction=LT\n}\n");
}

// Zeros before the loop.
inline std::string Zeros(const std::string& name, const std::string& type) {
  return "  " + name + " = " + type + " broadcast(nought), dimensions={}\n";
}

inline std::string DotText(const std::string& name, const std::string& type,
                           const std::string& operands, int lhs, int rhs) {
  return "  " + name + " = " + type + " dot(" + operands + "), lhs_contracting_dims={" +
         std::to_string(lhs) + "}, rhs_contracting_dims={" + std::to_string(rhs) + "}\n";
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_RULES_LOOP_TEXT_H_
