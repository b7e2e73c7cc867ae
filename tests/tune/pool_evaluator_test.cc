// Plans measured by workers.
#include "tune/pool_evaluator.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "support/programs.h"

namespace hone::tune {
namespace {

constexpr char kProgram[] =
    "HloModule small\nENTRY main {\n  a = f32[8] parameter(0)\n  ROOT b = f32[8] add(a, a)\n}\n";

// As where the machine has no memory left for another process.
TEST(PoolEvaluator, WhereNoWorkerCanBeStartedAgainSaysSo) {
  int starts = 0;
  PoolOptions options;
  auto evaluator = PoolEvaluator::Start(
      [&]() -> StatusOr<std::unique_ptr<Pool>> {
        if (++starts == 2) return MakeError(ErrorCode::kInternal, "no second pool");
        return Pool::Start(options);
      },
      kProgram, 1);
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  const Status restarted = (*evaluator)->Restart();
  ASSERT_FALSE(restarted);
  EXPECT_EQ(restarted.error().message, "no second pool");
  EXPECT_EQ((*evaluator)->pool().pids().size(), 0u) << "two would disturb each other's races";
  EXPECT_FALSE((*evaluator)->pool().version().empty());
  const auto equal = (*evaluator)->Compare({}, {}, {});
  ASSERT_TRUE(equal) << "the old pool starts its worker again: " << equal.error().message;
  EXPECT_EQ(equal->verdict, Verdict::kEqual);
  ASSERT_TRUE((*evaluator)->Restart());
  EXPECT_EQ(starts, 3);
}

}  // namespace
}  // namespace hone::tune
