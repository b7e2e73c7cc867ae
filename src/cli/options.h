// Options that several commands have.
#ifndef HONE_CLI_OPTIONS_H_
#define HONE_CLI_OPTIONS_H_

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/common.h"
#include "jobs/cluster.h"
#include "jobs/given_inputs.h"
#include "jobs/input.h"
#include "jobs/models.h"
#include "jobs/quantities.h"

namespace hone::cli {

// A word without a flag that must be given, or several.
template <class T>
CLI::Option* AddWord(CLI::App& app, const std::string& name, T& target, const std::string& help) {
  return app.add_option(name, target, help)->required()->type_name("");
}

// A flag that makes it false.
void AddNoFlag(CLI::App& app, const std::string& name, bool& value, const std::string& help);

// --json, --quiet, workers and limits. Set other defaults before.
void AddCommonOptions(CLI::App& app, CommonOptions& options);
// The same, and --datasets, for what takes programs by name.
void AddProgramOptions(CLI::App& app, CommonOptions& options);
void AddDatasetsOption(CLI::App& app, std::vector<std::string>& folders);
// So many workers as the machine has cores, 8 at most: a default for what uses them all.
int ManyWorkers();

// Behind AddCommonOptions, whose --workers takes a cluster's too from here on.
void AddClusterOptions(CLI::App& app, CommonOptions& common, jobs::ClusterOptions& options);

// `--device pjrt:PATH[,option=value…]`; "" where it is not given.
void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help);
// Lets through what device::ParseDeviceName can read.
CLI::Validator IsDeviceName();

// FILE…: programs.
void AddFiles(CLI::App& app, std::vector<std::string>& files);
// PROGRAM… and --split.
void AddProgramSet(CLI::App& app, jobs::ProgramSet& programs);

// --objective, and --actions, which are simplify or all.
void AddObjectiveOptions(CLI::App& app, std::string& objective, std::string& actions);
void AddObjectiveOption(CLI::App& app, std::string& objective);
// --search, the name of a searcher.
CLI::Option* AddSearchOption(CLI::App& app, std::string& search, const std::string& help);
void AddModelOptions(CLI::App& app, jobs::ModelOptions& options);

// --inputs N|FILE.npz, what programs are compared on.
void AddInputsOption(CLI::App& app, jobs::GivenInputs& inputs);
CLI::Option* AddStoreOption(CLI::App& app, std::string& path);
// --report OUT. For commands that take several files OUT is a folder then.
void AddReportOption(CLI::App& app, std::string& path, bool several_files = false);

// Options that take a duration, a size or a budget. Other text is a CLI::ValidationError.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, double& seconds,
                         const std::string& help);
CLI::Option* AddSize(CLI::App& app, const std::string& name, size_t& bytes,
                     const std::string& help);
// Also "0", for none.
CLI::Option* AddSizeOrNone(CLI::App& app, const std::string& name, size_t& bytes,
                           const std::string& help);
CLI::Option* AddBudget(CLI::App& app, const std::string& name, jobs::Budget& budget,
                       const std::string& help);

}  // namespace hone::cli

#endif  // HONE_CLI_OPTIONS_H_
