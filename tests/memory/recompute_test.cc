// What is computed again rather than kept, and what is cut although its places depend on data.
#include "memory/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "memory/planner.h"
#include "small_programs.h"

namespace hone::memory {
namespace {

const std::vector<std::pair<std::string, std::string>> kProduct = {{"lhs_contracting_dims", "{1}"},
                                                                   {"rhs_contracting_dims", "{0}"}};

constexpr int64_t kLargeBytes = 256;

// Planned and run: bytes that it moves. Its outputs are those of `program`.
int64_t Moved(const Network& program, const Network& network, const Machine& machine) {
  const auto planned = MakePlan(program, network, machine, {});
  EXPECT_TRUE(planned) << planned.error().message;
  const Evaluation values = RandomInputs(program, 1);
  const auto run = Simulate(network, machine, planned->plan, &values);
  EXPECT_TRUE(run) << run.error().message;
  if (run) ExpectClose(run->outputs, Expected(program, values));
  EXPECT_EQ(planned->plan.figures.streamed, 0);
  return run->loaded_bytes + run->stored_bytes;
}

// In the order in which they run.
std::vector<std::string> Opcodes(const Network& network) {
  std::vector<std::string> opcodes;
  for (const Op& op : network.ops) opcodes.push_back(op.opcode);
  return opcodes;
}

TEST(ByParts, ComputesSlicesOfAnElementwiseResultWhereTheyAreRead) {
  const Network program = Built({Parameter(0, {8, 64}), Instruction("tanh", {8, 64}, {0}),
                                 Instruction("slice", {4, 64}, {1}, {{"slice", "{[0:4], [0:64]}"}}),
                                 Instruction("slice", {4, 64}, {1}, {{"slice", "{[4:8], [0:64]}"}}),
                                 Instruction("multiply", {4, 64}, {2, 3})});
  ASSERT_EQ(program.ops.size(), 2u);
  const Network network = ByParts(program, kLargeBytes).front().network;
  ASSERT_EQ(network.ops.size(), 3u) << "two halves, each computed for itself";
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[0].results[0])].dimensions,
            (std::vector<int64_t>{4, 64}));
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[0].results[0])].part_of,
            program.ops[0].results[0]);
  EXPECT_EQ(ByParts(program, 1 << 20).front().network.ops.size(), 2u) << "a small one stays whole";
}

TEST(ByParts, GathersBeforeItConverts) {
  std::vector<InstructionInfo> instructions = {Parameter(0, {64, 8}), Parameter(1, {2, 1}),
                                               Instruction("tanh", {64, 8}, {0}),
                                               Instruction("gather", {2, 8}, {2, 1},
                                                           {{"offset_dims", "{1}"},
                                                            {"collapsed_slice_dims", "{0}"},
                                                            {"start_index_map", "{0}"},
                                                            {"index_vector_dim", "1"},
                                                            {"slice_sizes", "{1,8}"}})};
  instructions[1].shape.type = "s32";
  const Network program = Built(std::move(instructions));
  const Network network = ByParts(program, kLargeBytes).front().network;
  ASSERT_EQ(network.ops.size(), 2u);
  EXPECT_EQ(network.ops[0].opcode, "gather");
  EXPECT_EQ(network.ops[1].opcode, "tanh");
  EXPECT_EQ(network.ops[1].results, program.ops[1].results);
}

TEST(ByParts, GivesEveryReaderOfACheapResultItsOwn) {
  const Network program =
      Built({Parameter(0, {8}), Parameter(1, {64, 8}),
             Instruction("broadcast", {64, 8}, {0}, {{"dimensions", "{1}"}}),
             Instruction("tanh", {64, 8}, {2}), Instruction("multiply", {64, 8}, {1, 3}),
             Instruction("add", {64, 8}, {4, 3})});
  EXPECT_EQ(program.ops.size(), 3u);
  const Network network = ByParts(program, kLargeBytes).front().network;
  ASSERT_EQ(network.ops.size(), 4u);
  EXPECT_EQ(network.ops[2].opcode, "tanh") << "right before its second reader";
}

