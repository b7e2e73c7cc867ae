// Options shared by commands that search or learn on many programs: the programs, the objective.
#ifndef HONE_CLI_PROGRAM_SET_H_
#define HONE_CLI_PROGRAM_SET_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/input.h"

namespace hone::cli {

struct ProgramSet {
  std::vector<std::string> files;  // as named: paths, folders, URIs
  std::string split;               // "" is all of them
};

void AddProgramSet(CLI::App& app, ProgramSet& programs);

// ExpandInputs, then InSplit.
tl::expected<std::vector<std::string>, FileError> ChooseInputs(
    const ProgramSet& programs, const std::vector<std::string>& datasets);

void AddObjectiveOption(CLI::App& app, std::string& objective);
// simplify or all.
void AddActionSetOption(CLI::App& app, std::string& actions);

}  // namespace hone::cli

#endif  // HONE_CLI_PROGRAM_SET_H_
