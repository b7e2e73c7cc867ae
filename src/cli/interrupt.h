// Ctrl-C.
#ifndef HONE_CLI_INTERRUPT_H_
#define HONE_CLI_INTERRUPT_H_

#include <atomic>

namespace hone::cli {

// Ctrl-C and SIGTERM end hone at once, with 130 and 143: main calls this first.
void ExitOnInterrupt();

// From here on the first Ctrl-C only sets Interrupted(); the second ends hone.
void HoldInterrupts();
const std::atomic<bool>& Interrupted();

}  // namespace hone::cli

#endif  // HONE_CLI_INTERRUPT_H_