// Softmax over the 2048 logits of each of 4 rows, which are products of little: not even a row and
// what is made of it fit into 8 KiB.
TEST(RecomputeAfterSums, MakesLogitsAgainForTheirMaximumForTheirSumAndForWhatIsMadeOfThem) {
  const Network program =
      Built({Parameter(0, {4, 2}), Parameter(1, {2, 2048}),
             Instruction("dot", {4, 2048}, {0, 1},
                         {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}}),
             Number("-inf"), Reduce({4}, 2, 3, "{1}", kMaximum),
             Instruction("broadcast", {4, 2048}, {4}, {{"dimensions", "{0}"}}),
             Instruction("subtract", {4, 2048}, {2, 5}), Instruction("exponential", {4, 2048}, {6}),
             Number("0"), Reduce({4}, 7, 8, "{1}", kAdds),
             Instruction("broadcast", {4, 2048}, {9}, {{"dimensions", "{0}"}}),
             Instruction("divide", {4, 2048}, {7, 10})});
  const Machine machine = SmallMachine(1, 8192);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  int dots = 0;
  for (const Op& op : network.ops) dots += op.opcode == "dot";
  EXPECT_EQ(dots, 3);
  const int64_t logits = 4 * 2048 * 4, factors = (4 * 2 + 2 * 2048) * 4;
  EXPECT_LE(Moved(program, network, machine), logits + 3 * factors);
  EXPECT_GT(Moved(program, program, machine), 3 * logits + factors) << "kept in DRAM";
}

// A step of cross entropy over 2048 logits of each of 4 rows: before the gradient is made of logits
// that the loss reads, too, all of something else is summed.
TEST(MakePlan, FinishesSumsOfOtherThingsBeforeAGroupThatWaitsForThem) {
  const std::vector<int64_t> logits = {4, 2048};
  const Network program = Built(
      {Parameter(0, {4, 2}),
       Parameter(1, {2, 2048}),
       Parameter(2, {4}),
       Number("0"),
       Number("-inf"),
       Instruction("dot", logits, {0, 1},
                   {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}}),
       Reduce({4}, 5, 4, "{1}", kMaximum),
       Instruction("broadcast", logits, {6}, {{"dimensions", "{0}"}}),
       Instruction("subtract", logits, {5, 7}),
       Instruction("exponential", logits, {8}),
       Reduce({4}, 9, 3, "{1}", kAdds),
       Instruction("log", {4}, {10}),
       Instruction("broadcast", logits, {11}, {{"dimensions", "{0}"}}),
       Instruction("subtract", logits, {8, 12}),
       Reduce({4}, 13, 3, "{1}", kAdds),
       Instruction("iota", logits, {}, {{"iota_dimension", "1"}}),
       Instruction("broadcast", logits, {2}, {{"dimensions", "{0}"}}),
       Instruction("multiply", logits, {15, 16}),
       Reduce({4}, 17, 3, "{1}", kAdds),
       Instruction("divide", {4}, {18, 10}),
       Instruction("broadcast", logits, {19}, {{"dimensions", "{0}"}}),
       Instruction("multiply", logits, {20, 9}),
       Instruction("add", logits, {17, 21}),
       Instruction("dot", {2, 2048}, {0, 22},
                   {{"lhs_contracting_dims", "{0}"}, {"rhs_contracting_dims", "{0}"}}),
       [] {
         InstructionInfo tuple = Instruction("tuple", {}, {14, 23});
         tuple.shape.type = "tuple";
         tuple.shape.tuple = {Instruction("add", {4}).shape, Instruction("add", {2, 2048}).shape};
         return tuple;
       }()});
  const Machine machine = SmallMachine(1, 8192);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  const int64_t factor = 2 * 2048 * 4, small = 10 * 4 * 4;
  EXPECT_LE(Moved(program, network, machine), 4 * factor + small) << "read thrice, written once";
}

