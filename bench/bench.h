// What the measurements share. Each is a command of hone-bench.
#ifndef HONE_BENCH_BENCH_H_
#define HONE_BENCH_BENCH_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/median.h"
#include "core/resident.h"
#include "env/session.h"

namespace hone::bench {

using Clock = std::chrono::steady_clock;

inline double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

// The programs of a file or folder (every *.hlo and *.txt below it), sorted.
std::vector<ProgramSource> ReadPrograms(const std::string& path);

// Each adds its command; `exit_code` is what main returns.
void AddPoolBench(CLI::App& app, int& exit_code);
void AddEnvBench(CLI::App& app, int& exit_code);
void AddDeterminismBench(CLI::App& app, int& exit_code);
void AddSoak(CLI::App& app, int& exit_code);
void AddEpisodes(CLI::App& app, int& exit_code);
void AddRewritesBench(CLI::App& app, int& exit_code);
void AddPlansBench(CLI::App& app, int& exit_code);
void AddKernelsBench(CLI::App& app, int& exit_code);
void AddChoicesBench(CLI::App& app, int& exit_code);
void AddBlameBench(CLI::App& app, int& exit_code);

}  // namespace hone::bench

#endif  // HONE_BENCH_BENCH_H_
