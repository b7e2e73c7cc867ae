// The command line as data, read off its parser.
#ifndef HONE_CLI_DESCRIBE_APP_H_
#define HONE_CLI_DESCRIBE_APP_H_

#include <CLI/App.hpp>

#include "jobs/manual.h"

namespace hone::cli {

jobs::CommandInfo DescribeApp(const CLI::App& app);

// The whole of hone: what the executable of `app` parses, and of the executables beside it where
// they are there.
jobs::CommandInfo DescribeHone(const CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DESCRIBE_APP_H_
