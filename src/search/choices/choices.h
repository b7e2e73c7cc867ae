// Ask/tell search (ask_tell.h) over assignments: for each of many variables, one of its few
// choices.
#ifndef HONE_SEARCH_CHOICES_CHOICES_H_
#define HONE_SEARCH_CHOICES_CHOICES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/ask_tell.h"

namespace hone::choices {

struct Variable {
  std::string name;
  int group = 0;         // the stage that decides it: what Chooser::Ask may be confined to
  int family = 0;        // variables that are alike, to be changed together now and then
  uint32_t choices = 2;  // at least two
  uint32_t stock = 0;    // the one to be beaten
  double weight = 1;     // how much it is expected to matter; positive
  bool single = true;    // it is changed alone first (Problem::singles)
  // Tried alone before all others, in any group, and where that was good on top of the best so far.
  bool first = false;
};

// An index of a choice for each variable.
using Assignment = std::vector<uint32_t>;

struct Problem {
  std::vector<Variable> variables;
  std::vector<Assignment> starts;  // believed to be good: asked right after the stock assignment
  // The first so many flips of a variable or of a whole family, by weight, are asked first, each of
  // the best assignment so far; between them come leaps from it, of many variables.
  size_t singles = SIZE_MAX;
  // How much lower the value is expected to become where all these variables, or the only one, take
  // that choice. Where it is given, the flips that promise most are asked first, whatever their
  // group, and Variable::first counts for nothing.
  std::function<double(const std::vector<size_t>& variables, uint32_t choice)> promise;
};

struct Trial {
  Assignment assignment;
  double value = 0;     // lower is better; the stock assignment's is about 0
  bool failed = false;  // it has no value
};

inline constexpr int kEveryGroup = -1;

// Trials may come in any order, also of what was not asked for, and again where a value became
// better known.
class Chooser : public AskTell<Assignment, Trial> {
 public:
  // Assignments that were not asked for before. As far as it can, and but for Variable::first and
  // leaps, each differs from known ones in variables of that group only.
  virtual std::vector<Assignment> Ask(size_t most, int group) = 0;
  std::vector<Assignment> Ask(size_t most) final { return Ask(most, kEveryGroup); }
};

struct ChooserInfo {
  std::string_view name;
  std::string_view meaning;  // one line
  std::unique_ptr<Chooser> (*make)(const Problem& problem, uint64_t seed);
};

// All of them; the first is the default.
const std::vector<ChooserInfo>& Choosers();
const ChooserInfo* FindChooser(std::string_view name);

Assignment StockAssignment(const std::vector<Variable>& variables);

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_CHOICES_H_
