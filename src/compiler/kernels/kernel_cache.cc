#include "compiler/kernels/kernel_cache.h"

#include <utility>

namespace hone::compiler {

std::shared_ptr<const std::string> KernelCache::Find(const Fingerprint& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->object;
}

void KernelCache::Insert(const Fingerprint& key, std::string object) {
  if (object.size() > byte_limit_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (by_key_.count(key) != 0) return;
  bytes_ += object.size();
  entries_.push_front({key, std::make_shared<const std::string>(std::move(object))});
  by_key_[key] = entries_.begin();
  while (bytes_ > byte_limit_) {
    auto last = std::prev(entries_.end());
    while (last->object == nullptr) --last;
    bytes_ -= last->object->size();
    by_key_.erase(last->key);
    entries_.erase(last);
  }
}

void KernelCache::Forbid(const Fingerprint& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, inserted] = by_key_.try_emplace(key, entries_.end());
  if (inserted) {
    found->second = entries_.insert(entries_.end(), {key, nullptr});
  } else if (found->second->object != nullptr) {
    bytes_ -= found->second->object->size();
    found->second->object = nullptr;
  }
}

}  // namespace hone::compiler
