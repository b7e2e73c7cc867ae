// Completion in a real bash, and the command line as a document.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "hone_process.h"
#include "jobs/completions.h"
#include "jobs/manual.h"

namespace hone {
namespace {

class Completion : public HoneTest {
 protected:
  // What bash offers for the last of these words, sorted; `words` begin with "hone".
  std::vector<std::string> Offered(const std::vector<std::string>& words) {
    if (script_.empty()) {
      const Ran ran = Hone({"completion", "bash"});
      EXPECT_EQ(ran.code, 0) << ran.err;
      script_ = ran.out;
      Write("hone.bash", script_);
    }
    std::string given;
    for (const std::string& word : words) given += " '" + word + "'";
    const std::string code = "source hone.bash; COMP_WORDS=(" + given +
                             "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                             "; _hone; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Ran ran = RunProcess({"/bin/bash", "-uc", code}, folder());
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<std::string> lines;
    std::istringstream stream(ran.out);
    for (std::string line; std::getline(stream, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  std::string script_;
};

using Words = std::vector<std::string>;

TEST_F(Completion, CommandsAndActions) {
  EXPECT_EQ(Offered({"hone", "op"}), Words{"optimize"});
  EXPECT_EQ(Offered({"hone", "re"}), (Words{"record", "replay", "rewrites"}));
  EXPECT_EQ(Offered({"hone", "store", "ex"}), Words{"export"});
  EXPECT_EQ(Offered({"hone", "--ver"}), Words{"--version"});
}

TEST_F(Completion, FlagsOfTheCommandThatIsGiven) {
  EXPECT_EQ(Offered({"hone", "run", "model.hlo", "--pas"}), (Words{"--pass-deadline", "--passes"}));
  EXPECT_EQ(Offered({"hone", "store", "prune", "--older"}), Words{"--older-than"});
  EXPECT_EQ(Offered({"hone", "passes", "--obj"}), Words{});
}

TEST_F(Completion, ValuesWhereThereIsAList) {
  EXPECT_EQ(Offered({"hone", "optimize", "x.hlo", "--objective", "p"}), Words{"peak_memory"});
  EXPECT_EQ(Offered({"hone", "completion", "z"}), Words{"zsh"});
}

TEST_F(Completion, FilesElsewhere) {
  // Nothing is offered, so that bash completes names of files itself.
  EXPECT_EQ(Offered({"hone", "run", "mod"}), Words{});
  EXPECT_EQ(Offered({"hone", "run", "x.hlo", "-o", "ou"}), Words{});
  EXPECT_EQ(Offered({"hone", "record", "--", "python", "--ver"}), Words{});
}

TEST_F(Completion, EveryCommandIsInEveryScript) {
  const Ran manual = Hone({"manual", "--json"});
  ASSERT_EQ(manual.code, 0) << manual.err;
  const auto commands = manual.Json()["commands"];
  ASSERT_GT(commands.size(), 15u);
  for (const std::string& shell : jobs::Shells()) {
    const std::string script = Hone({"completion", shell}).out;
    for (const auto& command : commands) {
      EXPECT_NE(script.find(command["name"].get<std::string>()), std::string::npos)
          << shell << " " << command["name"];
    }
    EXPECT_NE(script.find("peak_memory"), std::string::npos) << shell;
  }
}

TEST_F(Completion, UnknownShell) {
  const Ran ran = Hone({"completion", "csh"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(IsOneMessage(ran.err));
}

TEST_F(Completion, TheManualHasEveryCommand) {
  const Ran troff = Hone({"manual"});
  EXPECT_EQ(troff.code, 0);
  EXPECT_EQ(troff.out.rfind(".TH HONE 1", 0), 0u);
  for (const char* part :
       {".SS hone optimize", ".SS hone store prune", ".SH EXIT STATUS", "\\-\\-objective"}) {
    EXPECT_NE(troff.out.find(part), std::string::npos) << part;
  }
  const std::string markdown = Hone({"manual", "--markdown"}).out;
  EXPECT_NE(markdown.find("\n## hone optimize\n"), std::string::npos);
  EXPECT_NE(markdown.find("\n### hone store prune\n"), std::string::npos);
  EXPECT_EQ(Hone({"manual", "--markdown", "--json"}).code, 2);
}

TEST(Manual, IsTheSameAfterJson) {
  jobs::CommandInfo command{"hone", "does", "  hone\n", {}, {}};
  command.options.push_back({{"-o", "--out"}, "OUT", {"a", "b"}, "a", "where", "Limits", true});
  command.commands.push_back({"inner", "", "", {}, {}});
  const std::string json = ToJson(command).dump();
  const auto read = jobs::CommandFromJson(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(ToJson(*read).dump(), json);
  EXPECT_FALSE(jobs::CommandFromJson("{}"));
  EXPECT_FALSE(jobs::CommandFromJson("hone"));
}

TEST(Manual, WhatAShellOrTroffMistakesIsEscaped) {
  jobs::CommandInfo hone{"hone", "it's", "", {}, {}};
  hone.commands.push_back({"it", ".of XLA's [a:b] \\", "  .hidden\n", {}, {}});
  const std::string troff = ManPage(hone, {});
  EXPECT_NE(troff.find("\n\\&.of XLA's [a:b] \\e\n"), std::string::npos) << troff;
  const std::string zsh = CompletionScript(hone, "zsh");
  EXPECT_NE(zsh.find("XLA'\\''s \\[a\\:b\\]"), std::string::npos) << zsh;
  EXPECT_NE(CompletionScript(hone, "fish").find("XLA\\'s"), std::string::npos);
}

}  // namespace
}  // namespace hone
