// index.tsv: what is read is written again, and what is wrong is said with its line.
#include "dataset/index.h"

#include <gtest/gtest.h>

#include <string>

#include "support/programs.h"

namespace hone::dataset {
namespace {

const std::string kHex = "0123456789abcdef0123456789abcdef";

TEST(Index, AllColumnsComeBack) {
  Index index;
  index.rows.push_back({"gpt2/a.hlo",
                        "gpt2",
                        "train",
                        "L=4 d=256",
                        3275,
                        "JAX",
                        "Apache-2.0",
                        kHex,
                        kHex,
                        "validation",
                        {}});
  index.rows.push_back({"b.hlo"});
  const std::string text = FormatIndex(index);
  const StatusOr<Index> read = ParseIndex(text);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->rows.size(), 2u);
  const Row& row = read->rows[0];
  EXPECT_EQ(row.file, "gpt2/a.hlo");
  EXPECT_EQ(row.family, "gpt2");
  EXPECT_EQ(row.phase, "train");
  EXPECT_EQ(row.config, "L=4 d=256");
  EXPECT_EQ(row.instructions, 3275);
  EXPECT_EQ(row.origin, "JAX");
  EXPECT_EQ(row.licence, "Apache-2.0");
  EXPECT_EQ(row.fingerprint, kHex);
  EXPECT_EQ(row.group, kHex);
  EXPECT_EQ(row.split, "validation");
  EXPECT_EQ(read->rows[1].instructions, -1);
  EXPECT_EQ(FormatIndex(*read), text);
}

TEST(Index, OtherColumnsAreKeptWhereTheyWere) {
  const StatusOr<Index> index = ParseIndex("jax\tfile\tlibrary\n0.4\ta.hlo\tflax\n");
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->rows[0].extra.at("library"), "flax");
  const std::string text = FormatIndex(*index);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "jax\tfile\tlibrary\tfamily\tphase\tconfig\tinstructions\torigin\tlicence\tfingerprint"
            "\tgroup\tsplit");
  EXPECT_NE(text.find("\n0.4\ta.hlo\tflax\t\t"), text.npos);
}

TEST(Index, LineEndsOfWindowsAndEmptyLines) {
  const StatusOr<Index> index = ParseIndex("file\tsplit\r\na.hlo\ttest\r\n\r\nb.hlo\ttrain");
  ASSERT_TRUE(index) << index.error().message;
  ASSERT_EQ(index->rows.size(), 2u);
  EXPECT_EQ(index->rows[0].split, "test");
  EXPECT_EQ(index->rows[1].split, "train");
}

TEST(Index, ByteOrderMark) {
  const StatusOr<Index> index = ParseIndex(
      "\xef\xbb\xbf"
      "file\na.hlo\n");
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->rows[0].file, "a.hlo");
}

TEST(Index, WhatIsWrongIsSaidWithItsLine) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "the file is empty"},
      {"name\tfamily\n", "line 1: there is no column 'file'"},
      {"file\tfamily\tfamily\n", "line 1: there are two columns 'family'"},
      {"file\tfamily\na.hlo\n", "line 2: 1 fields, where the first line has 2"},
      {"file\n\nb.hlo\ta\n", "line 3: 2 fields, where the first line has 1"},
      {"file\tfamily\n\tgpt2\n", "line 2: the column 'file' is empty"},
      {"file\n../a.hlo\n", "line 2: '../a.hlo' is outside the folder"},
      {"file\n/a.hlo\n", "line 2: '/a.hlo' is outside the folder"},
      {"file\na.hlo\na.hlo\n", "line 3: 'a.hlo' is there twice"},
      {"file\tinstructions\na.hlo\tmany\n", "line 2: 'many' is no number of instructions"},
      {"file\tinstructions\na.hlo\t-1\n", "line 2: '-1' is no number of instructions"},
      {"file\tsplit\na.hlo\ttrian\n", "there is no split 'trian' (did you mean 'train'?)"},
      {"file\tphase\na.hlo\tboth\n", "line 2: there is no phase 'both'"},
      {"file\tfingerprint\na.hlo\t12AB\n", "line 2: '12AB' is no fingerprint"},
      {"file\tgroup\na.hlo\tone\n", "line 2: 'one' is no fingerprint"},
  };
  for (const auto& [text, message] : cases) {
    const StatusOr<Index> index = ParseIndex(text);
    ASSERT_FALSE(index) << text;
    EXPECT_EQ(index.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(index.error().message.find(message), std::string::npos) << index.error().message;
  }
}

TEST(Index, OfTheShippedPrograms) {
  const StatusOr<Index> index = ParseIndex(testing::ReadData(kIndexName));
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(FormatIndex(*index), testing::ReadData(kIndexName));
  for (const Row& row : index->rows) {
    SCOPED_TRACE(row.file);
    for (const std::string* field :
         {&row.family, &row.phase, &row.origin, &row.licence, &row.group, &row.split}) {
      EXPECT_FALSE(field->empty());
    }
    const ProgramInfo program =
        testing::MustLoad(testing::SharedPool(), testing::ReadData(row.file));
    EXPECT_EQ(program.fingerprint.ToHex(), row.fingerprint);
    EXPECT_EQ(program.metrics.op_count, row.instructions);
  }
}

}  // namespace
}  // namespace hone::dataset
