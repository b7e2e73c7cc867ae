#include "compiler/run/optimised.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace hone::compiler {
namespace {

constexpr size_t kMostKept = 8;
constexpr size_t kMostBytes = size_t{64} << 20;  // beside the last

struct Kept {
  Fingerprint key;
  OptimisedModule optimised;
  size_t bytes = 0;
};

// Of the process; never destroyed, for XLA's threads outlive everything.
struct Modules {
  std::mutex mutex;
  std::deque<Kept> kept;  // the last first

  static Modules& Get() {
    static Modules* const modules = new Modules;
    return *modules;
  }
  std::deque<Kept>::iterator Find(const Fingerprint& key) {
    return std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.key == key; });
  }
};

}  // namespace

void KeepOptimised(const Fingerprint& key, OptimisedModule optimised, size_t bytes) {
  std::deque<Kept> dropped;  // outlives the lock
  Modules& modules = Modules::Get();
  const std::lock_guard<std::mutex> lock(modules.mutex);
  if (modules.Find(key) != modules.kept.end()) return;
  size_t beside = 0;
  for (const Kept& one : modules.kept) beside += one.bytes;
  modules.kept.push_front({key, std::move(optimised), bytes});
  while (modules.kept.size() > kMostKept || beside > kMostBytes) {
    beside -= modules.kept.back().bytes;
    dropped.push_back(std::move(modules.kept.back()));
    modules.kept.pop_back();
  }
}

OptimisedModule TakeOptimised(const Fingerprint& key) {
  Modules& modules = Modules::Get();
  const std::lock_guard<std::mutex> lock(modules.mutex);
  const auto found = modules.Find(key);
  if (found == modules.kept.end()) return {};
  OptimisedModule optimised = std::move(found->optimised);
  modules.kept.erase(found);
  return optimised;
}

}  // namespace hone::compiler
