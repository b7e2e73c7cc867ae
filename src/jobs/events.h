// Progress of a running job, and how to stop it.
#ifndef HONE_JOBS_EVENTS_H_
#define HONE_JOBS_EVENTS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/result.h"

namespace hone::jobs {

// The functions do nothing unless overridden. A job calls them from one thread at a time.
class Events {
 public:
  explicit Events(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}
  virtual ~Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // The state of things, in a line that takes the last one's place. Due() says whether anybody
  // looks now, for lines that are dear to make.
  virtual bool Due() const { return false; }
  virtual void Show(const std::string&) {}
  // That state is of the past.
  virtual void Clear() {}
  // A long call is under way for as long as the returned object lives; it may be null.
  virtual std::shared_ptr<void> During(const std::string&) { return nullptr; }
  // Something is amiss and the job goes on. `about` is a file, or empty.
  virtual void Warn(const std::string&, const std::string&) {}

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

// One of several programs failed; the others go on.
struct FileError {
  std::string file;
  Error error;
};

}  // namespace hone::jobs

#endif  // HONE_JOBS_EVENTS_H_
