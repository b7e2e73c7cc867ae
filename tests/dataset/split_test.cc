// Properties of splits, over many made-up programs.
#include "dataset/split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace hone::dataset {
namespace {

std::string Hex(size_t number) { return fmt::format("{:032x}", number * 0x9e3779b97f4a7c15u); }

// Groups of up to three; families of ten programs, some of them joined by a group.
Index ManyPrograms(size_t count) {
  Index index;
  for (size_t i = 0; i < count; ++i) {
    Row row;
    row.file = fmt::format("program{}.hlo", i);
    row.family = fmt::format("family{}", i / 10);
    row.group = Hex(i % 7 < 3 ? i - i % 7 : i);
    index.rows.push_back(row);
  }
  return index;
}

Index Assigned(Index index, const SplitOptions& options) {
  const auto units = AssignSplits(index, options);
  EXPECT_TRUE(units) << units.error().message;
  return index;
}

std::map<std::string, std::string> SplitOfFile(const Index& index) {
  std::map<std::string, std::string> splits;
  for (const Row& row : index.rows) splits[row.file] = row.split;
  return splits;
}

TEST(Split, EverybodyHasOneAndItIsTheSameAgain) {
  for (const SplitBy by : {SplitBy::kHash, SplitBy::kFamily}) {
    Index index = ManyPrograms(500);
    const Index once = Assigned(index, {by});
    for (const Row& row : once.rows) {
      EXPECT_NE(std::find(Splits().begin(), Splits().end(), row.split), Splits().end());
    }
    EXPECT_EQ(SplitOfFile(once), SplitOfFile(Assigned(once, {by})));
    std::reverse(index.rows.begin(), index.rows.end());
    EXPECT_EQ(SplitOfFile(once), SplitOfFile(Assigned(index, {by})));
    SplitOptions other_seed{by};
    other_seed.seed = 1;
    EXPECT_NE(SplitOfFile(once), SplitOfFile(Assigned(index, other_seed)));
  }
}

TEST(Split, NoGroupLiesAcross) {
  for (const SplitBy by : {SplitBy::kHash, SplitBy::kFamily}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      SplitOptions options{by};
      options.seed = seed;
      Index index = Assigned(ManyPrograms(500), options);
      EXPECT_TRUE(GroupsAcrossSplits(index).empty());
      // And were one torn apart, it would be seen.
      index.rows[0].split = index.rows[0].split == "test" ? "train" : "test";
      EXPECT_EQ(GroupsAcrossSplits(index), std::vector<std::string>{index.rows[0].group});
    }
  }
}

TEST(Split, ByFamilyKeepsFamiliesTogether) {
  const Index index = Assigned(ManyPrograms(500), {SplitBy::kFamily});
  std::map<std::string, std::set<std::string>> splits;
  std::set<std::string> all;
  for (const Row& row : index.rows) {
    splits[row.family].insert(row.split);
    all.insert(row.split);
  }
  for (const auto& [family, of_family] : splits) EXPECT_EQ(of_family.size(), 1u) << family;
  EXPECT_EQ(all.size(), 3u);
}

TEST(Split, ByFamilyJoinsFamiliesThatShareAGroup) {
  Index index;
  const auto add = [&](const char* file, const char* family, size_t group) {
    Row row;
    row.file = file;
    row.family = family;
    row.group = Hex(group);
    index.rows.push_back(row);
  };
  add("a", "vit", 1);
  add("b", "bert", 2);
  add("c", "vit", 3);
  add("d", "gpt2", 3);
  add("e", "gpt2", 4);
  add("f", "", 5);
  add("g", "", 4);
  const auto units = AssignSplits(index, {SplitBy::kFamily});
  ASSERT_TRUE(units);
  ASSERT_EQ(units->size(), 3u);
  EXPECT_EQ((*units)[0].name, Hex(5));
  EXPECT_EQ((*units)[1].name, "bert");
  EXPECT_EQ((*units)[2].name, "gpt2");
  EXPECT_EQ((*units)[2].programs, 5u);
}

// Five thousand programs in 3572 groups: the standard error of a share is under 0.01.
TEST(Split, FractionsAreKeptOnAverage) {
  for (const std::array<double, 3> fractions :
       {std::array{0.7, 0.15, 0.15}, std::array{0.2, 0.3, 0.5}, std::array{0.8, 0.0, 0.2}}) {
    SplitOptions options;
    options.fractions = fractions;
    std::map<std::string, double> share;
    for (const Row& row : Assigned(ManyPrograms(5000), options).rows)
      share[row.split] += 1.0 / 5000;
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(share[Splits()[i]], fractions[i], 0.04);
    if (fractions[1] == 0) {
      EXPECT_EQ(share[Splits()[1]], 0);
    }
  }
}

TEST(Split, ProgramsThatAreAddedMoveNobody) {
  const auto before = SplitOfFile(Assigned(ManyPrograms(300), {}));
  auto after = SplitOfFile(Assigned(ManyPrograms(600), {}));
  for (const auto& [file, split] : before) EXPECT_EQ(after[file], split) << file;
}

TEST(Split, WhatIsWrongIsSaid) {
  Index index = ManyPrograms(3);
  for (const std::array<double, 3> fractions :
       {std::array{0.7, 0.7, 0.7}, std::array{1.5, -0.5, 0.0}, std::array{0.1, 0.1, 0.1}}) {
    SplitOptions options;
    options.fractions = fractions;
    EXPECT_FALSE(AssignSplits(index, options));
  }
  index.rows[2].group.clear();
  const auto units = AssignSplits(index, {});
  ASSERT_FALSE(units);
  EXPECT_NE(units.error().message.find("'program2.hlo' has no group yet"), std::string::npos);
  EXPECT_EQ(index.rows[0].split, "");
}

}  // namespace
}  // namespace hone::dataset
