// Layouts: the search for labels against all of them, and programs that need no copies.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

#include "memory/layout/assign_layouts.h"
#include "memory/layout/labelling.h"
#include "memory/layout/requirements.h"
#include "memory/planner.h"
#include "memory/simulator/simulate.h"
#include "small_programs.h"

namespace hone::memory {
namespace {

// Factors with up to two requests of up to two of the earlier variables each, two of which no
// factor makes.
LabellingProblem RandomProblem(std::mt19937_64& random) {
  const auto pick = [&](size_t most) {
    return std::uniform_int_distribution<size_t>(1, most)(random);
  };
  LabellingProblem problem;
  for (size_t v = 0; v < 7; ++v) {
    problem.costs.emplace_back(pick(3));
    for (double& cost : problem.costs.back()) cost = 0.1 * static_cast<double>(pick(4));
  }
  for (int32_t result = 2; result < 7; ++result) {
    Factor factor{{result}, {}};
    for (size_t l = 0; l < problem.costs[static_cast<size_t>(result)].size(); ++l) {
      factor.modes.emplace_back(pick(2));
      for (LabelMode& mode : factor.modes.back()) {
        mode.resize(pick(2));
        for (Request& request : mode) {
          request.cost = static_cast<double>(pick(3));
          for (size_t k = pick(2); k > 0; --k) {
            request.asks.push_back(
                {static_cast<int32_t>(pick(static_cast<size_t>(result)) - 1), random() % 8});
          }
        }
      }
    }
    problem.factors.push_back(std::move(factor));
  }
  return problem;
}

double CostOfTheBest(const LabellingProblem& problem) {
  std::vector<uint8_t> labels(problem.costs.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    least = std::min(least, CostOf(problem, labels));
    size_t v = 0;
    while (v < labels.size() && ++labels[v] == problem.costs[v].size()) labels[v++] = 0;
    if (v == labels.size()) return least;
  }
}

TEST(Label, CostsLeastWhereItSaysSo) {
  std::mt19937_64 random(11);
  for (int k = 0; k < 200; ++k) {
    const LabellingProblem problem = RandomProblem(random);
    const double least = CostOfTheBest(problem);
    LabellingOptions enough;
    enough.most_states = 1 << 13;
    const Labelling all = Label(problem, enough);
    ASSERT_TRUE(all.optimal);
    EXPECT_NEAR(all.cost, least, 1e-9) << "problem " << k;
    EXPECT_NEAR(LeastCost(problem, enough), least, 1e-9);
    LabellingOptions few;
    few.most_states = 1;
    few.horizon = 1;
    const Labelling some = Label(problem, few);
    EXPECT_NEAR(some.cost, CostOf(problem, some.labels), 1e-9);
    EXPECT_GE(some.cost, least - 1e-9);
    EXPECT_LE(LeastCost(problem, few), least + 1e-9);
    if (some.optimal) {
      EXPECT_NEAR(some.cost, least, 1e-9);
    }
  }
}

int64_t CopiesIn(const Network& network) {
  const Machine machine = SmallMachine(8, 4096);
  const Evaluation values = RandomInputs(network, 3);
  const auto planned = MakePlan(network, network, machine, {});
  EXPECT_TRUE(planned);
  if (!planned) return -1;
  const auto run = Simulate(network, machine, planned->plan, &values);
  EXPECT_TRUE(run) << run.error().message;
  if (run) ExpectClose(run->outputs, Expected(network, values));
  return planned->plan.figures.copies;
}

std::vector<std::pair<std::string, std::string>> Contracting(const std::string& lhs,
                                                             const std::string& rhs,
                                                             const std::string& batch = "") {
  std::vector<std::pair<std::string, std::string>> attributes = {{"lhs_contracting_dims", lhs},
                                                                 {"rhs_contracting_dims", rhs}};
  if (!batch.empty()) {
    attributes.emplace_back("lhs_batch_dims", batch);
    attributes.emplace_back("rhs_batch_dims", batch);
  }
  return attributes;
}

// Heads lie side by side along the partitions, or fill them, and are contracted where they lie.
TEST(Layouts, OfHeadsAgreeWithTheirProjections) {
  for (int64_t head : {4, 8}) {
    const int64_t both = 2 * head;
    const Network network = Built(
        {Parameter(0, {16, 8}), Parameter(1, {8, both}), Parameter(2, {8, both}),
         Instruction("dot", {16, both}, {0, 1}, Contracting("{1}", "{0}")),
         Instruction("dot", {16, both}, {0, 2}, Contracting("{1}", "{0}")),
         Instruction("reshape", {16, 2, head}, {3}), Instruction("reshape", {16, 2, head}, {4}),
         Instruction("dot", {2, 16, 16}, {5, 6}, Contracting("{2}", "{2}", "{1}"))});
    EXPECT_EQ(CopiesIn(network), 0) << "heads of " << head;
  }
}

TEST(Layouts, LookThroughDimensionsOfSizeOne) {
  std::vector<std::pair<std::string, std::string>> scores = Contracting("{3}", "{2}", "{1}");
  const Network network =
      Built({Parameter(0, {16, 8}), Parameter(1, {8, 8}), Parameter(2, {8, 8}),
             Instruction("dot", {16, 8}, {0, 1}, Contracting("{1}", "{0}")),
             Instruction("dot", {16, 8}, {0, 2}, Contracting("{1}", "{0}")),
             Instruction("reshape", {16, 2, 1, 4}, {3}), Instruction("reshape", {16, 2, 4}, {4}),
             Instruction("dot", {2, 16, 1, 16}, {5, 6}, std::move(scores))});
  EXPECT_EQ(CopiesIn(network), 0);
}

// A sum over the partitions is left in all of them, where what it is taken from can read it.
TEST(Layouts, KeepWhatIsNormalisedWhereItsProductWantsIt) {
  const Network network =
      Built({Parameter(0, {4, 16}), Parameter(1, {16, 8}), Parameter(2, {16}), Number("0"),
             Instruction("exponential", {4, 16}, {0}), Reduce({4}, 4, 3, "{1}", kAdds),
             Instruction("broadcast", {4, 16}, {5}, {{"dimensions", "{0}"}}),
             Instruction("broadcast", {4, 16}, {2}, {{"dimensions", "{1}"}}),
             Instruction("subtract", {4, 16}, {4, 6}), Instruction("multiply", {4, 16}, {8, 7}),
             Instruction("dot", {4, 8}, {9, 1}, Contracting("{1}", "{0}"))});
  EXPECT_EQ(CopiesIn(network), 0);
}

// Summed over dimensions that come in another order on the other side: pairs must still meet.
TEST(Layouts, PairContractedDimensions) {
  const Network network =
      Built({Parameter(0, {3, 4, 5}), Parameter(1, {5, 4, 6}), Instruction("tanh", {3, 4, 5}, {0}),
             Instruction("tanh", {5, 4, 6}, {1}),
             Instruction("dot", {3, 6}, {2, 3}, Contracting("{1,2}", "{1,0}"))});
  EXPECT_GE(CopiesIn(network), 0);
}

// Powers of a vector, side by side, times as many coefficients: four of eight partitions would have
// to take all of them.
TEST(Layouts, AddUpShortRowsWhereTheyLie) {
  const auto column = [](uint32_t of) { return Instruction("reshape", {64, 1}, {of}); };
  const std::vector<InstructionInfo> columns = {
      Parameter(0, {64}),
      Parameter(1, {4}),
      Instruction("tanh", {64}, {0}),
      Instruction("multiply", {64}, {2, 2}),
      Instruction("multiply", {64}, {3, 2}),
      Instruction("multiply", {64}, {4, 2}),
      column(2),
      column(3),
      column(4),
      column(5),
      Instruction("concatenate", {64, 4}, {6, 7, 8, 9}, {{"dimensions", "{1}"}})};
  for (const bool vector_first : {false, true}) {
    std::vector<InstructionInfo> all = columns;
    all.push_back(vector_first ? Instruction("dot", {64}, {1, 10}, Contracting("{0}", "{1}"))
                               : Instruction("dot", {64}, {10, 1}, Contracting("{1}", "{0}")));
    all.push_back(Instruction("multiply", {64}, {11, 2}));
    EXPECT_EQ(CopiesIn(Built(std::move(all))), 0);
  }
}

// Windows ask for two of 64 partitions, and all that they were taken of is read again at the end:
// in two partitions there is not half the room for it, in all of them much more than enough.
TEST(Layouts, SpreadWhatWouldFillTwoPartitions) {
  constexpr uint32_t kKept = 100;
  const auto along_rows = [](uint32_t of, uint32_t zero) {
    InstructionInfo sums =
        Instruction("reduce-window", {2, 62}, {of, zero}, {{"window", "{size=1x3}"}});
    sums.called = {kAdds};
    return sums;
  };
  std::vector<InstructionInfo> all = {Parameter(0, {2, 64}), Number("0")};
  std::vector<uint32_t> kept, sums;
  const auto add = [&](InstructionInfo instruction) {
    all.push_back(std::move(instruction));
    return static_cast<uint32_t>(all.size() - 1);
  };
  uint32_t last = 0;
  for (uint32_t k = 0; k < kKept; ++k) {
    kept.push_back(last = add(Instruction("tanh", {2, 64}, {last})));
    sums.push_back(add(Reduce({}, add(along_rows(last, 1)), 1, "{0,1}", kAdds)));
  }
  for (uint32_t k = kKept; k-- > 0;) {
    last = add(Instruction("multiply", {2, 64}, {last, kept[k]}));
    last = add(Instruction(
        "add", {2, 64},
        {last, add(Instruction("broadcast", {2, 64}, {sums[k]}, {{"dimensions", "{}"}}))}));
  }
  const Network network = Built(std::move(all));
  const Machine machine = SmallMachine(64, 16384);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->plan.figures.dram_bytes(), planned->bound.dram_bytes());
  const Evaluation values = RandomInputs(network, 3);
  const auto run = Simulate(network, machine, planned->plan, &values);
  ASSERT_TRUE(run) << run.error().message;
  ExpectClose(run->outputs, Expected(network, values));
}

// Two images of 6 x 6: contracted along the partitions, they would fill two of them.
TEST(Layouts, PutPlacesOfImagesAlongThePartitionsForGradientsOfKernels) {
  for (const int64_t kernel : {1, 3}) {
    const std::string pad = kernel == 1 ? "" : " pad=1_1x1_1";
    const Network network = Built(
        {Parameter(0, {2, 6, 6, 8}), Parameter(1, {2, 6, 6, 8}),
         Instruction("tanh", {2, 6, 6, 8}, {0}), Instruction("tanh", {2, 6, 6, 8}, {1}),
         Instruction("convolution", {kernel, kernel, 8, 8}, {2, 3},
                     {{"window", "{size=6x6" + pad + "}"}, {"dim_labels", "f01b_i01o->01bf"}})});
    const Op& op = network.ops.back();
    const Layout places{0, 3, false}, rows{0, 2, false};
    EXPECT_EQ(Modes(network, op, {2, 3, false})[0], (OperandLayouts{places, places}));
    EXPECT_EQ(Shifts(network, op, 0, places), kernel > 1 ? 9 : 0) << "others meet, one by one";
    EXPECT_EQ(Shifts(network, op, 1, places), 0);
    std::vector<Layout> layouts(network.tensors.size(), places);
    layouts[static_cast<size_t>(op.results[0])] = {2, 3, false};
    EXPECT_EQ(Mismatches(network, SmallMachine(8, 4096), op, layouts).size(), kernel > 1 ? 1u : 0u);
    layouts.assign(network.tensors.size(), rows);
    layouts[static_cast<size_t>(op.results[0])] = {2, 3, false};
    EXPECT_EQ(Mismatches(network, SmallMachine(8, 4096), op, layouts).size(), 2u);
  }
}

}  // namespace
}  // namespace hone::memory
