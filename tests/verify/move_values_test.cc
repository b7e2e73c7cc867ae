// Inputs changed by little.
#include "verify/move_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace hone::verify {
namespace {

using Floats = std::vector<float>;

TEST(Moved, ByOneUnitAndTheSameWayForASeed) {
  const Floats y = {0.1f, 1.0f, 0.0f, INFINITY, -0.3f};
  Floats moved = y;
  MoveByOneUnit(*FindElementType("f32"), moved.data(), 5, 7);
  EXPECT_NE(moved[0], y[0]);
  EXPECT_NEAR(moved[0], 0.1, 2e-8);
  EXPECT_EQ(moved[1], 1) << "few bits: exact";
  EXPECT_EQ(moved[2], 0);
  EXPECT_EQ(moved[3], INFINITY);
  EXPECT_NEAR(moved[4], -0.3, 5e-8);
  Floats again = y;
  MoveByOneUnit(*FindElementType("f32"), again.data(), 5, 7);
  EXPECT_EQ(again, moved);
  std::vector<int32_t> integers = {5, 6};
  MoveByOneUnit(*FindElementType("s32"), integers.data(), 2, 7);
  EXPECT_EQ(integers, (std::vector<int32_t>{5, 6}));
}

TEST(Moved, NearbyIsWithinOnePercent) {
  Floats moved(100, 2.0f);
  MoveNearby(*FindElementType("f32"), moved.data(), 100, 7);
  for (const float x : moved) EXPECT_NEAR(x, 2, 0.0201);
  EXPECT_NE(moved[0], moved[1]);
}

}  // namespace
}  // namespace hone::verify
