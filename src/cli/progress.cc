#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace hone::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kSilence = seconds(2);  // before the first line
constexpr auto kBetweenRewrites = milliseconds(100);
constexpr auto kBetweenLines = seconds(10);  // where there is no terminal

size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// At most `width` characters, cut between two of UTF-8.
std::string Cut(const std::string& line, size_t width) {
  size_t characters = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
    if (starts && ++characters > width) return line.substr(0, i);
  }
  return line;
}

}  // namespace

bool StderrIsTerminal() { return isatty(STDERR_FILENO) != 0; }

Progress::Progress(bool enabled)
    : enabled_(enabled), terminal_(StderrIsTerminal()), next_(Clock::now() + kSilence) {}

Progress::~Progress() { Clear(); }

bool Progress::Due() const { return enabled_ && Clock::now() >= next_; }

void Progress::Show(const std::string& line) {
  if (!Due()) return;
  if (terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", Cut(line, TerminalWidth() - 1));
    std::fflush(stderr);
    shown_ = true;
    next_ = Clock::now() + kBetweenRewrites;
  } else {
    fmt::print(stderr, "{}\n", line);
    next_ = Clock::now() + kBetweenLines;
  }
}

void Progress::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

Waiting::Waiting(bool enabled, std::string what) {
  if (!enabled) return;
  thread_ = std::thread([this, what = std::move(what)] {
    Progress progress(true);
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, milliseconds(250), [this] { return ending_; })) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      progress.Show(fmt::format("{} … {:.0f} s", what, waited.count()));
    }
  });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

}  // namespace hone::cli
