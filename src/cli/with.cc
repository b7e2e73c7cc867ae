// hone with: a Python script, its JAX modules replaced by what the store knows to be faster.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/python.h"
#include "store/store.h"

namespace hone::cli {
namespace {

constexpr char kTunables[] = "GLIBC_TUNABLES";
constexpr char kHugePages[] = "glibc.malloc.hugetlb";  // since glibc 2.35; older ones pass it over

struct WithOptions {
  bool no_huge_pages = false;
  std::string store;
  std::vector<std::string> command;
};

// XLA:CPU allocates a run's temporaries anew each time, and glibc gives large ones back to the
// system after it: every run then waits for their pages, one by one. Of huge ones there are 512
// times fewer.
void AskForHugePages() {
  const char* const given = std::getenv(kTunables);
  std::string tunables = given == nullptr ? "" : given;
  if (tunables.find(kHugePages) != tunables.npos) return;  // the user's word stands
  if (!tunables.empty()) tunables += ':';
  setenv(kTunables, (tunables + kHugePages + "=1").c_str(), 1);
}

int RunWith(const WithOptions& options) {
  if (const auto store = store::Store::OpenExisting(options.store); !store) {
    return Fail(store.error(), options.store, false);
  }
  if (!options.no_huge_pages) AskForHugePages();
  return BecomeScript("with", options.store, options.command);
}

}  // namespace

Run AddWith(CLI::App& app) {
  auto options = std::make_shared<WithOptions>();
  app.add_option("STORE", options->store, "what `hone tune RECORDED --store` wrote")
      ->required()
      ->type_name("");
  app.add_option("COMMAND", options->command, "what is run, after --, as it is")
      ->required()
      ->type_name("");
  app.add_flag("--no-huge-pages", options->no_huge_pages,
               "leave the script's memory to glibc's defaults");
  return [options] { return RunWith(*options); };
}

}  // namespace hone::cli
