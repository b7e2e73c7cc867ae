// Ctrl-C.
#ifndef HONE_CLI_INTERRUPT_H_
#define HONE_CLI_INTERRUPT_H_

#include <atomic>

namespace hone::cli {

// Ctrl-C and SIGTERM end hone at once, with 130 and 143: main calls this first. With `json` whoever
// waits for an answer and has none yet is told, too.
void ExitOnInterrupt(bool json);
// Standard output has something of the answer.
void HasAnswered();

// From here on the first Ctrl-C only sets Interrupted(); the second ends hone.
void HoldInterrupts();
const std::atomic<bool>& Interrupted();

}  // namespace hone::cli

#endif  // HONE_CLI_INTERRUPT_H_
