#include "compiler/run/executables.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "xla/service/hlo.pb.h"

namespace hone::compiler {
namespace {

// Each has a hundred small objects beside its code.
constexpr size_t kMostKept = 128;
constexpr size_t kLargestShare = 2;  // a program that takes more than one in so many is not kept

// Of the process; never destroyed, for XLA's threads outlive everything.
class Executables {
 public:
  static Executables& Get() {
    static Executables* const executables = new Executables;
    return *executables;
  }

  std::optional<KnownExecutable> Find(const Fingerprint& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->executable;
  }

  void Keep(const Fingerprint& key, KnownExecutable executable, size_t bytes) {
    std::list<Entry> dropped;  // outlives the lock: freeing code takes its time
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > byte_limit_ / kLargestShare || by_key_.count(key) != 0) return;
    entries_.push_front({key, std::move(executable), bytes});
    by_key_[key] = entries_.begin();
    bytes_ += bytes;
    Shrink(dropped);
  }

  void SetMemory(size_t bytes) {
    std::list<Entry> dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    byte_limit_ = bytes;
    Shrink(dropped);
  }

  size_t byte_limit() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return byte_limit_;
  }

 private:
  struct Entry {
    Fingerprint key;
    KnownExecutable executable;
    size_t bytes = 0;
  };

  void Shrink(std::list<Entry>& dropped) {
    while (!entries_.empty() && (bytes_ > byte_limit_ || entries_.size() > kMostKept)) {
      bytes_ -= entries_.back().bytes;
      by_key_.erase(entries_.back().key);
      dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
    }
  }

  std::mutex mutex_;
  size_t byte_limit_ = size_t{1} << 29;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_map<Fingerprint, std::list<Entry>::iterator> by_key_;
};

void Append(const std::string& text, std::string& to) {
  to += std::to_string(text.size());
  to += ':';
  to += text;
}

}  // namespace

std::optional<Fingerprint> ExecutableKey(const xla::HloModuleProto& program, uint64_t quality,
                                         const CompilePlan& plan) {
  if (program.ByteSizeLong() > Executables::Get().byte_limit() / kLargestShare) return std::nullopt;
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!program.SerializeToCodedStream(&coded)) return std::nullopt;
  }
  Append(std::to_string(quality), bytes);
  for (const CompileChoice& choice : plan.choices) {
    Append(std::to_string(choice.key), bytes);
    Append(choice.value, bytes);
  }
  for (const auto& [name, value] : plan.flags) {
    Append(name, bytes);
    Append(value, bytes);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return Fingerprint{hash.high64, hash.low64};
}

std::optional<KnownExecutable> FindExecutable(const Fingerprint& key) {
  return Executables::Get().Find(key);
}

void KeepExecutable(const Fingerprint& key, KnownExecutable executable, size_t bytes) {
  Executables::Get().Keep(key, std::move(executable), bytes);
}

void SetExecutableMemory(size_t bytes) { Executables::Get().SetMemory(bytes); }

}  // namespace hone::compiler
