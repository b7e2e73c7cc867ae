// Shared by the commands: options, error messages, numbers for people.
#ifndef HONE_CLI_COMMON_H_
#define HONE_CLI_COMMON_H_

#include <CLI/App.hpp>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_codes.h"
#include "core/result.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/version.h"
#include "report/words.h"
#include "store/store.h"
#include "wire/pool.h"

namespace hone::cli {

using jobs::AddStandIns;
using jobs::ElidedConstants;
using jobs::ErrorJson;
using jobs::FileError;
using jobs::Json;
using jobs::TimingJson;

// Options of every command that starts workers. Set other defaults before AddCommonOptions.
struct CommonOptions {
  int workers = 1;
  std::string target = "cpu";  // PoolOptions::target
  bool stand_in_constants = false;
  double pass_deadline_seconds = 60;
  size_t memory_limit_bytes = 0;
  size_t cache_bytes = size_t{1} << 30;
  size_t kernel_bytes = size_t{1} << 28;
  std::string kernel_folder;  // "" is jobs::KernelFolder()
  size_t most_input_mb = 128;
  std::vector<std::string> rules;     // files, beside hone's own
  std::vector<std::string> datasets;  // folders; AddDatasetsOption of input.h
  bool no_sandbox = false;            // workers may do what this user may
  bool json = false;
  bool quiet = false;

  // PoolOptions::kernel_folder.
  std::string KernelFolder() const;
  size_t MostInputBytes() const { return most_input_mb << 20; }
  bool ShowProgress() const { return !quiet; }
};

void AddCommonOptions(CLI::App& app, CommonOptions& options);

// With a worker that can be started: of an installed hone, XLA is fetched first where it is
// missing.
StatusOr<PoolOptions> PoolOptionsFor(const CommonOptions& options);

// ReadInput of what a user named, where --max-input-mb and --datasets count.
tl::expected<std::string, FileError> ReadNamed(const std::string& given,
                                               const CommonOptions& options);

// ReadInput of a file that ExpandInputs found.
jobs::ReadProgram ReaderFor(const CommonOptions& options);

// Pool::Start with these options; `stop` may be null (PoolOptions::stop).
StatusOr<std::unique_ptr<Pool>> StartPool(const CommonOptions& options,
                                          const std::atomic<bool>* stop = nullptr);

// --store FILE, and the store that it names, made where there is none; null where `path` is empty.
CLI::Option* AddStoreOption(CLI::App& app, std::string& path);
StatusOr<std::unique_ptr<store::Store>> OpenStore(const std::string& path);

// A line `hone: FILE: what; what to do` on stderr, more lines of the message indented below it;
// with `json` also {"error": {"file", "code", "message"}} on stdout. `file` may be empty. Returns
// the exit code that fits the error.
int Fail(const Error& error, const std::string& file, bool json);
int Fail(const Error& error, bool json);
int Fail(const FileError& failed, bool json);

// `hone: FILE: warning: …` on stderr.
void Warn(const std::string& file, const std::string& message);

// Where --stand-in-constants made values up: what the program's results are worth.
void WarnOfStandIns(const std::string& file, const ProgramInfo& program);

int ExitCodeFor(const Error& error);

// The width of a column of names.
size_t WidthOf(const std::vector<std::string>& names, size_t least);

// Those that are not empty become fields.
void AddTexts(std::initializer_list<std::pair<const char*, std::string>> texts, Json& json);

// An object, indented, and a line's end. Bytes that are not UTF-8 are replaced.
Status PrintJson(const Json& json);

// PrintJson or WriteStdout, then `code`; where stdout cannot be written, that failure instead.
int Finish(const Json& json, int code);
int Finish(const std::string& text, int code);

using report::Grouped;
using report::HumanBytes;
using report::HumanCount;
using report::HumanSeconds;
using report::Percent;
using report::Printable;

}  // namespace hone::cli

#endif  // HONE_CLI_COMMON_H_
