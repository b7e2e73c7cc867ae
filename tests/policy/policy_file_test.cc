#include "policy/policy_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hone::policy {
namespace {

using namespace std::string_literals;

// A file of that header and data.
std::string Bytes(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (size_t i = 0, left = header.size(); i < 8; ++i, left /= 256) {
    bytes += static_cast<char>(left % 256);
  }
  return bytes + header + data;
}

// "" where the bytes are read, else the message.
std::string ErrorOf(const std::string& bytes) {
  const StatusOr<PolicyFile> file = ReadPolicyFile(bytes);
  if (file) return "";
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(file.error().message.find("safetensors"), std::string::npos) << file.error().message;
  return file.error().message;
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::vector<uint32_t> Bits(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

PolicyFile Example() {
  PolicyFile file;
  file.metadata = {
      {"format", "hone-policy-1"}, {"card", "{\"a\": \"Größe\\n\"}\n\t\x01"}, {"", ""}};
  file.tensors["policy.0.weight"] = {{2, 3}, {1, -2.5, 0, 1e-40f, -0.0f, 3.4e38f}};
  file.tensors["policy.0.bias"] = {{2}, {0.1f, 7}};
  file.tensors["a scalar"] = {{}, {42}};
  file.tensors["none \"of\" it"] = {{3, 0}, {}};
  file.tensors["no number"] = {
      {1, 1, 3},
      {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
       -std::numeric_limits<float>::infinity()}};
  return file;
}

TEST(PolicyFile, ReadsWhatItWrote) {
  const PolicyFile file = Example();
  const std::string bytes = WritePolicyFile(file);
  const StatusOr<PolicyFile> read = ReadPolicyFile(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata, file.metadata);
  ASSERT_EQ(read->tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    ASSERT_TRUE(read->tensors.contains(name)) << name;
    EXPECT_EQ(read->tensors.at(name).shape, tensor.shape) << name;
    EXPECT_EQ(Bits(read->tensors.at(name).values), Bits(tensor.values)) << name;
  }
  EXPECT_EQ(WritePolicyFile(*read), bytes);
}

TEST(PolicyFile, ReadsAndWritesNothing) {
  const StatusOr<PolicyFile> read = ReadPolicyFile(WritePolicyFile({}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->metadata.empty());
  EXPECT_TRUE(read->tensors.empty());
}

TEST(PolicyFile, WritesTheBytesOfTheFormat) {
  PolicyFile file;
  file.metadata["k"] = "v";
  file.tensors["b"] = {{}, {-2.5}};
  file.tensors["a"] = {{2, 1}, {1, 0.5}};
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[],"data_offsets":[8,12]}})";
  // What follows the header is aligned, so that it can be mapped.
  ASSERT_EQ(header.size(), 134u);
  EXPECT_EQ(WritePolicyFile(file), "\x88\0\0\0\0\0\0\0"s + header + "  " + "\0\0\x80\x3f"s +
                                       "\0\0\0\x3f"s + "\0\0\x20\xc0"s);
}

// https://github.com/huggingface/safetensors, "Format".
TEST(PolicyFile, ReadsAFileWrittenByHand) {
  std::string bytes = "\x6f\0\0\0\0\0\0\0"s;
  bytes += "{ \"b\":{\"data_offsets\":[4,12],\"shape\":[1,2],\"dtype\":\"F32\"},\n";
  bytes += "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
  ASSERT_EQ(bytes.size(), 8u + 0x6f);
  bytes += "\0\0\x20\xc0\0\0\x80\x3f\0\0\0\x3f"s;
  const StatusOr<PolicyFile> read = ReadPolicyFile(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->metadata.empty());
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors.at("a").shape, std::vector<int64_t>());
  EXPECT_EQ(read->tensors.at("a").values, std::vector<float>{-2.5});
  EXPECT_EQ(read->tensors.at("b").shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(read->tensors.at("b").values, (std::vector<float>{1, 0.5}));
}

TEST(PolicyFile, TakesDataThatIsNotAligned) {
  for (const std::string& pad : {""s, " "s, "  "s, "   "s}) {
    const auto read = ReadPolicyFile(
        Bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})" + pad, "\0\0\x80\x3f"s));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->tensors.at("a").values, std::vector<float>{1});
  }
}

