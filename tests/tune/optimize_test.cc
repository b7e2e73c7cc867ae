#include "tune/optimize.h"

#include <gtest/gtest.h>

#include <fstream>

#include "search/searcher.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::MakePool;
using testing::MustLoad;
using testing::ReadData;
using testing::SharedPool;

OptimizeOptions Steps(int64_t steps) {
  OptimizeOptions options;
  options.budget_seconds = 0;
  options.budget_steps = steps;
  options.compare.inputs = 1;
  return options;
}

// One layer of zeros: every action is as likely.
std::shared_ptr<const policy::Policy> UniformPolicy(const Pool& pool) {
  policy::PolicyFile file;
  std::string actions;
  int64_t count = 0;
  for (const PassInfo& pass : pool.passes()) {
    if (!pass.simplify) continue;
    actions += (count++ == 0 ? "" : ",") + pass.name;
  }
  file.metadata = {{policy::kMetadataFormat, policy::kPolicyFormat},
                   {policy::kMetadataFeatures, "counts"},
                   {policy::kMetadataOpcodes, "add,dot"},
                   {policy::kMetadataActions, actions},
                   {policy::kMetadataActivation, "tanh"},
                   {policy::kMetadataHead, "logits"}};
  file.tensors["policy.0.weight"] = {{count, 2},
                                     std::vector<float>(static_cast<size_t>(count * 2))};
  file.tensors["policy.0.bias"] = {{count}, std::vector<float>(static_cast<size_t>(count))};
  const auto policy = policy::Policy::Read(policy::WritePolicyFile(file));
  EXPECT_TRUE(policy) << policy.error().message;
  return *policy;
}

TEST(Optimize, IsNeverWorseThanTheDefaultOrderWhateverTheSearcher) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  for (const SearcherInfo& searcher : Searchers()) {
    OptimizeOptions options = Steps(600);
    options.search = searcher.name;
    options.verify = false;
    options.coreset = {{"cse", "no-such-pass", "dce"}, {"algsimp", "cse"}};
    if (searcher.needs == Needs::kPrior) options.policy = UniformPolicy(pool);
    const auto result = Optimize(pool, program, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_LT(result->by_default, result->initial);
    EXPECT_LE(result->value, result->by_default) << searcher.name;
    EXPECT_EQ(result->value, static_cast<double>(result->metrics.op_count));
    EXPECT_FALSE(result->verified());
    EXPECT_TRUE(result->stop_reason == StopReason::kSteps ||
                result->stop_reason == StopReason::kExhausted);
    EXPECT_GE(result->steps, result->evaluated);
    for (size_t i = 1; i < result->improvements.size(); ++i) {
      EXPECT_LT(result->improvements[i].value, result->improvements[i - 1].value);
    }
  }
}

TEST(Optimize, BeatsTheDefaultOrderAndIsVerified) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  const auto result = Optimize(pool, program, Steps(4000));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(result->value, result->by_default);
  EXPECT_TRUE(result->verified()) << result->verification.reason;
  // What it says of the result is what the passes give.
  StateName state{program.id, {}};
  for (PassId pass : result->passes) state.links.push_back({pass, {}});
  const auto exported = pool.Export(state, ExportFormat::kText);
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->state, result->state);
  EXPECT_EQ(MustLoad(pool, exported->bytes).metrics.op_count, result->metrics.op_count);
}

TEST(Optimize, TheSameSeedGivesTheSameResultOnOneWorkerAndTwo) {
  OptimizeOptions options = Steps(1500);
  options.verify = false;
  options.seed = 7;
  std::vector<OptimizeResult> results;
  for (int workers : {1, 1, 2}) {
    PoolOptions pool_options;
    pool_options.workers = workers;
    const auto pool = MakePool(pool_options);
    const ProgramInfo program = MustLoad(*pool, ReadData("moe/jax010_moe_sorted_scan_fwd.hlo"));
    const auto result = Optimize(*pool, program, options);
    ASSERT_TRUE(result) << result.error().message;
    results.push_back(*result);
  }
  for (const OptimizeResult& result : results) {
    EXPECT_EQ(result.passes, results[0].passes);
    EXPECT_EQ(result.steps, results[0].steps);
    EXPECT_EQ(result.state, results[0].state);
  }
}

