#include "cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/input.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "jobs/cache_folder.h"
#include "jobs/kernels.h"
#include "jobs/ready_worker.h"

namespace hone::cli {
namespace {

// In the group that `--help` shows last.
constexpr const char* kGroup = "Workers and limits";

}  // namespace

void AddCommonOptions(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print JSON, for programs");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
  app.add_flag("--stand-in-constants", options.stand_in_constants,
               "give constants that a dump has elided, {...}, made-up values of the right kind");
  app.add_option(
         "--target", options.target,
         "what XLA compiles for: cpu, h100, a100, b200, …, or a file that describes a GPU (cpu)")
      ->type_name("GPU")
      ->group(kGroup);
  app.add_option("--workers", options.workers,
                 fmt::format("processes that run XLA ({})", options.workers))
      ->check(CLI::Range(1, 256).description(""))
      ->type_name("N")
      ->group(kGroup);
  AddDuration(app, "--pass-deadline", options.pass_deadline_seconds,
              fmt::format("a pass that runs longer is killed and counts as failed ({:g}s)",
                          options.pass_deadline_seconds))
      ->group(kGroup);
  AddSize(app, "--memory-limit", options.memory_limit_bytes,
          "a worker that takes more is killed (three quarters of the machine's)")
      ->group(kGroup);
  AddSize(app, "--cache", options.cache_bytes,
          fmt::format("of program states, a worker ({})",
                      HumanBytes(static_cast<double>(options.cache_bytes))))
      ->group(kGroup);
  AddSizeOrNone(app, "--kernel-cache", options.kernel_bytes,
                fmt::format("of kernels' machine code, a worker; 0: every kernel is compiled ({})",
                            HumanBytes(static_cast<double>(options.kernel_bytes))))
      ->group(kGroup);
  app.add_option("--kernel-folder", options.kernel_folder,
                 "where runs share kernels' machine code; none: nowhere (kernels in hone's cache "
                 "folder)")
      ->type_name("FOLDER")
      ->group(kGroup);
  app.add_option("--max-input-mb", options.most_input_mb,
                 fmt::format("larger files are not read ({})", options.most_input_mb))
      ->check(CLI::Range(1, 2047).description(""))  // a protobuf message ends at 2 GiB
      ->type_name("MIB")
      ->group(kGroup);
  app.add_option("--rules", options.rules,
                 "rewrite rules of your own, beside hone's; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_flag("--no-sandbox", options.no_sandbox,
               "workers are not locked up; where this system does not let them start otherwise")
      ->group(kGroup);
}

std::string CommonOptions::KernelFolder() const {
  if (kernel_bytes == 0 || kernel_folder == "none") return "";
  return kernel_folder.empty() ? jobs::KernelFolder() : kernel_folder;
}

StatusOr<PoolOptions> PoolOptionsFor(const CommonOptions& options) {
  StatusOr<std::string> worker = jobs::ReadyWorker(options.quiet, options.target);
  if (!worker) return tl::unexpected(worker.error());
  PoolOptions pool;
  pool.worker_path = *std::move(worker);
  pool.workers = options.workers;
  pool.target = options.target;
  pool.pass_deadline_seconds = options.pass_deadline_seconds;
  pool.memory_limit_bytes = options.memory_limit_bytes;
  pool.cache_bytes = options.cache_bytes;
  pool.kernel_bytes = options.kernel_bytes;
  pool.kernel_folder = options.KernelFolder();
  pool.rule_files = options.rules;
  pool.sandbox = !options.no_sandbox;
  if (options.no_sandbox) {
    Warn("", "workers are not locked up (--no-sandbox): a program that breaks XLA has your rights");
  }
  pool.stand_in_constants = options.stand_in_constants;
  pool.kernels = jobs::KernelMaker(pool.sandbox, pool.kernel_folder);
  return pool;
}

tl::expected<std::string, FileError> ReadNamed(const std::string& given,
                                               const CommonOptions& options) {
  StatusOr<std::string> data = ReadInput(given, options.MostInputBytes(), options.datasets);
  if (!data) return tl::unexpected(FileError{given, data.error()});
  return *std::move(data);
}

jobs::ReadProgram ReaderFor(const CommonOptions& options) {
  return
      [most = options.MostInputBytes()](const std::string& file) { return ReadInput(file, most); };
}

StatusOr<std::unique_ptr<Pool>> StartPool(const CommonOptions& options,
                                          const std::atomic<bool>* stop) {
  StatusOr<PoolOptions> pool = PoolOptionsFor(options);
  if (!pool) return tl::unexpected(pool.error());
  pool->stop = stop;
  return Pool::Start(*pool);
}

int ExitCodeFor(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUnsupported:
      return kBadInput;
    case ErrorCode::kInterrupted:
      return kInterrupted;
    default:
      return kSomeFailed;
  }
}

CLI::Option* AddStoreOption(CLI::App& app, std::string& path) {
  return app
      .add_option("--store", path, "remember here what is found out, and go on from what is known")
      ->type_name("FILE");
}

StatusOr<std::unique_ptr<store::Store>> OpenStore(const std::string& path) {
  if (path.empty()) return std::unique_ptr<store::Store>();
  return store::Store::Open(path);
}

int Fail(const Error& error, const std::string& file, bool json) {
  const std::string where = file.empty() ? "" : Printable(file) + ": ";
  fmt::print(stderr, "hone: {}{}\n", where, Printable(error.message));
  if (json) (void)PrintJson({{"error", ErrorJson(error, file)}});
  return ExitCodeFor(error);
}

int Fail(const Error& error, bool json) { return Fail(error, "", json); }

int Fail(const FileError& failed, bool json) { return Fail(failed.error, failed.file, json); }

void Warn(const std::string& file, const std::string& message) {
  const std::string where = file.empty() ? "" : Printable(file) + ": ";
  fmt::print(stderr, "hone: {}warning: {}\n", where, Printable(message));
}

void WarnOfStandIns(const std::string& file, const ProgramInfo& program) {
  if (const std::string about = jobs::AboutStandIns(program); !about.empty()) Warn(file, about);
}

size_t WidthOf(const std::vector<std::string>& names, size_t least) {
  for (const std::string& name : names) least = std::max(least, name.size());
  return least;
}

void AddTexts(std::initializer_list<std::pair<const char*, std::string>> texts, Json& json) {
  for (const auto& [name, text] : texts) {
    if (!text.empty()) json[name] = text;
  }
}

Status PrintJson(const Json& json) {
  return WriteStdout(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int Finish(const Json& json, int code) {
  if (Status wrote = PrintJson(json); !wrote) return Fail(wrote.error(), "stdout", false);
  return code;
}

int Finish(const std::string& text, int code) {
  if (Status wrote = WriteStdout(text); !wrote) return Fail(wrote.error(), "stdout", false);
  return code;
}

}  // namespace hone::cli
