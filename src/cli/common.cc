#include "cli/common.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cli/interrupt.h"

namespace hone::cli {

int ExitCodeFor(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUnsupported:
      return kBadInput;
    case ErrorCode::kInterrupted:
      return kInterrupted;
    default:
      return kSomeFailed;
  }
}

int Fail(const Error& error, const std::string& file, bool json) {
  const std::string where = file.empty() ? "" : Printable(file) + ": ";
  fmt::print(stderr, "hone: {}{}\n", where, Printable(error.message));
  if (json) (void)PrintJson(Json{{"error", jobs::ErrorJson(error, file)}});
  return ExitCodeFor(error);
}

int Fail(const Error& error, bool json) { return Fail(error, "", json); }

int Fail(const FileError& failed, bool json) { return Fail(failed.error, failed.file, json); }

void Warn(const std::string& file, const std::string& message) {
  const std::string where = file.empty() ? "" : Printable(file) + ": ";
  fmt::print(stderr, "hone: {}warning: {}\n", where, Printable(message));
}

void FileColumn::Begin(const std::vector<std::string>& names, std::string (*header)(size_t width),
                       bool json) {
  files = names.size();
  width = WidthOf("FILE", names);
  if (!json && files > 1) (void)Print(header(width));
}

Status Print(std::string_view text) {
  HasAnswered();
  while (!text.empty()) {
    const ssize_t wrote = write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    // The reader has seen enough, as with `| head`: end as SIGPIPE would.
    if (wrote < 0 && errno == EPIPE) _exit(128 + 13);
    if (wrote < 0) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("cannot be written: {}; choose another output", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

Status PrintJson(const Json& json) {
  return Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int Finish(const Json& json, int code) {
  if (Status wrote = PrintJson(json); !wrote) return Fail(wrote.error(), "stdout", false);
  return code;
}

int Finish(const std::string& text, int code) {
  if (Status wrote = Print(text); !wrote) return Fail(wrote.error(), "stdout", false);
  return code;
}

}  // namespace hone::cli
