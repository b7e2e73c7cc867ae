#include "hone_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hone {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string MakeFolder(const char* what) {
  std::string name = (fs::temp_directory_path() / (std::string(what) + ".XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) abort();
  return name;
}

}  // namespace

Ran RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
               const std::string& interrupt_at) {
  const std::string scratch = MakeFolder("hone-test-output");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open((scratch + "/out").c_str(), flags, 0600), 1);
    dup2(open((scratch + "/err").c_str(), flags, 0600), 2);
    if (chdir(folder.c_str()) == 0) execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (!interrupt_at.empty()) {
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (ReadAll(scratch + "/err").find(interrupt_at) != std::string::npos) {
        kill(pid, SIGINT);
        waitpid(pid, &status, 0);
        break;
      }
      usleep(20'000);
    }
  } else {
    waitpid(pid, &status, 0);
  }
  Ran ran;
  ran.code = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  ran.out = ReadAll(scratch + "/out");
  ran.err = ReadAll(scratch + "/err");
  fs::remove_all(scratch);
  return ran;
}

HoneTest::HoneTest() : folder_(MakeFolder("hone-test")) {}
HoneTest::~HoneTest() { fs::remove_all(folder_); }

Ran HoneTest::Hone(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HONE_BINARY);
  return RunProcess(arguments, folder_);
}

bool HoneTest::HasCommand(const std::string& name) {
  static const std::string help = RunProcess({HONE_BINARY, "--help"}, "/").out;
  return help.find("\n  " + name + " ") != help.npos;
}

std::vector<std::string> HoneTest::Listing() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    names.push_back(entry.path().lexically_relative(folder_).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void HoneTest::Write(const std::string& name, std::string_view bytes) {
  fs::create_directories(fs::path(Path(name)).parent_path());
  std::ofstream file(Path(name), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string HoneTest::Read(const std::string& name) const { return ReadAll(Path(name)); }

void HoneTest::Copy(const std::string& name) { Write(name, ReadAll(fs::path(TEST_DATA) / name)); }

std::string Gzipped(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

testing::AssertionResult IsOneMessage(const std::string& err) {
  std::stringstream lines(err);
  std::string line;
  if (!std::getline(lines, line)) return testing::AssertionFailure() << "no message";
  if (line.rfind("hone: ", 0) != 0 || line.size() < 20) {
    return testing::AssertionFailure() << "does not begin with 'hone: ': " << err;
  }
  while (std::getline(lines, line)) {
    if (line.rfind("  ", 0) != 0) return testing::AssertionFailure() << "a second message: " << err;
  }
  return testing::AssertionSuccess();
}

}  // namespace hone
