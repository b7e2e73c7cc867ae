// The commands of hone-loops-bench.
#ifndef HONE_BENCH_LOOPS_COMMANDS_H_
#define HONE_BENCH_LOOPS_COMMANDS_H_

#include <CLI/App.hpp>

namespace hone::bench {

void AddXla(CLI::App& app, int& exit_code);
void AddFuzz(CLI::App& app, int& exit_code);
void AddRate(CLI::App& app, int& exit_code);
void AddSearch(CLI::App& app, int& exit_code);
void AddRules(CLI::App& app, int& exit_code);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOOPS_COMMANDS_H_
