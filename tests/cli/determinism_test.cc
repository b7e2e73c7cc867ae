// The same command on the same file writes the same bytes, every time.
#include <gtest/gtest.h>

#include <set>

#include "hone_process.h"
#include "support/programs.h"

namespace hone {
namespace {

constexpr int kRuns = 5;

class DeterminismTest : public HoneTest {
 protected:
  // Runs the command, which writes `output`, several times; the one text that it writes.
  std::string OneText(const std::vector<std::string>& command, const std::string& output) {
    std::set<std::string> texts;
    for (int run = 0; run < kRuns; ++run) {
      const Ran ran = Hone(command);
      EXPECT_EQ(ran.code, 0) << ran.err;
      texts.insert(Read(output));
    }
    EXPECT_EQ(texts.size(), 1u) << command[0];
    return *texts.begin();
  }
};

TEST_F(DeterminismTest, OptimizeAndReplay) {
  Write("p.hlo", testing::ReadData("misc/jax010_gp_nll_train.hlo"));
  const std::string optimised =
      OneText({"optimize", "p.hlo", "--actions", "simplify+rules", "--budget", "150steps",
               "--no-verify", "--allow-unverified", "-o", "o.hlo", "--recipe", "o.json"},
              "o.hlo");
  EXPECT_EQ(OneText({"replay", "o.json", "-o", "r.hlo"}, "r.hlo"), optimised);
}

TEST_F(DeterminismTest, Run) {
  Write("p.hlo", testing::ReadData("misc/jax010_gp_nll_train.hlo"));
  OneText({"run", "p.hlo", "--passes",
           "call-inliner:every_call_site,algsimp,cse,rules,batch_lanes,cse,"
           "implement:dot_in_f32,general_fusion",
           "-o", "o.hlo"},
          "o.hlo");
}

TEST_F(DeterminismTest, Rewrites) {
  Write("p.hlo", testing::ReadData("misc/jax010_gp_nll_train.hlo"));
  OneText({"rewrites", "p.hlo", "--pass", "rules", "--apply", "half", "-o", "o.hlo"}, "o.hlo");
}

TEST_F(DeterminismTest, Apply) {
  Write("p.hlo", testing::ReadData("moe/jax010_moe_sorted_scan_fwd.hlo"));
  Write("plan.json", R"({"format": "hone tuned plan", "passes": ["rules", "batch_lanes"],
                         "choices": {}, "flags": {}})");
  OneText({"apply", "plan.json", "p.hlo", "-o", "o.hlo"}, "o.hlo");
}

}  // namespace
}  // namespace hone
