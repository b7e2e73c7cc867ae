#include "wire/pool.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <thread>

#include "support/programs.h"

namespace hone {
namespace {

using testing::MakePool;
using testing::MustLoad;
using testing::PassNamed;
using testing::ReadData;
using testing::SharedPool;
using testing::Simplifiers;

constexpr char kTraining[] = "bert/hf_train_mlm_l2_d128_adamw.hlo";
constexpr char kSmall[] = "kmeans/jax010_kmeans_while.hlo";

// A fixed, mixed sequence of simplifiers.
std::vector<PassId> Mixed(const Pool& pool, size_t length, uint64_t seed) {
  const std::vector<PassId> all = Simplifiers(pool);
  std::vector<PassId> passes;
  for (size_t i = 0; i < length; ++i) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    passes.push_back(all[(seed >> 33) % all.size()]);
  }
  return passes;
}

void ExpectSameSteps(const std::vector<Step>& a, const std::vector<Step>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].state.ToHex(), b[i].state.ToHex()) << i;
    EXPECT_EQ(a[i].changed, b[i].changed) << i;
    EXPECT_EQ(a[i].metrics.op_count, b[i].metrics.op_count) << i;
    EXPECT_EQ(a[i].failure.empty(), b[i].failure.empty()) << i;
  }
}

TEST(Pool, KnowsThePasses) {
  Pool& pool = SharedPool();
  EXPECT_EQ(pool.version(), "tensorflow-cpu 2.21.0");
  EXPECT_GE(pool.passes().size(), 85u);
  std::set<std::string> names;
  std::set<std::string> classes;
  for (const PassInfo& pass : pool.passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name << " twice";
    classes.insert(pass.class_name);
    EXPECT_FALSE(pass.meaning.empty()) << pass.name;
  }
  EXPECT_GE(classes.size(), 75u);
  EXPECT_FALSE(pool.excluded().empty());
}

TEST(Pool, MemoryAndCacheDoNotChangeWhatPassesDo) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData(kTraining));
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    ApplyRequest request;
    request.from.program = program.id;
    request.passes = Mixed(pool, 30, seed);
    const StatusOr<Applied> first = pool.Apply(request);
    const StatusOr<Applied> again = pool.Apply(request);
    request.options.fresh = true;
    request.options.verify = true;
    const StatusOr<Applied> fresh = pool.Apply(request);
    ASSERT_TRUE(first && again && fresh);
    ExpectSameSteps(first->steps, again->steps);
    ExpectSameSteps(first->steps, fresh->steps);
    for (const Step& step : again->steps) EXPECT_TRUE(step.looked);
    for (const Step& step : fresh->steps) EXPECT_FALSE(step.looked);
  }
}

TEST(Pool, ContinuesFromAnyStateItIsGiven) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData(kTraining));
  ApplyRequest whole;
  whole.from.program = program.id;
  whole.passes = Mixed(pool, 24, 9);
  const StatusOr<Applied> at_once = pool.Apply(whole);
  ASSERT_TRUE(at_once);
  // The same, a pass at a time, each named by the way to it.
  ApplyRequest one;
  one.from.program = program.id;
  std::vector<Step> steps;
  for (PassId pass : whole.passes) {
    one.passes = {pass};
    const StatusOr<Applied> applied = pool.Apply(one);
    ASSERT_TRUE(applied);
    const Step& step = applied->steps.at(0);
    if (step.changed) one.from.links.push_back({pass, step.state});
    steps.push_back(step);
  }
  ExpectSameSteps(at_once->steps, steps);
}

TEST(Pool, StatesNamedByTheirPassesAloneAreNotMistakenForOneAnother) {
  const auto pool = MakePool();
  const ProgramInfo program = MustLoad(*pool, ReadData(kTraining));
  const PassId algsimp = PassNamed(*pool, "algsimp");
  ApplyRequest request;
  request.from.program = program.id;
  for (const char* way : {"cse", "dce", "algsimp"}) {
    request.from.links = {};
    request.passes = {PassNamed(*pool, way), algsimp};
    const StatusOr<Applied> expected = pool->Apply(request);
    // Held, so that the next one finds a module of a state without a name.
    request.from.links = {{PassNamed(*pool, way), {}}};
    ASSERT_TRUE(pool->Hold(request.from));
    request.passes = {algsimp};
    const StatusOr<Applied> applied = pool->Apply(request);
    ASSERT_TRUE(expected && applied);
    EXPECT_EQ(applied->start, expected->steps[0].state) << way;
    EXPECT_EQ(applied->steps[0].state, expected->steps[1].state) << way;
  }
}

