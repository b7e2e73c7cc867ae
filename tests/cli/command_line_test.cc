// What is wrong with a command line is said in one message; help and version are there.
#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class CommandLine : public HoneTest {
 protected:
  void ExpectMessage(const std::vector<std::string>& arguments, const std::string& part) {
    const Ran ran = Hone(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(IsOneMessage(ran.err));
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  }
};

TEST_F(CommandLine, UnknownCommand) {
  ExpectMessage({"chekc", "a", "b"}, "no command 'chekc' (did you mean 'check'?)");
  ExpectMessage({"zzzzzzzzz"}, "no command 'zzzzzzzzz'; see");
}

TEST_F(CommandLine, UnknownFlag) {
  ExpectMessage({"run", "--pases", "a", "x.hlo"}, "no flag --pases (did you mean '--passes'?)");
  ExpectMessage({"stats", "--jsno"}, "no flag --jsno (did you mean '--json'?)");
  ExpectMessage({"--verison"}, "no flag --verison (did you mean '--version'?)");
}

TEST_F(CommandLine, WrongArguments) {
  ExpectMessage({"run"}, "FILE is required");
  ExpectMessage({"run", "a.hlo"}, "--passes is required");
  ExpectMessage({"check", "a.hlo"}, "B is required");
  ExpectMessage({"check", "a.hlo", "b.hlo", "c.hlo"}, "'c.hlo' is one argument too many");
  ExpectMessage({"stats", "a.hlo", "--workers", "0"}, "--workers");
  ExpectMessage({"check", "a.hlo", "b.hlo", "--budget", "soon"}, "'soon' is not a duration");
  ExpectMessage({"stats", "a.hlo", "--cache", "1ZB"}, "'1ZB' is not a size");
}

TEST_F(CommandLine, ErrorsAsJson) {
  const Ran ran = Hone({"stats", "a.hlo", "--workers", "0", "--json"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.Json()["error"]["code"], "invalid_input");
}

TEST_F(CommandLine, Help) {
  const Ran all = Hone({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const std::string command : {"run", "replay", "check", "stats", "dataset", "passes"}) {
    EXPECT_NE(all.out.find("\n  " + command + " "), std::string::npos) << command;
    const Ran one = Hone({command, "--help"});
    EXPECT_EQ(one.code, 0);
    EXPECT_NE(one.out.find("Examples:\n  hone " + command), std::string::npos) << one.out;
  }
  EXPECT_EQ(Hone({}).code, 2);
}

TEST_F(CommandLine, Version) {
  const Ran ran = Hone({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out.rfind("hone ", 0), 0u);
  EXPECT_NE(ran.out.find("tensorflow-cpu 2."), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace hone
