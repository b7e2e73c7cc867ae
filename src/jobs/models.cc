#include "jobs/models.h"

#include <cmath>
#include <filesystem>
#include <vector>

#include "core/nearest.h"
#include "jobs/input.h"
#include "search/searcher.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostModelBytes = size_t{1} << 30;
constexpr size_t kMostPolicyBytes = size_t{256} << 20;

// FILE of the folder of policies: in the tree that hone was built in, or where it is installed.
std::string Shipped(const char* file) {
  const fs::path bin = ExecutableFolder();
  std::error_code error;
  for (const fs::path& folder :
       {bin / "../../policies", bin / "../share/hone/policies", bin / "../policies"}) {
    if (fs::exists(folder / file, error)) return (folder / file).lexically_normal().string();
  }
  return "";
}

// The bytes of the file named, or of the one that comes with hone.
StatusOr<std::string> ReadModel(const std::string& given, const char* shipped, const char* what,
                                const char* how) {
  const std::string path = given.empty() ? Shipped(shipped) : given;
  if (path.empty()) {
    return MakeError(ErrorCode::kInvalidInput, std::string("the ") + what +
                                                   " that comes with hone is missing; name one, or "
                                                   "make one with `" +
                                                   how + "`");
  }
  StatusOr<std::string> bytes = ReadInput(path, kMostModelBytes);
  if (!bytes) bytes.error().message = path + ": " + bytes.error().message;
  return bytes;
}

}  // namespace

void SetBudget(const Budget& budget, OptimizeOptions& search) {
  search.budget_seconds = std::isfinite(budget.seconds) ? budget.seconds : 0;
  search.budget_steps = budget.steps == Budget{}.steps ? 0 : budget.steps;
}

Status LoadModels(const ModelOptions& options, const std::string& searcher,
                  OptimizeOptions& search) {
  const SearcherInfo* info = FindSearcher(searcher);
  if (info == nullptr) {
    std::vector<std::string> names;
    for (const SearcherInfo& known : Searchers()) names.emplace_back(known.name);
    return MakeError(ErrorCode::kInvalidInput,
                     "there is no searcher '" + searcher + "'" + DidYouMean(searcher, names));
  }
  if (!options.policy.empty() || info->needs == Needs::kPrior) {
    StatusOr<std::string> bytes =
        ReadModel(options.policy, "simplify.safetensors", "policy", "hone train");
    if (!bytes) return tl::unexpected(bytes.error());
    auto policy = policy::Policy::Read(*bytes);
    if (!policy) {
      return MakeError(policy.error().code, (options.policy.empty() ? "" : options.policy + ": ") +
                                                policy.error().message);
    }
    search.policy = *std::move(policy);
  }
  if (!options.coreset.empty() || info->needs == Needs::kCoreset) {
    StatusOr<std::string> bytes =
        ReadModel(options.coreset, "coreset.json", "coreset", "hone coreset");
    if (!bytes) return tl::unexpected(bytes.error());
    StatusOr<Coreset> coreset = CoresetFromJson(*bytes);
    if (!coreset) {
      return MakeError(
          coreset.error().code,
          (options.coreset.empty() ? "" : options.coreset + ": ") + coreset.error().message);
    }
    search.coreset = std::move(coreset->sequences);
  }
  return {};
}

StatusOr<tune::ChangePolicy> ReadChangePolicy(const std::string& path) {
  const StatusOr<std::string> text = ReadInput(path, kMostPolicyBytes);
  if (!text) return tl::unexpected(text.error());
  return tune::ChangePolicy::FromJson(*text);
}

}  // namespace hone::jobs
