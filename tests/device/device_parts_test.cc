// Names of devices, element types, the messages written by hand, flags, and the statistics of a
// race.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/rng.h"
#include "device/device_name.h"
#include "verify/element_types.h"
#include "device/flags.h"
#include "device/messages.h"
#include "device/programs.h"
#include "device/race.h"

namespace hone::device {
namespace {

using verify::FindElementType;
using verify::RelativeSpacing;
using verify::Values;

TEST(DeviceName, HasAPathAndOptions) {
  const auto name = ParseDeviceName("pjrt:/a/b.so,allocator=bfc,device=2,memory_fraction=0.5");
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(name->plugin, "/a/b.so");
  EXPECT_EQ(name->device, 2u);
  const std::vector<std::pair<std::string, std::string>> options = {{"allocator", "bfc"},
                                                                    {"memory_fraction", "0.5"}};
  EXPECT_EQ(name->options, options);
}

TEST(DeviceName, SaysWhatIsWrong) {
  for (const char* bad : {"", "cuda", "/a/b.so", "pjrt:", "pjrt:,device=1", "pjrt:a.so,",
                          "pjrt:a.so,option", "pjrt:a.so,=3", "pjrt:a.so,device=first"}) {
    const auto name = ParseDeviceName(bad);
    ASSERT_FALSE(name) << bad;
    EXPECT_EQ(name.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(name.error().message.find("pjrt:/path/to/plugin.so"), std::string::npos);
  }
}

TEST(DeviceName, OptionsAreWhatTheyLookLike) {
  using Kind = OptionValue::Kind;
  EXPECT_EQ(ParseOptionValue("bfc").kind, Kind::kText);
  EXPECT_EQ(ParseOptionValue("").kind, Kind::kText);
  EXPECT_EQ(ParseOptionValue("-3").integer, -3);
  EXPECT_EQ(ParseOptionValue("0.5").kind, Kind::kReal);
  EXPECT_EQ(ParseOptionValue("0.5").real, 0.5f);
  EXPECT_EQ(ParseOptionValue("true").kind, Kind::kBoolean);
  EXPECT_EQ(ParseOptionValue("[0;12]").integers, (std::vector<int64_t>{0, 12}));
  EXPECT_EQ(ParseOptionValue("[0;x]").kind, Kind::kText);
  EXPECT_EQ(ParseOptionValue("'7'").kind, Kind::kText);
  EXPECT_EQ(ParseOptionValue("'7'").text, "7");
}

TEST(ElementTypes, AreReadAsStored) {
  const float floats[] = {1.5f, -0.0f, 3e-40f};
  EXPECT_EQ(Values(*FindElementType("f32"), floats, 0, 3),
            (std::vector<double>{1.5, -0.0, static_cast<double>(3e-40f)}));
  const uint16_t bf16[] = {0x3fc0, 0xff80, 0x7fc0};  // 1.5, -infinity, NaN
  const auto bfloats = Values(*FindElementType("bf16"), bf16, 0, 3);
  EXPECT_EQ(bfloats[0], 1.5);
  EXPECT_EQ(bfloats[1], -INFINITY);
  EXPECT_TRUE(std::isnan(bfloats[2]));
  const uint16_t f16[] = {0x0001, 0xc000};  // the least denormal number, -2
  EXPECT_EQ(Values(*FindElementType("f16"), f16, 0, 2), (std::vector<double>{0x1p-24, -2}));
  const float complex[] = {1, 2, 3, 4};
  EXPECT_EQ(Values(*FindElementType("c64"), complex, 1, 1), (std::vector<double>{3, 4}));
  EXPECT_EQ(FindElementType("token"), nullptr);
  EXPECT_EQ(RelativeSpacing(*FindElementType("f32")), 0x1p-23);
}

TEST(Messages, CompileOptionsAreProtobuf) {
  const std::string plain = CompileOptionsProto(3, false, {});
  // executable_build_options {device_ordinal: -1 num_replicas: 1 num_partitions: 1
  //   device_assignment {replica_count: 1 computation_count: 1 computation_devices {3}}}
  const unsigned char wanted[] = {0x1a, 0x19, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0x01, 0x20, 0x01, 0x28, 0x01, 0x4a,
                                  0x08, 0x08, 0x01, 0x10, 0x01, 0x1a, 0x02, 0x08, 0x03};
  EXPECT_EQ(plain, std::string(reinterpret_cast<const char*>(wanted), sizeof(wanted)));
  const std::string more = CompileOptionsProto(3, true, {{"a", "true"}, {"b", "4"}, {"c", "none"}});
  const unsigned char tupled[] = {0x10, 0x01};
  EXPECT_EQ(more.substr(0, 2), std::string(reinterpret_cast<const char*>(tupled), 2));
  const unsigned char flags[] = {0x3a, 0x07, 0x0a, 0x01, 'a',  0x12, 0x02, 0x10, 0x01, 0x3a,
                                 0x08, 0x0a, 0x01, 'b',  0x12, 0x03, 0x0a, 0x01, '4',  0x3a,
                                 0x07, 0x0a, 0x01, 'c',  0x12, 0x02, 0x0a, 0x00};
  EXPECT_EQ(more.substr(2 + plain.size()),
            std::string(reinterpret_cast<const char*>(flags), sizeof(flags)));
}

TEST(Messages, TheModuleIsTakenOutOfAnHloProto) {
  const std::string proto = std::string("\x18\x96\x01", 3) +  // field 3, a number
                            std::string(
                                "\x0a\x03"
                                "abc",
                                5) +  // field 1
                            std::string("\x1a\x01x", 3);
  const auto module = ModuleOf(proto);
  ASSERT_TRUE(module);
  EXPECT_EQ(*module, "abc");
  EXPECT_FALSE(
      ModuleOf(std::string("\x0a\x09"
                           "abc",
                           5)));  // cut off
  EXPECT_FALSE(ModuleOf(""));
}

TEST(DeviceFlags, AreInOrder) {
  std::set<std::string_view> names;
  for (const DeviceFlag& flag : DeviceFlags()) {
    EXPECT_TRUE(flag.platform == "cpu" || flag.platform == "gpu" || flag.platform == "tpu");
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name << " is there twice";
    EXPECT_FALSE(flag.values.empty()) << flag.name;
    EXPECT_FALSE(flag.source.empty()) << flag.name;
    for (std::string_view value : flag.values) EXPECT_NE(value, kUnset);
  }
  EXPECT_EQ(FlagPlatform("cuda"), "gpu");
  EXPECT_EQ(FlagPlatform("abacus"), "");
  EXPECT_TRUE(FlagChoicesFor("abacus", true).empty());
  EXPECT_LT(FlagChoicesFor("cpu", false).size(), FlagChoicesFor("cpu", true).size());
  for (const FlagChoices& choices : FlagChoicesFor("cuda", true)) {
    EXPECT_EQ(choices.values.front(), kUnset);
  }
}

InstructionInfo Parameter(int number, ShapeInfo shape) {
  InstructionInfo parameter;
  parameter.parameter = number;
  parameter.shape = std::move(shape);
  return parameter;
}

TEST(PluginFlags, PassesLeftOutAreOneList) {
  CompilePlan plan;
  plan.flags = {{"xla_a", "unset"}, {"xla_b", "3"}, {std::string(kWithoutPass) + "cse", "true"},
                {std::string(kWithoutPass) + "dce", "true"}, {std::string(kWithoutPass) + "fusion", "unset"}};
  EXPECT_EQ(PluginFlags(plan), (Flags{{"xla_b", "3"}, {"xla_disable_hlo_passes", "cse,dce"}}));
  plan.flags.emplace_back("xla_disable_hlo_passes", "fusion");
  EXPECT_EQ(PluginFlags(plan), (Flags{{"xla_b", "3"}, {"xla_disable_hlo_passes", "fusion,cse,dce"}}));
}

TEST(Parameters, OneTupleIsTakenApart) {
  const ShapeInfo array{"f32", {2, 3}};
  ProgramGraph program;
  program.computations.resize(1);
  std::vector<InstructionInfo>& instructions = program.computations[0].instructions;
  instructions = {Parameter(1, {"s8", {}}), Parameter(0, array)};
  auto parameters = ParametersOf(program);
  ASSERT_TRUE(parameters);
  EXPECT_FALSE(parameters->tupled);
  ASSERT_EQ(parameters->arrays.size(), 2u);
  EXPECT_EQ(parameters->arrays[0].type, "f32");
  instructions = {Parameter(0, {"tuple", {}, {}, 0, {array, array, array}})};
  parameters = ParametersOf(program);
  ASSERT_TRUE(parameters);
  EXPECT_TRUE(parameters->tupled);
  EXPECT_EQ(parameters->arrays.size(), 3u);
  instructions.push_back(Parameter(1, array));
  EXPECT_FALSE(ParametersOf(program));
  instructions = {Parameter(0, {"token", {}})};
  EXPECT_FALSE(ParametersOf(program));
  instructions = {Parameter(0, {"s4", {8}})};
  EXPECT_FALSE(ParametersOf(program));
}

// A machine on which a takes `ratio` times as long as b, with some noise that both feel.
struct Machine {
  double ratio = 1;
  double seconds = 0.001;
  double time = 0;
  int calls = 0;
  int repeats = 0;
  Rng random{1};

  StatusOr<std::vector<PairTimes>> Take(int, int pairs, int repeat) {
    ++calls;
    repeats = repeat;
    std::vector<PairTimes> times;
    for (int i = 0; i < pairs; ++i) {
      const double noise = 1 + random.Unit();
      const double own = 1 + 0.02 * random.Unit();
      times.push_back({ratio * seconds * noise * own, seconds * noise});
      time += repeat * (times.back().a + times.back().b);
    }
    return times;
  }

  StatusOr<RaceReport> Race(const RaceOptions& options,
                            const std::atomic<bool>* interrupted = nullptr) {
    return RacePairs(
        [this](int first, int pairs, int repeat) { return Take(first, pairs, repeat); },
        [this] { return time; }, options, interrupted);
  }
};

TEST(Race, TellsWhichIsFaster) {
  for (const double ratio : {1.2, 0.8}) {
    Machine machine{ratio};
    RaceOptions options;
    options.least_pairs = 20;
    const auto report = machine.Race(options);
    ASSERT_TRUE(report);
    EXPECT_NEAR(report->speedup, ratio * 1.01, 0.02);
    EXPECT_LE(report->low, report->speedup);
    EXPECT_GE(report->high, report->speedup);
    EXPECT_EQ(ratio > 1, report->low > 1);
    EXPECT_EQ(ratio < 1, report->high < 1);
    EXPECT_EQ(report->pairs, 20) << "it was decided by then";
    EXPECT_GE(machine.repeats, 1);
    EXPECT_LE(machine.repeats, 2);
  }
}

TEST(Race, ShortRunsAreRepeatedAndSlowOnesGetTheirPairs) {
  Machine quick{1.5};
  quick.seconds = 1e-5;
  ASSERT_TRUE(quick.Race({}));
  EXPECT_GT(quick.repeats, 50);
  Machine slow{1.5};
  slow.seconds = 1;
  RaceOptions options;
  options.budget_seconds = 8;
  const auto report = slow.Race(options);
  ASSERT_TRUE(report);
  EXPECT_GE(report->pairs, 6);
  EXPECT_LE(report->pairs, 12);
  options.budget_seconds = 1;
  const auto hasty = slow.Race(options);
  ASSERT_TRUE(hasty);
  EXPECT_LT(hasty->pairs, 6);
  EXPECT_EQ(hasty->low, 0) << "too few pairs for an interval";
}

TEST(Race, EndsEarlyWhenInterrupted) {
  const std::atomic<bool> interrupted{true};
  Machine machine{1.0};
  RaceOptions options;
  options.indifferent = 0;
  options.least_pairs = 10;
  const auto report = machine.Race(options, &interrupted);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->pairs, 10);
}

}  // namespace
}  // namespace hone::device
