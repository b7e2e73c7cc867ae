#include "memory/allocation/allocation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "minimalloc.h"

namespace hone::memory {
namespace {

AllocationProblem ReadInstance(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA) + "/minimalloc/" + name + ".csv");
  return ReadMinimalloc(file);
}

class Minimalloc : public testing::TestWithParam<const char*> {};

// A second or two each; docs/memory.md has the times.
TEST_P(Minimalloc, IsSolvedAndValid) {
  const AllocationProblem problem = ReadInstance(GetParam());
  ASSERT_GT(problem.buffers.size(), 100u);
  SearchOptions options;
  options.budget_seconds = 120;
  const auto allocation = Search(problem, options);
  ASSERT_TRUE(allocation) << allocation.error().message;
  const Status valid = Validate(problem, *allocation);
  EXPECT_TRUE(valid) << valid.error().message;
  EXPECT_LE(allocation->height, problem.capacity);
}

INSTANTIATE_TEST_SUITE_P(Challenging, Minimalloc,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Search, ProvesThatThereIsNone) {
  AllocationProblem problem;
  problem.capacity = 10;
  problem.buffers = {{0, 4, 6}, {1, 3, 5}};
  const auto allocation = Search(problem, {});
  ASSERT_FALSE(allocation);
  EXPECT_EQ(allocation.error().code, ErrorCode::kInvalidInput);
  problem.capacity = 11;
  EXPECT_TRUE(Search(problem, {}));
}

TEST(Validate, SeesOverlapsAndOverflow) {
  AllocationProblem problem;
  problem.capacity = 10;
  problem.buffers = {{0, 4, 6}, {1, 3, 4}, {4, 6, 10}};
  EXPECT_TRUE(Validate(problem, {{0, 6, 0}, 10}));
  EXPECT_FALSE(Validate(problem, {{0, 5, 0}, 10})) << "0 and 1 overlap";
  EXPECT_FALSE(Validate(problem, {{0, 7, 0}, 10})) << "1 reaches out";
  EXPECT_FALSE(Validate(problem, {{0, 6}, 10})) << "one offset is missing";
}

TEST(BestFit, IsValidOnRandomProblems) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    AllocationProblem problem;
    const int count = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < count; ++i) {
      const auto start = static_cast<int64_t>(random() % 40);
      problem.buffers.push_back({start, start + 1 + static_cast<int64_t>(random() % 20),
                                 1 + static_cast<int64_t>(random() % 100)});
    }
    const Allocation allocation = BestFit(problem);
    problem.capacity = allocation.height;
    const Status valid = Validate(problem, allocation);
    ASSERT_TRUE(valid) << valid.error().message;
  }
}

// All of 4000 live at the same time: too many to place again and again.
TEST(BestFit, ReturnsWhatItHasWhenItsTimeIsOver) {
  AllocationProblem problem;
  problem.capacity = 1000;
  for (int64_t i = 0; i < 4000; ++i) problem.buffers.push_back({i % 7, 100 + i % 11, 1 + i % 13});
  const Deadline clock;
  const Allocation allocation = BestFit(problem, Deadline(0.05));
  EXPECT_LT(clock.Spent(), 0.5);
  EXPECT_GT(allocation.height, problem.capacity);
  EXPECT_EQ(allocation.offsets.size(), problem.buffers.size());
  problem.capacity = allocation.height;
  EXPECT_TRUE(Validate(problem, allocation));
}

}  // namespace
}  // namespace hone::memory
