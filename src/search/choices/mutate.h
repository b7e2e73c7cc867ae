// Random changes of assignments.
#ifndef HONE_SEARCH_CHOICES_MUTATE_H_
#define HONE_SEARCH_CHOICES_MUTATE_H_

#include <vector>

#include "core/rng.h"
#include "search/choices/choices.h"

namespace hone::choices {

// Indices of a group's variables; of all where the group is kEveryGroup or has none.
std::vector<size_t> VariablesOf(const std::vector<Variable>& variables, int group);

// Each changes at least one variable of the group.
enum class Mutation {
  kSingle,  // one variable
  kMulti,   // two to eight
  kFamily,  // all that are alike, to one choice
};
void Mutate(const std::vector<Variable>& variables, int group, Mutation mutation, Rng& rng,
            Assignment& assignment);

// As many variables of the group changed to choices drawn uniformly as come out of a draw that is
// uniform in the logarithm: most often a few, now and then nearly all. Some may stay as they were.
void Leap(const std::vector<Variable>& variables, int group, Rng& rng, Assignment& assignment);

// A mutation of any kind; mostly single ones.
void MutateSomehow(const std::vector<Variable>& variables, int group, Rng& rng,
                   Assignment& assignment);

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_MUTATE_H_
