// hone record and hone with, and what hone tune makes of a recording; the scripts' side of it is
// tested in tests/python/test_jax_scripts.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "hone_process.h"
#include "jobs/input.h"
#include "jobs/package.h"
#include "jobs/recording.h"

namespace hone {
namespace {

class RecordTest : public HoneTest {
 protected:
  // tuned.db, without anything in it.
  void MakeStore() {
    Write("lines.jsonl", "");
    ASSERT_EQ(Hone({"store", "import", "tuned.db", "lines.jsonl"}).code, 2);  // which makes it
  }
};

TEST_F(RecordTest, BadInputIsToldAtOnce) {
  Write("text.db", "this is no store, and long enough that SQLite can tell that it is none at all");
  Write("broken/index.json", R"({"format": "hone recording", "python": 3})");
  Write("idle/index.json", R"({"format": "hone recording", "python": "python3", "modules": []})");
  const std::vector<std::vector<std::string>> calls = {
      {"record"},
      {"record", "-o", "recorded"},
      {"record", "-o", "text.db", "--", "true"},
      {"record", "--", "no-such-program-anywhere"},
      {"with"},
      {"with", "missing.db", "--", "true"},
      {"with", "text.db", "--", "true"},
      {"tune", "broken"},
      {"tune", "idle"},
      {"tune", "missing.mlir"},
      {"tune", "missing.py:step(f32[8])"},
      {"optimize", "missing.mlir"},
  };
  for (const std::vector<std::string>& call : calls) {
    const Ran ran = Hone(call);
    EXPECT_EQ(ran.code, 2) << testing::PrintToString(call) << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << testing::PrintToString(call) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(RecordTest, TheScriptIsToldWhereToRecord) {
  const Ran ran =
      Hone({"record", "-o", "new/folder", "--", "sh", "-c",
            "echo \"$HONE_JAX\"; echo \"$PYTHONPATH\"; echo \"$@\"; exit 7", "sh", "--json"});
  EXPECT_EQ(ran.code, 7) << ran.err;
  const size_t second = ran.out.find('\n') + 1;
  EXPECT_EQ(ran.out.substr(0, second), "record\n");
  EXPECT_EQ(ran.out.find(Path("new/folder") + "\n"), second) << ran.out;
  EXPECT_NE(ran.out.find("/hone/jax/site"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\n--json\n"), std::string::npos) << ran.out;
  EXPECT_EQ(Listing(), (std::vector<std::string>{"new", "new/folder"}));
}

TEST_F(RecordTest, TheScriptRunsWithAStore) {
  MakeStore();
  const Ran ran = Hone({"with", "tuned.db", "--", "sh", "-c", "echo \"$HONE_JAX\""});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.find("with\n" + Path("tuned.db") + "\n"), 0u) << ran.out;
}

TEST_F(RecordTest, ScriptsKeepTheirMemoryUnlessTheUserSaysOtherwise) {
  MakeStore();
  const auto tunables = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "with");
    flags.insert(flags.end(),
                 {"tuned.db", "--", "sh", "-c", "echo \"$GLIBC_TUNABLES;$HONE_KEEP_MEMORY\""});
    return Hone(flags).out;
  };
  const std::string kept = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184";
  unsetenv("GLIBC_TUNABLES");
  EXPECT_EQ(tunables({}), "glibc.malloc.hugetlb=1:" + kept + ":glibc.malloc.arena_max=1;\n");
  EXPECT_EQ(tunables({"--no-huge-pages"}), ";0\n");
  setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2", 1);
  EXPECT_EQ(tunables({}), "glibc.malloc.arena_max=2:glibc.malloc.hugetlb=1:" + kept + ";\n");
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0", 1);
  EXPECT_EQ(tunables({}), "glibc.malloc.hugetlb=0:" + kept + ":glibc.malloc.arena_max=1;\n");
  unsetenv("GLIBC_TUNABLES");
}

TEST(RecordingTest, BudgetGoesWhereTheTimeIs) {
  const jobs::Recording recording{
      "r", "python3", {{"a", 100, 6}, {"b", 10, 2}, {"rare", 1, 0.05}, {"c", 1, 0.12}}};
  const std::vector<jobs::Share> shares = jobs::SharesOf(recording, 60);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(shares[0].file, "a");
  EXPECT_NEAR(shares[0].seconds, 180 * 6 / 8.12, 1e-9);
  EXPECT_NEAR(shares[1].seconds, 180 * 2 / 8.12, 1e-9);
  EXPECT_EQ(shares[2].file, "c");
  EXPECT_EQ(shares[2].seconds, 5);
  EXPECT_EQ(jobs::SharesOf(recording, 1)[2].seconds, 1);
  EXPECT_TRUE(jobs::SharesOf({"r", "python3", {{"never", 0, 0}}}, 60).empty());
}

TEST_F(RecordTest, IndexesAreRead) {
  Write("r/index.json", R"({"format": "hone recording", "python": "p", "modules": [
      {"file": "a.pb", "calls": 2, "seconds": 1.5}, {"file": "b.pb", "calls": 1, "seconds": 2}]})");
  const auto recording = jobs::ReadRecording(Path("r"));
  ASSERT_TRUE(recording && *recording);
  EXPECT_EQ((*recording)->python, "p");
  ASSERT_EQ((*recording)->modules.size(), 2u);
  EXPECT_EQ((*recording)->modules[0].file, Path("r/b.pb"));
  EXPECT_EQ((*recording)->modules[1].calls, 2);
  // A folder with an index of its own is no recording, and is none of ours to complain about.
  Write("other/index.json", "[]");
  for (const char* name : {"other", "r/index.json", "missing"}) {
    const auto none = jobs::ReadRecording(Path(name));
    EXPECT_TRUE(none && !*none) << name;
  }
}

TEST(LoweringTest, KnowsWhatIsToBeLowered) {
  for (const char* given : {"a.mlir", "x/train.py:step", "t.py:Model.call", "t.py:f(f32[8,16])"}) {
    EXPECT_TRUE(jobs::NeedsLowering(given)) << given;
  }
  for (const char* given :
       {"a.hlo", "train.py", "train.py:", "py:step", "t.py:3", "t.py:f(", "mlir"}) {
    EXPECT_FALSE(jobs::NeedsLowering(given)) << given;
  }
}

}  // namespace
}  // namespace hone
