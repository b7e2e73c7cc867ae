// hone record: the modules that a Python script has JAX compile.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/python_script.h"

namespace hone::cli {

Run AddRecord(CLI::App& app) {
  struct Flags {
    std::string output = "recorded";
    std::vector<std::string> command;
  };
  auto flags = std::make_shared<Flags>();
  AddWord(app, "COMMAND", flags->command, "what is run, after --, as it is");
  app.add_option("-o,--output", flags->output,
                 "the folder, made where it is not there; a recording in it is added to")
      ->type_name("FOLDER")
      ->capture_default_str();
  return [flags] { return Fail(jobs::BecomeRecorded(flags->output, flags->command), false); };
}

}  // namespace hone::cli
