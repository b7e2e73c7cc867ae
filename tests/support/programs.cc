#include "support/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hone::testing {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

}  // namespace

std::string ReadData(const std::string& name) { return ReadFile(HONE_DATA "/" + name); }
std::string ReadTestFile(const std::string& name) { return ReadFile(HONE_TESTS "/" + name); }

std::vector<std::string> ListTestFiles(const std::string& folder, const std::string& extension) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_TESTS "/" + folder, error)) {
    if (entry.path().extension() == extension) {
      names.push_back(folder + "/" + entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<Pool> MakePool(PoolOptions options) {
  StatusOr<std::unique_ptr<Pool>> pool = Pool::Start(options);
  if (!pool) {
    ADD_FAILURE() << pool.error().message;
    std::abort();
  }
  return std::move(*pool);
}

Pool& SharedPool() {
  static const std::unique_ptr<Pool> pool = MakePool();
  return *pool;
}

ProgramInfo MustLoad(Pool& pool, const std::string& data) {
  StatusOr<ProgramInfo> program = pool.Load(data);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : ProgramInfo{};
}

PassId PassNamed(const Pool& pool, const std::string& name) {
  for (size_t i = 0; i < pool.passes().size(); ++i) {
    if (pool.passes()[i].name == name) return static_cast<PassId>(i);
  }
  ADD_FAILURE() << "no pass " << name;
  return 0;
}

std::vector<PassId> Simplifiers(const Pool& pool) {
  std::vector<PassId> passes;
  for (size_t i = 0; i < pool.passes().size(); ++i) {
    if (pool.passes()[i].simplify) passes.push_back(static_cast<PassId>(i));
  }
  return passes;
}

}  // namespace hone::testing
