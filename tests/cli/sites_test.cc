#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class SitesTest : public HoneTest {
 protected:
  SitesTest() {
    Write("p.hlo",
          "HloModule p\n\nENTRY main {\n  x = f32[256,512] parameter(0)\n"
          "  t = f32[512,256] transpose(x), dimensions={1,0}\n  e = f32[512,256] exponential(t)\n"
          "  n = f32[512,256] negate(e)\n  ROOT m = f32[512,256] multiply(n, e)\n}\n");
  }
};

TEST_F(SitesTest, AreListedAndDecidedByHand) {
  const Ran listed = Hone({"sites", "p.hlo", "--json", "-q"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto sites = listed.Json().at("sites");
  ASSERT_FALSE(sites.empty());
  for (const auto& site : sites) {
    EXPECT_GE(site.at("choices").size(), 2u);
    EXPECT_EQ(site.at("key").get<std::string>().size(), 16u);
  }
  EXPECT_FALSE(listed.Json().at("flags").empty());

  const auto& first = sites[0];
  std::string other;
  for (const auto& choice : first.at("choices")) {
    if (choice != first.at("stock")) other = choice;
  }
  const std::string key = first.at("key");
  const Ran chosen = Hone(
      {"sites", "p.hlo", "--choose", key + "=" + other, "--plan-out", "plan.json", "--json", "-q"});
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_GT(chosen.Json().at("applied"), 0);
  EXPECT_NE(Read("plan.json").find(key), std::string::npos);
  EXPECT_EQ(Hone({"apply", "plan.json", "p.hlo", "-o", "out.hlo", "-q"}).code, 0);

  // On top of it, back again.
  const Ran back = Hone({"sites", "p.hlo", "--plan", "plan.json", "--choose",
                         key + "=" + first.at("stock").get<std::string>(), "--plan-out",
                         "back.json", "--json", "-q"});
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(back.Json().at("applied"), 0);
}

TEST_F(SitesTest, AKindAnOpcodeOrAFlagWillDo) {
  const auto sites = Hone({"sites", "p.hlo", "--json", "-q"}).Json().at("sites");
  const std::string kind = sites[0].at("kind");
  const std::string both = kind + ":" + sites[0].at("opcode").get<std::string>();
  const size_t of_kind =
      Hone({"sites", "p.hlo", "--at", kind, "--json", "-q"}).Json().at("sites").size();
  const size_t of_both =
      Hone({"sites", "p.hlo", "--at", both, "--json", "-q"}).Json().at("sites").size();
  EXPECT_GE(of_both, 1u);
  EXPECT_GE(of_kind, of_both);
  const auto flags = Hone({"sites", "p.hlo", "--json", "-q"}).Json().at("flags");
  const std::string name = flags[0].at("name");
  const std::string value = flags[0].at("choices")[1];
  const Ran flag =
      Hone({"sites", "p.hlo", "--choose", name + "=" + value, "--plan-out", "plan.json", "-q"});
  EXPECT_EQ(flag.code, 0) << flag.err;
  EXPECT_NE(Read("plan.json").find(name), std::string::npos);
}

TEST_F(SitesTest, BadInputIsToldAtOnce) {
  for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
           {"sites"},
           {"sites", "p.hlo", "--at", "nothing"},
           {"sites", "p.hlo", "--choose", "layout=0,1"},
           {"sites", "p.hlo", "--plan-out", "plan.json"},
           {"sites", "p.hlo", "--choose", "layout", "--plan-out", "plan.json"},
           {"sites", "p.hlo", "--choose", "nothing=keep", "--plan-out", "plan.json"},
           {"sites", "p.hlo", "--choose", "fusion_edge=maybe", "--plan-out", "plan.json"},
           {"sites", "p.hlo", "--choose", "xla_cpu_scheduler_type=x", "--plan-out", "plan.json"},
           {"sites", "p.hlo", "--plan", "missing.json"}}) {
    const Ran ran = Hone(call);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
  EXPECT_EQ(Listing(), std::vector<std::string>{"p.hlo"});
}

}  // namespace
}  // namespace hone
