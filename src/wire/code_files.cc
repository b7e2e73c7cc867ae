#include "wire/code_files.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/processor.h"

namespace hone::wire {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0xc0de'5a7e'686f'6e31;
constexpr auto kMagicBytes = static_cast<int64_t>(sizeof(kMagic));
constexpr int64_t kMostRecordBytes = int64_t{4} << 20;
constexpr int64_t kSearched = int64_t{1} << 16;  // bytes at a time, for the next record

// Of the recent file, where it counts as full: the rest is for whoever has it open.
constexpr double kFullShare = 0.75;

struct Header {
  uint64_t magic = kMagic;
  uint64_t high = 0, low = 0;  // the key
  int64_t bytes = 0;           // of code, which follows; 0 forbids the key
  uint64_t checksum = 0;
};
constexpr auto kHeader = static_cast<int64_t>(sizeof(Header));

uint64_t Checksum(const Header& header, std::string_view code) {
  return XXH3_64bits_withSeed(code.data(), code.size(),
                              header.high ^ header.low ^ static_cast<uint64_t>(header.bytes));
}

int64_t SizeOf(int descriptor) {
  struct stat about = {};
  return fstat(descriptor, &about) == 0 ? about.st_size : 0;
}

bool ReadAt(int descriptor, int64_t at, void* to, int64_t bytes) {
  return pread(descriptor, to, static_cast<size_t>(bytes), at) == bytes;
}

// Of this user alone: code of others is not run. -1 where it is not to be had.
int OpenOwn(const fs::path& path) {
  const int descriptor =
      open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat about = {};
  if (descriptor < 0) return -1;
  if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
      (about.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

bool IsFull(const fs::path& file, int64_t most_bytes) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return !error && static_cast<double>(size) >= kFullShare * static_cast<double>(most_bytes);
}

// One process at a time; where another is at it, it is done.
void Turn(const fs::path& folder, int64_t most_bytes) {
  const int lock = OpenOwn(folder / "lock");
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0 && IsFull(folder / "recent", most_bytes)) {
    std::error_code error;
    fs::rename(folder / "recent", folder / "older", error);
  }
  close(lock);
}

// The place of the next record from `from` on, or one from which on there can be none yet.
int64_t NextRecord(int descriptor, int64_t from, int64_t size) {
  std::vector<char> part(static_cast<size_t>(kSearched));
  while (from + kMagicBytes <= size) {
    const int64_t bytes = std::min(kSearched, size - from);
    if (!ReadAt(descriptor, from, part.data(), bytes)) return from;
    const void* found = memmem(part.data(), static_cast<size_t>(bytes), &kMagic, sizeof(kMagic));
    if (found != nullptr) return from + (static_cast<const char*>(found) - part.data());
    from += bytes - kMagicBytes + 1;
  }
  return from;
}

// The code of a record; nothing where the record is torn.
std::optional<std::string> ReadCode(int descriptor, int64_t at, const Header& header) {
  std::string code(static_cast<size_t>(header.bytes), '\0');
  if (!ReadAt(descriptor, at + kHeader, code.data(), header.bytes)) return std::nullopt;
  if (header.checksum != Checksum(header, code)) return std::nullopt;
  return code;
}

}  // namespace

uint64_t MakersOfCode(const std::vector<std::string>& paths) {
  std::string text = ProcessorName();
  for (const std::string& path : paths) {
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0) continue;
    for (const auto number :
         {int64_t{about.st_size}, int64_t{about.st_mtim.tv_sec}, int64_t{about.st_mtim.tv_nsec}}) {
      text += " " + std::to_string(number);
    }
  }
  return XXH3_64bits(text.data(), text.size());
}

std::unique_ptr<CodeFiles> CodeFiles::Open(const std::string& folder, int64_t most_bytes) {
  std::error_code error;
  const fs::path path = folder;
  fs::create_directories(path, error);
  if (IsFull(path / "recent", most_bytes)) Turn(path, most_bytes);
  const int recent = OpenOwn(path / "recent");
  if (recent < 0) return nullptr;
  return std::unique_ptr<CodeFiles>(new CodeFiles(recent, OpenOwn(path / "older"), most_bytes));
}

CodeFiles::CodeFiles(int recent, int older, int64_t most_bytes) : most_bytes_(most_bytes) {
  recent_.descriptor = recent;
  older_.descriptor = older;
}

CodeFiles::~CodeFiles() {
  close(recent_.descriptor);
  if (older_.descriptor >= 0) close(older_.descriptor);
}

// Others may write at any time, to the older file too.
void CodeFiles::Scan(bool recent) {
  File& file = recent ? recent_ : older_;
  if (file.descriptor < 0) return;
  const int64_t size = SizeOf(file.descriptor);
  while (file.scanned + kHeader <= size) {
    Header header;
    if (!ReadAt(file.descriptor, file.scanned, &header, kHeader)) return;
    const bool record =
        header.magic == kMagic && header.bytes >= 0 && header.bytes <= kMostRecordBytes;
    const bool begun = record && file.scanned + kHeader + header.bytes > size;
    if (begun || !record || !ReadCode(file.descriptor, file.scanned, header)) {
      const int64_t next = NextRecord(file.descriptor, file.scanned + 1, size);
      if (begun && next + kMagicBytes > size) return;  // it may still be written
      file.scanned = next;
      continue;
    }
    const auto [found, added] = places_.try_emplace({header.high, header.low});
    const bool forbidden = !added && found->second.bytes == 0;
    if (!forbidden) found->second = {recent, file.scanned, header.bytes};
    file.scanned += kHeader + header.bytes;
  }
}

std::optional<CodeFiles::Place> CodeFiles::Look(const Fingerprint& key) {
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  Scan(false);
  Scan(true);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> CodeFiles::Find(const Fingerprint& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<Place> place = Look(key);
  if (!place || place->bytes == 0) return std::nullopt;
  const int descriptor = place->recent ? recent_.descriptor : older_.descriptor;
  Header header;
  if (!ReadAt(descriptor, place->at, &header, kHeader) || header.bytes != place->bytes) {
    return std::nullopt;
  }
  std::optional<std::string> code = ReadCode(descriptor, place->at, header);
  if (code && !place->recent) Append(key, *code);
  return code;
}

void CodeFiles::Append(const Fingerprint& key, std::string_view code) {
  const auto bytes = static_cast<int64_t>(code.size());
  if (bytes > kMostRecordBytes) return;
  if (SizeOf(recent_.descriptor) + kHeader + bytes > most_bytes_) return;
  Header header;
  header.high = key.high;
  header.low = key.low;
  header.bytes = bytes;
  header.checksum = Checksum(header, code);
  std::string record(reinterpret_cast<const char*>(&header), sizeof(header));
  record += code;
  const ssize_t written = write(recent_.descriptor, record.data(), record.size());
  (void)written;  // a part of it is passed over by whoever reads
}

void CodeFiles::Add(const Fingerprint& key, std::string_view code) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!code.empty() && !Look(key)) Append(key, code);
}

void CodeFiles::Forbid(const Fingerprint& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(key, {});
  places_[key] = {/*recent=*/true, 0, 0};
}

}  // namespace hone::wire
