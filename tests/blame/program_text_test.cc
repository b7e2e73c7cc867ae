#include "blame/cut_program.h"

#include <gtest/gtest.h>

#include "support/programs.h"

namespace hone::blame {
namespace {

constexpr char kProgram[] = R"(HloModule named, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "model.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=2 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}

ENTRY %main (p: f32[4], q: (f32[4], s32[])) -> (f32[], f32[4]) {
  %p = f32[4]{0} parameter(0)
  %q = (f32[4]{0}, s32[]) parameter(1)
  %first = f32[4]{0} get-tuple-element(%q), index=0
  %product = f32[4]{0} multiply(%p, %first), metadata={op_name="jit(f)/mul \"{odd}\"" stack_frame_id=1}
  %zero = f32[] constant(0)
  %total = f32[] reduce(%product, %zero), dimensions={0}, to_apply=%sum, metadata={op_name="jit(f)/sum" source_file="a.py" source_line=7}
  %bent = f32[4]{0} tanh(%product)
  ROOT %both = (f32[], f32[4]{0}) tuple(%total, %bent)
}
)";

ProgramText Parsed(const std::string& text = kProgram) {
  auto program = ParseProgramText(text);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : ProgramText();
}

size_t Index(const ProgramText& program, const std::string& name) {
  const auto place = FindInstruction(program, name);
  EXPECT_TRUE(place) << name;
  return place ? place->instruction : 0;
}

TEST(ProgramText, IsTakenApart) {
  const ProgramText program = Parsed();
  ASSERT_EQ(program.computations.size(), 2u);
  const TextComputation& entry = program.computations[program.entry];
  EXPECT_EQ(entry.name, "main");
  ASSERT_EQ(entry.instructions.size(), 8u);
  EXPECT_EQ(entry.instructions[entry.root].name, "both");
  const TextInstruction& total = entry.instructions[Index(program, "total")];
  EXPECT_EQ(total.opcode, "reduce");
  EXPECT_EQ(total.shape, "f32[]");
  EXPECT_EQ(total.attributes, ", dimensions={0}, to_apply=%sum");
  EXPECT_EQ(total.called, std::vector<size_t>{0});
  EXPECT_EQ(total.operands.size(), 2u);
  EXPECT_EQ(total.metadata, (std::vector<std::string>{"jit(f)/sum", "a.py:7"}));
  const TextInstruction& product = entry.instructions[Index(program, "product.clone.2")];
  EXPECT_EQ(product.attributes, "");
  ASSERT_EQ(product.metadata.size(), 2u);
  EXPECT_EQ(product.metadata[1], "model.py:12");
  EXPECT_FALSE(FindInstruction(program, "nobody"));
}