// tests/xla_findings/algsimp-vector_dot_of_concatenation.hlo, with something to gain by algsimp.
constexpr const char* kBreaks = R"(HloModule breaks

ENTRY main {
  c = f32[3]{0} constant({1, 2, 3})
  a = f32[1,4,4]{2,1,0} parameter(0)
  b = f32[2,4,4]{2,1,0} parameter(1)
  cat = f32[3,4,4]{2,1,0} concatenate(a, b), dimensions={0}
  d = f32[4,4]{1,0} dot(c, cat), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  zeros = f32[4,4]{1,0} broadcast(zero), dimensions={}
  e = f32[4,4]{1,0} add(d, zeros)
  f = f32[4,4]{1,0} add(e, zeros)
  g = f32[4,4]{1,0} add(f, zeros)
  e2 = f32[4,4]{1,0} add(d, zeros)
  h = f32[4,4]{1,0} add(g, zeros)
  i = f32[4,4]{1,0} add(h, zeros)
  j = f32[4,4]{1,0} add(i, zeros)
  k = f32[4,4]{1,0} add(j, zeros)
  l = f32[4,4]{1,0} add(k, zeros)
  ROOT m = f32[4,4]{1,0} multiply(l, e2)
}
)";

TEST(Optimize, WhatReplayWouldRejectTheSearchDoesNotBelieve) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, kBreaks);
  for (const char* actions : {"algsimp,dce", "algsimp,cse"}) {
    OptimizeOptions options = Steps(50);
    options.actions = actions;
    options.verify = false;
    const auto result = Optimize(pool, program, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->rejected.empty()) << result->rejected.front();
    const double promised =
        result->improvements.empty() ? result->initial : result->improvements.back().value;
    EXPECT_EQ(promised, result->value);
    ASSERT_FALSE(result->failures.empty());
    EXPECT_EQ(result->failures[0].pass, "algsimp");
    EXPECT_NE(result->failures[0].why.find("HLO verifier"), std::string::npos)
        << result->failures[0].why;
  }
  // cse alone makes it smaller by one.
  OptimizeOptions options = Steps(50);
  options.actions = "algsimp,cse";
  options.verify = false;
  EXPECT_EQ(Optimize(pool, program, options)->value, program.metrics.op_count - 1);
}

TEST(Optimize, OnItsOwnTheSearchKnowsNothingOfTheDefaultOrder) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  OptimizeOptions options = Steps(40);
  options.search = "random";
  options.from_default = false;
  options.verify = false;
  options.longest = 1;
  const auto result = Optimize(pool, program, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(result->by_default, result->initial);
  // Of one pass no sequence is as good as the whole order.
  EXPECT_GT(result->value, result->by_default);
  EXPECT_LE(result->passes.size(), 1u);
  for (const Improvement& better : result->improvements)
    EXPECT_GT(better.value, result->by_default);
}

TEST(Optimize, TheBudgetIsOfStepsThatWereNotKnown) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  OptimizeOptions options = Steps(300);
  options.search = "greedy";  // asks the same beginnings again and again
  options.from_default = false;
  options.verify = false;
  const auto result = Optimize(pool, program, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->evaluated, 300);
  EXPECT_LT(result->evaluated, 310);
  EXPECT_GT(result->steps, 400);
}

TEST(Optimize, AMissingCoresetOrPolicyIsAnError) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  for (const char* search : {"coreset", "policy"}) {
    OptimizeOptions options = Steps(10);
    options.search = search;
    const auto result = Optimize(pool, program, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(result.error().message.find("hone "), std::string::npos) << result.error().message;
  }
}

TEST(Optimize, AnInterruptKeepsWhatWasFound) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
  const std::atomic<bool> interrupted = true;
  OptimizeOptions options;
  options.interrupted = &interrupted;
  options.verify = false;
  const auto result = Optimize(pool, program, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop_reason, StopReason::kInterrupted);
  EXPECT_LE(result->value, result->by_default);
}

