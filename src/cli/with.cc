// hone with: a Python script, its JAX modules replaced by what the store knows to be faster.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/python.h"
#include "store/store.h"

namespace hone::cli {
namespace {

struct Options {
  std::string store;
  std::vector<std::string> command;
};

int RunWith(const Options& options) {
  if (const auto store = store::Store::OpenExisting(options.store); !store) {
    return Fail(store.error(), options.store, false);
  }
  return BecomeScript("with", options.store, options.command);
}

}  // namespace

Run AddWith(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("STORE", options->store, "what `hone tune RECORDED --store` wrote")
      ->required()
      ->type_name("");
  app.add_option("COMMAND", options->command, "what is run, after --, as it is")
      ->required()
      ->type_name("");
  return [options] { return RunWith(*options); };
}

}  // namespace hone::cli
