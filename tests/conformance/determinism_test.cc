// One text each: a pass gives the same bytes in every process, wherever its memory comes to lie.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/programs.h"
#include "wire/worker_process.h"

namespace hone {
namespace {

using testing::MakePool;
using testing::MustLoad;
using testing::ReadData;

constexpr int kProcesses = 5;

// What comes before the pass in question: call sites inlined and joined lanes make work for rules.
const std::vector<std::vector<std::string>> kBefore = {
    {},
    {"call-inliner:every_call_site", "algsimp", "dce", "reshape-mover", "constant_folding",
     "algsimp", "dce", "cse", "rules", "algsimp", "cse", "batch_lanes", "cse"}};

// Of XLA's passes a sample: what most orders are made of.
const std::set<std::string> kOfXla = {"algsimp", "batch-dot-simplification", "call-inliner",
                                      "constant_folding", "cse", "dce", "dot-merger",
                                      "reshape-mover", "tuple-simplifier",
                                      "while-loop-simplifier"};

std::vector<Link> LinksOf(const Pool& pool, const std::vector<std::string>& passes) {
  std::vector<Link> links;
  for (const std::string& pass : passes) links.push_back({testing::PassNamed(pool, pass), {}});
  return links;
}

class OneText : public ::testing::TestWithParam<std::string> {};

TEST_P(OneText, OfEveryPassInFreshProcesses) {
  std::map<std::string, std::set<std::string>> texts;  // by passes
  for (int process = 0; process < kProcesses; ++process) {
    PoolOptions options;
    options.worker_path = wire::FindProgram("hone-random-worker");
    const auto pool = MakePool(options);
    const ProgramInfo program = MustLoad(*pool, ReadData(GetParam()));
    const size_t count = pool->passes().size();
    for (const std::vector<std::string>& before : kBefore) {
      // In another order each time, so that what was done before leaves another heap behind.
      for (size_t i = 0; i < count; ++i) {
        const auto pass = static_cast<PassId>((i + 41 * static_cast<size_t>(process)) % count);
        const PassInfo& info = pool->passes()[pass];
        const bool own = info.kind == PassKind::kRules || info.kind == PassKind::kImplementation;
        if (!own && kOfXla.count(info.name) == 0) continue;
        StateName state{program.id, LinksOf(*pool, before)};
        state.links.push_back({pass, {}});
        const StatusOr<Exported> exported = pool->Export(state, ExportFormat::kText);
        texts[info.name + (before.empty() ? "" : " after others")].insert(
            exported ? exported->bytes : exported.error().message);
      }
    }
  }
  EXPECT_GT(texts.size(), 60u);
  for (const auto& [passes, all] : texts) EXPECT_EQ(all.size(), 1u) << passes;
}

INSTANTIATE_TEST_SUITE_P(Programs, OneText,
                         ::testing::Values("bert/hf_fwd_mlm_l2_d128.hlo", "hloenv/jaxrl_qr.hlo",
                                           "kmeans/jax010_kmeans_while.hlo",
                                           "misc/jax010_int8_mlp_fwd.hlo",
                                           "moe/jax010_moe_sorted_scan_fwd.hlo"),
                         [](const auto& info) {
                           std::string name = info.param.substr(info.param.find('/') + 1);
                           name.resize(name.rfind('.'));
                           return name;
                         });

// Three lanes, of which the first can be joined with either of the others, some times over. `turned`:
// the text has them in another order, and so has the memory, while the program is the same.
std::string Lanes(bool turned) {
  std::string text = "HloModule lanes\nENTRY main {\n";
  std::string results;
  std::string shapes;
  int parameters = 0;
  for (int times = 0; times < 6; ++times) {
    std::vector<std::string> lanes;
    for (const auto& [rows, columns] :
         {std::pair(10 + times, 100 + times), std::pair(10 + times, 200 + times),
          std::pair(30 + times, 100 + times)}) {
      const std::string shape =
          "f32[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
      const std::string name = "p" + std::to_string(parameters);
      std::string& lane = lanes.emplace_back();
      lane = "  " + name + " = " + shape + " parameter(" + std::to_string(parameters++) + ")\n";
      std::string last = name;
      for (const char* opcode : {"sine", "cosine", "tanh", "exponential", "negate", "sine"}) {
        const std::string next = last + "x";
        lane += "  " + next + " = " + shape + " " + opcode + "(" + last + ")\n";
        last = next;
      }
      results += (results.empty() ? "" : ", ") + last;
      shapes += (shapes.empty() ? "" : ", ") + shape;
    }
    if (turned) std::swap(lanes[1], lanes[2]);
    for (const std::string& lane : lanes) text += lane;
  }
  return text + "  ROOT out = (" + shapes + ") tuple(" + results + ")\n}\n";
}

TEST(BatchLanes, GoesByThePlaceInTheProgramNotByTheAddress) {
  Pool& pool = testing::SharedPool();
  std::set<std::string> made;
  for (const bool turned : {false, true}) {
    const ProgramInfo program = MustLoad(pool, Lanes(turned));
    made.insert(program.fingerprint.ToHex());
    ApplyRequest request;
    request.from.program = program.id;
    request.passes = {testing::PassNamed(pool, "batch_lanes")};
    const StatusOr<Applied> applied = pool.Apply(request);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_TRUE(applied->steps.at(0).changed);
    made.insert(applied->steps[0].state.ToHex());
  }
  EXPECT_EQ(made.size(), 2u) << "one program, and one result";
}

}  // namespace
}  // namespace hone
