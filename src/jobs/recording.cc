#include "jobs/recording.h"

#include <algorithm>
#include <filesystem>

#include "jobs/input.h"
#include "jobs/json.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostIndexBytes = size_t{64} << 20;
constexpr double kLeastShare = 0.01;
constexpr double kLeastSeconds = 5;

}  // namespace

StatusOr<std::optional<Recording>> ReadRecording(const std::string& path) {
  const fs::path index = fs::path(path) / "index.json";
  std::error_code error;
  if (!fs::is_regular_file(index, error)) return std::nullopt;
  const StatusOr<std::string> text = ReadInput(index.string(), kMostIndexBytes);
  if (!text) return tl::unexpected(text.error());
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != "hone recording") return std::nullopt;
  const auto broken = [](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput,
                     "its index.json is broken: " + what + "; record anew");
  };
  const auto python = json.find("python");
  const auto modules = json.find("modules");
  if (python == json.end() || !python->is_string()) return broken("'python' is no text");
  if (modules == json.end() || !modules->is_array()) return broken("'modules' is no list");
  Recording recording{path, python->get<std::string>(), {}};
  for (const Json& row : *modules) {
    const auto file = row.find("file");
    const auto calls = row.find("calls");
    const auto seconds = row.find("seconds");
    if (!row.is_object() || file == row.end() || !file->is_string() || calls == row.end() ||
        !calls->is_number() || seconds == row.end() || !seconds->is_number()) {
      return broken("a module lacks 'file', 'calls' or 'seconds'");
    }
    recording.modules.push_back({(fs::path(path) / file->get<std::string>()).string(),
                                 calls->get<int64_t>(), seconds->get<double>()});
  }
  std::stable_sort(
      recording.modules.begin(), recording.modules.end(),
      [](const RecordedModule& a, const RecordedModule& b) { return a.seconds > b.seconds; });
  return recording;
}

std::vector<Share> SharesOf(const Recording& recording, double average) {
  double total = 0;
  for (const RecordedModule& module : recording.modules) total += module.seconds;
  std::vector<Share> shares;
  double chosen = 0;
  for (const RecordedModule& module : recording.modules) {
    if (total <= 0 || module.seconds < kLeastShare * total) continue;
    shares.push_back({module.file, module.seconds});
    chosen += module.seconds;
  }
  for (Share& share : shares) {
    share.seconds *= average * static_cast<double>(shares.size()) / chosen;
    share.seconds = std::max(share.seconds, std::min(average, kLeastSeconds));
  }
  return shares;
}

}  // namespace hone::jobs
