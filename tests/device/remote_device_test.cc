// A plugin in its own process: what it does well, and every way in which it can go wrong.
#include "device/remote_device.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <memory>
#include <string>

#include "device/compare.h"
#include "device/race.h"

namespace hone::device {
namespace {

DeviceOptions OptionsFor(const std::string& plugin, const std::string& fail = "") {
  DeviceOptions options;
  options.program_path = HONE_DEVICE_BINARY;
  options.name.plugin = std::string(HONE_PLUGINS) + "/" + plugin;
  if (!fail.empty()) options.name.options = {{"fail", fail}};
  return options;
}

DeviceProgram Program(const std::string& name, const Flags& flags = {}) {
  return {name, std::make_shared<const std::string>("program " + name), false, flags};
}

DeviceInputs Inputs() {
  const float values[] = {1.0f, 2.5f};
  DeviceArray array{"f32", {1, 2}, std::string(sizeof(values), '\0')};
  std::memcpy(array.bytes.data(), values, sizeof(values));
  return {"inputs", {array}};
}

// Why it does not start.
Error StartError(const DeviceOptions& options) {
  const auto device = RemoteDevice::Start(options);
  if (!device) return device.error();
  ADD_FAILURE() << "it starts";
  return {};
}

TEST(RemoteDevice, SaysWhatItIs) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->info().platform, "fake");
  EXPECT_EQ((*device)->info().api_major, 0);
  EXPECT_EQ((*device)->device().kind, "paper");
  EXPECT_EQ((*device)->device().id, 7);
}

TEST(RemoteDevice, APluginOfTheCpuIsLockedUp) {
  const auto locked = RemoteDevice::Start(OptionsFor("fake_cpu_plugin.so", "escape"));
  ASSERT_TRUE(locked) << locked.error().message;
  const auto compiled = (*locked)->Compile(Program("a"), 10);
  EXPECT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE((*locked)->Run(Program("a"), Inputs()));
  // Not where it was asked for, and not where there is a driver to talk to.
  DeviceOptions open = OptionsFor("fake_cpu_plugin.so", "escape");
  open.sandbox = false;
  for (const DeviceOptions& options : {open, OptionsFor("fake_plugin.so", "escape")}) {
    const auto device = RemoteDevice::Start(options);
    ASSERT_TRUE(device) << device.error().message;
    const auto free = (*device)->Compile(Program("a"), 10);
    ASSERT_FALSE(free);
    EXPECT_NE(free.error().message.find("it got out"), std::string::npos);
  }
}

TEST(RemoteDevice, CompilesRunsAndTimes) {
  const auto started = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(started) << started.error().message;
  RemoteDevice& device = **started;
  const auto outputs = device.Run(Program("a"), Inputs());
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ((*outputs)[0].type, "f32");
  EXPECT_EQ((*outputs)[0].dimensions, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((*outputs)[0].bytes, Inputs().arrays[0].bytes);
  const auto times = device.Time(Program("a"), Program("b"), Inputs(), 0, 5, 3);
  ASSERT_TRUE(times) << times.error().message;
  ASSERT_EQ(times->size(), 5u);
  for (const PairTimes& pair : *times) {
    EXPECT_GT(pair.a, 0);
    EXPECT_GT(pair.b, 0);
  }
  RaceOptions options;
  options.budget_seconds = 0.05;
  const auto race = Race(device, Program("a"), Program("a"), Inputs(), options);
  ASSERT_TRUE(race);
  EXPECT_TRUE(race->same_executable);
  const auto other = Race(device, Program("a"), Program("b"), Inputs(), options);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(other->same_executable);
  EXPECT_GE(other->pairs, 6);
}

// More programs and inputs than are kept: the first come back.
TEST(RemoteDevice, KeepsAFewAndMakesTheOthersAgain) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(device) << device.error().message;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 9; ++i) {
      DeviceInputs inputs = Inputs();
      inputs.name += std::to_string(i);
      const auto outputs = (*device)->Run(Program("p" + std::to_string(i)), inputs);
      ASSERT_TRUE(outputs) << outputs.error().message;
    }
  }
}

TEST(RemoteDevice, ComparesWhatItReturns) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(device) << device.error().message;
  const auto inputs = [](const verify::InputChoice&) -> StatusOr<InputSet> { return InputSet{Inputs(), {}}; };
  const ComparisonReport same = Compare(**device, Program("a"), Program("b"), inputs, {});
  EXPECT_EQ(same.verdict, Verdict::kEqual) << same.reason;
  EXPECT_EQ(same.inputs, 3);
  // The first float is off by a unit in its last place: that is rounding.
  const DeviceProgram moved = Program("c", {{"wrong", "true"}});
  EXPECT_EQ(Compare(**device, Program("a"), moved, inputs, {}).verdict, Verdict::kEqual);
  const auto integers = [](const verify::InputChoice&) -> StatusOr<InputSet> {
    return InputSet{{"integers", {{"s8", {2}, std::string("\1\2")}}}, {}};
  };
  const ComparisonReport other = Compare(**device, Program("a"), moved, integers, {});
  EXPECT_EQ(other.verdict, Verdict::kDifferent);
  EXPECT_NE(other.reason.find("1 elements"), std::string::npos) << other.reason;
  const auto none = [](const verify::InputChoice&) -> StatusOr<InputSet> {
    return MakeError(ErrorCode::kUnsupported, "no inputs");
  };
  EXPECT_EQ(Compare(**device, Program("a"), moved, none, {}).verdict, Verdict::kCannotTell);
}

