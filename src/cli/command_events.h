// Prints a job's events on stderr.
#ifndef HONE_CLI_COMMAND_EVENTS_H_
#define HONE_CLI_COMMAND_EVENTS_H_

#include <memory>
#include <optional>
#include <string>

#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "jobs/events.h"

namespace hone::cli {

class CommandEvents : public jobs::Events {
 public:
  explicit CommandEvents(bool show) : Events(&Interrupted()), show_(show) {
    progress_.emplace(show);
  }
  explicit CommandEvents(const CommonOptions& options) : CommandEvents(!options.quiet) {}

  bool Due() const override { return progress_->Due(); }
  void Show(const std::string& line) override { progress_->Show(line); }
  void Clear() override { progress_.emplace(show_); }
  std::shared_ptr<void> During(const std::string& what) override {
    return std::make_shared<Waiting>(show_, what);
  }
  void Warn(const std::string& about, const std::string& message) override {
    cli::Warn(about, message);
  }
  void HoldInterrupts() override { cli::HoldInterrupts(); }

  // `otherwise`, but where the job was interrupted and has told what it had.
  int CodeOr(int otherwise) const { return stopped() ? int{kInterrupted} : otherwise; }

 private:
  const bool show_;
  std::optional<Progress> progress_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_COMMAND_EVENTS_H_