TEST(Pool, ATinyCacheChangesNothing) {
  PoolOptions options;
  options.cache_bytes = 1;  // nothing is ever kept
  const auto tiny = MakePool(options);
  Pool& pool = SharedPool();
  ApplyRequest request;
  request.passes = Mixed(pool, 20, 11);
  request.from.program = MustLoad(pool, ReadData(kTraining)).id;
  const StatusOr<Applied> expected = pool.Apply(request);
  request.from.program = MustLoad(*tiny, ReadData(kTraining)).id;
  const StatusOr<Applied> first = tiny->Apply(request);
  ASSERT_TRUE(expected && first);
  ExpectSameSteps(expected->steps, first->steps);
  // From the end of it, which has to be rebuilt.
  for (const Step& step : first->steps) {
    if (step.changed) request.from.links.push_back({step.pass, step.state});
  }
  request.passes = {PassNamed(*tiny, "algsimp"), PassNamed(*tiny, "cse")};
  const StatusOr<Applied> rebuilt = tiny->Apply(request);
  ASSERT_TRUE(rebuilt);
  EXPECT_EQ(rebuilt->start, first->steps.back().state);
}

TEST(Pool, AHeldStateIsForkedWithoutRebuildingIt) {
  const auto pool = MakePool();
  const ProgramInfo program = MustLoad(*pool, ReadData(kTraining));
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = Mixed(*pool, 20, 13);
  const StatusOr<Applied> way = pool->Apply(request);
  ASSERT_TRUE(way);
  for (const Step& step : way->steps) {
    if (step.changed) request.from.links.push_back({step.pass, step.state});
  }
  ASSERT_TRUE(pool->Hold(request.from));
  const int64_t before = pool->timing().passes_run;
  int64_t looked = 0;
  for (const char* pass : {"algsimp", "cse", "reshape-mover"}) {
    request.passes = {PassNamed(*pool, pass)};
    const StatusOr<Applied> fork = pool->Apply(request);
    ASSERT_TRUE(fork);
    EXPECT_EQ(fork->start, way->steps.back().state);
    looked += fork->steps[0].looked;
  }
  EXPECT_EQ(pool->timing().passes_run - before, 3 - looked);
  EXPECT_FALSE(pool->Hold({9999, {}}));
}

TEST(Pool, TextRoundTripsAndRebuildsToTheSameBytes) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData(kTraining));
  const StateName state{program.id,
                        {{PassNamed(pool, "algsimp"), {}}, {PassNamed(pool, "dce"), {}}}};
  const StatusOr<Exported> a = pool.Export(state, ExportFormat::kText);
  const StatusOr<Exported> b = pool.Export(state, ExportFormat::kText);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->bytes, b->bytes);
  const ProgramInfo again = MustLoad(pool, a->bytes);
  EXPECT_EQ(again.fingerprint, a->state);
  const StatusOr<Exported> proto = pool.Export(state, ExportFormat::kProto);
  ASSERT_TRUE(proto);
  EXPECT_EQ(MustLoad(pool, proto->bytes).fingerprint, a->state);
}

TEST(Pool, DescribesEveryInstruction) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData(kSmall));
  const StatusOr<ProgramGraph> graph = pool.Describe({program.id, {}});
  ASSERT_TRUE(graph);
  int64_t count = 0;
  for (const ComputationInfo& computation : graph->computations) {
    count += static_cast<int64_t>(computation.instructions.size());
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      for (uint32_t operand : computation.instructions[i].operands) EXPECT_LT(operand, i);
    }
  }
  EXPECT_EQ(count, program.metrics.op_count);
}

