// Programs for alternative implementations, and whether they apply.
#ifndef HONE_TESTS_COMPILER_RULES_IMPLEMENTATION_CASES_H_
#define HONE_TESTS_COMPILER_RULES_IMPLEMENTATION_CASES_H_

#include <ostream>
#include <string>
#include <vector>

namespace hone::compiler {

struct Case {
  std::string implementation;
  std::string label;
  std::string text;
  bool applies = true;
  bool special = false;  // ties, NaNs and infinities among the inputs
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.implementation << " " << c.label;
}

std::vector<Case> ImplementationCases();

// Those of them that are of convolutions and windows, of loops, of products in loops, of loops over
// large arrays, of loops over a batch, of lookups, of values laid out otherwise, of what is known
// before, of formulas, of orders of products, of solves, and of recurrences.
std::vector<Case> WindowCases();
std::vector<Case> LoopCases();
std::vector<Case> LoopDotCases();
std::vector<Case> LookupCases();
std::vector<Case> ComponentCases();
std::vector<Case> ShapeCases();
std::vector<Case> FormulaCases();
std::vector<Case> KnownCases();
std::vector<Case> BatchCases();
std::vector<Case> BlockCases();
std::vector<Case> ContractionCases();
std::vector<Case> SolveCases();
std::vector<Case> RecurrenceCases();

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_RULES_IMPLEMENTATION_CASES_H_