TEST(PolicyFile, IsWrongAtEveryLengthButItsOwn) {
  const std::string whole = WritePolicyFile(Example());
  ASSERT_EQ(ErrorOf(whole), "");
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of just that length, so that reading past its end is seen.
    EXPECT_NE(ErrorOf(std::string(whole.data(), length)), "") << length;
  }
  for (size_t length = 0; length < 8; ++length) {
    EXPECT_NE(ErrorOf(whole.substr(0, length)).find("too short"), std::string::npos) << length;
  }
  EXPECT_NE(ErrorOf(whole.substr(0, 20)).find("header would be longer"), std::string::npos);
  EXPECT_NE(ErrorOf(whole.substr(0, whole.size() - 1)).find("'policy.0.weight' has data_offsets"),
            std::string::npos);
}

TEST(PolicyFile, IsWrongWithAHeaderLongerThanTheFile) {
  const std::string rest = "{}" + std::string(100, ' ');
  ASSERT_EQ(ErrorOf(Bytes(rest)), "");
  for (const std::string& length :
       {"\x67\0\0\0\0\0\0\0"s, "\0\0\0\0\0\0\0\x80"s, "\xff\xff\xff\xff\xff\xff\xff\xff"s,
        "\xff\xff\xff\xff\xff\xff\xff\x7f"s, "\xf8\xff\xff\xff\xff\xff\xff\xff"s,
        "\x02\0\0\0\x01\0\0\0"s, "\0\xe1\xf5\x06\0\0\0\0"s}) {
    EXPECT_NE(ErrorOf(length + rest).find("header would be longer"), std::string::npos);
  }
}

TEST(PolicyFile, SaysWhatIsWrongWithAHeader) {
  for (const std::string header : {"", " ", "{", "[]", "null", "5", "\"a\"", "{}}", "{\"a\":}",
                                   "{a:1}", "\xff{}", "{\"\xff\":{}}"}) {
    EXPECT_NE(ErrorOf(Bytes(header)).find("header is not a JSON object"), std::string::npos)
        << header;
  }
  EXPECT_NE(ErrorOf(Bytes("\0\0\0\0"s)).find("not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf(Bytes(R"({"__metadata__":[]})")).find("__metadata__ is not an object"),
            std::string::npos);
  for (const std::string value : {"1", "null", "true", "[\"a\"]", "{\"a\":\"b\"}"}) {
    EXPECT_NE(ErrorOf(Bytes(R"({"__metadata__":{"fine":"x","bad one":)" + value + "}}"))
                  .find("'bad one' of its __metadata__ is not a string"),
              std::string::npos)
        << value;
  }
}

struct BadTensor {
  std::string entry;
  std::string message;
};

// With 16 bytes of data behind.
TEST(PolicyFile, SaysWhatIsWrongWithATensor) {
  const std::string f32 = R"({"dtype":"F32",)";
  const std::string most = "18446744073709551615";
  for (const BadTensor& bad : std::vector<BadTensor>{
           {"5", "not of type F32"},
           {"null", "not of type F32"},
           {"[]", "not of type F32"},
           {"{}", "not of type F32"},
           {R"({"shape":[1],"data_offsets":[0,4]})", "not of type F32"},
           {R"({"dtype":"F16","shape":[2],"data_offsets":[0,4]})", "not of type F32"},
           {R"({"dtype":"f32","shape":[1],"data_offsets":[0,4]})", "not of type F32"},
           {R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})", "not of type F32"},
           {R"({"dtype":null,"shape":[1],"data_offsets":[0,4]})", "not of type F32"},
           {R"({"dtype":["F32"],"shape":[1],"data_offsets":[0,4]})", "not of type F32"},
           {f32 + R"("data_offsets":[0,4]})", "has no shape"},
           {f32 + R"("shape":1,"data_offsets":[0,4]})", "has no shape"},
           {f32 + R"("shape":{"0":1},"data_offsets":[0,4]})", "has no shape"},
           {f32 + R"("shape":[-1],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[-1,-1],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[1.0],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":["1"],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[[1]],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[null],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[)" + most + R"(],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[99999999999999999999],"data_offsets":[0,4]})", "has a bad shape"},
           {f32 + R"("shape":[4294967296,4294967296],"data_offsets":[0,0]})", "has a bad shape"},
           {f32 + R"("shape":[2147483648,2147483648,4],"data_offsets":[0,0]})", "is too large"},
           {f32 + R"("shape":[65536,65536,65536,65536],"data_offsets":[0,0]})", "is too large"},
           {f32 + R"("shape":[1]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":4})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[0]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[0,4,8]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":{"0":0,"1":4}})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":["0","4"]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[0.0,4.0]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[-4,0]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[-4,-8]})", "has no data_offsets"},
           {f32 + R"("shape":[1],"data_offsets":[0,5]})", "do not fit"},
           {f32 + R"("shape":[1],"data_offsets":[0,3]})", "do not fit"},
           {f32 + R"("shape":[1],"data_offsets":[4,0]})", "do not fit"},
           {f32 + R"("shape":[0],"data_offsets":[4,0]})", "do not fit"},
           {f32 + R"("shape":[0],"data_offsets":[17,17]})", "do not fit"},
           {f32 + R"("shape":[],"data_offsets":[0,0]})", "do not fit"},
           {f32 + R"("shape":[2,2],"data_offsets":[0,8]})", "do not fit"},
           {f32 + R"("shape":[5],"data_offsets":[0,20]})", "do not fit"},
           {f32 + R"("shape":[2],"data_offsets":[12,20]})", "do not fit"},
           {f32 + R"("shape":[1],"data_offsets":[16,20]})", "do not fit"},
           {f32 + R"("shape":[1],"data_offsets":[18446744073709551612,)" + most + "]}",
            "do not fit"},
           {f32 + R"("shape":[1],"data_offsets":[18446744073709551612,0]})", "do not fit"},
           {f32 + R"("shape":[2147483648],"data_offsets":[0,8589934592]})", "do not fit"},
       }) {
    const std::string fine = R"({"fine":{"dtype":"F32","shape":[4],"data_offsets":[0,16]})";
    ASSERT_EQ(ErrorOf(Bytes(fine + "}", std::string(16, '\0'))), "");
    const std::string message =
        ErrorOf(Bytes(fine + ",\"bad one\":" + bad.entry + "}", std::string(16, '\0')));
    EXPECT_NE(message.find("tensor 'bad one' "), std::string::npos) << bad.entry << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.entry << message;
  }
}

