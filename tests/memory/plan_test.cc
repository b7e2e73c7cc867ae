// Plans of whole programs, run on the simulator; what they compute against the same program without
// tiles, and what they move.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "memory/access.h"
#include "memory/deadline.h"
#include "memory/layout/assign_layouts.h"
#include "memory/plan_file.h"
#include "memory/planner.h"
#include "memory/planning/groups.h"
#include "memory/planning/local.h"
#include "memory/planning/work.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"
#include "random_program.h"
#include "small_programs.h"

namespace hone::memory {
namespace {

constexpr int64_t kLargeBytes = 256;

// 16 KiB that are made, summed row by row and then read again, on 2.
Network KeptInDram() {
  return Built({Parameter(0, {4, 1024}), Number("0"), Instruction("tanh", {4, 1024}, {0}),
                Reduce({4}, 2, 1, "{1}", kAdds),
                Instruction("broadcast", {4, 1024}, {3}, {{"dimensions", "{0}"}}),
                Instruction("multiply", {4, 1024}, {2, 4})});
}

// What the simulator moves and computes; it moves what the plan claims.
StatusOr<Simulation> Simulated(const Network& network, const Machine& machine, const Plan& plan,
                               const Evaluation* values = nullptr) {
  StatusOr<Simulation> run = Simulate(network, machine, plan, values);
  if (run) {
    EXPECT_EQ(run->loaded_bytes, plan.figures.loaded_bytes);
    EXPECT_EQ(run->stored_bytes, plan.figures.stored_bytes);
  }
  return run;
}

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomPrograms, ComputeTheSameInTilesAndMoveWhatTheyClaim) {
  const auto program = BuildNetwork(MakeRandomProgram(GetParam()).graph);
  ASSERT_TRUE(program) << program.error().message;
  const Evaluation values = RandomInputs(*program, GetParam());
  const std::vector<Array> expected = Expected(*program, values);
  const std::vector<OrderedNetwork> networks = ByParts(*program, kLargeBytes);
  for (const auto& [partitions, bytes] :
       {std::pair<int64_t, int64_t>{1, 1 << 20}, {1, 2048}, {8, 256}}) {
    SCOPED_TRACE(std::to_string(partitions) + " partitions of " + std::to_string(bytes));
    const Machine machine = SmallMachine(partitions, bytes);
    const auto planned = MakePlan(*program, networks, machine, {1, nullptr});
    ASSERT_TRUE(planned) << planned.error().message;
    const Network& network = networks[planned->network].network;
    const auto run = Simulated(network, machine, planned->plan, &values);
    ASSERT_TRUE(run) << run.error().message;
    ExpectClose(run->outputs, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range<uint64_t>(0, 40));
// 671: slices of a concatenation that see nothing of one operand, whose buffer is another's by
// then. 2559: a slice of a padded array that sees nothing but the padding.
INSTANTIATE_TEST_SUITE_P(Mended, RandomPrograms, testing::Values(671, 2559));

// Loops that end when their data say so, branches, random bits, tuples: what is known of them
// before they run is planned and moved as claimed. hone-memory-bench compares their numbers with
// XLA's.
TEST(WiderRandomPrograms, MoveWhatTheyClaim) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto program = BuildNetwork(MakeRandomProgram(seed, true).graph);
    ASSERT_TRUE(program) << program.error().message;
    const Network network = ByParts(*program, kLargeBytes).front().network;
    const Machine machine = SmallMachine(1, seed % 2 == 0 ? 1024 : 512);
    const auto planned = MakePlan(*program, network, machine, {1, nullptr});
    ASSERT_TRUE(planned) << planned.error().message;
    const auto run = Simulated(network, machine, planned->plan);
    ASSERT_TRUE(run) << run.error().message;
  }
}

TEST(BuildNetwork, LooksThroughBarriers) {
  const Network network = Built(
      {Parameter(0, {8}), Instruction("opt-barrier", {8}, {0}), Instruction("tanh", {8}, {1})});
  ASSERT_EQ(network.ops.size(), 1u);
  EXPECT_EQ(network.ops[0].opcode, "tanh");
}

// Each computation calls the one before it twice: 2^40 instructions, written out.
TEST(BuildNetwork, RefusesCallsThatDouble) {
  ProgramGraph graph;
  for (uint32_t c = 0; c <= 40; ++c) {
    ComputationInfo computation;
    computation.instructions = {Parameter(0, {8}), Instruction("tanh", {8}, {0})};
    for (uint32_t k = 0; c > 0 && k < 2; ++k) {
      computation.instructions.push_back(Instruction("call", {8}, {k + 1}));
      computation.instructions.back().called = {c - 1};
    }
    computation.root = static_cast<uint32_t>(computation.instructions.size() - 1);
    graph.computations.push_back(std::move(computation));
  }
  const auto network = BuildNetwork(graph, {60'000, 20'000, 100'000});
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().message.find("more than 100000 instructions"), std::string::npos);
}

// 4 x 600 times 600 x 4: the factors do not fit into 4 KiB, the product does easily.
Network LongSum() {
  return Built({Parameter(0, {4, 600}), Parameter(1, {600, 4}),
                Instruction("dot", {4, 4}, {0, 1},
                            {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}})});
}

TEST(Sums, AreMadeInPartsWhereTheirOperandsDoNotFit) {
  const Network network = LongSum();
  const Machine machine = SmallMachine(1, 4096);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  const Figures& figures = planned->plan.figures;
  EXPECT_EQ(figures.streamed, 0);
  EXPECT_EQ(figures.dram_bytes(), (4 * 600 * 2 + 16) * 4) << "all once";
  const Evaluation values = RandomInputs(network, 1);
  const auto run = Simulate(network, machine, planned->plan, &values);
  ASSERT_TRUE(run) << run.error().message;
  ExpectClose(run->outputs, Expected(network, values));
}

TEST(Sums, ThatLackAPartOrTakeOneTwiceAreTrapped) {
  const Network network = LongSum();
  const Machine machine = SmallMachine(1, 4096);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  const auto spoilt = [&](auto spoil) {
    Plan plan = planned->plan;
    for (Block& block : plan.blocks) {
      for (Step& step : block.steps) {
        if (!step.sums.empty()) spoil(step);
      }
    }
    const auto run = Simulate(network, machine, plan, nullptr);
    EXPECT_FALSE(run);
    return run ? "" : run.error().message;
  };
  EXPECT_NE(spoilt([](Step& step) { step.boxes[1] = Box{{0, 0}, {0, 0}}; }).find("sum"),
            std::string::npos);
  // What tile 1 then reads is not there yet, which is found first.
  EXPECT_NE(spoilt([](Step& step) { step.sums[1] = step.sums[2]; }), "");
}

// Layers that all read what the first ones made, forwards and backwards, so that little fits.
Network ManyLayers(int64_t layers) {
  std::vector<InstructionInfo> instructions = {Parameter(0, {32, 32}), Parameter(1, {32, 32})};
  std::vector<uint32_t> kept;
  const std::vector<std::pair<std::string, std::string>> product = {
      {"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}};
  uint32_t last = 0;
  const auto add = [&](InstructionInfo instruction) {
    instructions.push_back(std::move(instruction));
    return last = static_cast<uint32_t>(instructions.size() - 1);
  };
  for (int64_t k = 0; k < layers; ++k) {
    add(Instruction("dot", {32, 32}, {last, 1}, product));
    kept.push_back(add(Instruction("tanh", {32, 32}, {last})));
  }
  for (int64_t k = layers; k-- > 0;) {
    add(Instruction("multiply", {32, 32}, {last, kept[static_cast<size_t>(k)]}));
    add(Instruction("dot", {32, 32}, {last, 1}, product));
  }
  return Built(std::move(instructions));
}

// A clock that goes on by a millisecond whenever it is looked at.
struct CountsLooks {
  inline static thread_local int64_t looks = 0;
  static double Now() { return 1e-3 * static_cast<double>(++looks); }
  CountsLooks() {
    looks = 0;
    Deadline::clock = &Now;
  }
  ~CountsLooks() { Deadline::clock = usual; }
  const Deadline::Clock usual = Deadline::clock;
};

TEST(Simulate, TrapsLoadsOfWhatWasNeverStored) {
  const Network network = KeptInDram();
  const Machine machine = SmallMachine(1, 2048);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_TRUE(Simulate(network, machine, planned->plan, nullptr));
  Plan plan = planned->plan;
  const TensorId tanh = network.ops[0].results[0];
  size_t left_out = 0;
  for (Block& block : plan.blocks) {
    left_out += std::erase_if(block.steps, [&](const Step& step) {
      return step.kind == StepKind::kStore && step.tensor == tanh;
    });
  }
  ASSERT_GT(left_out, 0u);
  const auto run = Simulate(network, machine, plan, nullptr);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find("that DRAM lacks"), std::string::npos) << run.error().message;
}

TEST(MakePlan, EstimatesWhatItTakesToBeginTiles) {
  std::vector<InstructionInfo> all = {Parameter(0, {8})};
  for (uint32_t k = 0; k < 100; ++k) all.push_back(Instruction("tanh", {8}, {k}));
  const Network network = Built(std::move(all));
  Machine machine = SmallMachine(1, 4096);
  machine.instruction_seconds = 1e-3;
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  for (const double seconds :
       {planned->plan.figures.seconds, planned->by_operator.seconds, planned->local.seconds}) {
    EXPECT_GE(seconds, 0.1);
    EXPECT_LT(seconds, 0.11);
  }
}

// A product of three matrices of 1 MB cannot load each once with 4 KB of scratchpad.
TEST(Baselines, ProductsMoveWhatTheirBoundSays) {
  const Network network =
      Built({Parameter(0, {512, 512}), Parameter(1, {512, 512}),
             Instruction("dot", {512, 512}, {0, 1},
                         {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}})});
  const int64_t once = 3 * 4 * 512 * 512;
  for (const auto& [bytes, fits] : {std::pair(4 << 10, false), std::pair(8 << 20, true)}) {
    const Machine machine = SmallMachine(1, bytes);
    const int64_t bound = LowerBound(network, machine).dram_bytes();
    for (const Baseline& baseline :
         {OperatorBaseline(network, machine), LocalBaseline(network, machine)}) {
      EXPECT_EQ(baseline.dram_bytes, fits ? once : bound);
    }
    EXPECT_EQ(bound > once, !fits);
  }
}

TEST(FasterBaseline, IsTheFastestOfThoseThatAreFaster) {
  Planned planned;
  planned.plan.figures.seconds = 2;
  planned.local.seconds = 2;
  planned.by_operator.seconds = 3;
  EXPECT_EQ(FasterBaseline(planned), nullptr);
  planned.by_operator.seconds = 1;
  EXPECT_EQ(FasterBaseline(planned), &planned.by_operator);
  planned.local.seconds = 0.5;
  EXPECT_EQ(FasterBaseline(planned), &planned.local);
}

TEST(MakePlan, KeepsToItsBudget) {
  const Network program = ManyLayers(80);
  for (const Machine& machine : {SmallMachine(8, 4096), SmallMachine(1, 32768)}) {
    const Network network = ByParts(program, LargeBytes(machine)).front().network;
    for (const double budget : {0.02, 0.1}) {
      const CountsLooks clock;
      int late = 0;  // schedules made after it
      const auto count = [&](const Figures&) {
        late += 1e-3 * static_cast<double>(CountsLooks::looks) > budget;
      };
      const auto planned = MakePlan(program, network, machine, {budget, count});
      ASSERT_TRUE(planned) << planned.error().message;
      EXPECT_LE(late, 1);
      EXPECT_LE(1e-3 * static_cast<double>(CountsLooks::looks),
                budget + 2e-3 * static_cast<double>(network.ops.size()))
          << "two looks for each operator that is left then";
      EXPECT_TRUE(Simulate(network, machine, planned->plan, nullptr));
    }
  }
}

TEST(MakePlan, OfOneBudgetIsOnePlan) {
  const Network program = ManyLayers(80);
  const Machine machine = SmallMachine(8, 4096);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  const auto plan_of = [&](double budget) {
    const auto planned = MakePlan(program, network, machine, {budget, nullptr});
    EXPECT_TRUE(planned);
    return WritePlan(network, {"p.hlo", "f", machine, std::nullopt, planned->plan});
  };
  const std::string plan = plan_of(0.02);
  EXPECT_EQ(plan_of(0.02), plan);
  // Spent on other things, the processor's time is not counted.
  std::thread busy([&] { EXPECT_EQ(plan_of(0.02), plan); });
  EXPECT_EQ(plan_of(0.02), plan);
  busy.join();
}

TEST(MakeGroups, AreCutInTheFirstWayOnceTimeIsOver) {
  const Network program = ManyLayers(8);
  const Machine machine = SmallMachine(1, 4096);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  Target target{network, machine, AssignLayouts(network, machine, 0, 1).layouts, {}};
  target.copies = FindCopies(target);
  std::vector<OpId> order(network.ops.size());
  std::iota(order.begin(), order.end(), 0);
  GroupOptions options;
  options.deadline = Deadline(0);
  const auto streamed = [&](double late_seconds) {
    options.late_seconds = late_seconds;
    const std::vector<Group> groups = MakeGroups(target, order, options);
    return std::count_if(groups.begin(), groups.end(), [](const Group& g) { return g.streamed; });
  };
  EXPECT_GT(streamed(0), 10);
  EXPECT_EQ(streamed(1000), 0);
}

// Of a parameter of 100 x 8 numbers: edges first, then what lies between them and a bit of both,
// and in another program every fourth row.
TEST(LowerBound, CountsEveryElementThatIsReadOnce) {
  const auto rows = [](int64_t from, int64_t to) {
    const std::string slice = "{[" + std::to_string(from) + ":" + std::to_string(to) + "], [0:8]}";
    return Instruction("slice", {to - from, 8}, {0}, {{"slice", slice}});
  };
  const Machine machine = SmallMachine(1, 65536);
  const Network edges =
      Built({Parameter(0, {100, 8}), rows(0, 10), rows(90, 100), rows(5, 80),
             Instruction("tanh", {10, 8}, {1}), Instruction("tanh", {10, 8}, {2}),
             Instruction("tanh", {75, 8}, {3}),
             Instruction("concatenate", {95, 8}, {4, 5, 6}, {{"dimensions", "{0}"}})});
  EXPECT_EQ(LowerBound(edges, machine).compulsory_bytes, 4 * 8 * (90 + 95));
  const Network whole =
      Built({Parameter(0, {100, 8}), rows(0, 10), rows(90, 100), Instruction("tanh", {10, 8}, {1}),
             Instruction("tanh", {10, 8}, {2}), Instruction("tanh", {100, 8}, {0}),
             Instruction("concatenate", {120, 8}, {3, 4, 5}, {{"dimensions", "{0}"}})});
  EXPECT_EQ(LowerBound(whole, machine).compulsory_bytes, 4 * 8 * (100 + 120));
}

TEST(MakePlan, IsOverOnceItIsStopped) {
  const Network program = ManyLayers(80);
  const Machine machine = SmallMachine(8, 4096);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  std::atomic<bool> stop = false;
  PlanOptions options;
  int after = 0;  // schedules
  options.stop = &stop;
  options.trace = [&](const Figures&) {
    after += stop;
    stop = true;
  };
  const auto planned = MakePlan(program, network, machine, options);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(after, 0);
  EXPECT_TRUE(Simulate(network, machine, planned->plan, nullptr));
  EXPECT_FALSE(Deadline(1).Passed()) << "nothing is left of it";
}

TEST(Simulate, EndsWhereALimitIsOver) {
  const Network network = ManyLayers(8);
  const Machine machine = SmallMachine(8, 4096);
  const auto planned = MakePlan(network, network, machine, {0.1, nullptr});
  ASSERT_TRUE(planned) << planned.error().message;
  for (int most : {0, 20}) {
    int asked = 0;
    const EvaluationLimit limit([&] { return asked++ >= most; });
    const auto run = Simulate(network, machine, planned->plan, nullptr);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::kDeadline);
    EXPECT_EQ(asked, most + 1);
  }
  EXPECT_TRUE(Simulate(network, machine, planned->plan, nullptr));
}

