#include "jobs/count.h"

#include <memory>
#include <string>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"

namespace hone::cli {
namespace {

struct CountFlags {
  CommonOptions common;
  std::string file;
};

int RunCount(const CountFlags& flags) {
  CommandEvents events(flags.common);
  const auto count = jobs::CountInstructions(flags.file, flags.common, events);
  if (!count) return Fail(count.error(), flags.common.json);
  return Finish(std::to_string(*count) + "\n", kFine);
}

}  // namespace

Run AddCount(CLI::App& app) {
  auto flags = std::make_shared<CountFlags>();
  AddWord(app, "FILE", flags->file, "the program");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunCount(*flags); };
}

}  // namespace hone::cli
