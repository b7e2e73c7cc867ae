// Machine code that processes share, by key: two files in a folder, to which records are appended.
//
// When the recent file is full it becomes the older one, and what was the older one goes: what is
// found in the older file is written to the recent one again, so the least recently used is lost.
// A record is one write to a file that is open for appending, with a checksum: many processes may
// write at once and may be killed while they do. Torn records are skipped.
#ifndef HONE_WIRE_CODE_FILES_H_
#define HONE_WIRE_CODE_FILES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/fingerprint.h"

namespace hone::wire {

// Of one file: less than a process that is locked up may write (sandbox.h), by some records.
inline constexpr int64_t kMostCodeFileBytes = int64_t{48} << 20;

// A number for programs and libraries as they were built (by size and time of their files) and the
// processor here: code of other makers has to have other keys.
uint64_t MakersOfCode(const std::vector<std::string>& paths);

// All calls may come from several threads at once. None fails: what cannot be read is not there,
// what cannot be written is not kept.
class CodeFiles {
 public:
  // Makes the folder and the files where there are none. Null where that cannot be done, or where
  // they are another user's. To be called before the process is locked up.
  static std::unique_ptr<CodeFiles> Open(const std::string& folder,
                                         int64_t most_bytes = kMostCodeFileBytes);
  ~CodeFiles();
  CodeFiles(const CodeFiles&) = delete;
  CodeFiles& operator=(const CodeFiles&) = delete;

  // The record that any process has added under this key.
  std::optional<std::string> Find(const Fingerprint& key);
  // Nothing where the key is there already, or forbidden.
  void Add(const Fingerprint& key, std::string_view code);
  // For good: a key that was found to stand for different code.
  void Forbid(const Fingerprint& key);

 private:
  struct File {
    int descriptor = -1;
    int64_t scanned = 0;  // the records up to here are in the index
  };
  struct Place {
    bool recent = false;
    int64_t at = 0;     // of the record
    int64_t bytes = 0;  // 0 where the key is forbidden
  };

  CodeFiles(int recent, int older, int64_t most_bytes);
  std::optional<Place> Look(const Fingerprint& key);
  void Scan(bool recent);
  void Append(const Fingerprint& key, std::string_view code);

  const int64_t most_bytes_;
  std::mutex mutex_;
  File recent_, older_;
  std::unordered_map<Fingerprint, Place> places_;
};

}  // namespace hone::wire

#endif  // HONE_WIRE_CODE_FILES_H_
