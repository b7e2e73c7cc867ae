#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cli/common.h"
#include "cli/interrupt.h"
#include "jobs/kernels.h"
#include "loops/kernel_file.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

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
  const RemoveOnInterrupt temporary(name);
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

Status WriteProgram(const std::string& path, std::string_view bytes, const CommonOptions& options) {
  const StatusOr<std::string> kernels =
      jobs::KernelsOf(bytes, jobs::KernelMaker(!options.no_sandbox, options.KernelFolder()));
  if (!kernels) return tl::unexpected(kernels.error());
  if (!kernels->empty()) {
    if (Status wrote = WriteFile(loops::KernelPathOf(path), *kernels); !wrote) return wrote;
  }
  return WriteFile(path, bytes);
}

Status WriteStdout(std::string_view bytes) {
  Status wrote = WriteAll(STDOUT_FILENO, bytes);
  if (wrote || errno != EPIPE) return wrote;
  _exit(128 + 13);  // the reader has seen enough, as with `| head`: end as SIGPIPE would
}

ExportFormat FormatFor(const std::string& path) {
  return fs::path(path).extension() == ".pb" ? ExportFormat::kProto : ExportFormat::kText;
}

}  // namespace hone::cli
