#include "wire/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

namespace hone::wire {
namespace {

namespace fs = std::filesystem;

// Later than the headers of Linux 6.1.
constexpr uint64_t kTruncate = 1u << 14;         // from version 3 of Landlock's interface on
constexpr uint64_t kDeviceControl = 1u << 15;    // 5
constexpr uint64_t kBindAndConnect = 3;          // 4: of TCP
constexpr uint64_t kSocketsAndSignals = 3;       // 6: to processes outside
struct Ruleset {
  uint64_t files;
  uint64_t network;
  uint64_t scopes;
};

// What XLA, LLVM, libstdc++ and glibc ask the system, beside the libraries.
constexpr const char* kSystemPaths[] = {
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/dev/null",
    "/dev/urandom",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib"};

// The rest fails with EPERM. No call here names another process or makes anything outside of this one.
constexpr int kCalls[] = {
    // memory
    SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(mremap), SCMP_SYS(madvise),
    SCMP_SYS(brk), SCMP_SYS(mincore), SCMP_SYS(membarrier), SCMP_SYS(get_mempolicy),
    // threads
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler), SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min), SCMP_SYS(getcpu), SCMP_SYS(gettid), SCMP_SYS(exit),
    SCMP_SYS(exit_group), SCMP_SYS(arch_prctl),
    // signals to itself
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    // time
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times), SCMP_SYS(getrusage),
    // what is open
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(fadvise64),
    SCMP_SYS(getdents64), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(eventfd2), SCMP_SYS(pipe),
    SCMP_SYS(pipe2), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(sendto),
    // files, of which Landlock says which
    SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs),
    SCMP_SYS(fstatfs), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd),
    // what it is
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
    SCMP_SYS(getegid), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrlimit),
    SCMP_SYS(getrandom)};

std::string Why(const char* part, int error) {
  return std::string(part) + ": " + std::strerror(error);
}

void Limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_max = std::min(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  setrlimit(resource, &limit);
}

int LandlockVersion() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

// Files that are part of this process or are going to be: what the loader has mapped, and libraries
// beside those, which may be loaded later.
std::set<std::string> LibraryFiles(const std::vector<std::string>& libraries) {
  std::set<std::string> files(libraries.begin(), libraries.end());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != line.npos) files.insert(line.substr(path));
  }
  std::set<fs::path> folders;
  for (const std::string& file : files) folders.insert(fs::path(file).parent_path());
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().filename().string().find(".so") != std::string::npos) {
        files.insert(entry->path().string());
      }
    }
  }
  return files;
}

void AllowReading(int ruleset, const std::string& path) {
  const int place = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return;  // it is not here
  struct stat about {};
  landlock_path_beneath_attr rule{};
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
  if (fstat(place, &about) == 0 && S_ISDIR(about.st_mode)) {
    rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  }
  rule.parent_fd = place;
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  // A rule is about an inode, and files in /proc get new ones when they have been out of use.
  if (path.rfind("/proc/", 0) != 0) close(place);
}

void RestrictFiles(const SandboxOptions& options, Sandbox& sandbox) {
  const int version = LandlockVersion();
  if (version == 0) {
    sandbox.missing.push_back("Landlock: this kernel has none");
    return;
  }
  Ruleset rules{};
  rules.files = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1;  // all of version 1
  if (version >= 2) rules.files |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rules.files |= kTruncate;
  if (version >= 5) rules.files |= kDeviceControl;
  if (version >= 4) rules.network = kBindAndConnect;
  if (version >= 6) rules.scopes = kSocketsAndSignals;
  const size_t size = version >= 6 ? sizeof(rules) : version >= 4 ? 16 : 8;
  const long made = syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (made < 0) {
    sandbox.missing.push_back(Why("Landlock", errno));
    return;
  }
  const int ruleset = static_cast<int>(made);
  for (const char* path : kSystemPaths) AllowReading(ruleset, path);
  for (const std::string& path : LibraryFiles(options.libraries)) AllowReading(ruleset, path);
  for (const std::string& path : options.readable) AllowReading(ruleset, path);
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) == 0) {
    sandbox.landlock = version;
  } else {
    sandbox.missing.push_back(Why("Landlock", errno));
  }
  close(ruleset);
}

int AllowCalls(scmp_filter_ctx filter) {
  int error = 0;
  const auto rule = [&](uint32_t action, int call, unsigned count, scmp_arg_cmp first,
                        scmp_arg_cmp second = {}) {
    const scmp_arg_cmp conditions[] = {first, second};
    const int done = seccomp_rule_add_array(filter, action, call, count, conditions);
    if (error == 0) error = done;
  };
  for (const int call : kCalls) rule(SCMP_ACT_ALLOW, call, 0, {});
  // glibc then makes its threads by clone, whose flags can be seen.
  rule(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, {});
  rule(SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM));
  constexpr uint64_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  rule(SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, kWriting, O_RDONLY));
  rule(SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, kWriting, O_RDONLY));
  const auto own = static_cast<scmp_datum_t>(getpid());
  rule(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, own));
  rule(SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, SCMP_A0(SCMP_CMP_EQ, own));
  for (const int what : {PR_SET_NAME, PR_GET_NAME}) {
    rule(SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
         SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(what)));
  }
  rule(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0),
       SCMP_A2(SCMP_CMP_EQ, 0));  // asks, and sets nothing
  rule(SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, TCGETS));  // is it a terminal?
  for (const int what : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC}) {
    rule(SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
         SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(what)));
  }
  return error;
}

void RestrictCalls(Sandbox& sandbox) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  int error = filter == nullptr ? -ENOMEM : AllowCalls(filter);
  if (error == 0) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
  if (error == 0) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree
  // Kernels before 5.16 would slow down all of the process's memory accesses, and so what it measures.
  if (error == 0) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
  if (error == 0) error = seccomp_load(filter);
  if (filter != nullptr) seccomp_release(filter);
  sandbox.calls = error == 0;
  if (error != 0) sandbox.missing.push_back(Why("seccomp", -error));
}

}  // namespace

Sandbox EnterSandbox(const SandboxOptions& options) {
  Sandbox sandbox;
  signal(SIGXFSZ, SIG_IGN);  // a write that goes too far fails
  Limit(RLIMIT_FSIZE, kMostFileBytes);
  Limit(RLIMIT_CORE, 0);
  if (options.data_bytes != 0) Limit(RLIMIT_DATA, options.data_bytes);
  sandbox.no_new_privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  if (!sandbox.no_new_privileges) sandbox.missing.push_back(Why("no new privileges", errno));
  RestrictFiles(options, sandbox);
  RestrictCalls(sandbox);  // last: it takes away what is needed for the rest
  return sandbox;
}

std::vector<std::string> MissingFromSandbox() {
  std::vector<std::string> missing;
  if (LandlockVersion() == 0) missing.push_back("Landlock: this kernel has none");
  const uint32_t action = SECCOMP_RET_ERRNO;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    missing.push_back(Why("seccomp", errno));
  }
  return missing;
}

size_t DataBytesFor(size_t resident) {
  constexpr size_t kSpare = size_t{4} << 30;
  constexpr size_t kPerCore = size_t{64} << 20;
  return resident + kSpare + kPerCore * std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace hone::wire
