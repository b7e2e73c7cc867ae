#include "compiler/native/shared_loop.h"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace hone::native {
namespace {

struct Done {
  explicit Done(int64_t iterations) : times(static_cast<size_t>(iterations)) {}

  static void Body(void* state, int64_t begin, int64_t end) {
    auto* const done = static_cast<Done*>(state);
    for (int64_t i = begin; i < end; ++i) {
      ++done->times[static_cast<size_t>(i)];
      if (done->in_order) done->order.push_back(i);
    }
  }

  std::vector<std::atomic<int>> times;
  bool in_order = false;
  std::vector<int64_t> order;
};

TEST(SharedLoop, DoesEachIterationOnce) {
  for (const int64_t threads : {1, 2, 3, 8}) {
    for (const int64_t iterations : {1, 2, 7, 64, 1000}) {
      for (const int64_t chunk : {1, 3, 100}) {
        Done done(iterations);
        SharedLoop loop(&Done::Body, &done, iterations, chunk, threads);
        std::vector<std::thread> helpers;
        for (int64_t t = 1; t < threads; ++t) helpers.emplace_back([&loop, t] { loop.Help(t); });
        loop.TakeParts(0);
        loop.Close();
        for (const auto& times : done.times) EXPECT_EQ(times, 1);
        for (std::thread& helper : helpers) helper.join();
      }
    }
  }
}

TEST(SharedLoop, BeginsWithTheOwnShareAndGoesOnWithWhatIsLeft) {
  Done done(6);
  done.in_order = true;
  SharedLoop loop(&Done::Body, &done, 6, 1, 3);
  loop.TakeParts(1);
  EXPECT_EQ(done.order, (std::vector<int64_t>{2, 3, 4, 5, 0, 1}));
}

TEST(SharedLoop, WhoComesAfterTheEndDoesNothing) {
  Done done(4);
  SharedLoop loop(&Done::Body, &done, 4, 1, 2);
  loop.Close();
  loop.Help(1);
  for (const auto& times : done.times) EXPECT_EQ(times, 0);
}

double SecondsOfThisThread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(SharedLoop, WaitsAsleepForAPartThatTakesLong) {
  std::atomic<bool> begun{false};
  SharedLoop loop(
      [](void* state, int64_t, int64_t) {
        static_cast<std::atomic<bool>*>(state)->store(true);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      },
      &begun, 1, 1, 2);
  std::thread helper([&] { loop.Help(1); });
  while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double before = SecondsOfThisThread();
  loop.Close();
  EXPECT_LT(SecondsOfThisThread() - before, 0.05);
  helper.join();
}

}  // namespace
}  // namespace hone::native
