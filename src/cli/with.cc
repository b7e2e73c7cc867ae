// hone with: a Python script, its JAX modules replaced by what the store knows to be faster.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/python_script.h"

namespace hone::cli {

Run AddWith(CLI::App& app) {
  struct Flags {
    bool keep_memory = true;
    std::string store;
    std::vector<std::string> command;
  };
  auto flags = std::make_shared<Flags>();
  AddWord(app, "STORE", flags->store, "what `hone tune RECORDED --store` wrote");
  AddWord(app, "COMMAND", flags->command, "what is run, after --, as it is");
  AddNoFlag(app, "--no-huge-pages", flags->keep_memory,
            "leave the script's memory to glibc's defaults");
  return [flags] {
    return Fail(jobs::BecomeTuned(flags->store, flags->keep_memory, flags->command), false);
  };
}

}  // namespace hone::cli
