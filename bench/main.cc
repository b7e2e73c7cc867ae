// hone-bench: measurements, each a command; speeds are ratios against a named peer in the same run.
#include <filesystem>

#include "bench.h"

namespace hone::bench {

std::vector<ProgramSource> ReadPrograms(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".hlo" || extension == ".txt") files.push_back(entry.path().string());
    }
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<ProgramSource> programs;
  for (const std::string& file : files) programs.push_back({file, ReadFile(file)});
  return programs;
}

}  // namespace hone::bench

int main(int argc, char** argv) {
  CLI::App app("Measures hone, each time against a named peer in the same run.");
  app.require_subcommand(1);
  int exit_code = 0;
  hone::bench::AddPoolBench(app, exit_code);
  hone::bench::AddEnvBench(app, exit_code);
  hone::bench::AddDeterminismBench(app, exit_code);
  hone::bench::AddSoak(app, exit_code);
  hone::bench::AddEpisodes(app, exit_code);
  hone::bench::AddRewritesBench(app, exit_code);
  hone::bench::AddPlansBench(app, exit_code);
  hone::bench::AddKernelsBench(app, exit_code);
  hone::bench::AddChoicesBench(app, exit_code);
  hone::bench::AddBlameBench(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
