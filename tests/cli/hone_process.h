// Runs the hone binary in a folder of its own.
#ifndef HONE_TESTS_CLI_HONE_PROCESS_H_
#define HONE_TESTS_CLI_HONE_PROCESS_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct Ran {
  int code = -1;  // exit code, or 1000 + the signal that killed it
  std::string out;
  std::string err;

  nlohmann::json Json() const { return nlohmann::json::parse(out, nullptr, false); }
};

// With the working directory `folder` and nothing on stdin; `arguments` begin with the program.
// Once stderr holds `interrupt_at`, unless that is empty, the program is sent one SIGINT.
Ran RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
               const std::string& interrupt_at = "");

// An empty folder for each test, removed after it.
class HoneTest : public testing::Test {
 protected:
  HoneTest();
  ~HoneTest() override;

  // `hone ARGUMENTS`, in folder().
  Ran Hone(std::vector<std::string> arguments);
  static bool HasCommand(const std::string& name);

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Names of all that is in the folder, sorted.
  std::vector<std::string> Listing() const;

  void Write(const std::string& name, std::string_view bytes);
  std::string Read(const std::string& name) const;
  // Copies tests/cli/data/NAME into the folder.
  void Copy(const std::string& name);

 private:
  std::string folder_;
};

std::string Gzipped(std::string_view bytes);

// One message: a line that begins "hone: ", and indented lines below it.
testing::AssertionResult IsOneMessage(const std::string& err);

}  // namespace hone

#endif  // HONE_TESTS_CLI_HONE_PROCESS_H_
