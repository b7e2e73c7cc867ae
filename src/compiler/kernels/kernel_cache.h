// Object code of kernels by what they compute: in memory, the least recently used go first.
#ifndef HONE_COMPILER_KERNELS_KERNEL_CACHE_H_
#define HONE_COMPILER_KERNELS_KERNEL_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/fingerprint.h"

namespace hone::compiler {

// All calls may come from several threads at once.
class KernelCache {
 public:
  // Bytes of object code; 0 keeps nothing.
  explicit KernelCache(size_t byte_limit) : byte_limit_(byte_limit) {}

  // Null where it is not there.
  std::shared_ptr<const std::string> Find(const Fingerprint& key);
  // An entry that is there under the key stays.
  void Insert(const Fingerprint& key, std::string object);
  // For good: a key that was found to stand for different code.
  void Forbid(const Fingerprint& key);

 private:
  struct Entry {
    Fingerprint key;
    std::shared_ptr<const std::string> object;  // null where it is forbidden
  };

  const size_t byte_limit_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_map<Fingerprint, std::list<Entry>::iterator> by_key_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_KERNELS_KERNEL_CACHE_H_
