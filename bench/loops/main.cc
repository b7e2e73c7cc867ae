// hone-loops-bench: kernels of hone-loops against XLA's own, and against the interpreter by chance.
#include <CLI/CLI.hpp>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app("Measures kernels that hone-loops makes.");
  app.require_subcommand(1);
  int exit_code = 0;
  hone::bench::AddXla(app, exit_code);
  hone::bench::AddFuzz(app, exit_code);
  hone::bench::AddRate(app, exit_code);
  hone::bench::AddSearch(app, exit_code);
  hone::bench::AddRules(app, exit_code);
  hone::bench::AddCostModel(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
