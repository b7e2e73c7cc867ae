// Errors as values. Bad input and spent budgets are an Error in a StatusOr; a broken invariant of
// ours is a HONE_CHECK; exceptions are for the Python bindings alone.
#ifndef HONE_CORE_RESULT_H_
#define HONE_CORE_RESULT_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hone {

enum class ErrorCode {
  kInvalidInput,  // the user's file, flag or name is wrong
  kUnsupported,   // well-formed, but out of reach here (say why)
  kPassFailed,    // an XLA pass returned an error; its module was dropped
  kWorkerDied,    // XLA aborted or was killed
  kDeadline,      // XLA ran past the deadline and was killed
  kMemory,        // XLA ran past the memory limit and was killed
  kInterrupted,   // the user stopped it
  kInternal,      // hone is at fault
};

// An error: what, where, and what to do about it, in one message for a person.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class T>
using StatusOr = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

inline tl::unexpected<Error> MakeError(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace hone

// The file is told from src/ on: where it was built is nobody's business.
#define HONE_CHECK(condition)                                                                 \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      const std::string file = __FILE__;                                                      \
      const size_t source = file.rfind("src/");                                               \
      std::fprintf(stderr, "hone: broken invariant at %s:%d: %s\n",                           \
                   file.c_str() + (source == file.npos ? 0 : source), __LINE__, #condition);  \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)

#endif  // HONE_CORE_RESULT_H_
