// Kernels, made by hone-loops and held against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "hone_process.h"
#include "kernel_cases.h"
#include "loops/cost_model.h"
#include "loops/default_schedule.h"
#include "loops/generator.h"
#include "loops/kernel_source.h"
#include "loops/race.h"
#include "loops/verify.h"
#include "made_up_policy.h"

namespace hone::loops {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Machine kMachine{2, 64, 32};

class KernelTest : public testing::TestWithParam<KernelCase> {};

TEST_P(KernelTest, ComputesItsTaskUnderAnySchedule) {
  const auto task = ParseTask("task t\n" + std::string(GetParam().task));
  ASSERT_TRUE(task) << task.error().message;
  const auto generator = StartGenerator();
  ASSERT_TRUE(generator);
  const auto given = ParseSchedule(GetParam().schedule);
  ASSERT_TRUE(given) << given.error().message;
  for (const Schedule& schedule : {Schedule{}, DefaultSchedule(Expand(*task), kMachine), *given}) {
    ExpectComputed(*generator, *task, schedule);
  }
  EXPECT_EQ(generator->restarts(), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, KernelTest, testing::ValuesIn(KernelCases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Products, KernelTest, testing::ValuesIn(ProductKernelCases()),
                         [](const auto& info) { return info.param.name; });

// Every element type: widened alone and in vectors, packed, summed, and beside others.
class ElementKernelTest : public testing::TestWithParam<ElementInfo> {};

TEST_P(ElementKernelTest, ComputesWhatItReads) {
  const std::string type = GetParam().name;
  const auto task =
      ParseTask("task t\ninput x " + type + "[24,50]\ninput b " + type + "[50]\ninput w " + type +
                "[50,32]\na = add x b\nm = reduce_max a axes=1\n"
                "y = matmul a w\nz = matmul x w\noutput a\noutput m\noutput y\n"
                "output z\n");
  ASSERT_TRUE(task) << task.error().message;
  const auto generator = StartGenerator();
  ASSERT_TRUE(generator);
  const auto given = ParseSchedule(
      "a tile 4,10\na vectorize\nm parallel 4,0\nz pack 8,16,0\nz parallel 1,1,0,0,0\n"
      "z tile 0,0,5,0,0\nz vectorize\nz unroll 5\n");
  ASSERT_TRUE(given) << given.error().message;
  for (const Schedule& schedule : {DefaultSchedule(Expand(*task), kMachine), *given}) {
    ExpectComputed(*generator, *task, schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ElementKernelTest, testing::ValuesIn(kElements),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr char kAdd[] = "task t\ninput a f32[64]\ninput b f32[64]\ny = add a b\noutput y\n";

TEST(Generator, MakesTheSameObjectOfTheSameSchedule) {
  const auto task = ParseTask(kAdd);
  const auto kernel = MakeKernel(*task, {{"y", StepKind::kTile, {16}, ""}});
  ASSERT_TRUE(kernel);
  std::string objects[2];
  for (std::string& object : objects) {
    const auto generator = StartGenerator();
    const auto compiled = generator->Compile(*kernel);
    ASSERT_TRUE(compiled) << compiled.error().message;
    object = compiled->object;
  }
  EXPECT_EQ(objects[0], objects[1]);
}

std::string AssemblyOf(const char* text, const char* schedule) {
  const auto task = ParseTask(text);
  const auto kernel = MakeKernel(*task, *ParseSchedule(schedule));
  EXPECT_TRUE(kernel) << kernel.error().message;
  const auto compiled = StartGenerator()->Compile(*kernel, /*texts=*/true);
  EXPECT_TRUE(compiled) << compiled.error().message;
  return compiled->assembly;
}

// Dimensions that are one loop are not taken apart again for each element.
TEST(Generator, RunsThroughMergedDimensionsAsThroughOne) {
  const std::string assembly =
      AssemblyOf("task t\ninput x f32[3,58,58,24]\ny = relu x\noutput y\n", "");
  EXPECT_THAT(assembly, HasSubstr("maxps"));
  EXPECT_THAT(assembly, Not(HasSubstr("gather")));
  EXPECT_THAT(assembly, Not(HasSubstr("mul")));
}

TEST(Generator, MakesVectorsOfSmallLoops) {
  const std::string assembly =
      AssemblyOf("task t\ninput x f32[64,32]\ny = softmax x\noutput y\n",
                 "y parallel 1,0\ny fuse y.sum\ny fuse y.exp\ny fuse y.max\n");
  EXPECT_THAT(assembly, HasSubstr("divps"));
  EXPECT_THAT(assembly, Not(HasSubstr("divss")));
}

// The rest of a short row is one masked vector, where there are masks.
TEST(Generator, EndsShortRowsInAMaskedVector) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this processor has no masks";
  const auto of = [](const std::string& columns) {
    const std::string shape = "64," + columns;
    const std::string text = "task t\ninput x f32[" + shape +
                             "]\ns = reduce_sum x axes=1\nb := broadcast s sizes=" + shape +
                             " dimensions=0\ny = subtract x b\noutput y\n";
    return AssemblyOf(text.c_str(), "");
  };
  EXPECT_THAT(of("77"), HasSubstr("{%k"));
  EXPECT_THAT(of("80"), Not(HasSubstr("{%k")));
}

TEST(Generator, GoesOnInANewProcessAfterADeath) {
  const auto task = ParseTask(kAdd);
  const auto kernel = MakeKernel(*task, {});
  const auto generator = StartGenerator();
  ASSERT_TRUE(generator->Run(*kernel, {}));
  const int pid = generator->pid();
  kill(pid, SIGKILL);
  // The call that finds it dead fails with a reason; the one after it works.
  const auto lost = generator->Run(*kernel, {});
  if (!lost) {
    EXPECT_EQ(lost.error().code, ErrorCode::kWorkerDied);
  }
  const auto again = generator->Run(*kernel, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(generator->pid(), pid);
  EXPECT_EQ(generator->restarts(), 1);
}

TEST(Generator, RejectsWhatMlirRefusesWithItsReason) {
  const auto task = ParseTask(kAdd);
  auto kernel = MakeKernel(*task, {});
  kernel->name = "damaged";
  kernel->payload.module = "module { func.func @task( }";
  const auto generator = StartGenerator();
  const auto compiled = generator->Compile(*kernel);
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().message, HasSubstr("expected"));
  EXPECT_TRUE(generator->Compile(*MakeKernel(*task, {})));
  EXPECT_EQ(generator->restarts(), 0);
}

// Element by element they took fifteen to twenty-five times as long.
TEST(Generator, TakesVectorsOfHalvesForMaximaAndComparisons) {
  const auto generator = StartGenerator();
  const auto lines = [&](const std::string& element, const std::string& kind) {
    const auto task = ParseTask("task t\ninput a " + element + "[8192]\ninput b " + element +
                                "[8192]\ny = " + kind + " a b\noutput y\n");
    const auto compiled = generator->Compile(*MakeKernel(*task, {}), /*texts=*/true);
    EXPECT_TRUE(compiled) << compiled.error().message;
    const std::string& text = compiled->assembly;
    return std::count(text.begin(), text.end(), '\n');
  };
  for (const char* const kind : {"maximum", "minimum", "less", "equal"}) {
    EXPECT_LT(lines("f16", kind), 2 * lines("f32", kind)) << kind;
  }
}

TEST(Verify, SeesAWrongKernel) {
  const auto task = ParseTask(kAdd);
  const auto other =
      ParseTask("task t\ninput a f32[64]\ninput b f32[64]\ny = subtract a b\noutput y\n");
  auto kernel = MakeKernel(*other, {});
  kernel->task = &*task;
  const auto generator = StartGenerator();
  EXPECT_EQ(Verify(*generator, *kernel, {}).verdict, Verdict::kDifferent);
}

TEST(Verify, TakesWhatTheInterpreterSaidOfAnEarlierSchedule) {
  const auto task = ParseTask("task t\ninput x f32[64,64]\ny = softmax x\noutput y\n");
  const auto generator = StartGenerator();
  References references;
  const auto verify = [&](const Schedule& schedule) {
    const auto kernel = MakeKernel(*task, schedule);
    return Verify(*generator, *kernel, UsualComparison(), &references).verdict;
  };
  EXPECT_EQ(verify({}), Verdict::kEqual);
  EXPECT_EQ(references.found(), 0);
  EXPECT_EQ(verify(DefaultSchedule(Expand(*task), ThisMachine(1))), Verdict::kEqual);
  EXPECT_GE(references.found(), 3);  // an input set each
}

TEST(Verify, SaysThatTheInterpreterWasCutOff) {
  const auto task = ParseTask("task t\ninput x f32[512,512]\ny = softmax x\noutput y\n");
  const auto kernel = MakeKernel(*task, {});
  const auto generator = StartGenerator();
  CompareOptions options = UsualComparison();
  options.budget_seconds = 1e-6;
  const ComparisonReport report = Verify(*generator, *kernel, options);
  EXPECT_EQ(report.verdict, Verdict::kCannotTell);
  EXPECT_THAT(report.reason, HasSubstr("the interpreter was cut off after"));
}

TEST(Generator, RefusesWhatDoesNotFitIntoMemory) {
  const auto task = ParseTask("task t\ninput x f32[1000000]\ny = relu x\noutput y\n");
  EXPECT_TRUE(FitsMemory(*task, 8000000));
  const Status fits = FitsMemory(*task, 7999999);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(fits.error().message, HasSubstr("its tensors take 0.0 GB"));
}

class LoopsCommand : public HoneTest {};

TEST_F(LoopsCommand, RefusesATaskThatDoesNotFitIntoMemory) {
  std::string text = "task t\n", sum = "y = add x0 x1\noutput y\n";
  for (int i = 0; i < 100; ++i) text += "input x" + std::to_string(i) + " f64[4294967296]\n";
  Write("big.task", text + sum);
  for (const char* const action : {"race", "tune"}) {
    const Ran ran = Hone({"loops", action, "big.task"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("big.task: its tensors take 3470.3 GB, and hone-loops may"));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(LoopsCommand, ListsTasks) {
  const Ran ran = Hone({"loops", "list", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_GE(ran.Json()["tasks"].size(), 20u);
}

TEST_F(LoopsCommand, ExtractsTheTasksOfAProgram) {
  Write("two_layers.hlo", R"(HloModule m
ENTRY e {
  x = f32[64,128] parameter(0)
  w = f32[128,256] parameter(1)
  v = f32[256,32] parameter(2)
  h = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,256] tanh(h)
  ROOT y = f32[64,32] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  const Ran ran = Hone({"loops", "extract", "two_layers.hlo", "-o", "tasks", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(ran.Json()["tasks"].size(), 2u) << ran.out;
  EXPECT_EQ(ran.Json()["tasks"][0]["task"], "task000_product");
  EXPECT_EQ(Read("tasks/task000_product.task"), ran.Json()["tasks"][0]["text"].get<std::string>());
  const Ran race = Hone({"loops", "race", "tasks/task001_product.task", "--against", "none",
                         "--budget", "1s", "--json"});
  ASSERT_EQ(race.code, 0) << race.err;
  EXPECT_EQ(race.Json()["verified"], "true");
  EXPECT_EQ(Hone({"loops", "extract", "missing.hlo"}).code, 2);
}

TEST_F(LoopsCommand, ShowsATaskBeforeAndAfter) {
  const Ran ran = Hone({"loops", "show", "softmax_64_128", "--object", "k.o", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.Json()["script"].get<std::string>(), HasSubstr("fuse_into_containing_op"));
  EXPECT_THAT(ran.Json()["restructured"].get<std::string>(), HasSubstr("scf.forall"));
  EXPECT_EQ(Read("k.o").substr(1, 3), "ELF");
}

TEST_F(LoopsCommand, RacesASchedule) {
  Write("my.task", kAdd);
  ASSERT_EQ(Hone({"loops", "schedule", "my.task", "-o", "my.schedule"}).code, 0);
  const Ran ran = Hone({"loops", "race", "my.task", "--schedule", "none", "--against",
                        "my.schedule", "--budget", "1s", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "true");
}

TEST_F(LoopsCommand, SaysWhereThereIsNothingToRace) {
  Write("my.task", kAdd);
  const Ran ran = Hone({"loops", "race", "my.task", "--schedule", "none", "--against", "none"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("there is nothing to race"));
}

TEST_F(LoopsCommand, TunesByEachSearcher) {
  Write("my.task", "task t\ninput a f32[32,32]\ninput b f32[32,32]\ny = matmul a b\noutput y\n");
  for (const char* search : {"local", "greedy", "beam", "mcts", "anneal", "genetic", "random"}) {
    const Ran ran = Hone({"loops", "tune", "my.task", "--search", search, "--budget", "20s,6steps",
                          "-o", "found.schedule", "--json"});
    ASSERT_EQ(ran.code, 0) << search << ran.err;
    EXPECT_EQ(ran.Json()["verified"], true) << search;
    EXPECT_GE(ran.Json()["schedules"], 5) << search;
    EXPECT_EQ(Read("found.schedule"),
              "hone schedule 1\n" + ran.Json()["schedule"].get<std::string>())
        << search;
  }
}

TEST_F(LoopsCommand, TunesByAPolicy) {
  Write("my.task", "task t\ninput a f32[32,32]\ninput b f32[32,32]\ny = matmul a b\noutput y\n");
  Write("policy", policy::WritePolicyFile(MadeUpPolicy(true)));
  for (const char* search : {"policy", "policy_greedy"}) {
    const Ran ran = Hone({"loops", "tune", "my.task", "--search", search, "--policy", "policy",
                          "--budget", "20s,6steps", "--json"});
    ASSERT_EQ(ran.code, 0) << search << ran.err;
    EXPECT_EQ(ran.Json()["verified"], true) << search;
    EXPECT_GE(ran.Json()["schedules"], 3) << search;
  }
}

TEST_F(LoopsCommand, TunesByACostModel) {
  Write("my.task", kAdd);
  const auto program = Expand(*ParseTask(kAdd));
  const std::vector<float> features = ScheduleFeatures(Scheduled(program), kMachine);
  Write("model", WriteLoopsCostModel(TrainLoopsCostModel({{0, features, features, 1}}, {})));
  const Ran ran = Hone(
      {"loops", "tune", "my.task", "--cost-model", "model", "--budget", "20s,3steps", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["schedules"], 3);
  EXPECT_EQ(ran.Json()["verified"], true);
  EXPECT_EQ(Hone({"loops", "tune", "my.task", "--cost-model", "my.task"}).code, 2);
  EXPECT_EQ(Hone({"loops", "tune", "my.task", "--cost-model", "nowhere"}).code, 2);
}

TEST_F(LoopsCommand, KeepsASchedule) {
  Write("my.task", "task t;input a f32[64,64];input b f32[64,64];y = matmul a b;output y;");
  ASSERT_EQ(Hone({"loops", "tune", "my.task", "--budget", "20s,3steps", "--store", "s.db"}).code,
            0);
  const Ran ran = Hone({"store", "export", "s.db"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"stage\":\"loops\""));
}

// Under another schedule it is another kernel of the same name; one that is not legal is passed
// over.
TEST(KernelSources, MakeKernelsUnderSchedulesThatWereFound) {
  GeneratorOptions options;
  options.program_path = HONE_LOOPS_BINARY;
  const std::string text = "task t;input x f32[64,64];y = exp x;output y;";
  const auto task = ParseTask("task t\ninput x f32[64,64]\ny = exp x\noutput y\n");
  ASSERT_TRUE(task);
  const auto make = [&](const std::string& schedule) {
    KernelSource source(options, kMachine);
    if (!schedule.empty()) source.Serve({{FingerprintOf(*task).ToHex(), schedule}});
    const auto made = source.Get({text});
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->front() : NativeKernel{};
  };
  const NativeKernel by_rules = make("");
  const NativeKernel found = make("y tile 16\ny vectorize\n");
  EXPECT_EQ(found.name, by_rules.name);
  EXPECT_NE(found.object, by_rules.object);
  EXPECT_EQ(make("y tile 17\n").object, by_rules.object);
  EXPECT_EQ(make("nonsense").object, by_rules.object);
}

// Whatever process of hone-loops makes them, and whoever asks at the same time.
TEST(KernelSources, MakeSeveralAtATime) {
  GeneratorOptions options;
  options.program_path = HONE_LOOPS_BINARY;
  std::vector<std::string> tasks;
  for (const char* size : {"32", "48", "64", "80", "96", "112"}) {
    tasks.push_back(std::string("task t;input x f32[") + size + ",64];y = exp x;output y;");
  }
  tasks.push_back(tasks[1]);
  KernelSource alone(options, kMachine);
  KernelSource many(options, kMachine);
  auto others = std::async(std::launch::async, [&] { return many.Get({tasks[4], tasks[2]}); });
  const auto made = many.Get(tasks);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto one = alone.Get({tasks[i]});
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ((*made)[i].name, KernelName(tasks[i]));
    EXPECT_EQ((*made)[i].object, one->front().object);
  }
  const auto bad = many.Get({tasks[0], "task t;nonsense;", tasks[3]});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("has no task"));
  EXPECT_TRUE(many.Get({tasks[3]}));
  EXPECT_EQ(others.get()->front().object, (*made)[4].object);
}

// hone-loops of the same size and time would not start.
TEST(KernelSources, TakeCodeFromFilesThatOthersWrote) {
  std::string folder = testing::TempDir() + "hone-kernels-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  GeneratorOptions options;
  options.program_path = folder + "/loops";
  std::filesystem::create_symlink(HONE_LOOPS_BINARY, options.program_path);
  const std::string text = "task t;input x f32[64,64];y = exp x;output y;";
  const auto made = KernelSource(options, kMachine, folder).Get({text});
  ASSERT_TRUE(made) << made.error().message;
  std::filesystem::remove(options.program_path);
  std::ofstream(options.program_path) << "";
  std::filesystem::resize_file(options.program_path, std::filesystem::file_size(HONE_LOOPS_BINARY));
  std::filesystem::last_write_time(options.program_path,
                                   std::filesystem::last_write_time(HONE_LOOPS_BINARY));
  const auto again = KernelSource(options, kMachine, folder).Get({text});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->front().object, made->front().object);
  EXPECT_FALSE(KernelSource(options, kMachine).Get({text}));
  std::filesystem::remove_all(folder);
}

TEST_F(LoopsCommand, BadInputExitsWithTwo) {
  Write("bad.task", "task t\ninput x f32[2]\ny = frob x\n");
  Write("bad.schedule", "y tile 3\n");
  Write("good.task", kAdd);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"loops"},
           {"loops", "show", "nowhere.task"},
           {"loops", "show", "bad.task"},
           {"loops", "race", "good.task", "--schedule", "bad.schedule"},
           {"loops", "race", "good.task", "--schedule", "nowhere.schedule"},
           {"loops", "tune", "good.task", "--search", "nobody"},
           {"loops", "tune", "good.task", "--search", "policy"},
           {"loops", "tune", "good.task", "--search", "policy", "--policy", "good.task"},
           {"loops", "tune", "good.task", "--search", "policy", "--policy", "nowhere"},
           {"loops", "tune", "good.task", "-o", "nowhere/x"},
           {"loops", "race", "good.task", "--threads", "0"}}) {
    const Ran ran = Hone(arguments);
    EXPECT_EQ(ran.code, 2) << ran.err;
  }
}

}  // namespace
}  // namespace hone::loops
