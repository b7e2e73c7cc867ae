// Durations, sizes and budgets as people write them, and options that hold them.
#ifndef HONE_CLI_PARSE_H_
#define HONE_CLI_PARSE_H_

#include <CLI/App.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hone::cli {

// Whichever is spent first; one that was not given is infinite.
struct Budget {
  double seconds = std::numeric_limits<double>::infinity();
  int64_t steps = std::numeric_limits<int64_t>::max();
};

// "30s", "2m", "1.5h", "500ms"; a bare number is seconds. Positive, at most a year.
StatusOr<double> ParseDuration(std::string_view text);

// "512MiB", "1GiB", "2GB", "64k"; a bare number is bytes. Units without an i are powers of 1000,
// single letters powers of 1024.
StatusOr<size_t> ParseSize(std::string_view text);

// A duration, "2000steps", or both: "30s,2000steps".
StatusOr<Budget> ParseBudget(std::string_view text);

// Options that take such a value. What cannot be parsed is a CLI::ValidationError.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, double& seconds,
                         const std::string& help);
CLI::Option* AddSize(CLI::App& app, const std::string& name, size_t& bytes,
                     const std::string& help);
// Also "0", for none.
CLI::Option* AddSizeOrNone(CLI::App& app, const std::string& name, size_t& bytes,
                           const std::string& help);
CLI::Option* AddBudget(CLI::App& app, const std::string& name, Budget& budget,
                       const std::string& help);

}  // namespace hone::cli

#endif  // HONE_CLI_PARSE_H_