// Six times x <- tanh(p), y <- exp(x); all y are summed before each x * y * sum is made.
TEST(RecomputeAtPeaks, KeepsTheFewestBytesOverThePointWhereMostIsAlive) {
  std::vector<InstructionInfo> all;
  const auto add = [&](InstructionInfo instruction) {
    all.push_back(std::move(instruction));
    return static_cast<uint32_t>(all.size() - 1);
  };
  std::vector<uint32_t> x, y, out;
  uint32_t sum = add(Number("0"));
  const uint32_t zero = sum;
  for (int k = 0; k < 6; ++k) {
    const uint32_t p = add(Parameter(k, {8, 16}));
    x.push_back(add(Instruction("tanh", {8, 16}, {p})));
    y.push_back(add(Instruction("exponential", {8, 16}, {x.back()})));
    const uint32_t part = add(Reduce({}, y.back(), zero, "{0,1}", kAdds));
    sum = add(Instruction("add", {}, {sum, part}));
  }
  const uint32_t everywhere = add(Instruction("broadcast", {8, 16}, {sum}, {{"dimensions", "{}"}}));
  for (int k = 0; k < 6; ++k) {
    const auto at = static_cast<size_t>(k);
    const uint32_t xy = add(Instruction("multiply", {8, 16}, {x[at], y[at]}));
    out.push_back(add(Instruction("multiply", {8, 16}, {xy, everywhere})));
  }
  InstructionInfo tuple = Instruction("tuple", {}, out);
  tuple.shape.type = "tuple";
  for (uint32_t o : out) tuple.shape.tuple.push_back(all[o].shape);
  add(tuple);
  const Network program = Built(std::move(all));
  const Machine machine = SmallMachine(1, 4096);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  const int64_t tensor = 8 * 16 * 4;
  EXPECT_LE(Moved(program, network, machine), 6 * 3 * tensor) << "parameters twice, outputs once";
  EXPECT_EQ(ByParts(program, 1 << 20).front().network.ops.size(), program.ops.size())
      << "where all fits, nothing";
}

// 2 x 32 KiB of factors on 8 KiB: neither of them has a row or column that fits beside the other's.
TEST(SumWide, LetsProductsOf16BitNumbersBeMadeInParts) {
  std::vector<InstructionInfo> all = {
      Parameter(0, {4, 4096}, "bf16"), Parameter(1, {4096, 4}, "bf16"),
      Instruction("dot", {4, 4}, {0, 1},
                  {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}})};
  all.back().shape.type = "bf16";
  const Network program = Built(std::move(all));
  const Machine machine = SmallMachine(1, 8192);
  const Network network = ByParts(program, LargeBytes(machine)).front().network;
  ASSERT_EQ(network.ops.size(), 2u);
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[0].results[0])].type,
            ElementType::kF32);
  EXPECT_EQ(network.ops[1].opcode, "convert");
  EXPECT_EQ(network.ops[1].results, program.ops[0].results);
  EXPECT_EQ(Moved(program, network, machine), 2 * 4 * 4096 * 2 + 4 * 4 * 2);
  EXPECT_EQ(ByParts(program, 1 << 20).front().network.ops.size(), 1u) << "what fits stays as it is";
}

TEST(UpdateAtOnce, PutsWhatLeadsToOutputsRightAfterTheProductsThatItWaitsFor) {
  std::vector<InstructionInfo> all = {Parameter(0, {32, 32}),
                                      Instruction("dot", {32, 32}, {0, 0}, kProduct),
                                      Instruction("dot", {32, 32}, {0, 1}, kProduct),
                                      Instruction("tanh", {32, 32}, {1}),
                                      Instruction("tanh", {32, 32}, {2}),
                                      Instruction("tuple", {}, {3, 4})};
  all.back().shape.type = "tuple";
  all.back().shape.tuple = {all[3].shape, all[4].shape};
  Network network = Built(std::move(all));
  UpdateAtOnce(network, 1 << 20);
  EXPECT_EQ(Opcodes(network), (std::vector<std::string>{"dot", "tanh", "dot", "tanh"}));
  for (size_t o = 0; o < network.ops.size(); ++o) {
    EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[o].results[0])].producer,
              static_cast<OpId>(o));
  }
}

// What the sums add up is not kept until the program comes to them.
TEST(UpdateAtOnce, DoesFirstWhatFreesMoreThanItMakes) {
  std::vector<InstructionInfo> all = {Parameter(0, {32, 32}),
                                      Number("0"),
                                      Instruction("dot", {32, 32}, {0, 0}, kProduct),
                                      Instruction("dot", {32, 32}, {2, 0}, kProduct),
                                      Instruction("dot", {32, 32}, {3, 0}, kProduct),
                                      Reduce({32}, 2, 1, "{0}", kAdds),
                                      Reduce({32}, 3, 1, "{0}", kMaximum),
                                      Instruction("tuple", {}, {4, 5, 6})};
  all.back().shape.type = "tuple";
  all.back().shape.tuple = {all[4].shape, all[5].shape, all[6].shape};
  Network network = Built(std::move(all));
  Network huge = network;
  UpdateAtOnce(network, 1 << 20);
  EXPECT_EQ(Opcodes(network), (std::vector<std::string>{"dot", "dot", "reduce", "dot", "reduce"}));
  UpdateAtOnce(huge, 32 * 32 * 4);
  EXPECT_EQ(Opcodes(huge), (std::vector<std::string>{"dot", "dot", "dot", "reduce", "reduce"}));
}