// Convolutions of images that fill a quarter of the scratchpad each, backwards, and at the end the
// gradients of all kernels, as programs have them that give weights back in their order.
Network ConvolutionalStep(int64_t layers) {
  const std::vector<int64_t> images = {8, 8, 8, 16}, kernel = {3, 3, 16, 16};
  const auto window = [](const std::string& size) {
    return std::pair<std::string, std::string>{"window", "{size=" + size + " pad=1_1x1_1}"};
  };
  std::vector<InstructionInfo> all = {
      Parameter(0, images), Number("0"),
      Instruction("broadcast", images, {1}, {{"dimensions", "{}"}})};
  std::vector<uint32_t> kernels, made, activations = {0};
  const auto add = [&](InstructionInfo instruction) {
    all.push_back(std::move(instruction));
    return static_cast<uint32_t>(all.size() - 1);
  };
  for (int32_t k = 0; k < layers; ++k) {
    kernels.push_back(add(Parameter(k + 1, kernel)));
    made.push_back(add(Instruction("convolution", images, {activations.back(), kernels.back()},
                                   {window("3x3"), {"dim_labels", "b01f_01io->b01f"}})));
    activations.push_back(add(Instruction("maximum", images, {made.back(), 2})));
  }
  std::vector<uint32_t> back = {activations.back()};
  for (auto k = static_cast<size_t>(layers); k-- > 0;) {
    InstructionInfo mask = Instruction("compare", images, {made[k], 2}, {{"direction", "GT"}});
    mask.shape.type = "pred";
    const uint32_t positive = add(std::move(mask));
    back.push_back(add(Instruction("select", images, {positive, back.back(), 2})));
    if (k == 0) break;
    back.push_back(add(Instruction("convolution", images, {back.back(), kernels[k]},
                                   {window("3x3"), {"dim_labels", "b01f_01oi->b01f"}})));
  }
  InstructionInfo results = Instruction("tuple", {});
  for (size_t k = 0; k < kernels.size(); ++k) {
    const uint32_t error = back[2 * (kernels.size() - k) - 1];
    const uint32_t gradient = add(Instruction("convolution", kernel, {activations[k], error},
                                              {window("8x8"), {"dim_labels", "f01b_i01o->01bf"}}));
    results.operands.push_back(add(Instruction("subtract", kernel, {kernels[k], gradient})));
    results.shape.tuple.push_back(all.back().shape);
  }
  results.shape.type = "tuple";
  all.push_back(std::move(results));
  return Built(std::move(all));
}

