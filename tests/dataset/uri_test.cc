// From a URI to a file, and what is said where there is none.
#include "dataset/uri.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace hone::dataset {
namespace {

namespace fs = std::filesystem;

class Uri : public ::testing::Test {
 protected:
  Uri() {
    root_ = (fs::temp_directory_path() / "hone-uri.XXXXXX").string();
    if (mkdtemp(root_.data()) == nullptr) abort();
    for (const char* file :
         {"mine/gpt2/train.hlo", "mine/gpt2/train/step.pb.gz",
          "mine/mlp.v2.before_optimizations.txt", "mine/odd.xla", "outside.hlo"}) {
      Touch(file);
    }
    datasets_ = {{"mine", Path("mine")}};
  }
  ~Uri() override { fs::remove_all(root_); }

  void Touch(const std::string& file) {
    fs::create_directories(fs::path(Path(file)).parent_path());
    std::ofstream(Path(file)) << "x";
  }
  std::string Path(const std::string& file) const { return root_ + "/" + file; }

  void ExpectError(const std::string& uri, const std::string& part) {
    const StatusOr<std::string> path = Resolve(datasets_, uri);
    ASSERT_FALSE(path) << *path;
    EXPECT_EQ(path.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(path.error().message.find(part), std::string::npos) << path.error().message;
  }

  std::string root_;
  std::vector<Dataset> datasets_;
};

TEST_F(Uri, NamesAProgram) {
  EXPECT_EQ(Resolve(datasets_, "mine/gpt2/train"), Path("mine/gpt2/train.hlo"));
  EXPECT_EQ(Resolve(datasets_, "mine/gpt2/train/step"), Path("mine/gpt2/train/step.pb.gz"));
  EXPECT_EQ(Resolve(datasets_, "mine/gpt2/train.hlo"), Path("mine/gpt2/train.hlo"));
  EXPECT_EQ(Resolve(datasets_, "mine/mlp.v2.before_optimizations"),
            Path("mine/mlp.v2.before_optimizations.txt"));
  EXPECT_EQ(UriOf(datasets_[0], "gpt2/train/step.pb.gz"), "mine/gpt2/train/step");
}

TEST_F(Uri, NamesAFolder) {
  EXPECT_EQ(Resolve(datasets_, "mine/gpt2/"), Path("mine/gpt2"));
  EXPECT_EQ(fs::canonical(*Resolve(datasets_, "mine")), fs::canonical(Path("mine")));
}

TEST_F(Uri, SuggestsTheNearest) {
  ExpectError("mine/gpt2/trian", "no program 'gpt2/trian' (did you mean 'mine/gpt2/train'?)");
  ExpectError("mnie/gpt2/train", "no data set 'mnie' (did you mean 'mine/gpt2/train'?)");
  ExpectError("mine/something_else_altogether", "no program 'something_else_altogether'; see");
  ExpectError("mine/../outside", "cannot lead out");
}

TEST_F(Uri, IsToldFromAFileName) {
  EXPECT_TRUE(LooksLikeUri(datasets_, "mine/a"));
  EXPECT_TRUE(LooksLikeUri(datasets_, "mine"));
  EXPECT_TRUE(LooksLikeUri(datasets_, "mnie/a"));
  for (const char* name :
       {"mnie", "a.hlo", "/mine/a", "./mine/a", "../mine/a", "mine/../a", "somewhere/a", ""}) {
    EXPECT_FALSE(LooksLikeUri(datasets_, name)) << name;
  }
}

TEST_F(Uri, ShippedProgramsAreFoundByTheExecutable) {
  EXPECT_EQ(ShippedFolder(Path("tree/build/bin/hone")), "");
  Touch("tree/data/index.tsv");
  EXPECT_EQ(ShippedFolder(Path("tree/build/bin/hone")), Path("tree/data"));
  EXPECT_EQ(ShippedFolder(Path("tree/bin/hone")), Path("tree/data"));
  Touch("usr/share/hone/data/index.tsv");
  EXPECT_EQ(ShippedFolder(Path("usr/bin/hone")), Path("usr/share/hone/data"));
}

TEST_F(Uri, DatasetsGivenAndShipped) {
  Touch("tree/data/index.tsv");
  const std::string executable = Path("tree/build/bin/hone");
  const auto both = KnownDatasets({Path("mine/")}, executable);
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[0].name, "mine");
  EXPECT_EQ((*both)[1].name, "models");
  EXPECT_EQ((*both)[1].folder, Path("tree/data"));

  Touch("models/a.hlo");
  const auto instead = KnownDatasets({Path("models")}, executable);
  ASSERT_TRUE(instead);
  ASSERT_EQ(instead->size(), 1u);
  EXPECT_EQ((*instead)[0].folder, Path("models"));

  Touch("other/mine/a.hlo");
  const auto same_name = KnownDatasets({Path("mine"), Path("other/mine")}, executable);
  ASSERT_FALSE(same_name);
  EXPECT_NE(same_name.error().message.find("both data sets called 'mine'"), std::string::npos);
  EXPECT_FALSE(KnownDatasets({Path("nowhere")}, executable));
  EXPECT_FALSE(KnownDatasets({Path("outside.hlo")}, executable));
}

}  // namespace
}  // namespace hone::dataset
