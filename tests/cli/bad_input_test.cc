// Every kind of bad input to every command: one message, exit code 2, nothing written.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/recipe.h"
#include "hone_process.h"
#include "tune/recipe.h"

namespace hone {
namespace {

// A command given one bad file; FILE stands for it.
struct Use {
  std::string name;
  std::vector<std::string> arguments;
};

const std::vector<Use>& Uses() {
  static const std::vector<Use> uses = {
      {"run", {"run", "FILE", "--passes", "dce", "-o", "out.hlo"}},
      {"stats", {"stats", "FILE"}},
      {"check", {"check", "FILE", "good.hlo"}},
      {"check", {"check", "good.hlo", "FILE"}},
      {"replay", {"replay", "good.json", "--program", "FILE", "-o", "out.hlo"}},
      {"optimize", {"optimize", "FILE", "--budget", "1s", "-o", "out.hlo", "--recipe", "out.json"}},
      {"tune", {"tune", "FILE", "--budget", "1s", "-o", "out.hlo", "--plan", "out.json"}},
      {"bench", {"bench", "FILE", "--budget", "1s"}},
  };
  return uses;
}

class BadInput : public HoneTest {
 protected:
  BadInput() {
    Copy("small.hlo");
    std::filesystem::rename(Path("small.hlo"), Path("good.hlo"));
    Recipe recipe;
    recipe.hone_version = "0.1.0";
    recipe.xla_version = "tensorflow-cpu 2.21.0";
    recipe.program = {"good.hlo", "small", std::string(32, 'a')};
    recipe.passes = {"dce"};
    recipe.result_fingerprint = std::string(32, 'b');
    recipe.objective = "op_count";
    Write("good.json", RecipeToJson(recipe));
  }

  // `part` must be in the message.
  void ExpectRejected(const std::string& file, const std::string& part) {
    const std::vector<std::string> before = Listing();
    for (const Use& use : Uses()) {
      if (!HasCommand(use.name)) continue;
      std::vector<std::string> arguments = use.arguments;
      for (std::string& argument : arguments) {
        if (argument == "FILE") argument = file;
      }
      SCOPED_TRACE(fmt::format("hone {}", fmt::join(arguments, " ")));
      ExpectRejection(Hone(arguments), file, part);
      EXPECT_EQ(Listing(), before);
    }
    const Ran json = Hone({"stats", file, "--json"});
    EXPECT_EQ(json.code, 2);
    ASSERT_TRUE(json.Json().is_object()) << json.out;
    EXPECT_NE(json.Json()["error"]["message"].get<std::string>().find(part), std::string::npos);
    EXPECT_EQ(json.Json()["error"]["file"], file);
  }

  static void ExpectRejection(const Ran& ran, const std::string& file, const std::string& part) {
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(IsOneMessage(ran.err));
    EXPECT_EQ(ran.err.rfind("hone: " + file + ": ", 0), 0u) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  }