TEST(Pool, AKilledWorkerChangesNothing) {
  const auto pool = MakePool();
  const ProgramInfo program = MustLoad(*pool, ReadData(kTraining));
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = Mixed(*pool, 40, 3);
  const StatusOr<Applied> expected = pool->Apply(request);
  ASSERT_TRUE(expected);
  // From outside, between two requests.
  for (int pid : pool->pids()) kill(pid, SIGKILL);
  const StatusOr<Applied> between = pool->Apply(request);
  ASSERT_TRUE(between) << between.error().message;
  ExpectSameSteps(expected->steps, between->steps);
  EXPECT_GE(pool->deaths().size(), 1u);
  // From outside, in the middle of one.
  for (int i = 0; i < 3; ++i) {
    std::thread killer([&pool, i] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + 30 * i));
      for (int pid : pool->pids()) kill(pid, SIGKILL);
    });
    request.options.fresh = true;
    const StatusOr<Applied> during = pool->Apply(request);
    killer.join();
    ASSERT_TRUE(during) << during.error().message;
    ExpectSameSteps(expected->steps, during->steps);
  }
}

// A worker's start tells of instruction sets and the like.
TEST(Pool, WhatTensorFlowTellsOfItselfIsNoReasonForADeath) {
  const auto pool = MakePool();
  const ProgramInfo program = MustLoad(*pool, ReadData(kTraining));
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {PassNamed(*pool, "dce")};
  ASSERT_TRUE(pool->Apply(request));
  for (int pid : pool->pids()) kill(pid, SIGSEGV);
  ASSERT_TRUE(pool->Apply(request));
  ASSERT_FALSE(pool->deaths().empty());
  const std::string reason = pool->deaths().front().why;
  EXPECT_NE(reason.find("Segmentation fault"), std::string::npos) << reason;
  for (const char* said : {"oneDNN", "tensorflow", "port.cc"}) {
    EXPECT_EQ(reason.find(said), std::string::npos) << reason;
  }
}

TEST(Pool, APassPastItsDeadlineIsAFailedStep) {
  PoolOptions options;
  options.pass_deadline_seconds = 0.0001;  // nothing real is done in that
  const auto pool = MakePool(options);
  const ProgramInfo program = MustLoad(*pool, ReadData(kTraining));
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {PassNamed(*pool, "algsimp"), PassNamed(*pool, "dce")};
  // It may be quick enough between two looks of the watcher: then there is nothing to see.
  const StatusOr<Applied> applied = pool->Apply(request);
  if (pool->deaths().empty()) return;
  if (applied) {
    ASSERT_EQ(applied->steps.size(), 2u);
  } else {
    EXPECT_EQ(applied.error().code, ErrorCode::kDeadline);
  }
}

// Beside a program as large, a worker lets go of others; but not of one that the same call needs.
TEST(Pool, TwoLargeProgramsAreComparedWithEachOther) {
  const auto pool = MakePool({});
  const auto large = [&](const std::string& name) {
    std::string text = "HloModule " + name + "\nENTRY main {\n x = f32[] parameter(0)\n";
    for (int i = 0; i < 80'000; ++i) text += " x" + std::to_string(i) + " = f32[] sine(x)\n";
    return MustLoad(*pool, text + " ROOT r = f32[] negate(x)\n}\n");
  };
  const ProgramInfo a = large("a");
  const ProgramInfo b = large("b");
  ASSERT_NE(a.id, b.id);
  const StatusOr<ComparisonReport> report = pool->Compare({a.id, {}}, {b.id, {}}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kEqual) << report->reason;
}

TEST(Pool, APassPastTheEndOfASearchIsGivenUp) {
  const auto pool = MakePool({});
  const ProgramInfo program = MustLoad(*pool, R"(
    HloModule spin
    again {
      s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      most = s32[] constant(2147483647)
      ROOT less = pred[] compare(i, most), direction=LT
    }
    step {
      s = (s32[], s32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      one = s32[] constant(1)
      next = s32[] add(i, one)
      sum = s32[] get-tuple-element(s), index=1
      more = s32[] xor(sum, next)
      ROOT after = (s32[], s32[]) tuple(next, more)
    }
    ENTRY main {
      zero = s32[] constant(0)
      before = (s32[], s32[]) tuple(zero, zero)
      loop = (s32[], s32[]) while(before), condition=again, body=step
      ROOT sum = s32[] get-tuple-element(loop), index=1
    })");
  using Clock = std::chrono::steady_clock;
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {PassNamed(*pool, "constant_folding:aggressive")};  // runs the loop: minutes
  request.until = Clock::now();
  const StatusOr<Applied> applied = pool->Apply(request);
  const std::chrono::duration<double> late = Clock::now() - *request.until;
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kInterrupted) << applied.error().message;
  EXPECT_LT(late.count(), 30);  // of the 60 s that a pass may take
  // And the next worker goes on.
  request.passes = {PassNamed(*pool, "dce")};
  EXPECT_FALSE(pool->Apply(request)) << "it is not begun";
  request.until.reset();
  EXPECT_TRUE(pool->Apply(request));
}

TEST(Pool, AWorkerPastItsMemoryIsAnError) {
  PoolOptions options;
  options.memory_limit_bytes = size_t{64} << 20;  // XLA alone takes more
  const auto pool = Pool::Start(options);
  if (!pool) {
    EXPECT_EQ(pool.error().code, ErrorCode::kMemory);
    return;
  }
  const StatusOr<ProgramInfo> program = (*pool)->Load(ReadData(kTraining));
  if (!program) return;
  EXPECT_FALSE((*pool)->StockPasses(program->id));
}

TEST(Pool, BadRequestsAreAnswers) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData(kSmall));
  const size_t deaths = pool.deaths().size();
  ApplyRequest request;
  request.from.program = 12345;
  EXPECT_FALSE(pool.Apply(request));
  request.from.program = program.id;
  request.passes = {60000};
  EXPECT_FALSE(pool.Apply(request));
  request.passes = {};
  request.from.links = {{60000, {}}};
  EXPECT_FALSE(pool.Apply(request));
  EXPECT_FALSE(pool.Describe({54321, {}}));
  EXPECT_FALSE(pool.Export({54321, {}}, ExportFormat::kText));
  EXPECT_FALSE(pool.Compare({54321, {}}, {program.id, {}}, {}));
  EXPECT_FALSE(pool.Load("nonsense"));
  EXPECT_FALSE(pool.Load(""));
  pool.Unload(99999);
  EXPECT_EQ(pool.deaths().size(), deaths);
}

