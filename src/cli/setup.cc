// hone setup: XLA's libraries, fetched and checked.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "jobs/ready_worker.h"

namespace hone::cli {
namespace {

struct SetupOptions {
  bool hashes = false;
  bool json = false;
  bool quiet = false;
};

int RunSetup(const SetupOptions& options) {
  std::vector<std::string> arguments;
  if (options.quiet) arguments.emplace_back("--quiet");
  if (Status fetched = jobs::FetchXla(arguments); !fetched) return Fail(fetched.error(), options.json);
  if (options.hashes) {
    if (Status right = jobs::FetchXla({"--hashes"}); !right) return Fail(right.error(), options.json);
  }
  const StatusOr<jobs::XlaLibraries> xla = jobs::FindXlaLibraries();
  if (!xla) return Fail(xla.error(), options.json);
  if (options.json) {
    return Finish(
        Json{{"folder", xla->folder}, {"whole", xla->whole}, {"hashes_read", options.hashes}},
        kFine);
  }
  return Finish(fmt::format("XLA's libraries are in {}{}\n", xla->folder,
                            options.hashes ? ", with the hashes that they should have" : ""),
                kFine);
}

}  // namespace

Run AddSetup(CLI::App& app) {
  auto options = std::make_shared<SetupOptions>();
  app.add_flag("--hashes", options->hashes,
               "also read the libraries whole and compare their SHA-256");
  app.add_flag("--json", options->json, "print JSON, for programs");
  app.add_flag("-q,--quiet", options->quiet, "no progress");
  return [options] { return RunSetup(*options); };
}

}  // namespace hone::cli