// What fits no tile goes from DRAM to DRAM, a product as often as the scratchpad makes it.
TEST(MakePlan, CountsWhatLargeOperatorsMoveAgain) {
  const std::vector<int64_t> square = {512, 512};
  const Machine machine = SmallMachine(1, 4096);
  const Network product =
      Built({Parameter(0, square), Parameter(1, square),
             Instruction("dot", square, {0, 1},
                         {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}})});
  const auto planned = MakePlan(product, product, machine, {1, nullptr});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->plan.figures.streamed, 1);
  EXPECT_GT(planned->bound.dram_bytes(), 3 * 512 * 512 * 4);
  EXPECT_GE(planned->plan.figures.dram_bytes(), planned->bound.dram_bytes());
  const auto run = Simulated(product, machine, planned->plan);
  ASSERT_TRUE(run) << run.error().message;
}

TEST(MovedAgain, SortsMergeRuns) {
  const Network network = Built(
      {Parameter(0, {1 << 20}), Instruction("sort", {1 << 20}, {0}, {{"dimensions", "{0}"}})});
  const Op& sort = network.ops[0];
  const auto moved = [&](int64_t scratchpad) {
    return MovedAgainOf(network, SmallMachine(1, scratchpad), sort, 8 << 20);
  };
  EXPECT_EQ(moved(4 << 20).loaded, 0);
  EXPECT_EQ(moved(1 << 20).loaded, 4 << 20);  // four runs, merged once
  EXPECT_EQ(moved(1 << 20).stored, 4 << 20);
  EXPECT_EQ(moved(1 << 17).loaded, 5 * (4 << 20));  // 32 runs, two at a time
}

