// A small program that shows by itself what a large one did.
#ifndef HONE_BLAME_REDUCE_H_
#define HONE_BLAME_REDUCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "blame/decision.h"
#include "blame/laboratory.h"
#include "blame/cut_program.h"
#include "core/comparison.h"

namespace hone::blame {

// The claim that a reduced program keeps showing: `a` with the decisions is slower than `a`, by
// more than the threshold, or computes something else.
struct Exhibit {
  const ProgramText* program = nullptr;
  tune::TunePlan a;
  std::vector<Decision> decisions;
  Question question = Question::kSlower;
  double threshold = 1.05;
};

struct Reduced {
  std::string text;
  size_t instructions = 0;  // parameters and called computations included
  tune::TunePlan b;         // a with the decisions, on this program
  Finding finding;
  bool minimal = false;  // no instruction can be left out
};

// Whether a part of the program shows it; what it is cut from and to is Cut's.
Finding ShowsOnPart(Laboratory& laboratory, const Exhibit& exhibit, const CutProgram& part,
                    tune::TunePlan* b);

// Around instructions of these names, where the program has them, one group after another: with
// more and more neighbours until it is shown, then with less and less. Else what the program's
// entry, and what it runs, can be cut down to from both ends. Nothing where no part shows it, or
// there was no time. At most until `left` seconds are left.
std::optional<Reduced> Reduce(Laboratory& laboratory, const Exhibit& exhibit,
                              const std::vector<std::vector<std::string>>& around, double left);

// The first instruction, in the order of the program, from which on something else is computed: of
// the entry, or where that is a loop or call that shows it by itself, of what is run there.
struct FirstDifference {
  std::string computation;
  std::string instruction;
  std::string opcode;
  std::string shape;
  std::vector<std::string> source;  // op_name, file and line, where the program says so
  OutputError error;                // of its value
};
std::optional<FirstDifference> FindFirstDifference(Laboratory& laboratory, const Exhibit& exhibit,
                                                   double left);

}  // namespace hone::blame

#endif  // HONE_BLAME_REDUCE_H_