  // good.hlo as an HloProto.
  std::string GoodProto() {
    EXPECT_EQ(Hone({"run", "good.hlo", "--passes", "", "-o", "good.pb"}).code, 0);
    const std::string bytes = Read("good.pb");
    unlink(Path("good.pb").c_str());
    return bytes;
  }
};

TEST_F(BadInput, Empty) {
  Write("bad.hlo", "");
  ExpectRejected("bad.hlo", "the file is empty");
}

TEST_F(BadInput, OnlySpaces) {
  Write("bad.hlo", " \n\n");
  ExpectRejected("bad.hlo", "the file is empty");
}

TEST_F(BadInput, NoSuchFile) { ExpectRejected("missing.hlo", "No such file"); }

TEST_F(BadInput, PlainText) {
  Copy("not_hlo.txt");
  ExpectRejected("not_hlo.txt", "text, but not HLO");
}

TEST_F(BadInput, StableHlo) {
  Copy("stablehlo.mlir.txt");
  ExpectRejected("stablehlo.mlir.txt", "MLIR, not HLO");
}

// Where it is well-formed it is lowered: tests/python/test_jax_translation.py.
TEST_F(BadInput, BytecodeByAnyName) {
  Write("bad.bin", "ML\xefR and no more");
  ExpectRejected("bad.bin", "it was lowered by the python3");
}

TEST_F(BadInput, APipeWithoutAWriterIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  ExpectRejected("pipe", "not a regular file");
}

TEST_F(BadInput, ParseErrorShowsTheLine) {
  Copy("bad_parse.hlo");
  ExpectRejected("bad_parse.hlo", "5:24");
  ExpectRejected("bad_parse.hlo", "ROOT out = f32[8]{0} exponentail(x)");
}

TEST_F(BadInput, VerifierError) {
  Copy("bad_verify.hlo");
  ExpectRejected("bad_verify.hlo", "Expected instruction to have shape equal to f32[8]");
}

// Each computation calls the one before it twice: 2^40 additions.
TEST_F(BadInput, CallsThatDoubleFortyTimes) {
  std::string text =
      "HloModule d\nc_0 {\n p = f32[4] parameter(0)\n ROOT a = f32[4] add(p, p)\n}\n";
  for (int i = 1; i <= 40; ++i) {
    text += fmt::format(
        "c_{0} {{\n p = f32[4] parameter(0)\n a = f32[4] call(p), to_apply=c_{1}\n"
        " ROOT b = f32[4] call(a), to_apply=c_{1}\n}}\n",
        i, i - 1);
  }
  Write("bad.hlo", text +
                       "ENTRY main {\n p = f32[4] parameter(0)\n"
                       " ROOT r = f32[4] call(p), to_apply=c_40\n}\n");
  ExpectRejected("bad.hlo", "are 5.5e+12 instructions");
}

TEST_F(BadInput, TuplesThatNestTooDeep) {
  std::string shape = "f32[4]";
  std::string text = "HloModule d\nENTRY main {\n x0 = f32[4] parameter(0)\n";
  for (int i = 1; i <= 40; ++i) {
    shape = "(" + shape + ")";
    text += fmt::format(" {} x{} = {} tuple(x{})\n", i == 40 ? "ROOT" : "", i, shape, i - 1);
  }
  Write("bad.hlo", text + "}\n");
  ExpectRejected("bad.hlo", "tuples nested more than 24 deep");
}

TEST_F(BadInput, CutText) {
  const std::string text = Read("good.hlo");
  Write("bad.hlo", text.substr(0, text.size() - 40));
  ExpectRejected("bad.hlo", "XLA cannot parse it");
}

TEST_F(BadInput, LargeFileIsNotRead) {
  Write("bad.hlo", "");
  ASSERT_EQ(truncate(Path("bad.hlo").c_str(), 200 << 20), 0);
  ExpectRejected("bad.hlo", "200 MiB");
}

TEST_F(BadInput, FolderWithoutPrograms) {
  Write("folder/README.txt", "nothing here");
  Write("folder/deeper/picture.png", "nor here");
  const std::vector<std::string> before = Listing();
  for (const std::string command : {"stats", "optimize"}) {
    if (!HasCommand(command)) continue;
    ExpectRejection(Hone({command, "folder"}), "folder", "no program in this folder");
  }
  // These take one program.
  ExpectRejection(Hone({"run", "folder", "--passes", "dce"}), "folder", "this is a folder");
  ExpectRejection(Hone({"check", "folder", "good.hlo"}), "folder", "this is a folder");
  EXPECT_EQ(Listing(), before);
}

TEST_F(BadInput, CutBinary) {
  const std::string proto = GoodProto();
  ASSERT_FALSE(proto.empty());
  for (const size_t length : {size_t{1}, size_t{3}, proto.size() / 2, proto.size() - 1}) {
    Write("bad.pb", std::string_view(proto).substr(0, length));
    SCOPED_TRACE(length);
    const Ran ran = Hone({"stats", "bad.pb"});
    ExpectRejection(ran, "bad.pb", "");
  }
  Write("bad.pb", std::string_view(proto).substr(0, proto.size() / 3));
  ExpectRejected("bad.pb", "cut short");
}

TEST_F(BadInput, DamagedGzip) {
  const std::string packed = Gzipped(Read("good.hlo"));
  Write("cut.hlo.gz", std::string_view(packed).substr(0, packed.size() / 2));
  ExpectRejected("cut.hlo.gz", "gzip");
  Write("trailer.hlo.gz", std::string_view(packed).substr(0, packed.size() - 4));
  ExpectRejection(Hone({"stats", "trailer.hlo.gz"}), "trailer.hlo.gz", "gzip");
  std::string damaged = packed;
  for (size_t i = 30; i < 40; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  Write("damaged.hlo.gz", damaged);
  ExpectRejection(Hone({"stats", "damaged.hlo.gz"}), "damaged.hlo.gz", "gzip");
  Write("header.hlo.gz", packed.substr(0, 10));
  ExpectRejection(Hone({"stats", "header.hlo.gz"}), "header.hlo.gz", "gzip");
  Write("empty.hlo.gz", Gzipped(""));
  ExpectRejection(Hone({"stats", "empty.hlo.gz"}), "empty.hlo.gz", "the file is empty");
}

std::string RandomBytes(std::mt19937_64& random, size_t length) {
  std::string bytes(length, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// Length-delimited and varint fields with small numbers, nested: what a protobuf reader accepts.
std::string RandomMessage(std::mt19937_64& random, int depth) {
  std::string message;
  for (int fields = static_cast<int>(random() % 6); fields >= 0; --fields) {
    const auto number = static_cast<uint64_t>(random() % 15 + 1);
    if (random() % 3 == 0) {
      message += static_cast<char>(number << 3);
      message += static_cast<char>(random() % 128);
      continue;
    }
    std::string inner =
        depth > 0 ? RandomMessage(random, depth - 1) : RandomBytes(random, random() % 10);
    message += static_cast<char>(number << 3 | 2);
    for (size_t rest = inner.size();; rest >>= 7) {
      message += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
      if (rest <= 127) break;
    }
    message += inner;
  }
  return message;
}

// All in one run of hone: a file that kills a worker must not spoil the next.
TEST_F(BadInput, RandomBytesOfManySeeds) {
  std::vector<std::string> arguments = {"stats"};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const std::string name = fmt::format("random_{}", seed);
    Write(name, seed % 2 == 0 ? RandomBytes(random, 1 + random() % 5000)
                              : RandomMessage(random, 1 + static_cast<int>(random() % 4)));
    arguments.push_back(name);
  }
  const Ran ran = Hone(arguments);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  for (size_t i = 1; i < arguments.size(); ++i) {
    EXPECT_NE(ran.err.find("hone: " + arguments[i] + ": "), std::string::npos) << arguments[i];
  }
}

TEST_F(BadInput, RandomBytesToEveryCommand) {
  std::mt19937_64 random(1);
  Write("bad.pb", RandomBytes(random, 4096));
  ExpectRejected("bad.pb", "this is no program");
}

// Valid programs with some bytes changed may load or not; they never end hone.
TEST_F(BadInput, DamagedBinariesOfManySeeds) {
  const std::string proto = GoodProto();
  ASSERT_FALSE(proto.empty());
  std::vector<std::string> arguments = {"stats", "--json"};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::string damaged = proto;
    for (size_t i = 0; i <= seed % 5; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const std::string name = fmt::format("damaged_{}.pb", seed);
    Write(name, damaged);
    arguments.push_back(name);
  }
  arguments.push_back("good.hlo");
  const Ran ran = Hone(arguments);
  EXPECT_EQ(ran.code, 3);
  const auto json = ran.Json();
  ASSERT_TRUE(json.is_object()) << ran.out;
  ASSERT_EQ(json["results"].size(), 61u);
  for (const auto& result : json["results"]) {
    EXPECT_TRUE(result.contains("error") || result.contains("instructions"));
  }
  EXPECT_EQ(json["results"][60]["instructions"], 8);
}

TEST_F(BadInput, UnknownPassSuggestsTheNearest) {
  const std::vector<std::string> before = Listing();
  const Ran ran = Hone({"run", "good.hlo", "--passes", "dce,algsmip", "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(IsOneMessage(ran.err));
  EXPECT_NE(ran.err.find("no pass 'algsmip' (did you mean 'algsimp'?)"), std::string::npos)
      << ran.err;
  EXPECT_EQ(Listing(), before);
}

// Tests may run as root, so permissions alone make nothing unwritable.
TEST_F(BadInput, OutputThatCannotBeWritten) {
  Write("folder/file", "x");
  const std::vector<std::string> before = Listing();
  for (const std::string output :
       {"good.hlo/out.hlo", "/proc/out.hlo", "/nonexistent/out.hlo", "folder"}) {
    for (const Use& use : Uses()) {
      if (!HasCommand(use.name)) continue;
      const bool into_folders = use.name == "optimize" || use.name == "tune";
      if (into_folders && output == "folder") continue;
      std::vector<std::string> arguments = use.arguments;
      bool writes = false;
      for (std::string& argument : arguments) {
        if (argument == "FILE") argument = "good.hlo";
        if (argument != "out.hlo") continue;
        argument = output;
        writes = true;
      }
      if (!writes) continue;
      SCOPED_TRACE(fmt::format("hone {}", fmt::join(arguments, " ")));
      ExpectRejection(Hone(arguments), output, "cannot be written");
      EXPECT_EQ(Listing(), before);
    }
  }
}

TEST_F(BadInput, FullDisk) {
  const Ran ran = Hone({"run", "good.hlo", "--passes", "dce", "-o", "/dev/full"});
  ExpectRejection(ran, "/dev/full", "No space left");
}

TEST_F(BadInput, ElidedConstants) {
  Copy("elided.hlo");
  const std::vector<std::string> before = Listing();
  // A binary has no {...}.
  const Ran binary = Hone({"run", "elided.hlo", "--passes", "dce", "-o", "out.pb"});
  ExpectRejection(binary, "elided.hlo", "elided constants");
  EXPECT_EQ(Listing(), before);
  // Text keeps what it was, and says that it cannot be run.
  const Ran text = Hone({"run", "elided.hlo", "--passes", "dce", "-o", "out.hlo"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.err.find("cannot be run"), std::string::npos) << text.err;
  EXPECT_NE(Read("out.hlo").find("constant({...})"), std::string::npos);
}

TEST_F(BadInput, SomeFilesOfSeveral) {
  Write("bad.hlo", "HloModule bad\n");
  const Ran ran = Hone({"stats", "bad.hlo", "good.hlo", "--json"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(IsOneMessage(ran.err));
  ASSERT_EQ(ran.Json()["results"].size(), 2u) << ran.out;
  EXPECT_TRUE(ran.Json()["results"][0].contains("error"));
  EXPECT_EQ(ran.Json()["results"][1]["instructions"], 8);
}

}  // namespace
}  // namespace hone
