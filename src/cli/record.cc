// hone record: the modules that a Python script has JAX compile.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/python.h"

namespace hone::cli {
namespace {

struct RecordOptions {
  std::string output = "recorded";
  std::vector<std::string> command;
};

int RunRecord(const RecordOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    return Fail({ErrorCode::kInvalidInput, "cannot be made: " + error.message()}, options.output,
                false);
  }
  return BecomeScript("record", options.output, options.command);
}

}  // namespace

Run AddRecord(CLI::App& app) {
  auto options = std::make_shared<RecordOptions>();
  app.add_option("COMMAND", options->command, "what is run, after --, as it is")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output,
                 "the folder, made where it is not there; a recording in it is added to")
      ->type_name("FOLDER")
      ->capture_default_str();
  return [options] { return RunRecord(*options); };
}

}  // namespace hone::cli
