// Event files are read back by a reader of their own, which shares no code with the writer.
#include "learn/metrics_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class MetricsLogTest : public ::testing::Test {
 protected:
  MetricsLogTest() {
    std::string name = (fs::temp_directory_path() / "hone-metrics.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MetricsLogTest() override { fs::remove_all(folder_); }

  MetricsLog MustOpen(int64_t step, double time) {
    StatusOr<MetricsLog> log = MetricsLog::Open(folder_, step, time);
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  }
  static std::string Bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<Json> Lines() const {
    std::ifstream file(folder_ / "metrics.jsonl");
    std::vector<Json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  std::vector<fs::path> EventFiles() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("events.out.tfevents.")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  fs::path folder_;
};

// Bit by bit, most significant first over reflected input, as RFC 3720 words it.
uint32_t SlowCrc(std::string_view bytes) {
  uint32_t remainder = 0xffffffff;
  for (const char byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t in = static_cast<unsigned char>(byte) >> bit & 1;
      const bool carry = (remainder >> 31 ^ in) & 1;
      remainder = remainder << 1 ^ (carry ? 0x1edc6f41u : 0);
    }
  }
  uint32_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) reflected |= (remainder >> bit & 1) << (31 - bit);
  return reflected ^ 0xffffffff;
}

uint32_t Masked(std::string_view bytes) {
  const uint32_t crc = SlowCrc(bytes);
  return static_cast<uint32_t>(((uint64_t{crc} >> 15 | uint64_t{crc} << 17) + 0xa282ead8u));
}

template <class T>
T Fixed(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

struct Field {
  uint64_t number = 0;
  uint64_t integer = 0;  // varint
  double real = 0;       // fixed64 and fixed32
  std::string_view bytes;
};

uint64_t Varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(0));
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<Field> Fields(std::string_view message) {
  std::vector<Field> fields;
  while (!message.empty()) {
    const uint64_t key = Varint(message);
    Field field;
    field.number = key >> 3;
    switch (key & 7) {
      case 0:
        field.integer = Varint(message);
        break;
      case 1:
        field.real = Fixed<double>(message);
        break;
      case 5:
        field.real = Fixed<float>(message);
        break;
      case 2: {
        const uint64_t size = Varint(message);
        field.bytes = message.substr(0, size);
        EXPECT_EQ(field.bytes.size(), size);
        message.remove_prefix(field.bytes.size());
        break;
      }
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return fields;
    }
    fields.push_back(field);
  }
  return fields;
}

// One line an event: "step time what".
std::vector<std::string> Events(std::string_view file) {
  std::vector<std::string> events;
  while (!file.empty()) {
    const std::string_view length = file.substr(0, 8);
    const auto size = Fixed<uint64_t>(file);
    const auto length_crc = Fixed<uint32_t>(file);
    EXPECT_EQ(length_crc, Masked(length));
    const std::string_view data = file.substr(0, size);
    EXPECT_EQ(data.size(), size);
    file.remove_prefix(data.size());
    const auto crc = Fixed<uint32_t>(file);
    EXPECT_EQ(crc, Masked(data));
    double time = 0;
    int64_t step = 0;
    std::string what;
    for (const Field& field : Fields(data)) {
      if (field.number == 1) time = field.real;
      if (field.number == 2) step = static_cast<int64_t>(field.integer);
      if (field.number == 3) what += " version " + std::string(field.bytes);
      if (field.number == 7) what += fmt::format(" session {}", Fields(field.bytes)[0].integer);
      if (field.number != 5) continue;
      for (const Field& value : Fields(field.bytes)) {
        EXPECT_EQ(value.number, 1u);
        const std::vector<Field> parts = Fields(value.bytes);
        EXPECT_EQ(parts.size(), 2u);
        EXPECT_EQ(parts[0].number, 1u);
        EXPECT_EQ(parts[1].number, 2u);
        what += fmt::format(" {}={}", parts[0].bytes, parts[1].real);
      }
    }
    events.push_back(fmt::format("{} {}{}", step, time, what));
  }
  return events;
}

TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
  // RFC 3720, appendix B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(SlowCrc("123456789"), 0xe3069283u);
}