// A product of two tensors that shrinks, with what only it reads, goes where the later one is made.
TEST(UpdateAtOnce, PutsWhatShrinksWhereItsOperandsAreMade) {
  const auto product = [](const std::string& left) {
    return std::vector<std::pair<std::string, std::string>>{{"lhs_contracting_dims", left},
                                                            {"rhs_contracting_dims", "{0}"}};
  };
  std::vector<InstructionInfo> all = {Parameter(0, {64, 8}),
                                      Parameter(1, {8, 8}),
                                      Instruction("dot", {64, 8}, {0, 1}, product("{1}")),
                                      Instruction("dot", {64, 8}, {2, 1}, product("{1}")),
                                      Instruction("dot", {64, 8}, {3, 1}, product("{1}")),
                                      Instruction("sine", {64, 8}, {2}),
                                      Instruction("dot", {8, 8}, {5, 3}, product("{0}")),
                                      Instruction("tuple", {}, {4, 6})};
  all.back().shape.type = "tuple";
  all.back().shape.tuple = {all[4].shape, all[6].shape};
  Network network = Built(std::move(all));
  Network small = network;
  UpdateAtOnce(network, std::nullopt, 64 * 8 * 4);
  EXPECT_EQ(Opcodes(network), (std::vector<std::string>{"dot", "sine", "dot", "dot", "dot"}));
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[3].results[0])].dimensions,
            (std::vector<int64_t>{8, 8}));
  UpdateAtOnce(small, std::nullopt, 64 * 8 * 4 + 1);
  EXPECT_EQ(Opcodes(small), (std::vector<std::string>{"dot", "dot", "dot", "sine", "dot"}));
}

// Who reads an elementwise function of one tensor makes it of that one; not of two.
TEST(RecomputeFromRoots, GivesEveryReaderItsOwn) {
  std::vector<InstructionInfo> all = {Parameter(0, {32}),
                                      Parameter(1, {32}),
                                      Instruction("tanh", {32}, {0}),
                                      Instruction("sine", {32}, {2}),
                                      Instruction("cosine", {32}, {2}),
                                      Instruction("add", {32}, {3, 4}),
                                      Instruction("sine", {32}, {5}),
                                      Instruction("cosine", {32}, {5}),
                                      Instruction("tuple", {}, {6, 7})};
  all.back().shape.type = "tuple";
  all.back().shape.tuple = {all[6].shape, all[7].shape};
  const Network program = Built(std::move(all));
  EXPECT_EQ(Opcodes(RecomputeFromRoots(program, 32 * 4)),
            (std::vector<std::string>{"tanh", "sine", "tanh", "cosine", "add", "sine", "cosine"}));
  EXPECT_EQ(RecomputeFromRoots(program, 32 * 4 + 1).ops.size(), 6u);
}

// 24 products, each with the instruction 0, [8, 8], then the sums of each with the number 1; last
// the tuple, which also has these.
void AddProductsAndThenSums(InstructionInfo results, std::vector<InstructionInfo>& all) {
  const auto first = static_cast<uint32_t>(all.size());
  for (uint32_t k = 0; k < 24; ++k) {
    all.push_back(Instruction("dot", {8, 8}, {k == 0 ? 0 : first + k - 1, 0}, kProduct));
  }
  for (uint32_t k = 0; k < 24; ++k) {
    results.operands.push_back(static_cast<uint32_t>(all.size()));
    all.push_back(Reduce({8}, first + k, 1, "{0}", kAdds));
    results.shape.tuple.push_back(all.back().shape);
  }
  results.shape.type = "tuple";
  all.push_back(results);
}

