// hone: the command line.
#include "cli/command_line.h"

int main(int argc, char** argv) {
  return hone::cli::RunCommandLine(hone::cli::Commands(), argc, argv);
}
