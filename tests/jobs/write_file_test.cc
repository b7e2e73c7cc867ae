#include "jobs/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "folder.h"

namespace hone::jobs {
namespace {

class WriteFileTest : public FolderTest {};

TEST_F(WriteFileTest, WritesAndReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(CheckWritable(Path("a")));
  EXPECT_TRUE(Listing().empty());
  ASSERT_TRUE(WriteFile(Path("a"), "one"));
  ASSERT_TRUE(WriteFile(Path("a"), "two"));
  EXPECT_EQ(Read("a"), "two");
  EXPECT_EQ(Listing(), std::vector<std::string>{"a"});
}

TEST_F(WriteFileTest, KeepsPermissionsAndFollowsLinks) {
  Write("a", "one");
  chmod(Path("a").c_str(), 0640);
  ASSERT_EQ(symlink("a", Path("link").c_str()), 0);
  ASSERT_TRUE(WriteFile(Path("link"), "two"));
  EXPECT_EQ(Read("a"), "two");
  struct stat status;
  ASSERT_EQ(lstat(Path("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(Path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(WriteFileTest, WhereNothingCanBeWrittenIsKnownAtOnce) {
  Write("a", "one");
  for (const std::string& path : {folder(), Path("a/b"), Path("no/b"), std::string("/proc/b")}) {
    EXPECT_FALSE(CheckWritable(path)) << path;
    EXPECT_FALSE(WriteFile(path, "x")) << path;
  }
  EXPECT_EQ(Listing(), std::vector<std::string>{"a"});
}

TEST_F(WriteFileTest, DevicesAreWrittenDirectly) {
  EXPECT_TRUE(CheckWritable("/dev/null"));
  EXPECT_TRUE(WriteFile("/dev/null", "x"));
  EXPECT_FALSE(WriteFile("/dev/full", "x"));
}

TEST_F(WriteFileTest, LinesOfManyWritersAreAllThere) {
  Write("a", "old");
  std::vector<std::thread> writers;
  for (int k = 0; k < 4; ++k) {
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE(AddLine(Path("a"), std::string(300, 'x')));
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::string all = "old\n";
  for (int i = 0; i < 200; ++i) all += std::string(300, 'x') + "\n";
  EXPECT_EQ(Read("a"), all);
  EXPECT_TRUE(AddLine(Path("new"), "line\n"));
  EXPECT_EQ(Read("new"), "line\n");
  EXPECT_FALSE(AddLine(Path("no/b"), "x"));
  EXPECT_FALSE(AddLine("/dev/full", "x"));
}

TEST_F(WriteFileTest, FormatByName) {
  EXPECT_EQ(FormatFor("a.pb"), ExportFormat::kProto);
  EXPECT_EQ(FormatFor("a.hlo"), ExportFormat::kText);
  EXPECT_EQ(FormatFor(""), ExportFormat::kText);
}

TEST_F(WriteFileTest, OfSeveralPathsTheFirstThatCannotBeWrittenIsNamed) {
  EXPECT_TRUE(CheckAllWritable({}));
  EXPECT_TRUE(CheckAllWritable({"", Path("a"), ""}));
  const auto fine = CheckAllWritable({Path("a"), "", Path("no/b"), Path("no/c")});
  ASSERT_FALSE(fine);
  EXPECT_EQ(fine.error().file, Path("no/b"));
  EXPECT_TRUE(Listing().empty());
}

TEST_F(WriteFileTest, AnEmptyPathIsNotWritten) {
  EXPECT_TRUE(WriteIfNamed("", "x"));
  EXPECT_TRUE(WriteIfNamed(Path("a"), "x"));
  EXPECT_EQ(Read("a"), "x");
  const auto wrote = WriteIfNamed(Path("no/b"), "x");
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error().file, Path("no/b"));
}

}  // namespace
}  // namespace hone::jobs
