#include "learn/metrics_log.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace hone::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

tl::unexpected<Error> FileError(const fs::path& path, std::string_view what) {
  return MakeError(ErrorCode::kInvalidInput, fmt::format("{}: {}", path.string(), what));
}

// Little-endian.
void AppendFixed(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

// Fields of protocol buffers (protobuf.dev/programming-guides/encoding): number and wire type.
enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendKey(std::string& out, int field, WireType type) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | type);
}

void AppendBytes(std::string& out, int field, std::string_view bytes) {
  AppendKey(out, field, kBytes);
  AppendVarint(out, bytes.size());
  out += bytes;
}

// An Event's wall_time = 1 and step = 2; what it holds comes behind.
std::string EventHead(int64_t step, double time) {
  std::string event;
  AppendKey(event, 1, kFixed64);
  AppendFixed(event, std::bit_cast<uint64_t>(time), 8);
  AppendKey(event, 2, kVarint);
  AppendVarint(event, static_cast<uint64_t>(step));
  return event;
}

std::string VersionEvent(int64_t step, double time) {
  std::string event = EventHead(step, time);
  AppendBytes(event, 3, "brain.Event:2");  // file_version
  return event;
}

// Scalars of `step` and beyond, in earlier files, are no more.
std::string StartEvent(int64_t step, double time) {
  std::string session_log;
  AppendKey(session_log, 1, kVarint);  // status
  AppendVarint(session_log, 1);        // START
  std::string event = EventHead(step, time);
  AppendBytes(event, 7, session_log);
  return event;
}

std::string ScalarsEvent(int64_t step, const std::map<std::string, double>& metrics, double time) {
  std::string summary;
  for (const auto& [name, number] : metrics) {
    std::string value;
    AppendBytes(value, 1, name);    // tag
    AppendKey(value, 2, kFixed32);  // simple_value
    AppendFixed(value, std::bit_cast<uint32_t>(static_cast<float>(number)), 4);
    AppendBytes(summary, 1, value);
  }
  std::string event = EventHead(step, time);
  AppendBytes(event, 5, summary);
  return event;
}

std::string Record(std::string_view data) {
  const auto masked = [](std::string_view bytes) {
    return std::rotr(Crc32c(bytes), 15) + 0xa282ead8u;
  };
  std::string record;
  AppendFixed(record, data.size(), 8);
  const uint32_t of_length = masked(record);
  AppendFixed(record, of_length, 4);
  record += data;
  AppendFixed(record, masked(data), 4);
  return record;
}

// The lines of steps up to `step`, of a file that may not exist.
StatusOr<std::string> KeptLines(const fs::path& path, int64_t step) {
  std::error_code error;
  if (!fs::exists(path, error)) return "";
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return FileError(path, "cannot be read");
  std::string kept;
  size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut short
    const std::string line = text.substr(begin, end + 1 - begin);
    begin = end + 1;
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) {
      return FileError(path, fmt::format("line {} is no line of metrics; name another folder, or "
                                         "move this file away",
                                         number));
    }
    if (json["step"].get<int64_t>() <= step) kept += line;
  }
  return kept;
}

// At once or not at all.
Status Replace(const fs::path& path, std::string_view text) {
  const fs::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return FileError(part, "cannot be written");
  std::error_code error;
  fs::rename(part, path, error);
  if (error) return FileError(path, error.message());
  return {};
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

Status MetricsLog::File::Append(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) != bytes.size() ||
      std::fflush(stream.get()) != 0) {
    return FileError(path, std::strerror(errno));
  }
  return {};
}

StatusOr<MetricsLog::File> MetricsLog::OpenFile(const fs::path& path, const char* mode) {
  File file{path, std::unique_ptr<std::FILE, Close>(std::fopen(path.c_str(), mode))};
  if (!file.stream) return FileError(path, std::strerror(errno));
  return file;
}

StatusOr<MetricsLog> MetricsLog::Open(const fs::path& folder, int64_t resumed_step, double time) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return FileError(folder, error.message());

  const fs::path lines_path = folder / "metrics.jsonl";
  const StatusOr<std::string> kept = KeptLines(lines_path, resumed_step);
  if (!kept) return tl::unexpected(kept.error());
  if (const Status replaced = Replace(lines_path, *kept); !replaced) {
    return tl::unexpected(replaced.error());
  }
  StatusOr<File> lines = OpenFile(lines_path, "ab");
  if (!lines) return tl::unexpected(lines.error());

  // TensorBoard reads a folder's files by the order of their names.
  fs::path events_path;
  for (int number = 0; events_path.empty() || fs::exists(events_path, error); ++number) {
    events_path = folder / fmt::format("events.out.tfevents.{:010}.{:03}.hone",
                                       static_cast<int64_t>(std::floor(time)), number);
  }
  StatusOr<File> events = OpenFile(events_path, "wbx");
  if (!events) return tl::unexpected(events.error());
  std::string head = Record(VersionEvent(resumed_step, time));
  head += Record(StartEvent(resumed_step + 1, time));
  if (const Status written = events->Append(head); !written) {
    return tl::unexpected(written.error());
  }
  return MetricsLog(std::move(*lines), std::move(*events));
}

Status MetricsLog::Write(int64_t step, const std::map<std::string, double>& metrics, double time) {
  Json json = {{"step", step}, {"time", time}};
  for (const auto& [name, number] : metrics) {
    HONE_CHECK(name != "step" && name != "time");
    json[name] = number;  // dump writes null for what is not finite
  }
  const Status lines =
      lines_.Append(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!lines) return lines;
  return events_.Append(Record(ScalarsEvent(step, metrics, time)));
}

}  // namespace hone::learn
