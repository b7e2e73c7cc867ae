// Ctrl-C.
#ifndef HONE_CLI_INTERRUPT_H_
#define HONE_CLI_INTERRUPT_H_

#include <atomic>
#include <string>

namespace hone::cli {

// Ctrl-C and SIGTERM end hone at once, with 130 and 143: main calls this first.
void ExitOnInterrupt();

// From here on the first Ctrl-C only sets the flag that is returned; the second ends hone.
const std::atomic<bool>* StopOnInterrupt();

// While it lives, an interrupt that ends hone removes the file. One at a time.
class RemoveOnInterrupt {
 public:
  explicit RemoveOnInterrupt(const std::string& path);
  ~RemoveOnInterrupt();
  RemoveOnInterrupt(const RemoveOnInterrupt&) = delete;
  RemoveOnInterrupt& operator=(const RemoveOnInterrupt&) = delete;
};

}  // namespace hone::cli

#endif  // HONE_CLI_INTERRUPT_H_
