// How what only a plan puts into DRAM lies there.
#include "memory/planning/dram_orders.h"

#include <gtest/gtest.h>

#include "memory/plan_file.h"
#include "memory/planner.h"
#include "memory/planning/work.h"
#include "small_programs.h"

namespace hone::memory {
namespace {

// A parameter, what is computed of it, and the output that is computed of that.
struct Program {
  Network network = Built({Parameter(0, {64, 32}), Instruction("tanh", {64, 32}, {0}),
                           Instruction("exponential", {64, 32}, {1})});
  TensorId parameter = network.exprs[static_cast<size_t>(network.ops[0].inputs[0])].tensor;
  TensorId between = network.ops[0].results[0];
  TensorId output = network.ops[1].results[0];
  Plan plan;

  // Stores a tensor as a whole and loads it column by column.
  void MoveByColumns(TensorId tensor) {
    Step store, load;
    store.kind = StepKind::kStore;
    load.kind = StepKind::kLoad;
    store.tensor = load.tensor = tensor;
    store.boxes = {WholeBox({64, 32})};
    for (int64_t k = 0; k < 32; ++k) load.boxes.push_back({{0, k}, {64, k + 1}});
    plan.blocks.push_back({1, {store}});
    plan.blocks.push_back({32, {load}});
  }
};

TEST(OrdersInDram, HaveWhatIsLoadedTogetherTogether) {
  Program program;
  for (TensorId tensor : {program.parameter, program.between, program.output}) {
    program.MoveByColumns(tensor);
  }
  const Machine machine = *FindMachine("neuroncore_v2");
  const double before = EstimateSeconds(program.network, machine, program.plan);
  program.plan.dram_orders = OrdersInDram(program.network, machine, program.plan);
  ASSERT_EQ(program.plan.dram_orders, (DramOrders{{program.between, {1, 0}}}))
      << "parameters and outputs are others' to arrange";
  EXPECT_LT(EstimateSeconds(program.network, machine, program.plan), 0.9 * before);
}

TEST(OrdersInDram, AreTheProgramsWhereNothingIsWon) {
  Program program;
  Step step;
  step.kind = StepKind::kStore;
  step.tensor = program.between;
  step.boxes = {WholeBox({64, 32})};
  program.plan.blocks = {{1, {step}}};
  EXPECT_TRUE(OrdersInDram(program.network, *FindMachine("neuroncore_v2"), program.plan).empty());
}

TEST(OrdersInDram, AreKeptInFiles) {
  Program program;
  const Machine machine = SmallMachine(1, 2048);
  auto planned = MakePlan(program.network, program.network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  planned->plan.dram_orders = {{program.between, {1, 0}}};
  std::string text =
      WritePlan(program.network, {"p.hlo", "f", machine, std::nullopt, planned->plan});
  const auto read = ReadPlan(text, program.network);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->plan.dram_orders, planned->plan.dram_orders);
  const size_t at = text.find("[1,0]");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 5, "[1,1]");
  const auto refused = ReadPlan(text, program.network);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("an order in DRAM"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace hone::memory
