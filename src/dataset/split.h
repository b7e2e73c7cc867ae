// Who is for training, for validation, for testing.
//
// Programs that must stay together are a unit: a group of near-duplicates (kHash), or families with
// their near-duplicates in other families (kFamily), to test a learner on networks of a kind that
// it never saw. A unit goes where the hash of its name and the seed falls among the fractions,
// whoever else is there. So programs that are added move nobody, but those that they are joined to;
// and the fractions hold on average over many units: a small set may leave a split empty.
#ifndef HONE_DATASET_SPLIT_H_
#define HONE_DATASET_SPLIT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "dataset/index.h"

namespace hone::dataset {

enum class SplitBy { kHash, kFamily };

struct SplitOptions {
  SplitBy by = SplitBy::kHash;
  std::array<double, 3> fractions = {0.7, 0.15, 0.15};  // of Splits(), in their order
  uint64_t seed = 0;
};

struct Unit {
  std::string name;   // the group's; with kFamily the first of its families, by the alphabet
  std::string split;  // one of Splits()
  size_t programs = 0;
};

// Not negative, and 1 together.
Status CheckFractions(const std::array<double, 3>& fractions);

// Fills in Row::split everywhere; returns the units, by name. A row without a group is an error,
// and nothing is changed then. A row without a family is with kFamily a family of its own, its
// group.
StatusOr<std::vector<Unit>> AssignSplits(Index& index, const SplitOptions& options);

// The groups that have members in several splits, by name. Rows without a split count for none.
std::vector<std::string> GroupsAcrossSplits(const Index& index);

}  // namespace hone::dataset

#endif  // HONE_DATASET_SPLIT_H_
