#include "jobs/targets.h"

#include "folder.h"

namespace hone::jobs {
namespace {

class TargetsTest : public FolderTest {};

TEST_F(TargetsTest, OneFileIsNamedSeveralLieInAFolder) {
  EXPECT_EQ(*Targets({"a.hlo"}, Path("out"), ".json"), std::vector<std::string>{Path("out")});
  EXPECT_TRUE(Listing().empty());
  EXPECT_EQ(*Targets({"x/a.hlo", "b.pb"}, Path("out"), ".json"),
            (std::vector<std::string>{Path("out/a.json"), Path("out/b.json")}));
  EXPECT_EQ(Listing(), std::vector<std::string>{"out"});
  // The folder is there now, so that one file goes into it, too.
  EXPECT_EQ(*Targets({"a.hlo"}, Path("out"), ".json"),
            std::vector<std::string>{Path("out/a.json")});
  EXPECT_EQ(*Targets({"a.hlo", "b.hlo"}, "", ".json"), std::vector<std::string>(2));
  EXPECT_FALSE(Targets({"x/a.hlo", "y/a.hlo"}, Path("out"), ".json"));
}

TEST_F(TargetsTest, AllAreTriedBeforeAnythingIsDone) {
  std::vector<std::string> plans;
  std::vector<std::string> pages;
  const std::string plan = Path("plan");
  const std::string page = Path("no/page.html");
  const auto planned = PlanTargets({"a.hlo"}, {{plan, ".json", plans}, {page, ".html", pages}});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().file, page);
  EXPECT_EQ(plans, std::vector<std::string>{plan});
  EXPECT_TRUE(Listing().empty());
}

}  // namespace
}  // namespace hone::jobs
