#include "cli/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hone_process.h"

namespace hone::cli {
namespace {

class Output : public HoneTest {};

TEST_F(Output, WritesAndReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(CheckWritable(Path("a")));
  EXPECT_TRUE(Listing().empty());
  ASSERT_TRUE(WriteFile(Path("a"), "one"));
  ASSERT_TRUE(WriteFile(Path("a"), "two"));
  EXPECT_EQ(Read("a"), "two");
  EXPECT_EQ(Listing(), std::vector<std::string>{"a"});
}

TEST_F(Output, KeepsPermissionsAndFollowsLinks) {
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

TEST_F(Output, WhereNothingCanBeWrittenIsKnownAtOnce) {
  Write("a", "one");
  for (const std::string& path : {folder(), Path("a/b"), Path("no/b"), std::string("/proc/b")}) {
    EXPECT_FALSE(CheckWritable(path)) << path;
    EXPECT_FALSE(WriteFile(path, "x")) << path;
  }
  EXPECT_EQ(Listing(), std::vector<std::string>{"a"});
}

TEST_F(Output, DevicesAreWrittenDirectly) {
  EXPECT_TRUE(CheckWritable("/dev/null"));
  EXPECT_TRUE(WriteFile("/dev/null", "x"));
  EXPECT_FALSE(WriteFile("/dev/full", "x"));
}

TEST_F(Output, FormatByName) {
  EXPECT_EQ(FormatFor("a.pb"), ExportFormat::kProto);
  EXPECT_EQ(FormatFor("a.hlo"), ExportFormat::kText);
  EXPECT_EQ(FormatFor(""), ExportFormat::kText);
}

}  // namespace
}  // namespace hone::cli