TEST(Optimize, OtherObjectives) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
  for (const Objective objective : {Objective::kFlops, Objective::kBytes, Objective::kPeakMemory}) {
    OptimizeOptions options = Steps(400);
    options.objective = objective;
    options.verify = false;
    const auto result = Optimize(pool, program, options);
    ASSERT_TRUE(result);
    EXPECT_GT(result->initial, 0);
    EXPECT_LE(result->value, result->initial) << ObjectiveName(objective);
    EXPECT_EQ(result->value, ObjectiveValue(objective, result->metrics));
  }
}

// What is compared is what there is to write: the bytes, not what could be made again.
TEST(Optimize, GivesTheBytesThatWereCompared) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
  for (const ExportFormat format : {ExportFormat::kText, ExportFormat::kProto}) {
    OptimizeOptions options = Steps(400);
    options.format = format;
    const auto result = Optimize(pool, program, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->verified()) << result->verification.reason;
    EXPECT_EQ(result->bytes.rfind("HloModule", 0) == 0, format == ExportFormat::kText);
    const ProgramInfo written = MustLoad(pool, result->bytes);
    EXPECT_EQ(written.fingerprint, result->state);
    EXPECT_EQ(static_cast<double>(written.metrics.op_count), result->value);
  }
}

// More wrong finalists than are kept: none of them may push XLA's own order out.
TEST(Optimize, FinalistsThatComputeSomethingElseGiveWayToXlasOwnOrder) {
  constexpr const char* kOpcodes[] = {"sine", "cosine", "tanh", "exponential", "negate", "logistic"};
  std::string rules;
  std::string program = R"(HloModule wrong
ENTRY main {
  x.0 = f32[8] parameter(0)
  twin.a = f32[8] sqrt(x.0)
  twin.b = f32[8] sqrt(x.0)
  x.1 = f32[8] add(twin.a, twin.b)
)";
  std::string actions = "cse,dce";
  int number = 1;
  for (const char* opcode : kOpcodes) {
    rules += std::string("rule wrong_") + opcode + " {\n  meaning \"wrong\"\n  pattern { " +
             opcode + "(a) }\n  replacement { a }\n}\n";
    program += "  x." + std::to_string(number + 1) + " = f32[8] " + opcode + "(x." +
               std::to_string(number) + ")\n";
    actions += std::string(",rule:wrong_") + opcode;
    ++number;
  }
  program += "  ROOT out = f32[8] copy(x." + std::to_string(number) + ")\n}\n";
  const std::string file = ::testing::TempDir() + "/wrong.rules";
  std::ofstream(file) << rules;
  PoolOptions pool_options;
  pool_options.rule_files = {file};
  const auto pool = MakePool(pool_options);
  const ProgramInfo loaded = MustLoad(*pool, program);
  OptimizeOptions options = Steps(2000);
  options.actions = actions;
  const auto result = Optimize(*pool, loaded, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->verified()) << result->verification.reason;
  EXPECT_LT(result->by_default, result->initial);
  EXPECT_EQ(result->value, result->by_default);
  EXPECT_GE(result->rejected.size(), 8u);
}

// XLA:CPU compiles this dot as it is, and not what a simplifier makes of it: that is no reason to come
// out with nothing.
TEST(Optimize, WhatCannotBeCompiledGivesWayToWhatCan) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, R"(HloModule two_contracted
ENTRY main {
  a = f32[4,8,5] parameter(0)
  b = f32[4,8,5] parameter(1)
  sum = f32[4,8,5] add(a, b)
  c = f32[4,8,6] parameter(2)
  dot = f32[5,6] dot(sum, c), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  ROOT turned = f32[6,5] transpose(dot), dimensions={1,0}, control-predecessors={sum}
}
)");
  OptimizeOptions options = Steps(300);
  options.actions = "algsimp:generic,dce";
  const auto result = Optimize(pool, program, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->verified()) << result->verification.reason;
  ASSERT_FALSE(result->rejected.empty());
  EXPECT_NE(result->rejected[0].find("does not compile"), std::string::npos)
      << result->rejected[0];
}

}  // namespace
}  // namespace hone
