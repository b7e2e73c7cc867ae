#include "jobs/events.h"

#include <gtest/gtest.h>

namespace hone::jobs {
namespace {

TEST(FileErrorTest, AnErrorIsAboutItsFile) {
  const FileOr<int> wrong = About("a.hlo", StatusOr<int>(MakeError(ErrorCode::kDeadline, "late")));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().file, "a.hlo");
  EXPECT_EQ(wrong.error().error.code, ErrorCode::kDeadline);
  EXPECT_EQ(*About("a.hlo", StatusOr<int>(3)), 3);
  EXPECT_TRUE(About("a.hlo", Status()));
}

TEST(FileErrorTest, InOneMessageTheFileComesFirst) {
  EXPECT_EQ(InOne({"a.hlo", {ErrorCode::kInvalidInput, "is empty"}}).message, "a.hlo: is empty");
  EXPECT_EQ(InOne({"", {ErrorCode::kInvalidInput, "no worker"}}).message, "no worker");
}

}  // namespace
}  // namespace hone::jobs
