// Finding programs in folders; all formats give the same program.
#include "jobs/input.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hone_process.h"

namespace hone::jobs {
namespace {

class Input : public HoneTest {};

TEST_F(Input, FoldersAreSearched) {
  for (const char* name : {"d/b.hlo", "d/a.txt", "d/deep/c.pb", "d/deep/d.HLO.gz", "d/README.txt",
                           "d/index.tsv", "d/index.txt", "d/notes.md", "d/.hidden.hlo"}) {
    Write(name, "x");
  }
  const auto files = ExpandInputs({Path("d")});
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{Path("d/a.txt"), Path("d/b.hlo"), Path("d/deep/c.pb"),
                                              Path("d/deep/d.HLO.gz")}));
}

TEST_F(Input, NamedFilesAreTakenOnceAndWhateverTheirName) {
  Write("d/a.hlo", "x");
  Write("notes.md", "x");
  const auto files =
      ExpandInputs({Path("notes.md"), Path("d/a.hlo"), Path("d"), Path("./d/a.hlo")});
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{Path("notes.md"), Path("d/a.hlo")}));
}

TEST_F(Input, AByteOrderMarkIsNoPartOfAText) {
  Write("a.hlo", "\xef\xbb\xbfHloModule m");
  const auto text = ReadInput(Path("a.hlo"), 1000);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "HloModule m");
}

TEST_F(Input, OneMissingNameIsAnError) {
  Write("a.hlo", "x");
  const auto files = ExpandInputs({Path("a.hlo"), Path("b.hlo")});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().file, Path("b.hlo"));
  EXPECT_EQ(files.error().error.code, ErrorCode::kInvalidInput);
}

TEST_F(Input, ReadsRegularFilesWithinTheLimit) {
  Write("a", "12345");
  EXPECT_EQ(*ReadInput(Path("a"), 5), "12345");
  EXPECT_FALSE(ReadInput(Path("a"), 4));
  EXPECT_FALSE(ReadInput("/dev/zero", 1000));
  EXPECT_FALSE(ReadInput(folder(), 1000));
}

TEST_F(Input, EveryFormatIsTheSameProgram) {
  Copy("small.hlo");
  ASSERT_EQ(Hone({"run", "small.hlo", "--passes", "", "-o", "small.pb"}).code, 0);
  Write("small.hlo.gz", Gzipped(Read("small.hlo")));
  Write("small.pb.gz", Gzipped(Read("small.pb")));
  const Ran ran = Hone({"stats", "--json", "small.hlo", "small.pb", "small.hlo.gz", "small.pb.gz"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto results = ran.Json()["results"];
  ASSERT_EQ(results.size(), 4u);
  const char* const formats[] = {"HLO text", "HloProto", "HLO text, gzip", "HloProto, gzip"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(results[i]["fingerprint"], results[0]["fingerprint"]);
    EXPECT_EQ(results[i]["format"], formats[i]);
  }
}

}  // namespace
}  // namespace hone::jobs
