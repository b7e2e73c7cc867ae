#include "wire/sandbox_probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

namespace hone::wire {
namespace {

struct Try {
  const char* what;
  // Below 0 where it fails. What the kernel answers for another reason than that it is not allowed
  // (there is no such file) counts as done: somebody else's arguments might have worked.
  std::function<long()> attempt;
};

long Close(long descriptor) {
  if (descriptor >= 0) close(static_cast<int>(descriptor));
  return descriptor;
}

long Fork() {
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(0);
  if (child > 0) waitpid(static_cast<pid_t>(child), nullptr, 0);
  return child;
}

long Create() {
  const std::string path = "/tmp/hone-sandbox-probe-" + std::to_string(getpid());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) unlink(path.c_str());
  return Close(file);
}

// More than the limit, where there is one; without, no page of it is touched.
long TakeMemory() {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return 0;
  void* const taken = mmap(nullptr, limit.rlim_cur, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (taken == MAP_FAILED) return -1;
  munmap(taken, limit.rlim_cur);
  return 0;
}

long GrowFile() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur != RLIM_INFINITY) errno = EFBIG;
  return limit.rlim_cur != RLIM_INFINITY ? -1 : 0;
}

const std::vector<Try>& Tries() {
  static const char* const kNone = "/nonexistent/hone-sandbox-probe";
  static const std::vector<Try> tries = {
      {"socket of the internet", [] { return Close(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socket of this machine", [] { return Close(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"connect",
       [] {
         sockaddr place{AF_UNSPEC, {}};
         return static_cast<long>(connect(-1, &place, sizeof(place)));
       }},
      {"bind",
       [] {
         sockaddr place{AF_UNSPEC, {}};
         return static_cast<long>(bind(-1, &place, sizeof(place)));
       }},
      {"execve",
       [] {
         char* const nothing[] = {nullptr};
         return static_cast<long>(execve(kNone, nothing, nothing));
       }},
      {"fork", Fork},
      {"open a new file for writing", Create},
      {"open a device for writing",
       [] { return Close(open("/dev/null", O_WRONLY | O_CLOEXEC)); }},
      {"read /etc/passwd", [] { return Close(open("/etc/passwd", O_RDONLY | O_CLOEXEC)); }},
      {"read /etc/passwd on a thread",
       [] {
         long result = 0;
         int error = 0;
         std::thread([&] {
           result = Close(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
           error = errno;
         }).join();
         errno = error;
         return result;
       }},
      {"list the root folder", [] { return Close(open("/", O_RDONLY | O_CLOEXEC)); }},
      {"list home folders", [] { return Close(open("/home", O_RDONLY | O_CLOEXEC)); }},
      {"read another process's command line",
       [] {
         const std::string path = "/proc/" + std::to_string(getppid()) + "/cmdline";
         return Close(open(path.c_str(), O_RDONLY | O_CLOEXEC));
       }},
      {"unlink", [] { return static_cast<long>(unlink(kNone)); }},
      {"rename", [] { return static_cast<long>(rename(kNone, kNone)); }},
      {"make a folder", [] { return static_cast<long>(mkdir(kNone, 0700)); }},
      {"make a link", [] { return static_cast<long>(symlink(kNone, kNone)); }},
      {"truncate", [] { return static_cast<long>(truncate(kNone, 0)); }},
      {"change a file's mode", [] { return static_cast<long>(chmod(kNone, 0600)); }},
      {"signal another process", [] { return static_cast<long>(kill(getppid(), 0)); }},
      {"trace a process", [] { return ptrace(PTRACE_ATTACH, 0, nullptr, nullptr); }},
      {"read another process's memory",
       [] {
         return static_cast<long>(process_vm_readv(getppid(), nullptr, 0, nullptr, 0, 0));
       }},
      {"count the processor's events",
       [] { return Close(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }},
      {"queues around the filter", [] { return Close(syscall(SYS_io_uring_setup, 1, nullptr)); }},
      {"a file system of its own", [] { return static_cast<long>(unshare(CLONE_NEWUSER)); }},
      {"a program in memory", [] { return Close(syscall(SYS_memfd_create, "probe", 0)); }},
      {"memory without end", TakeMemory},
      {"a file without end", GrowFile},
  };
  return tries;
}

bool IsRefusal(int error) {
  // Of the limits: ENOMEM and EFBIG.
  return error == EPERM || error == EACCES || error == ENOMEM || error == EFBIG;
}

}  // namespace

std::vector<Attempt> TryToGetOut() {
  std::vector<Attempt> attempts;
  for (const Try& one : Tries()) {
    errno = 0;
    const long result = one.attempt();
    const int error = errno;
    attempts.push_back({one.what, result < 0 && IsRefusal(error),
                        result < 0 ? std::strerror(error) : "done"});
  }
  return attempts;
}

}  // namespace hone::wire
