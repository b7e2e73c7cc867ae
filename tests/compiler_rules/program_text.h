// Programs as text, of a few instructions.
#ifndef HONE_TESTS_COMPILER_RULES_PROGRAM_TEXT_H_
#define HONE_TESTS_COMPILER_RULES_PROGRAM_TEXT_H_

#include <algorithm>
#include <string>

namespace hone::compiler {

// What most cases are: one instruction of parameters.
inline std::string Entry(const std::string& parameters, const std::string& root,
                         const std::string& before = "") {
  std::string text = "HloModule test\n" + before + "\nENTRY main {\n";
  size_t begin = 0;
  for (int k = 0; begin < parameters.size(); ++k) {
    const size_t end = std::min(parameters.find(';', begin), parameters.size());
    const std::string name = "p" + std::to_string(k);
    text += "  " + name + " = " + parameters.substr(begin, end - begin) + " parameter(" +
            std::to_string(k) + ")\n";
    begin = end + 1;
  }
  return text + "  " + root + "\n}\n";
}

inline std::string Binary(const std::string& name, const std::string& type,
                          const std::string& opcode) {
  return name + " {\n  a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = " + type + "[] " + opcode + "(a, b)\n}\n";
}

inline std::string Comparator(const std::string& name, const std::string& type,
                              const std::string& how) {
  return name + " {\n  a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = pred[] compare(a, b), " + how + "\n}\n";
}

// The larger of two, or the smaller, and its place, as JAX writes it.
inline std::string Argmax(const std::string& type, const std::string& how) {
  return "argmax {\n  v0 = " + type + "[] parameter(0)\n  i0 = s32[] parameter(1)\n  v1 = " + type +
         "[] parameter(2)\n  i1 = s32[] parameter(3)\n  better = pred[] compare(v0, v1), "
         "direction=" +
         how +
         "\n  ne = pred[] compare(v0, v0), direction=NE\n  first = pred[] or(better, ne)\n"
         "  v = " +
         type +
         "[] select(first, v0, v1)\n"
         "  eq = pred[] compare(v0, v1), direction=EQ\n"
         "  lower = pred[] compare(i0, i1), direction=LT\n  both = pred[] and(eq, lower)\n"
         "  pick = pred[] or(first, both)\n  i = s32[] select(pick, i0, i1)\n"
         "  ROOT t = (" +
         type + "[], s32[]) tuple(v, i)\n}\n";
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_RULES_PROGRAM_TEXT_H_
