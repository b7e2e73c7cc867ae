#include "jobs/split_dataset.h"

#include <map>

#include "dataset/index.h"
#include "folder.h"

namespace hone::jobs {
namespace {

class SplitDatasetTest : public FolderTest {
 protected:
  SplitDatasetTest() {
    dataset::Index index;
    for (int i = 0; i < 20; ++i) {
      dataset::Row row;
      row.file = "p" + std::to_string(i) + ".hlo";
      row.family = "f";
      // Each two are near-duplicates.
      row.group = row.fingerprint = std::string(31, '0') + static_cast<char>('a' + i / 2 % 6);
      index.rows.push_back(row);
    }
    Write("index.tsv", dataset::FormatIndex(index));
  }

  Events events_;
};

TEST_F(SplitDatasetTest, SharesAreToldAndWritten) {
  const auto split = SplitDataset({folder(), "hash", "0.5,0.5,0", 1}, events_);
  ASSERT_TRUE(split) << split.error().error.message;
  EXPECT_EQ(split->programs, 20u);
  ASSERT_EQ(split->shares.size(), 3u);
  size_t units = 0;
  size_t programs = 0;
  for (const SplitShare& share : split->shares) {
    units += share.units;
    programs += share.programs;
  }
  EXPECT_EQ(units, 6u);
  EXPECT_EQ(programs, 20u);
  EXPECT_EQ(split->shares[2].programs, 0u);
  const auto index = dataset::ReadIndex(folder());
  ASSERT_TRUE(index);
  std::map<std::string, size_t> written;
  for (const dataset::Row& row : index->rows) ++written[row.split];
  for (const SplitShare& share : split->shares) EXPECT_EQ(written[share.split], share.programs);
  const Json json = ToJson(*split, {folder(), "hash", "0.5,0.5,0", 1});
  EXPECT_EQ(json["splits"]["train"]["fraction"], 0.5);
  EXPECT_EQ(json["splits"]["test"]["programs"], 0);
}

TEST_F(SplitDatasetTest, WhatIsWrongIsSaidAndNothingWritten) {
  const std::string before = Read("index.tsv");
  for (const char* fractions : {"0.5", "0.5,0.5", "a,b,c", "0.5,0.5,0.5", "0.5,0.5,0,0"}) {
    EXPECT_FALSE(SplitDataset({folder(), "hash", fractions, 1}, events_)) << fractions;
  }
  EXPECT_EQ(Read("index.tsv"), before);
  const auto none = SplitDataset({Path("no"), "hash", "1,0,0", 1}, events_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().file, Path("no/index.tsv"));
}

}  // namespace
}  // namespace hone::jobs