TEST(PolicyFile, BearsDeepNesting) {
  const std::string deep = Nested(50'000);
  EXPECT_NE(ErrorOf(Bytes(deep)), "");
  EXPECT_NE(ErrorOf(Bytes(std::string(100'000, '['))), "");
  EXPECT_NE(ErrorOf(Bytes("{\"__metadata__\":{\"a\":" + deep + "}}")), "");
  const std::string f32 = R"({"a":{"dtype":"F32",)";
  EXPECT_NE(ErrorOf(Bytes("{\"a\":{\"dtype\":" + deep + "}}")), "");
  EXPECT_NE(ErrorOf(Bytes(f32 + "\"shape\":" + deep + "}}")), "");
  EXPECT_NE(ErrorOf(Bytes(f32 + "\"shape\":[1],\"data_offsets\":" + deep + "}}")), "");
  EXPECT_NE(ErrorOf(Bytes(f32 + "\"shape\":[1],\"data_offsets\":[0," + deep + "]}}")), "");
}

// Whatever a byte becomes: an error, or tensors that are whole.
TEST(PolicyFile, BearsEveryByteDamaged) {
  const std::string whole = WritePolicyFile(Example());
  int wrong = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'"', '-', '9', ']', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      const StatusOr<PolicyFile> read = ReadPolicyFile(damaged);
      if (!read) {
        ++wrong;
        EXPECT_NE(read.error().message, "");
        continue;
      }
      for (const auto& [name, tensor] : read->tensors) {
        size_t size = 1;
        for (const int64_t extent : tensor.shape) size *= static_cast<size_t>(extent);
        EXPECT_EQ(tensor.values.size(), size) << at;
      }
    }
  }
  EXPECT_GT(wrong, 500);
}

}  // namespace
}  // namespace hone::policy
