// Every finding still happens, and costs a step and no more.
#include <gtest/gtest.h>

#include "support/programs.h"

namespace hone {
namespace {

using testing::ListTestFiles;
using testing::MakePool;
using testing::MustLoad;
using testing::PassNamed;
using testing::ReadTestFile;

// The rest of the line behind `// KEY: `.
std::string Header(const std::string& text, const std::string& key) {
  const std::string mark = "// " + key + ": ";
  const size_t at = text.find(mark);
  if (at == text.npos) return "";
  const size_t from = at + mark.size();
  return text.substr(from, text.find('\n', from) - from);
}

class Finding : public ::testing::TestWithParam<std::string> {};

TEST_P(Finding, StillHappens) {
  const std::string text = ReadTestFile(GetParam());
  const std::string what = Header(text, "what");
  const std::string kind = what.substr(0, what.find(':'));
  PoolOptions options;
  if (const std::string target = Header(text, "target"); !target.empty()) options.target = target;
#ifndef HONE_WORKER_GPU
  if (options.target != PoolOptions{}.target) GTEST_SKIP() << "hone-worker-gpu is not built";
#endif
  const auto pool = MakePool(options);
  const ProgramInfo program = MustLoad(*pool, text);
  const PassId pass = PassNamed(*pool, Header(text, "pass"));
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {pass, PassNamed(*pool, "dce")};
  request.options.fresh = true;
  const StatusOr<Applied> applied = pool->Apply(request);
  ASSERT_TRUE(applied) << applied.error().message;
  ASSERT_EQ(applied->steps.size(), 2u);
  const Step& step = applied->steps[0];
  if (kind == "crash") {
    EXPECT_FALSE(step.failure.empty());
    EXPECT_EQ(pool->deaths().size(), 1u);
    EXPECT_EQ(step.state, program.fingerprint);
  } else if (kind == "error") {
    EXPECT_FALSE(step.failure.empty());
    EXPECT_TRUE(pool->deaths().empty());
    EXPECT_EQ(step.state, program.fingerprint);
  } else if (kind == "lies") {
    EXPECT_TRUE(step.changed) << "hone looks for itself";
  } else if (kind == "differs") {
    const StateName before{program.id, {}}, after{program.id, {{step.pass, step.state, {}}}};
    const StatusOr<ComparisonReport> report = pool->Compare(before, {}, after, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->verdict, Verdict::kDifferent) << report->reason;
  } else {
    // What is broken may be mended by hone, seen by the verifier, or kill it: never the agent.
    ASSERT_EQ(kind, "breaks");
    request.options.verify = true;
    const StatusOr<Applied> verified = pool->Apply(request);
    ASSERT_TRUE(verified) << verified.error().message;
    return;
  }
  EXPECT_TRUE(applied->steps[1].failure.empty()) << applied->steps[1].failure;
}

INSTANTIATE_TEST_SUITE_P(Xla, Finding, ::testing::ValuesIn(ListTestFiles("xla_findings", ".hlo")),
                         [](const auto& info) {
                           std::string name;
                           for (char c : info.param.substr(info.param.find('/') + 1)) {
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace hone