TEST(RemoteDevice, WhatIsNoPluginIsToldSo) {
  const Error missing = StartError(OptionsFor("missing.so"));
  EXPECT_EQ(missing.code, ErrorCode::kInvalidInput);
  EXPECT_NE(missing.message.find("missing.so: No such file"), std::string::npos) << missing.message;
  const Error none = StartError(OptionsFor("no_plugin.so"));
  EXPECT_EQ(none.code, ErrorCode::kInvalidInput);
  EXPECT_NE(none.message.find("exports no GetPjrtApi"), std::string::npos) << none.message;
  DeviceOptions text = OptionsFor("");
  text.name.plugin = HONE_DEVICE_BINARY;
  EXPECT_NE(StartError(text).message.find("cannot be loaded"), std::string::npos);
  const Error old = StartError(OptionsFor("old_plugin.so"));
  EXPECT_EQ(old.code, ErrorCode::kInvalidInput);
  EXPECT_NE(old.message.find("its PJRT API is 0.3"), std::string::npos) << old.message;
  EXPECT_NE(old.message.find("too old"), std::string::npos) << old.message;
  const Error lacking = StartError(OptionsFor("lacking_plugin.so"));
  EXPECT_NE(lacking.message.find("lacks PJRT_Buffer_ReadyEvent"), std::string::npos)
      << lacking.message;
}

TEST(RemoteDevice, ThePluginsOwnErrorsComeThrough) {
  const Error create = StartError(OptionsFor("fake_plugin.so", "create"));
  EXPECT_EQ(create.code, ErrorCode::kUnsupported);
  EXPECT_NE(create.message.find("there is no such hardware"), std::string::npos);
  DeviceOptions number = OptionsFor("fake_plugin.so", "7");
  EXPECT_NE(StartError(number).message.find("fail takes a short text"), std::string::npos)
      << "options keep their types";
  DeviceOptions stall = OptionsFor("fake_plugin.so", "stall");
  stall.open_deadline_seconds = 0.2;
  const Error stalled = StartError(stall);
  EXPECT_EQ(stalled.code, ErrorCode::kUnsupported);
  EXPECT_NE(stalled.message.find("deadline"), std::string::npos) << stalled.message;
  DeviceOptions second = OptionsFor("fake_plugin.so");
  second.name.device = 1;
  EXPECT_NE(StartError(second).message.find("it has no device 1"), std::string::npos);
  for (const auto& [fail, code, message] :
       {std::tuple("compile", ErrorCode::kUnsupported, "it is only a fake"),
        std::tuple("full", ErrorCode::kMemory, "out of paper"),
        std::tuple("run", ErrorCode::kUnsupported, "the paper tore")}) {
    const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so", fail));
    ASSERT_TRUE(device) << device.error().message;
    const auto outputs = (*device)->Run(Program("a"), Inputs());
    ASSERT_FALSE(outputs) << fail;
    EXPECT_EQ(outputs.error().code, code);
    EXPECT_NE(outputs.error().message.find(message), std::string::npos) << outputs.error().message;
  }
  DeviceInputs tokens = Inputs();
  tokens.arrays[0].type = "token";
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(device);
  EXPECT_FALSE((*device)->Run(Program("a"), tokens));
}

TEST(RemoteDevice, AnAbortCostsTheProcessOnly) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so", "abort"));
  ASSERT_TRUE(device) << device.error().message;
  for (int round = 0; round < 2; ++round) {
    const auto outputs = (*device)->Run(Program("a"), Inputs());
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::kWorkerDied);
    EXPECT_NE(outputs.error().message.find("the plugin's process was killed by Aborted"),
              std::string::npos)
        << outputs.error().message;
  }
}

TEST(RemoteDevice, AHangEndsAtTheDeadline) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so", "hang"));
  ASSERT_TRUE(device) << device.error().message;
  const auto compiled = (*device)->Compile(Program("a"), 0.2);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, ErrorCode::kDeadline);
}

TEST(RemoteDevice, WhatWasLostIsBroughtBack) {
  const auto device = RemoteDevice::Start(OptionsFor("fake_plugin.so"));
  ASSERT_TRUE(device) << device.error().message;
  ASSERT_TRUE((*device)->Run(Program("a"), Inputs()));
  const int pid = (*device)->pid();
  kill(pid, SIGKILL);
  EXPECT_FALSE((*device)->Run(Program("a"), Inputs())) << "the call that finds it dead";
  EXPECT_TRUE((*device)->Run(Program("a"), Inputs()));
  EXPECT_NE((*device)->pid(), pid);
  ASSERT_TRUE((*device)->Restart());
  EXPECT_TRUE((*device)->Run(Program("a"), Inputs()));
}

}  // namespace
}  // namespace hone::device
