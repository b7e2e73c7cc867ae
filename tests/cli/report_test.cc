// --report of every command that has it, and `hone graph`.
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <set>

#include "hone_process.h"
#include "report/html.h"

namespace hone {
namespace {

std::string FromBase64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    static const std::string kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes += static_cast<char>(bits >> have & 255);
  }
  return bytes;
}

std::string Inflated(const std::string& bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    std::array<char, 65536> block;
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END ? text : "";
}

class ReportTest : public HoneTest {
 protected:
  ReportTest() { Copy("small.hlo"); }
  void SetUp() override {
    if (!report::HaveTemplate()) GTEST_SKIP() << report::HaveTemplate().error().message;
  }

  // The document in a report.
  nlohmann::json Document(const std::string& name) const {
    const std::string html = Read(name);
    const std::string begin = "id=\"data\">";
    const size_t at = html.find(begin);
    if (at == html.npos) return nullptr;
    const size_t from = at + begin.size();
    return nlohmann::json::parse(
        Inflated(FromBase64(html.substr(from, html.find('<', from) - from))), nullptr, false);
  }

  static std::set<std::string> Kinds(const nlohmann::json& document) {
    std::set<std::string> kinds;
    for (const auto& section : document["sections"]) kinds.insert(section["kind"]);
    return kinds;
  }
};

