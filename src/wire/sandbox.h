// Locks this process up before it touches what it was not written to trust: a program is untrusted input,
// and XLA, which reads and runs it, is not made for that.
//
// Afterwards there is no network, no other program, no other process, no writing to any file, and no
// reading but of the libraries and of what the system says of itself. Threads, memory (executable, too:
// XLA compiles into it) and what is open already stay.
#ifndef HONE_WIRE_SANDBOX_H_
#define HONE_WIRE_SANDBOX_H_

#include <cstddef>
#include <string>
#include <vector>

namespace hone::wire {

struct SandboxOptions {
  std::vector<std::string> readable;  // files and folders, beside the libraries and the system's
  std::vector<std::string> libraries;  // files that are going to be loaded, and what lies beside them
  // Of private writable memory; 0 is no limit. Behind the agent's own watch, for what grows too quickly
  // for it.
  size_t data_bytes = 0;
};

// Which parts are in force, and why others are not.
struct Sandbox {
  bool no_new_privileges = false;
  bool calls = false;   // seccomp: every system call but those of a list fails with EPERM, on all threads
  int landlock = 0;     // the version of the kernel's interface; 0 where it has none
  std::vector<std::string> missing;  // "Landlock: the kernel has none"
};

// To be called before there are threads that matter: Landlock binds the calling one and those that it
// starts. What is not to be had is left out and said; nothing fails.
Sandbox EnterSandbox(const SandboxOptions& options);

// The parts that EnterSandbox could not have here, found out without entering.
std::vector<std::string> MissingFromSandbox();

// The largest file that may grow by a write: the log of this process is one.
inline constexpr size_t kMostFileBytes = size_t{64} << 20;

// For SandboxOptions::data_bytes where the agent's watch kills at `resident` bytes: that much beside what
// is reserved and never used (stacks, arenas).
size_t DataBytesFor(size_t resident);

}  // namespace hone::wire

#endif  // HONE_WIRE_SANDBOX_H_
