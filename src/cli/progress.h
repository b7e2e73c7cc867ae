// Progress on stderr for whatever takes longer than two seconds: a line that is rewritten on a
// terminal, now and then a plain line elsewhere.
#ifndef HONE_CLI_PROGRESS_H_
#define HONE_CLI_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hone::cli {

bool StderrIsTerminal();

class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();  // clears the line

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The state of things, in a line. Cheap to call often: most calls print nothing. Due() says
  // whether Show would print, for callers whose line is dear to make. From one thread at a time.
  bool Due() const;
  void Show(const std::string& line);
  // Removes the rewriting line, so that something else can be printed.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  const bool enabled_;
  const bool terminal_;
  Clock::time_point next_;
  bool shown_ = false;
};

// Shows "WHAT … 12 s" from a thread of its own for as long as it lives: for calls that say nothing
// until they are done.
class Waiting {
 public:
  Waiting(bool enabled, std::string what);
  ~Waiting();

  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_PROGRESS_H_