TEST(MakePlan, MakesGradientsOfKernelsWhereWhatTheySumIsOnTheChip) {
  const Network program = ConvolutionalStep(5);
  const Machine machine = SmallMachine(16, 8192);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  const auto planned = MakePlan(program, network, machine, {60, nullptr});
  ASSERT_TRUE(planned) << planned.error().message;
  const Figures& figures = planned->plan.figures;
  EXPECT_EQ(figures.streamed, 0);
  const int64_t images = 8 * 8 * 8 * 16 * 4;
  EXPECT_LE(figures.dram_bytes(), planned->bound.compulsory_bytes + 12 * images)
      << "little more than each activation stored and loaded";
  EXPECT_TRUE(Simulate(network, machine, planned->plan, nullptr));
}

TEST(MakePlan, PlansTheNetworkThatMovesLeast) {
  const Network program = ConvolutionalStep(8);
  const Machine machine = SmallMachine(16, 8192);
  std::vector<OrderedNetwork> networks = ByParts(program, LargeBytes(machine));
  ASSERT_EQ(networks.size(), 3u);
  // Whatever the estimate puts first: the other two move a tenth more.
  ASSERT_EQ(networks.front().updates, UpdateOrder::kShrinking);
  std::swap(networks.front(), networks.back());
  const auto planned = MakePlan(program, networks, machine, {500, nullptr});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->network, 2u);
  EXPECT_TRUE(Simulate(networks[planned->network].network, machine, planned->plan, nullptr));
  const auto hurried = MakePlan(program, networks, machine, {0, nullptr});
  ASSERT_TRUE(hurried) << hurried.error().message;
  EXPECT_EQ(hurried->network, 0u) << "no time to find out";
}

TEST(PlanFile, SaysWhichNetworkItIsOf) {
  const Network program = ConvolutionalStep(3);
  const Machine machine = *FindMachine("generic");
  for (const UpdateOrder updates : {UpdateOrder::kAtOnce, UpdateOrder::kFreeing,
                                    UpdateOrder::kShrinking, UpdateOrder::kKeeping}) {
    const std::string text = WritePlan(program, {"p.hlo", "f", machine, updates, {}});
    const auto header = ReadPlanHeader(text);
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->updates, updates);
  }
  std::string text = WritePlan(program, {"p.hlo", "f", machine, std::nullopt, {}});
  EXPECT_EQ(ReadPlanHeader(text)->updates, std::nullopt) << "a file of before";
  text = WritePlan(program, {"p.hlo", "f", machine, UpdateOrder::kFreeing, {}});
  text.replace(text.find("freeing"), 7, "sideway");
  EXPECT_FALSE(ReadPlanHeader(text));
  const std::string other = ReadPlanHeader("{\"format\": \"hone recipe\"}").error().message;
  EXPECT_NE(other.find("it is a recipe, for `hone replay`"), std::string::npos) << other;
}

}  // namespace
}  // namespace hone::memory
