// What holds for every row of the table of element types. That kernels compute with each is in
// kernels_test.cc, that they are made of programs with each in programs_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/fnv.h"
#include "loops/hlo.h"
#include "loops/inputs.h"
#include "loops/task.h"

namespace hone::loops {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kCount = 4000;

class ElementTest : public testing::TestWithParam<ElementInfo> {
 protected:
  const ElementInfo& info() const { return GetParam(); }
  const verify::ElementType& type() const { return StoredAs(info().element); }

  std::vector<char> Inputs(int kind, uint64_t moved) const {
    std::vector<char> bytes(info().bytes * kCount);
    FillInput(info().element, kCount, kind, /*seed=*/3, moved, bytes.data());
    return bytes;
  }
  std::vector<double> ValuesOf(const std::vector<char>& bytes) const {
    return verify::Values(type(), bytes.data(), 0, kCount);
  }
};

TEST_P(ElementTest, IsStoredAsItsRowSays) {
  EXPECT_EQ(type().bytes, info().bytes);
  EXPECT_EQ(type().kind, info().floating ? verify::NumberKind::kReal : verify::NumberKind::kExact);
  EXPECT_EQ(&InfoOf(info().element), FindElement(info().name));
  EXPECT_EQ(std::stoul(info().memory + 1), 8 * info().bytes);
  EXPECT_EQ(WideOf(info().element), info().narrow() ? Element::kF32 : info().element);
}

TEST_P(ElementTest, IsReadAndWrittenInTasks) {
  const std::string text =
      "task t\ninput x " + std::string(info().name) + "[8]\ny = negate x\noutput y\n";
  const auto task = ParseTask(text);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(TaskText(*task), text);
  EXPECT_EQ(task->tensors[0].bytes(), 8 * info().bytes);
  EXPECT_EQ(task->tensors[1].element, WideOf(info().element));
  const std::string hlo = HloText(*task);
  EXPECT_THAT(hlo, HasSubstr(std::string(info().stored()) + "[8] parameter(0)"));
  EXPECT_THAT(hlo, info().narrow() ? testing::Matcher<std::string>(HasSubstr("convert("))
                                   : Not(HasSubstr("convert(")));
}

TEST_P(ElementTest, HasInputsThatShowWhatItIs) {
  for (const int kind : {0, 1, 2}) {
    const std::vector<char> bytes = Inputs(kind, 0);
    EXPECT_EQ(bytes, Inputs(kind, 0));
    const std::vector<double> values = ValuesOf(bytes);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (info().floating) {
      EXPECT_GE(*least, kind == 1 ? 0 : -1);
      EXPECT_LT(*least, kind == 1 ? 0.01 : -0.9);
      EXPECT_GT(*most, 0.9);
      EXPECT_LE(*most, 1);
    } else {
      EXPECT_EQ(*least, info().least);
      EXPECT_EQ(*most, info().most);
    }
    std::vector<char> again(bytes.size());
    verify::WriteValues(type(), values.data(), kCount, again.data());
    EXPECT_EQ(again, bytes);
    EXPECT_EQ(Inputs(kind, 1) == bytes, !info().floating);
  }
}

// The nearest number of bf16, the nearest to what is left, and so on.
TEST_P(ElementTest, IsTheSumOfItsPieces) {
  if (info().pieces == 0 || info().widening == Widening::kRounds) return;
  const verify::ElementType& bf16 = StoredAs(Element::kBF16);
  for (const double value : ValuesOf(Inputs(0, 0))) {
    double left = value;
    for (int i = 0; i < info().pieces; ++i) {
      uint16_t piece = 0;
      verify::WriteValues(bf16, &left, 1, &piece);
      left -= verify::Values(bf16, &piece, 0, 1)[0];
    }
    EXPECT_EQ(left, 0) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ElementTest, testing::ValuesIn(kElements),
                         [](const auto& info) { return std::string(info.param.name); });

// Both sides of the wire make them, and what was measured on them stays comparable.
TEST(FillInput, MakesTheBytesThatItAlwaysMade) {
  const std::pair<Element, uint64_t> known[] = {
      {Element::kF32, 0xf5750877ba04a495}, {Element::kF64, 0xeb3ecb34c3ddb9ec},
      {Element::kI32, 0x0120e4a3a67bc38e}, {Element::kBF16, 0xd48f2df04f5588c2},
      {Element::kF16, 0x19db3afe73914d75}, {Element::kPred, 0x5268efc98cece6e8},
      {Element::kI8, 0x0d2277297ca9765c},  {Element::kU8, 0xead25d6e99f1fb1e}};
  for (const auto& [element, hash] : known) {
    std::string bytes(1000 * InfoOf(element).bytes, 0);
    uint64_t all = 0;
    for (const int kind : {0, 1, 2}) {
      FillInput(element, 1000, kind, /*seed=*/7, /*moved=*/static_cast<uint64_t>(kind),
                bytes.data());
      all = all * 31 + Fnv1a(bytes);
    }
    EXPECT_EQ(all, hash) << InfoOf(element).name;
  }
}

}  // namespace
}  // namespace hone::loops
