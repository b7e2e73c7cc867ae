#include "dataset/split.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dataset/union_find.h"

namespace hone::dataset {
namespace {

// In [0, 1), the same for the same name and seed on every machine.
double Position(const std::string& name, uint64_t seed) {
  const uint64_t hash = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

const std::string& SplitAt(double position, const std::array<double, 3>& fractions) {
  if (position < fractions[0]) return Splits()[0];
  // Rounding must not send anybody to a split of fraction 0.
  if (fractions[2] == 0 || position < fractions[0] + fractions[1]) return Splits()[1];
  return Splits()[2];
}

// The unit's name for each row: families become one where a group has members in both.
std::vector<std::string> FamilyUnits(const std::vector<Row>& rows) {
  std::map<std::string, size_t> first;  // row of each family, and of each group
  UnionFind units(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    units.Join(i, first.try_emplace("group " + rows[i].group, i).first->second);
    if (rows[i].family.empty()) continue;
    units.Join(i, first.try_emplace("family " + rows[i].family, i).first->second);
  }
  std::vector<std::string> smallest(rows.size());
  for (const bool with_family : {true, false}) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].family.empty() == with_family) continue;
      const std::string& name = with_family ? rows[i].family : rows[i].group;
      std::string& unit = smallest[units.Find(i)];
      // A group names a unit only where no family does, which the first round has seen to.
      if (unit.empty() || (name < unit && with_family)) unit = name;
    }
  }
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) names.push_back(smallest[units.Find(i)]);
  return names;
}

}  // namespace

Status CheckFractions(const std::array<double, 3>& fractions) {
  double sum = 0;
  bool fine = true;
  for (const double fraction : fractions) {
    fine = fine && fraction >= 0;  // false for NaN
    sum += fraction;
  }
  if (fine && std::abs(sum - 1) < 1e-6) return {};
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("{} are no fractions; give three numbers that are 1 together, such "
                               "as 0.7,0.15,0.15",
                               fmt::join(fractions, ",")));
}

StatusOr<std::vector<Unit>> AssignSplits(Index& index, const SplitOptions& options) {
  if (Status fine = CheckFractions(options.fractions); !fine) return tl::unexpected(fine.error());
  for (const Row& row : index.rows) {
    if (!row.group.empty()) continue;
    return MakeError(
        ErrorCode::kInvalidInput,
        fmt::format("'{}' has no group yet; run `hone dataset index` first", row.file));
  }
  std::vector<std::string> names;
  if (options.by == SplitBy::kFamily) {
    names = FamilyUnits(index.rows);
  } else {
    for (const Row& row : index.rows) names.push_back(row.group);
  }
  std::map<std::string, Unit> units;
  for (size_t i = 0; i < index.rows.size(); ++i) {
    Unit& unit = units[names[i]];
    if (unit.programs++ == 0) {
      unit.name = names[i];
      unit.split = SplitAt(Position(unit.name, options.seed), options.fractions);
    }
    index.rows[i].split = unit.split;
  }
  std::vector<Unit> all;
  all.reserve(units.size());
  for (const auto& [name, unit] : units) all.push_back(unit);
  return all;
}

std::vector<std::string> GroupsAcrossSplits(const Index& index) {
  std::map<std::string, std::set<std::string>> splits;
  for (const Row& row : index.rows) {
    if (!row.group.empty() && !row.split.empty()) splits[row.group].insert(row.split);
  }
  std::vector<std::string> across;
  for (const auto& [group, of_group] : splits) {
    if (of_group.size() > 1) across.push_back(group);
  }
  return across;
}

}  // namespace hone::dataset
