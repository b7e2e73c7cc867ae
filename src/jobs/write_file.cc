#include "jobs/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "jobs/kernels.h"
#include "loops/kernel_file.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

// A signal handler has no argument of ours: what it needs is here.
std::atomic<bool> has_temporary{false};
char temporary[PATH_MAX];

// While it lives, RemoveTemporary removes the file. One at a time.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) {
    if (path.size() >= sizeof(temporary)) return;
    std::memcpy(temporary, path.c_str(), path.size() + 1);
    has_temporary = true;
  }
  ~TemporaryFile() { has_temporary = false; }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

tl::unexpected<Error> CannotWrite(const std::string& why) {
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("cannot be written: {}; choose another output", why));
}

// Where a file really is: the end of the chain of links, which may be a file not there yet.
fs::path Target(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

// A name of a temporary file beside the target, and the file, open and ours alone.
int OpenTemporary(const fs::path& target, std::string& name) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  name = (folder / fmt::format(".{}.{}.XXXXXX", target.filename().string().substr(0, 200), "hone"))
             .string();
  return mkostemp(name.data(), O_CLOEXEC);
}

Status WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return CannotWrite(std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

// What may be replaced, and with which permissions. `replaced` is false for devices and pipes.
Status LookAtTarget(const fs::path& target, mode_t& mode, bool& replaced) {
  const mode_t mask = umask(0);
  umask(mask);
  mode = 0666 & ~mask;
  replaced = true;
  struct stat status;
  if (stat(target.c_str(), &status) != 0) {
    if (errno != ENOENT) return CannotWrite(std::strerror(errno));
    if (!target.has_filename()) return CannotWrite("there is no such folder");
    return {};
  }
  if (S_ISDIR(status.st_mode)) return CannotWrite("it is a folder");
  if (access(target.c_str(), W_OK) != 0) return CannotWrite(std::strerror(errno));
  replaced = S_ISREG(status.st_mode);
  mode = status.st_mode & 07777;
  return {};
}

}  // namespace

Status CheckWritable(const std::string& path) {
  const fs::path target = Target(path);
  mode_t mode;
  bool replaced;
  if (Status fine = LookAtTarget(target, mode, replaced); !fine || !replaced) return fine;
  std::string name;
  const int file = OpenTemporary(target, name);
  if (file < 0) return CannotWrite(std::strerror(errno));
  close(file);
  unlink(name.c_str());
  return {};
}

FileOr<void> CheckAllWritable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (Status fine = CheckWritable(path); !fine) return Wrong(path, fine.error());
  }
  return {};
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  const fs::path target = Target(path);
  mode_t mode;
  bool replaced;
  if (Status fine = LookAtTarget(target, mode, replaced); !fine) return fine;
  if (!replaced) {
    const int file = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return CannotWrite(std::strerror(errno));
    Status wrote = WriteAll(file, bytes);
    if (close(file) != 0 && wrote) wrote = CannotWrite(std::strerror(errno));
    return wrote;
  }
  std::string name;
  const int file = OpenTemporary(target, name);
  if (file < 0) return CannotWrite(std::strerror(errno));
  const TemporaryFile removed_on_interrupt(name);
  Status wrote = WriteAll(file, bytes);
  if (wrote && (fchmod(file, mode) != 0 || fsync(file) != 0)) {
    wrote = CannotWrite(std::strerror(errno));
  }
  if (close(file) != 0 && wrote) wrote = CannotWrite(std::strerror(errno));
  if (wrote && rename(name.c_str(), target.c_str()) != 0) {
    wrote = CannotWrite(std::strerror(errno));
  }
  if (!wrote) unlink(name.c_str());
  return wrote;
}

Status AddLine(const std::string& path, std::string_view line) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return CannotWrite(std::strerror(errno));
  Status wrote;
  struct stat status;
  if (flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0) {
    wrote = CannotWrite(std::strerror(errno));
  } else {
    const off_t size = S_ISREG(status.st_mode) ? status.st_size : 0;
    char last = '\n';
    if (size > 0 && pread(file, &last, 1, size - 1) != 1) last = '\n';
    std::string text = last == '\n' ? "" : "\n";
    text += line;
    if (text.back() != '\n') text += '\n';
    wrote = WriteAll(file, text);
    // What a full disk took of it is taken back.
    if (!wrote && S_ISREG(status.st_mode) && ftruncate(file, size) != 0) {
      wrote = CannotWrite(std::strerror(errno));
    }
  }
  if (close(file) != 0 && wrote) wrote = CannotWrite(std::strerror(errno));
  return wrote;
}

FileOr<void> WriteIfNamed(const std::string& path, std::string_view bytes) {
  if (path.empty()) return {};
  if (Status wrote = WriteFile(path, bytes); !wrote) return Wrong(path, wrote.error());
  return {};
}

void RemoveTemporary() {
  if (has_temporary) unlink(temporary);
}

FileOr<void> WriteProgram(const std::string& path, std::string_view bytes,
                          const WorkerOptions& options) {
  if (path.empty()) return {};
  const StatusOr<std::string> kernels =
      KernelsOf(bytes, KernelMaker(!options.no_sandbox, options.KernelFolder()));
  if (!kernels) return Wrong(path, kernels.error());
  if (!kernels->empty()) {
    if (Status wrote = WriteFile(loops::KernelPathOf(path), *kernels); !wrote) {
      return Wrong(path, wrote.error());
    }
  }
  return WriteIfNamed(path, bytes);
}

ExportFormat FormatFor(const std::string& path) {
  return fs::path(path).extension() == ".pb" ? ExportFormat::kProto : ExportFormat::kText;
}

}  // namespace hone::jobs