// 24 products, and then the sums of each: on 3 KiB they are not all kept until then.
TEST(ByParts, FreesEarlyWhereTooMuchWouldBeKept) {
  std::vector<InstructionInfo> all = {Parameter(0, {8, 8}), Number("0")};
  AddProductsAndThenSums(Instruction("tuple", {}), all);
  const Network program = Built(std::move(all));
  EXPECT_EQ(program.ops[2].opcode, "dot");
  EXPECT_EQ(ByParts(program, kLargeBytes).front().network.ops[2].opcode, "reduce");
  EXPECT_EQ(ByParts(program, 1 << 20).front().network.ops[2].opcode, "dot")
      << "where there is room, as it was";
}

// The same, and logits that are made again for their sum: one network keeps them.
TEST(ByParts, AlsoKeepsWhatIsMadeAgainAfterSums) {
  std::vector<InstructionInfo> all = {
      Parameter(0, {8, 8}),
      Number("0"),
      Parameter(1, {4, 2}),
      Parameter(2, {2, 2048}),
      Instruction("dot", {4, 2048}, {2, 3}, kProduct),
      Reduce({4}, 4, 1, "{1}", kMaximum),
      Instruction("broadcast", {4, 2048}, {5}, {{"dimensions", "{0}"}}),
      Instruction("multiply", {4, 2048}, {4, 6}),
      Reduce({4}, 7, 1, "{1}", kAdds)};
  InstructionInfo results = Instruction("tuple", {}, {8});
  results.shape.tuple.push_back(all.back().shape);
  AddProductsAndThenSums(results, all);
  const std::vector<OrderedNetwork> networks = ByParts(Built(std::move(all)), kLargeBytes);
  ASSERT_EQ(networks.size(), 4u);
  for (const auto& [updates, network] : networks) {
    const auto logits = std::count_if(network.ops.begin(), network.ops.end(), [&](const Op& op) {
      return op.opcode == "dot" &&
             network.tensors[static_cast<size_t>(op.results[0])].dimensions.back() == 2048;
    });
    EXPECT_EQ(logits, updates == UpdateOrder::kKeeping ? 1 : 2);
  }
}

// Of two parameters, the one is only passed on, and the other's decay is read by an update alone.
TEST(UpdateAtOnce, PutsWhatIsMadeOfParametersWhereTheyAreLoadedAnyway) {
  std::vector<InstructionInfo> all = {Parameter(0, {32, 32}),
                                      Parameter(1, {32, 32}),
                                      Parameter(2, {32, 32}),
                                      Instruction("negate", {32, 32}, {1}),
                                      Instruction("sine", {32, 32}, {2}),
                                      Instruction("dot", {32, 32}, {0, 0}, kProduct),
                                      Instruction("dot", {32, 32}, {5, 1}, kProduct),
                                      Instruction("dot", {32, 32}, {6, 0}, kProduct),
                                      Instruction("add", {32, 32}, {7, 4}),
                                      Instruction("tuple", {}, {3, 8})};
  all.back().shape.type = "tuple";
  all.back().shape.tuple = {all[3].shape, all[8].shape};
  Network network = Built(std::move(all));
  UpdateAtOnce(network, 1 << 20);
  EXPECT_EQ(Opcodes(network),
            (std::vector<std::string>{"dot", "dot", "negate", "dot", "sine", "add"}));
}

// Rows are added to a table of 8 KiB, and then some are taken out of the result, on 4 KiB.
TEST(PlacesThatDependOnData, AreCutAlongTheTable) {
  const Network network =
      Built({Parameter(0, {512, 4}), Parameter(1, {6, 1}, "s32"), Parameter(2, {6, 4}),
             [] {
               InstructionInfo scatter = Instruction("scatter", {512, 4}, {0, 1, 2},
                                                     {{"update_window_dims", "{1}"},
                                                      {"inserted_window_dims", "{0}"},
                                                      {"scatter_dims_to_operand_dims", "{0}"},
                                                      {"index_vector_dim", "1"}});
               scatter.called = {kAdds};
               return scatter;
             }(),
             Instruction("tanh", {512, 4}, {3}),
             Instruction("gather", {6, 4}, {4, 1},
                         {{"offset_dims", "{1}"},
                          {"collapsed_slice_dims", "{0}"},
                          {"start_index_map", "{0}"},
                          {"index_vector_dim", "1"},
                          {"slice_sizes", "{1,4}"}})});
  const int64_t table = 512 * 4 * 4, rows = 6 * 4 * 4, places = 6 * 4;
  EXPECT_EQ(Moved(network, network, SmallMachine(1, 4096)), table + 2 * rows + places);
}

}  // namespace
}  // namespace hone::memory
