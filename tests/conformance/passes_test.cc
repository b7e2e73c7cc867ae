// One suite over every registered pass: its result is verifier-clean or a clear error, and the same
// every time.
#include <gtest/gtest.h>

#include "support/programs.h"

namespace hone {
namespace {

using testing::MakePool;
using testing::MustLoad;
using testing::ReadData;

class EveryPass : public ::testing::TestWithParam<std::string> {};

// Twice from a fresh copy of the program, a request a pass. Text is compared, not fingerprints
// alone: what a pass says it did not change must print the same.
TEST_P(EveryPass, IsCleanOrAClearErrorAndTheSameTwice) {
  const auto pool = MakePool();
  const ProgramInfo program = MustLoad(*pool, ReadData(GetParam()));
  int worked = 0;
  int tried = 0;
  int changed = 0;
  for (PassId pass = 0; pass < pool->passes().size(); ++pass) {
    if (pool->passes()[pass].kind == PassKind::kRule) continue;  // compiler_rules tests these
    ++tried;
    const std::string& name = pool->passes()[pass].name;
    SCOPED_TRACE(name);
    ApplyRequest request;
    request.from.program = program.id;
    request.passes = {pass};
    request.options.fresh = true;
    const StatusOr<Applied> first = pool->Apply(request);
    ASSERT_TRUE(first) << first.error().message;
    const StatusOr<Applied> second = pool->Apply(request);
    ASSERT_TRUE(second) << second.error().message;
    const Step& a = first->steps.at(0);
    const Step& b = second->steps.at(0);
    EXPECT_EQ(a.state.ToHex(), b.state.ToHex());
    EXPECT_EQ(a.failure, b.failure);
    if (!a.failure.empty()) {
      EXPECT_EQ(a.state, program.fingerprint);
      EXPECT_GT(a.failure.size(), 5u);
      continue;
    }
    ++worked;
    changed += a.changed;
    // The verifier after it: clean, or an error that names it; either way the state is the
    // program's.
    request.options.verify = true;
    const StatusOr<Applied> verified = pool->Apply(request);
    ASSERT_TRUE(verified) << verified.error().message;
    const Step& c = verified->steps.at(0);
    if (c.failure.empty()) {
      EXPECT_EQ(c.state, a.state) << "it says that it changed nothing, and did";
    } else {
      EXPECT_NE(c.failure.find("verifier"), std::string::npos) << c.failure;
      EXPECT_EQ(c.state, program.fingerprint);
    }
  }
  RecordProperty("worked", worked);
  RecordProperty("changed", changed);
  EXPECT_GT(worked, tried * 3 / 4);
  EXPECT_GT(changed, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, EveryPass,
    ::testing::Values("hloenv/jaxrl_qr.hlo", "kmeans/jax010_kmeans_while.hlo",
                      "misc/jax010_gp_nll_train.hlo", "misc/jax010_int8_mlp_fwd.hlo",
                      "moe/jax010_moe_sorted_scan_fwd.hlo", "sim/jax010_nbody_leapfrog_scan.hlo",
                      "xla/mha_block_1x12x128x64_bf16.hlo", "resnet/hf_fwd_r18_64.hlo",
                      "gpt2/hf_train_l4_d256_adamw.hlo"),
    [](const auto& info) {
      std::string name = info.param.substr(info.param.find('/') + 1);
      name.resize(name.rfind('.'));
      return name;
    });

}  // namespace
}  // namespace hone
