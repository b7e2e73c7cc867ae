// hone dataset, and programs by URI in the other commands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "dataset/index.h"
#include "hone_process.h"
#include "support/programs.h"

namespace hone {
namespace {

using hone::testing::ReadData;

class DatasetCommand : public HoneTest {
 protected:
  // Five programs, of which two are one network at two sizes.
  DatasetCommand() {
    Copy("small.hlo");
    Write("set/small/small_fwd.hlo", Read("small.hlo"));
    std::string wider = Read("small.hlo");
    for (size_t at; (at = wider.find("16")) != wider.npos;) wider.replace(at, 2, "48");
    Write("set/small/wider_fwd.hlo", wider);
    for (const char* name : {"kmeans/jax010_kmeans_while.hlo", "misc/jax010_gp_nll_train.hlo",
                             "sim/jax010_nbody_leapfrog_scan.hlo"}) {
      Write(std::string("set/") + name, ReadData(name));
    }
    std::filesystem::remove(Path("small.hlo"));
  }

  dataset::Index ReadIndex() {
    const auto index = dataset::ReadIndex(Path("set"));
    EXPECT_TRUE(index) << index.error().message;
    return index.value_or(dataset::Index{});
  }
  dataset::Row RowOf(const std::string& file) {
    for (const dataset::Row& row : ReadIndex().rows) {
      if (row.file == file) return row;
    }
    ADD_FAILURE() << "no row " << file;
    return {};
  }
  void ExpectFinding(const std::string& part) {
    const Ran ran = Hone({"dataset", "check", "set"});
    EXPECT_EQ(ran.code, 3);
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  }
};

TEST_F(DatasetCommand, IndexSplitCheck) {
  const Ran indexed = Hone({"dataset", "index", "set", "--workers", "2", "--json"});
  ASSERT_EQ(indexed.code, 0) << indexed.err;
  EXPECT_EQ(indexed.Json()["programs"], 5);
  EXPECT_EQ(indexed.Json()["groups"].size(), 4u);
  const dataset::Row small = RowOf("small/small_fwd.hlo");
  const dataset::Row wider = RowOf("small/wider_fwd.hlo");
  EXPECT_EQ(small.group, wider.group);
  EXPECT_NE(small.fingerprint, wider.fingerprint);
  EXPECT_EQ(small.group, std::min(small.fingerprint, wider.fingerprint));
  EXPECT_EQ(small.instructions, 8);
  EXPECT_EQ(small.family, "small");
  EXPECT_EQ(small.phase, "fwd");
  EXPECT_EQ(RowOf("misc/jax010_gp_nll_train.hlo").phase, "train");
  EXPECT_EQ(Hone({"dataset", "check", "set"}).code, 0);

  for (const char* by : {"hash", "family"}) {
    const Ran split = Hone({"dataset", "split", "set", "--by", by, "--seed", "3", "--json"});
    ASSERT_EQ(split.code, 0) << split.err;
    size_t programs = 0;
    const auto json = split.Json();
    for (const auto& one : json["splits"]) programs += one["programs"].get<size_t>();
    EXPECT_EQ(programs, 5u);
    EXPECT_EQ(RowOf("small/small_fwd.hlo").split, RowOf("small/wider_fwd.hlo").split);
    EXPECT_EQ(Hone({"dataset", "check", "set"}).code, 0);
  }
  EXPECT_EQ(Listing().size(), 11u);  // five programs, five folders, index.tsv
}

TEST_F(DatasetCommand, IndexKeepsWhatIsKnown) {
  Write("set/index.tsv",
        "file\tfamily\tphase\tconfig\tinstructions\tjax\tsplit\n"
        "sim/jax010_nbody_leapfrog_scan.hlo\tphysics\tother\tN=64\t1\t0.10.2\ttest\n"
        "gone.hlo\tx\tfwd\t\t1\t\ttrain\n");
  const Ran ran = Hone({"dataset", "index", "set"});
  ASSERT_EQ(ran.code, 0);
  EXPECT_NE(ran.err.find("'gone.hlo' is there no more"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("4 programs have no split"), std::string::npos) << ran.err;
  const dataset::Index index = ReadIndex();
  ASSERT_EQ(index.rows.size(), 5u);
  const dataset::Row& row = index.rows[0];
  EXPECT_EQ(row.file, "sim/jax010_nbody_leapfrog_scan.hlo");
  EXPECT_EQ(row.family, "physics");
  EXPECT_EQ(row.config, "N=64");
  EXPECT_EQ(row.instructions, 166);
  EXPECT_EQ(row.extra.at("jax"), "0.10.2");
  EXPECT_EQ(row.split, "test");
  const std::string text = Read("set/index.tsv");
  EXPECT_EQ(Hone({"dataset", "index", "set"}).code, 0);
  EXPECT_EQ(Read("set/index.tsv"), text);
}

TEST_F(DatasetCommand, WhatXlaCannotReadIsLeftOut) {
  Write("set/bad.hlo", "HloModule bad\n\nENTRY main {");
  const Ran ran = Hone({"dataset", "index", "set", "--json"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("hone: set/bad.hlo: "), std::string::npos) << ran.err;
  EXPECT_EQ(ran.Json()["failed"][0]["file"], "bad.hlo");
  EXPECT_EQ(ReadIndex().rows.size(), 5u);
  EXPECT_EQ(Hone({"dataset", "check", "set"}).code, 0);
}

TEST_F(DatasetCommand, BadInputWritesNothing) {
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const std::vector<std::string> before = Listing();
    const Ran ran = Hone(arguments);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(IsOneMessage(ran.err));
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(Listing(), before);
  };
  expect({"dataset"}, "give an action");
  expect({"dataset", "idnex", "set"}, "no action 'idnex' (did you mean 'index'?)");
  expect({"dataset", "index"}, "FOLDER is required; see `hone dataset index --help`");
  expect({"dataset", "list", "--jsno"}, "no flag --jsno (did you mean '--json'?)");
  expect({"dataset", "index", "nowhere"}, "hone: nowhere: cannot be listed");
  expect({"dataset", "split", "set"}, "set/index.tsv: cannot be read; `hone dataset index");
  expect({"dataset", "check", "set"}, "set/index.tsv: cannot be read");
  expect({"dataset", "list", "set"}, "set/index.tsv: cannot be read");
  expect({"dataset", "list", "nowhere"}, "no data set 'nowhere'");
  Write("set/index.tsv", "file\tsplit\na.hlo\n");
  for (const char* action : {"index", "split", "check", "list"}) {
    expect({"dataset", action, "set"}, "hone: set/index.tsv: line 2: 1 fields");
  }
  expect({"dataset", "split", "set", "--fractions", "1,1,1"}, "no fractions");
  expect({"dataset", "split", "set", "--fractions", "0.5,0.5"}, "is not three numbers");
  expect({"dataset", "split", "set", "--fractions", "0.5,0.5,0,"}, "is not three numbers");
  expect({"dataset", "split", "set", "--by", "size"}, "--by");
  expect({"stats", "set/a", "--datasets", "nowhere"}, "no folder 'nowhere'");
}

TEST_F(DatasetCommand, CheckSeesWhatIsWrong) {
  ASSERT_EQ(Hone({"dataset", "index", "set"}).code, 0);
  ASSERT_EQ(Hone({"dataset", "split", "set"}).code, 0);
  const std::string text = Read("set/index.tsv");
  const dataset::Row small = RowOf("small/small_fwd.hlo");
  const auto with = [&](auto change) {
    dataset::Index index = *dataset::ParseIndex(text);
    for (dataset::Row& row : index.rows) {
      if (row.file == small.file) change(row);
    }
    Write("set/index.tsv", dataset::FormatIndex(index));
  };
  with([](dataset::Row& row) { row.instructions = 7; });
  ExpectFinding("small_fwd.hlo: it has 8 instructions, 7 in the index");
  with([](dataset::Row& row) { row.fingerprint = std::string(32, 'f'); });
  ExpectFinding("small_fwd.hlo: its fingerprint is " + small.fingerprint);
  with([](dataset::Row& row) { row.split = row.split == "test" ? "train" : "test"; });
  ExpectFinding("near-duplicates lie in different splits");
  with([](dataset::Row& row) { row.split = ""; });
  ExpectFinding("small_fwd.hlo: has no split");
  with([](dataset::Row& row) { row.group = std::string(32, 'f'); });
  ExpectFinding("not named by the smallest fingerprint");
  with([](dataset::Row& row) { row.file = "small/renamed.hlo"; });
  ExpectFinding("renamed.hlo: the file is not there");
  ExpectFinding("small_fwd.hlo: has no line in the index");
  const Ran json = Hone({"dataset", "check", "set", "--json"});
  EXPECT_EQ(json.code, 3);
  EXPECT_EQ(json.Json()["findings"].size(), 2u);
}

TEST_F(DatasetCommand, List) {
  ASSERT_EQ(Hone({"dataset", "index", "set"}).code, 0);
  const auto uris = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"dataset", "list", "--json", "--datasets", "set"});
    const Ran ran = Hone(arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::set<std::string> found;
    const auto json = ran.Json();
    for (const auto& program : json["programs"]) found.insert(program["uri"]);
    return found;
  };
  EXPECT_EQ(uris({"set"}).size(), 5u);
  EXPECT_EQ(uris({"set/small"}),
            (std::set<std::string>{"set/small/small_fwd", "set/small/wider_fwd"}));
  EXPECT_EQ(uris({"set", "--family", "kmeans"}),
            std::set<std::string>{"set/kmeans/jax010_kmeans_while"});
  EXPECT_EQ(uris({"set", "--phase", "train"}),
            std::set<std::string>{"set/misc/jax010_gp_nll_train"});
  EXPECT_EQ(uris({"set", "--split", "test"}), std::set<std::string>{});
  EXPECT_TRUE(uris({}).contains("set/small/small_fwd"));
  const Ran table = Hone({"dataset", "list", "set"});
  EXPECT_NE(table.out.find("set/small/wider_fwd "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("\n5 programs\n"), std::string::npos) << table.out;
  std::filesystem::rename(Path("set"), Path("moved"));
  const Ran wrong = Hone({"dataset", "list", "moved/smal1", "--datasets", "moved"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'moved/small'?"), std::string::npos) << wrong.err;
}

// A program by its URI is the program by its path, in every command that reads one.
TEST_F(DatasetCommand, UrisStandForFiles) {
  std::filesystem::create_directory(Path("elsewhere"));
  std::filesystem::rename(Path("set"), Path("elsewhere/set"));
  const std::string uri = "set/small/small_fwd";
  const std::string path = "elsewhere/set/small/small_fwd.hlo";
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--datasets", "elsewhere/set"});
    return Hone(arguments);
  };
  const Ran stats = with({"stats", uri, "--json"});
  ASSERT_EQ(stats.code, 0) << stats.err;
  EXPECT_EQ(stats.Json()["file"], path);
  EXPECT_EQ(with({"stats", "set/small", "--json"}).Json()["results"].size(), 2u);
  EXPECT_EQ(with({"run", uri, "--passes", "dce"}).out, Hone({"run", path, "--passes", "dce"}).out);
  EXPECT_EQ(with({"check", uri, path}).code, 0);
  ASSERT_EQ(with({"optimize", uri, "--budget", "50steps", "--recipe", "r.json"}).code, 0);
  EXPECT_EQ(with({"replay", "r.json", "--program", uri}).code, 0);

  const Ran wrong = with({"stats", "set/small/smal_fwd"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'set/small/small_fwd'?"), std::string::npos) << wrong.err;
  // A path that is there wins.
  Copy("small_different.hlo");
  std::filesystem::create_directories(Path("set/small"));
  std::filesystem::rename(Path("small_different.hlo"), Path(uri));
  EXPECT_EQ(with({"stats", uri, "--json"}).Json()["file"], uri);
}

// In a tree like the one it is built in, hone finds the programs that it brings along.
TEST_F(DatasetCommand, ShippedProgramsHaveUris) {
  Write("tree/data/index.tsv", "file\tfamily\na/b.hlo\tgpt2\n");
  std::filesystem::create_directories(Path("tree/build/bin"));
  std::filesystem::copy(HONE_BINARY, Path("tree/build/bin/hone"));
  const Ran ran = RunProcess({Path("tree/build/bin/hone"), "dataset", "list", "--json"}, folder());
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["programs"][0]["uri"], "models/a/b");
}

}  // namespace
}  // namespace hone
