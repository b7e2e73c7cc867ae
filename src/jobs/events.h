// Progress of a running job, and how to stop it.
#ifndef HONE_JOBS_EVENTS_H_
#define HONE_JOBS_EVENTS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/result.h"

namespace hone::jobs {

// The functions do nothing unless overridden. A job calls them from one thread at a time.
class Events {
 public:
  explicit Events(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}
  virtual ~Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Progress, in a line that takes the place of the last one. Due() says whether it would be shown
  // now, for lines that are expensive to make.
  virtual bool Due() const { return false; }
  virtual void Show(const std::string&) {}
  // Removes that line: it no longer holds.
  virtual void Clear() {}
  // A long call is under way for as long as the returned object lives; it may be null.
  virtual std::shared_ptr<void> During(const std::string&) { return nullptr; }
  // Something is amiss and the job goes on. `about` is a file, or empty.
  virtual void Warn(const std::string&, const std::string&) {}

  // From here on an interrupt sets `stop` and does not end the process: the job has results to
  // keep.
  virtual void HoldInterrupts() {}
  // Once set, a job returns what it has. May be null.
  const std::atomic<bool>* stop() const { return stop_; }
  bool stopped() const { return stop_ != nullptr && *stop_; }

 private:
  const std::atomic<bool>* const stop_;
};

// Clears at the end of a scope.
class ClearAtEnd {
 public:
  explicit ClearAtEnd(Events& events) : events_(events) {}
  ~ClearAtEnd() { events_.Clear(); }
  ClearAtEnd(const ClearAtEnd&) = delete;
  ClearAtEnd& operator=(const ClearAtEnd&) = delete;

 private:
  Events& events_;
};

// The bytes of a program that a job knows by its name.
using ReadProgram = std::function<StatusOr<std::string>(const std::string& file)>;

// An error and the file that it is about; `file` is empty where there is none.
struct FileError {
  std::string file;
  Error error;
};
template <class T>
using FileOr = tl::expected<T, FileError>;

// As one message, for those who are told no file.
inline Error InOne(FileError failed) {
  if (!failed.file.empty()) failed.error.message = failed.file + ": " + failed.error.message;
  return std::move(failed.error);
}

// As a FileOr takes it.
inline tl::unexpected<FileError> Wrong(std::string file, Error error) {
  return tl::unexpected(FileError{std::move(file), std::move(error)});
}

// The same, its error about the file.
template <class T>
FileOr<T> About(const std::string& file, tl::expected<T, Error> result) {
  return std::move(result).map_error(
      [&](Error error) { return FileError{file, std::move(error)}; });
}

}  // namespace hone::jobs

#endif  // HONE_JOBS_EVENTS_H_
