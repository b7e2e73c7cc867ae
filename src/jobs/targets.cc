#include "jobs/targets.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "jobs/write_file.h"

namespace hone::jobs {

StatusOr<std::vector<std::string>> Targets(const std::vector<std::string>& files,
                                           const std::string& given, const char* extension) {
  namespace fs = std::filesystem;
  if (given.empty()) return std::vector<std::string>(files.size());
  if (files.size() == 1 && !fs::is_directory(given)) return std::vector<std::string>{given};
  std::vector<std::string> targets;
  std::set<std::string> taken;
  std::error_code error;
  fs::create_directories(given, error);
  for (const std::string& file : files) {
    const fs::path name = fs::path(file).filename().replace_extension(extension);
    if (!taken.insert(name.string()).second) {
      return MakeError(ErrorCode::kInvalidInput, "two of the files would be written to '" +
                                                     name.string() +
                                                     "' there; take their folders one by one");
    }
    targets.push_back((fs::path(given) / name).string());
  }
  return targets;
}

FileOr<void> PlanTargets(const std::vector<std::string>& files, const std::vector<Wanted>& wanted) {
  for (const Wanted& one : wanted) {
    StatusOr<std::vector<std::string>> targets = Targets(files, one.given, one.extension);
    if (!targets) return Wrong(one.given, targets.error());
    for (const std::string& target : *targets) {
      if (target.empty()) continue;
      if (Status fine = CheckWritable(target); !fine) {
        return Wrong(target, fine.error());
      }
    }
    one.targets = *std::move(targets);
  }
  return {};
}

}  // namespace hone::jobs