TEST_F(ReportTest, OfOptimize) {
  const Ran ran =
      Hone({"optimize", "small.hlo", "--budget", "40steps", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["report"], "r.html");
  const auto document = Document("r.html");
  EXPECT_EQ(document["command"], "optimize");
  EXPECT_EQ(document["headline"]["verified"], "yes");
  const std::set<std::string> kinds = Kinds(document);
  for (const char* kind : {"curve", "passes", "ablation", "graphs", "kernels"}) {
    EXPECT_TRUE(kinds.count(kind)) << kind << document["remarks"];
  }
  for (const auto& section : document["sections"]) {
    if (section["kind"] == "passes") {
      EXPECT_EQ(section["initial"].get<double>(), ran.Json()["initial"].get<double>());
      EXPECT_EQ(section["steps"].size(), ran.Json()["passes"].size());
      if (!section["steps"].empty()) {
        EXPECT_EQ(section["steps"].back()["value"].get<double>(),
                  ran.Json()["result"].get<double>());
      }
    }
    if (section["kind"] == "graphs") {
      EXPECT_EQ(section["views"][1]["graph"]["names"].size(), ran.Json()["result"].get<size_t>());
    }
  }
}

// A run in which nothing could be measured still has something to look at, and says what to do.
TEST_F(ReportTest, OfTuningWithoutMeasurements) {
  const Ran ran = Hone({"tune", "small.hlo", "--budget", "0.001s", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["evaluations"], 0) << ran.out;
  EXPECT_TRUE(ran.Json()["stock_ms"].is_null());
  const std::string reason = ran.Json()["reason"];
  EXPECT_NE(reason.find("nothing could be measured in the budget"), std::string::npos) << reason;
  EXPECT_FALSE(ran.Json()["ended"].get<std::string>().empty());
  const auto document = Document("r.html");
  EXPECT_TRUE(Kinds(document).count("graphs")) << document["remarks"];
  EXPECT_TRUE(Kinds(document).count("kernels")) << document["remarks"];
  const std::string verdict = document["headline"]["verdict"];
  EXPECT_NE(verdict.find("--budget"), std::string::npos) << verdict;
}

TEST_F(ReportTest, OfTuningWhatCannotBeCompiled) {
  Write("cannot.hlo",
        "HloModule cannot\n\nENTRY main {\n  x = f32[8] parameter(0)\n"
        "  ROOT r = f32[8] custom-call(x), custom_call_target=\"nobody_knows\"\n}\n");
  const Ran ran = Hone({"tune", "cannot.hlo", "--budget", "1s", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string reason = ran.Json()["reason"];
  EXPECT_EQ(reason.find("compile"), reason.rfind("compile")) << reason;  // said once
  EXPECT_TRUE(Kinds(Document("r.html")).count("graphs"));
}

TEST_F(ReportTest, OfTuningElidedConstants) {
  Write("elided.hlo",
        "HloModule elided\n\nENTRY main {\n  x = f32[64] parameter(0)\n"
        "  c = f32[64] constant({...})\n  ROOT r = f32[64] add(x, c)\n}\n");
  const Ran ran =
      Hone({"tune", "elided.hlo", "--plan", "p.json", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["report"], "r.html");
  EXPECT_EQ(ran.Json()["plan_file"], "p.json");
  EXPECT_TRUE(Kinds(Document("r.html")).count("graphs"));
}

TEST_F(ReportTest, OfTune) {
  const Ran ran = Hone({"tune", "small.hlo", "--budget", "10s,3steps", "--stages", "flags",
                        "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto document = Document("r.html");
  EXPECT_EQ(document["command"], "tune");
  EXPECT_TRUE(Kinds(document).count("curve")) << document["remarks"];
  EXPECT_TRUE(Kinds(document).count("graphs")) << document["remarks"];
  EXPECT_NE(document["facts"].dump().find("cores busy"), std::string::npos) << document["facts"];
}

TEST_F(ReportTest, OfMemory) {
  const Ran ran =
      Hone({"memory", "small.hlo", "--machine", "generic", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto document = Document("r.html");
  EXPECT_EQ(document["headline"]["verified"], "yes");
  EXPECT_EQ(Kinds(document), (std::set<std::string>{"scratchpad", "traffic", "graphs"}));
  for (const auto& section : document["sections"]) {
    if (section["kind"] != "traffic") continue;
    int64_t bytes = 0;
    for (const auto& row : section["tensors"]) {
      bytes += row[3].get<int64_t>() + row[4].get<int64_t>();
    }
    EXPECT_EQ(bytes, ran.Json()["dram_bytes"]["hone"].get<int64_t>());
  }
}

TEST_F(ReportTest, OfRewrites) {
  const Ran ran =
      Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto document = Document("r.html");
  EXPECT_EQ(document["headline"]["verified"], "skipped");
  EXPECT_EQ(document["sections"][0]["sites"].size(), ran.Json()["sites"].size());
  EXPECT_EQ(document["sections"][1]["views"].size(), 1u);
  ASSERT_EQ(Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--apply", "all", "--verify",
                  "--report", "applied.html"})
                .code,
            0);
  const auto applied = Document("applied.html");
  EXPECT_EQ(applied["headline"]["verified"], "yes");
  EXPECT_EQ(applied["sections"][1]["views"].size(), 2u);
}

TEST_F(ReportTest, OfEval) {
  const Ran ran =
      Hone({"eval", "small.hlo", "--budget", "20steps", "--seeds", "1", "--report", "r.html"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto document = Document("r.html");
  EXPECT_EQ(Kinds(document), std::set<std::string>{"methods"});
  EXPECT_EQ(document["sections"][0]["rows"].size(), 1u);
}

TEST_F(ReportTest, ABadPathIsToldBeforeAnythingIsDone) {
  const std::vector<std::vector<std::string>> commands = {
      {"optimize", "small.hlo"},
      {"tune", "small.hlo"},
      {"memory", "small.hlo"},
      {"rewrites", "small.hlo", "--pass", "dce"},
      {"eval", "small.hlo"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--report", "nowhere/r.html"});
    const Ran ran = Hone(command);
    EXPECT_EQ(ran.code, 2) << command[0];
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
    EXPECT_NE(ran.err.find("nowhere/r.html"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(Listing(), std::vector<std::string>{"small.hlo"});
}

class GraphTest : public HoneTest {
 protected:
  GraphTest() { Copy("small.hlo"); }
};

TEST_F(GraphTest, ForModelExplorer) {
  const Ran ran = Hone({"graph", "small.hlo", "-o", "g.json", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["output"], "g.json");
  const auto graph = nlohmann::json::parse(Read("g.json"), nullptr, false);
  size_t nodes = 0;
  for (const auto& one : graph["graphs"]) nodes += one["nodes"].size();
  EXPECT_EQ(nodes, ran.Json()["instructions"].get<size_t>());
}

TEST_F(GraphTest, ForGraphviz) {
  const Ran ran = Hone({"graph", "small.hlo", "--format", "dot"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("digraph ", 0), 0u);
  if (!std::filesystem::exists("/usr/bin/dot")) return;
  Write("g.dot", ran.out);
  const Ran drawn = RunProcess({"/usr/bin/dot", "-Tsvg", "-o", "g.svg", "g.dot"}, folder());
  EXPECT_EQ(drawn.code, 0) << drawn.err;
}

TEST_F(GraphTest, SaysWhatIsWrong) {
  EXPECT_EQ(Hone({"graph", "nowhere.hlo"}).code, 2);
  EXPECT_EQ(Hone({"graph", "small.hlo", "--format", "png"}).code, 2);
  EXPECT_EQ(Hone({"graph", "small.hlo", "-o", "nowhere/g.json"}).code, 2);
}

}  // namespace
}  // namespace hone
