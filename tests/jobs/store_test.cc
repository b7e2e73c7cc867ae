#include "jobs/store.h"

#include "folder.h"

namespace hone::jobs {
namespace {

class StoreJobs : public FolderTest {
 protected:
  StoreJobs() : file_(Path("store.db")) {
    const auto store = store::Store::Open(file_);
    EXPECT_TRUE(store);
    EXPECT_TRUE((*store)->AddOutcome({"a processor", 2, "xla 1", "hone 1"},
                                     {"p1", "h1", true, "true", "", 0.02, 0.01, 2, 1.9, 2.1},
                                     {"h1", R"({"a": 1})", {}}));
    EXPECT_TRUE((*store)->AddProgram({"p1", "module", "a.hlo", 12}, {}));
    store::Answer order;
    order.program = "p2";
    order.kind = "order";
    order.question = "op_count simplify";
    order.cost = 7;
    order.text = R"({"passes": []})";
    EXPECT_TRUE((*store)->AddAnswer({"p2", "other", "b.hlo", 9}, order));
  }

  const std::string file_;
};

TEST_F(StoreJobs, ListsWithoutTextsAndShowsWithThem) {
  const auto list = ListStore(file_);
  ASSERT_TRUE(list) << list.error().error.message;
  const Json listed = ToJson(*list, /*texts=*/false);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0]["kind"], "tuning");
  EXPECT_EQ(listed[0]["tuned_ms"], 10);
  EXPECT_FALSE(listed[0].contains("plan"));
  EXPECT_FALSE(listed[1].contains("recipe"));
  const auto tuned = ShowStore(file_, "p1");
  ASSERT_TRUE(tuned);
  const Json one = ToJson(*tuned, /*texts=*/true);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["plan"]["a"], 1);
  const auto order = ShowStore(file_, "p2");
  ASSERT_TRUE(order);
  EXPECT_EQ(ToJson(*order, /*texts=*/true)[0]["recipe"], Json::parse(R"({"passes": []})"));
  EXPECT_FALSE(ShowStore(file_, "p3"));
}

TEST_F(StoreJobs, WhatIsExportedCanBeImported) {
  const auto lines = ExportStore(file_);
  ASSERT_TRUE(lines);
  Write("lines", *lines);
  const auto rows = ImportIntoStore(Path("other.db"), Path("lines"));
  ASSERT_TRUE(rows) << rows.error().error.message;
  EXPECT_GT(*rows, 0);
  EXPECT_EQ(*ExportStore(Path("other.db")), *lines);
  Write("lines", "no JSON\n");
  const auto broken = ImportIntoStore(Path("other.db"), Path("lines"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().file, Path("lines"));
}

TEST_F(StoreJobs, ErrorsNameTheFileThatTheyAreAbout) {
  for (const auto& failed : {ListStore(Path("no.db")).error(), ExportStore(Path("no.db")).error(),
                             PruneStore(Path("no.db"), 1).error(),
                             LearnFromStore(Path("no.db"), Path("policy")).error()}) {
    EXPECT_EQ(failed.file, Path("no.db"));
    EXPECT_EQ(failed.error.code, ErrorCode::kInvalidInput);
  }
  EXPECT_EQ(LearnFromStore(file_, Path("no/policy")).error().file, Path("no/policy"));
  // One plan alone tells of no change.
  EXPECT_EQ(LearnFromStore(file_, Path("policy")).error().file, file_);
  EXPECT_EQ(LearnFromStore(file_, Path("policy"), Path("no.json")).error().file, Path("no.json"));
  EXPECT_EQ(Listing(), std::vector<std::string>{"store.db"});
  EXPECT_EQ(*OpenStore(""), nullptr);
}

}  // namespace
}  // namespace hone::jobs
