// Coresets: a few sequences of passes that together do well on many programs, to be tried on a new
// one (Liang et al., "Learning Compiler Pass Orders using Coreset and Normalized Value Prediction",
// ICML 2023, section 3).
#ifndef HONE_TUNE_CORESET_H_
#define HONE_TUNE_CORESET_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone {

struct Coreset {
  std::string objective;
  std::string actions;                              // the action set
  std::string made_of;                              // what it was made of, for people
  std::vector<std::vector<std::string>> sequences;  // of pass names, the most useful first
  std::vector<double> coverage;  // of the first i + 1 together: the mean of the best ratio to them
};

// Greedy maximum coverage. gains[i][j] is what sequence i is worth on program j; returns at most
// `size` indices of sequences, each the one that raises the sum over programs of the best gain
// most, ending where none raises it; and the mean of the best gain after each.
struct Cover {
  std::vector<size_t> chosen;
  std::vector<double> mean;
};
Cover ChooseCover(const std::vector<std::vector<double>>& gains, size_t size);

std::string CoresetToJson(const Coreset& coreset);
// The error names the field that is wrong.
StatusOr<Coreset> CoresetFromJson(std::string_view text);

}  // namespace hone

#endif  // HONE_TUNE_CORESET_H_
