#include <gtest/gtest.h>

#include <set>

#include "hone_process.h"

namespace hone {
namespace {

class Passes : public HoneTest {};

TEST_F(Passes, JsonAndTableAgree) {
  const auto json = Hone({"passes", "--json"}).Json();
  ASSERT_TRUE(json.is_object());
  const Ran table = Hone({"passes"});
  std::set<std::string> names;
  for (const auto& pass : json["passes"]) {
    const std::string name = pass["name"];
    EXPECT_TRUE(names.insert(name).second) << "twice: " << name;
    EXPECT_NE(pass["meaning"], "") << name;
    EXPECT_NE(pass["class"], "") << name;
    EXPECT_NE(table.out.find("\n" + name + " "), std::string::npos) << name;
  }
  EXPECT_TRUE(names.count("dce"));
  for (const auto& pass : json["excluded"]) EXPECT_NE(pass["reason"], "") << pass;
}

TEST_F(Passes, Filters) {
  const auto all = Hone({"passes", "--json"}).Json()["passes"];
  const auto simplify = Hone({"passes", "--json", "--simplify"}).Json()["passes"];
  const auto group = Hone({"passes", "--json", "--group", "simplify"}).Json()["passes"];
  EXPECT_FALSE(simplify.empty());
  EXPECT_LT(simplify.size(), all.size());
  for (const auto& pass : simplify) EXPECT_TRUE(pass["simplify"].get<bool>());
  EXPECT_FALSE(group.empty());
  for (const auto& pass : group) EXPECT_EQ(pass["group"], "simplify");
  const Ran bad = Hone({"passes", "--group", "simplfy"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("did you mean 'simplify'?"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace hone