TEST_F(MetricsLogTest, WritesLinesAndEvents) {
  MetricsLog log = MustOpen(0, 1700000000.75);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(log.Write(2048, {{"episode_return", 0.5}, {"policy_loss", -0.25}}, 1700000001));
  ASSERT_TRUE(log.Write(3'000'000'000, {{"entropy", nan}}, 1700000002));
  ASSERT_TRUE(log.Write(3'000'000'001, {}, 1700000003));

  EXPECT_EQ(Bytes(folder_ / "metrics.jsonl"),
            "{\"step\":2048,\"time\":1700000001.0,\"episode_return\":0.5,\"policy_loss\":-0.25}\n"
            "{\"step\":3000000000,\"time\":1700000002.0,\"entropy\":null}\n"
            "{\"step\":3000000001,\"time\":1700000003.0}\n");
  ASSERT_EQ(EventFiles().size(), 1u);
  EXPECT_EQ(EventFiles()[0].filename(), "events.out.tfevents.1700000000.000.hone");
  EXPECT_EQ(Events(Bytes(EventFiles()[0])),
            (std::vector<std::string>{
                "0 1700000000.75 version brain.Event:2", "1 1700000000.75 session 1",
                "2048 1700000001 episode_return=0.5 policy_loss=-0.25",
                "3000000000 1700000002 entropy=nan", "3000000001 1700000003"}));
}

// As TensorBoard's protobuf writes it, worked out by hand.
TEST_F(MetricsLogTest, FirstRecordIsTheKnownOne) {
  MustOpen(0, 1.0);
  const std::string event = std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9) + std::string("\x10\0", 2) +
                            "\x1a\x0d"
                            "brain.Event:2";
  EXPECT_EQ(Bytes(EventFiles()[0]).substr(12, event.size()), event);
  EXPECT_EQ(Bytes(EventFiles()[0])[0], static_cast<char>(event.size()));
}

TEST_F(MetricsLogTest, ResumingDropsWhatCameLater) {
  {
    MetricsLog log = MustOpen(0, 10);
    for (int64_t step = 1; step <= 5; ++step) ASSERT_TRUE(log.Write(step, {{"a", 1}}, 10));
  }
  std::ofstream(folder_ / "metrics.jsonl", std::ios::app) << "{\"step\": 3, \"ti";  // cut short
  {
    MetricsLog log = MustOpen(3, 10);  // within the same second
    ASSERT_TRUE(log.Write(4, {{"a", 2}}, 11));
  }
  const std::vector<Json> lines = Lines();
  ASSERT_EQ(lines.size(), 4u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["step"], i + 1);
    EXPECT_EQ(lines[i]["a"], i == 3 ? 2 : 1);
  }
  ASSERT_EQ(EventFiles().size(), 2u);
  EXPECT_EQ(Events(Bytes(EventFiles()[0])).size(), 7u);
  EXPECT_EQ(Events(Bytes(EventFiles()[1])),
            (std::vector<std::string>{"3 10 version brain.Event:2", "4 10 session 1", "4 11 a=2"}));

  MustOpen(0, 12);  // anew
  EXPECT_TRUE(Lines().empty());
}

TEST_F(MetricsLogTest, ForeignFilesAreLeftAlone) {
  const fs::path path = folder_ / "metrics.jsonl";
  std::ofstream(path) << "{\"step\": 1}\nshopping\n";
  const StatusOr<MetricsLog> log = MetricsLog::Open(folder_, 1, 0);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(log.error().message.find("line 2"), std::string::npos) << log.error().message;
  EXPECT_EQ(Bytes(path), "{\"step\": 1}\nshopping\n");
  EXPECT_TRUE(EventFiles().empty());

  EXPECT_FALSE(MetricsLog::Open(path / "below_a_file", 0, 0));
}

TEST_F(MetricsLogTest, NamesOfAnyBytesAreWritten) {
  MetricsLog log = MustOpen(0, 0);
  ASSERT_TRUE(log.Write(1, {{"a\xff\"\n", 1}}, 0));
  EXPECT_EQ(Lines().size(), 1u);
}

TEST_F(MetricsLogTest, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  ASSERT_TRUE(MustOpen(0, 0).Write(1, {{"a", 1}}, 0));
  fs::create_symlink("/dev/full", folder_ / "metrics.jsonl.part");
  EXPECT_FALSE(MetricsLog::Open(folder_, 1, 0));
  EXPECT_EQ(Lines().size(), 1u);
}

}  // namespace
}  // namespace hone::learn