TEST(Pool, TheSameOnOneWorkerAndTwo) {
  PoolOptions options;
  options.workers = 2;
  const auto two = MakePool(options);
  Pool& one = SharedPool();
  std::vector<ApplyRequest> requests(6);
  const ProgramInfo program = MustLoad(*two, ReadData(kTraining));
  const ProgramInfo same = MustLoad(one, ReadData(kTraining));
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].passes = Mixed(one, 12, i + 20);
    requests[i].from.program = program.id;
  }
  const auto parallel = two->Apply(requests);
  for (ApplyRequest& request : requests) request.from.program = same.id;
  const auto serial = one.Apply(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    ASSERT_TRUE(parallel[i] && serial[i]);
    ExpectSameSteps(parallel[i]->steps, serial[i]->steps);
  }
}

TEST(Pool, ANotExecutableWorkerIsAClearError) {
  PoolOptions options;
  options.worker_path = "/nonexistent/hone-worker";
  const auto pool = Pool::Start(options);
  ASSERT_FALSE(pool);
  EXPECT_NE(pool.error().message.find("/nonexistent/hone-worker"), std::string::npos);
}

// Counts up to its parameter, or for ever, and multiplies on the way.
std::string Loop(const std::string& more) {
  return "HloModule loop\n\nbody {\n  s = (s32[], f32[256]) parameter(0)\n"
         "  i = s32[] get-tuple-element(s), index=0\n"
         "  x = f32[256] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
         "  j = s32[] add(i, one)\n  y = f32[256] cosine(x)\n"
         "  ROOT t = (s32[], f32[256]) tuple(j, y)\n}\n\ncond {\n"
         "  s = (s32[], f32[256]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n" +
         more +
         "}\n\nENTRY main {\n  x = f32[256] parameter(0)\n  z = s32[] constant(0)\n"
         "  t = (s32[], f32[256]) tuple(z, x)\n"
         "  w = (s32[], f32[256]) while(t), condition=cond, body=body\n"
         "  ROOT y = f32[256] get-tuple-element(w), index=1\n}\n";
}
const std::string kShortLoop =
    "  n = s32[] constant(10)\n  ROOT l = pred[] compare(i, n), direction=LT\n";
const std::string kEndless =
    "  n = s32[] constant(-1)\n  ROOT l = pred[] compare(i, n), direction=NE\n";

