// The commands of hone-loops-bench.
#ifndef HONE_BENCH_LOOPS_COMMANDS_H_
#define HONE_BENCH_LOOPS_COMMANDS_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace hone::bench {

void AddXla(CLI::App& app, int& exit_code);
void AddFuzz(CLI::App& app, int& exit_code);
void AddRate(CLI::App& app, int& exit_code);
void AddSearch(CLI::App& app, int& exit_code);
void AddRules(CLI::App& app, int& exit_code);
void AddCostModel(CLI::App& app, int& exit_code);

// Seconds, by a clock that only goes forward.
double Now();

// Names with commas between them.
std::vector<std::string> Split(const std::string& list);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOOPS_COMMANDS_H_