TEST(ProgramText, WhatCannotBeReadIsTold) {
  for (const char* broken : {"ENTRY %main {\n", "ENTRY %main {\n  %a = f32[]\n}\n",
                             "ENTRY %main {\n  %a = f32[] negate(%b)\n}\n", "", "nonsense\n"}) {
    const auto program = ParseProgramText(broken);
    ASSERT_FALSE(program) << broken;
    EXPECT_EQ(program.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(ProgramText, APartIsAProgram) {
  const ProgramText program = Parsed();
  const auto cut = Cut(program, program.entry, {Index(program, "total"), Index(program, "bent")});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->instructions, 8u) << cut->text;  // of sum 3, product, zero, total, bent, tuple
  EXPECT_NE(cut->text.find("%product = f32[4]{0} parameter(0)"), std::string::npos) << cut->text;
  const ProgramInfo info = testing::MustLoad(testing::SharedPool(), cut->text);
  EXPECT_EQ(info.metrics.op_count, 8);
  const auto one =
      Cut(program, program.entry, {Index(program, "first"), Index(program, "product")});
  ASSERT_TRUE(one);
  EXPECT_NE(one->text.find("ROOT %product"), std::string::npos) << one->text;
  EXPECT_NE(one->text.find("parameter(1)"), std::string::npos) << one->text;
  testing::MustLoad(testing::SharedPool(), one->text);
  EXPECT_FALSE(Cut(program, program.entry, {}));
}

TEST(ProgramText, OnlyOneValueIsAskedFor) {
  const ProgramText program = Parsed();
  const TextComputation& entry = program.computations[program.entry];
  const size_t total = Index(program, "total");
  const auto cut = Cut(program, program.entry, Operations(entry), Index(program, "product"));
  ASSERT_TRUE(cut);
  EXPECT_NE(cut->text.find("ROOT %product"), std::string::npos) << cut->text;
  const std::vector<size_t> slice = Slice(entry, total);
  EXPECT_EQ(slice,
            (std::vector<size_t>{Index(program, "first"), Index(program, "product"), total}));
}

TEST(ProgramText, NeighboursGoThroughOperations) {
  const ProgramText program = Parsed();
  const TextComputation& entry = program.computations[program.entry];
  const size_t bent = Index(program, "bent");
  EXPECT_EQ(Neighbourhood(entry, {bent}, 0), std::vector<size_t>{bent});
  EXPECT_EQ(Neighbourhood(entry, {bent}, 1),
            (std::vector<size_t>{Index(program, "product"), bent, Index(program, "both")}));
  EXPECT_EQ(Neighbourhood(entry, {bent}, 9), Operations(entry));
}

TEST(ProgramText, WhatIsEliminatedLeavesItsShape) {
  const ProgramText program = Parsed();
  const TextComputation& entry = program.computations[program.entry];
  const size_t product = Index(program, "product");
  const size_t bent = Index(program, "bent");
  EXPECT_EQ(Eliminable(entry), (std::vector<size_t>{product, bent}));
  const ProgramText once = Eliminate(program, program.entry, {product});
  const CutProgram printed = Print(once);
  EXPECT_EQ(printed.text.find("multiply"), std::string::npos) << printed.text;
  EXPECT_NE(printed.text.find("tanh(%p)"), std::string::npos) << printed.text;
  EXPECT_EQ(printed.text.find("%first"), std::string::npos) << "nobody reads it any more";
  const ProgramInfo info = testing::MustLoad(testing::SharedPool(), printed.text);
  EXPECT_EQ(static_cast<size_t>(info.metrics.op_count), printed.instructions);
  // Where no other array has the shape.
  const ProgramText wide = Parsed(
      "ENTRY %main (p: f32[4]) -> f32[2,4] {\n  %p = f32[4]{0} parameter(0)\n"
      "  %w = f32[2,4]{1,0} broadcast(%p), dimensions={1}\n"
      "  ROOT %e = f32[2,4]{1,0} exponential(%w)\n}\n");
  const CutProgram zeros = Print(Eliminate(wide, wide.entry, {1}));
  EXPECT_NE(zeros.text.find("broadcast(%w.zero), dimensions={}"), std::string::npos) << zeros.text;
  testing::MustLoad(testing::SharedPool(), zeros.text);
}

// Whatever goes, the loops of real programs stay programs.
TEST(ProgramText, RealLoopsAreMadeSmaller) {
  Pool& pool = testing::SharedPool();
  for (const char* name : {"sim/jax010_nbody_leapfrog_scan.hlo", "kmeans/jax010_kmeans_while.hlo",
                           "moe/jax010_moe_sorted_scan_fwd.hlo"}) {
    const ProgramInfo program = testing::MustLoad(pool, testing::ReadData(name));
    const auto text = pool.Export({program.id, {}}, ExportFormat::kText);
    ASSERT_TRUE(text) << name;
    const ProgramText parsed = Parsed(text->bytes);
    testing::MustLoad(pool, Print(parsed).text);
    for (size_t c = 0; c < parsed.computations.size(); ++c) {
      std::vector<size_t> gone = Eliminable(parsed.computations[c]);
      testing::MustLoad(pool, Print(Eliminate(parsed, c, gone)).text);
      for (size_t i = 0; i < gone.size(); ++i) gone.erase(gone.begin() + static_cast<long>(i));
      testing::MustLoad(pool, Print(Eliminate(parsed, c, gone)).text);
    }
  }
}

// What is cut of real programs is read, and whole it computes the same.
TEST(ProgramText, RealProgramsAreCut) {
  Pool& pool = testing::SharedPool();
  for (const char* name : {"sim/jax010_nbody_leapfrog_scan.hlo", "misc/jax010_int8_mlp_fwd.hlo",
                           "kmeans/jax010_kmeans_while.hlo", "misc/jax010_gp_nll_train.hlo",
                           "moe/jax010_moe_sorted_scan_fwd.hlo"}) {
    const ProgramInfo program = testing::MustLoad(pool, testing::ReadData(name));
    const auto text = pool.Export({program.id, {}}, ExportFormat::kText);
    ASSERT_TRUE(text) << name;
    const ProgramText parsed = Parsed(text->bytes);
    const TextComputation& entry = parsed.computations[parsed.entry];
    const std::vector<size_t> all = Operations(entry);
    const auto whole = Cut(parsed, parsed.entry, all);
    ASSERT_TRUE(whole) << name << ": " << whole.error().message;
    testing::MustLoad(pool, whole->text);
    for (size_t i = 0; i < all.size(); i += 1 + all.size() / 5) {
      const auto part = Cut(parsed, parsed.entry, Neighbourhood(entry, {all[i]}, 1));
      ASSERT_TRUE(part) << name;
      testing::MustLoad(pool, part->text);
    }
  }
}

}  // namespace
}  // namespace hone::blame
