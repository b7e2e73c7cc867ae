// hone completion: a script for the shell. hone manual: the command line as a document.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/describe_app.h"
#include "jobs/completions.h"
#include "jobs/manual.h"

namespace hone::cli {

Run AddCompletion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "the shell that the script is for")
      ->required()
      ->check(CLI::IsMember(jobs::Shells()));
  return [shell, &app] {
    return Finish(jobs::CompletionScript(DescribeHone(*app.get_parent()), *shell), kFine);
  };
}

Run AddManual(CLI::App& app) {
  struct Options {
    bool markdown = false;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::Option* const json = app.add_flag("--json", options->json, "as JSON, for programs");
  app.add_flag("--markdown", options->markdown, "as Markdown")->excludes(json);
  return [options, &app] {
    const jobs::CommandInfo hone = DescribeHone(*app.get_parent());
    if (options->json) return Finish(ToJson(hone), kFine);
    return Finish(options->markdown ? Markdown(hone) : ManPage(hone, kExits), kFine);
  };
}

}  // namespace hone::cli