double Seconds(const std::function<void()>& what) {
  const auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The stock side of a race may take long; a candidate that hangs may not.
TEST(Pool, ACandidateThatHangsIsGivenUp) {
  Pool& pool = SharedPool();
  const ProgramInfo stock = MustLoad(pool, Loop(kShortLoop)),
                    hangs = MustLoad(pool, Loop(kEndless));
  RaceOptions options;
  options.candidate_seconds = 1;
  const auto race = pool.Race({stock.id, {}}, {hangs.id, {}}, options);
  ASSERT_FALSE(race.has_value());
  EXPECT_EQ(race.error().code, ErrorCode::kDeadline) << race.error().message;
  EXPECT_NE(race.error().message.find("deadline of 1 s"), std::string::npos);
  options.candidate_seconds = 120;
  EXPECT_TRUE(pool.Race({stock.id, {}}, {stock.id, {}}, options)->same_executable);
}

// Runs are timed on the inputs that somebody gave: here they say how long a loop goes round.
TEST(Pool, RunsAreTimedOnGivenInputs) {
  Pool& pool = SharedPool();
  const auto program = [](const std::string& step) {
    return "HloModule counts\n"
           "body { s = (s32[], s32[], f32[64]) parameter(0)\n i = s32[] get-tuple-element(s), "
           "index=0\n n = s32[] get-tuple-element(s), index=1\n x = f32[64] get-tuple-element(s), "
           "index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n y = f32[64] " +
           step +
           "(x)\n ROOT t = (s32[], s32[], f32[64]) tuple(j, n, y) }\n"
           "condition { s = (s32[], s32[], f32[64]) parameter(0)\n i = s32[] "
           "get-tuple-element(s), index=0\n n = s32[] get-tuple-element(s), index=1\n ROOT c = "
           "pred[] compare(i, n), direction=LT }\n"
           "ENTRY main { n = s32[] parameter(0)\n x = f32[64] parameter(1)\n zero = s32[] "
           "constant(0)\n s = (s32[], s32[], f32[64]) tuple(zero, n, x)\n w = (s32[], s32[], "
           "f32[64]) while(s), condition=condition, body=body\n ROOT r = f32[64] "
           "get-tuple-element(w), index=2 }\n";
  };
  const ProgramInfo a = MustLoad(pool, program("cosine")), b = MustLoad(pool, program("sine"));
  const auto counting_to = [](int32_t n) {
    std::string bytes(sizeof n, '\0');
    std::memcpy(bytes.data(), &n, sizeof n);
    return std::vector<std::string>{bytes, std::string(64 * sizeof(float), '\0')};
  };
  const auto race = [&] {
    RaceOptions options;
    options.budget_seconds = 0.1;
    options.candidate_seconds = 1;
    return pool.Race({a.id, {}}, {b.id, {}}, options);
  };
  EXPECT_TRUE(race().has_value());
  pool.GiveInputs(a.id, counting_to(1 << 30));
  const auto endless = race();
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().code, ErrorCode::kDeadline) << endless.error().message;
  pool.EndProcesses();  // another one is given them too
  EXPECT_FALSE(race().has_value());
  pool.GiveInputs(a.id, counting_to(1));
  EXPECT_TRUE(race().has_value());
  pool.GiveInputs(a.id, {"", ""});
  const auto wrong = race();
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidInput) << wrong.error().message;
  pool.Unload(a.id);
  pool.Unload(b.id);
}

// What came before the comparison began is not its business; what comes then ends it.
TEST(Pool, AComparisonIsInterruptedOnceItHasBegun) {
  Pool& pool = SharedPool();
  std::string other = Loop(kShortLoop);
  other.replace(other.find("cosine(x)"), 9, "sine(x)");
  const ProgramInfo a = MustLoad(pool, Loop(kShortLoop)), b = MustLoad(pool, other);
  std::atomic<bool> stop{true};
  CompareOptions options;
  options.stop = &stop;
  EXPECT_EQ(pool.Compare({a.id, {}}, {b.id, {}}, options)->verdict, Verdict::kDifferent);
  const ProgramInfo hangs = MustLoad(pool, Loop(kEndless));
  stop = false;
  std::thread interrupting([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    stop = true;
  });
  StatusOr<ComparisonReport> report = MakeError(ErrorCode::kInternal, "not compared");
  const double seconds =
      Seconds([&] { report = pool.Compare({hangs.id, {}}, {b.id, {}}, options); });
  interrupting.join();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kInterrupted) << report.error().message;
  EXPECT_LT(seconds, options.budget_seconds);
}

}  // namespace
}  // namespace hone
