// Writing results: files that are whole or not there at all.
#ifndef HONE_CLI_OUTPUT_H_
#define HONE_CLI_OUTPUT_H_

#include <string>
#include <string_view>

#include "core/result.h"
#include "wire/pool.h"

namespace hone::cli {

struct CommonOptions;

// Can a file be written there? By trying: ask before long work, so that a bad path fails at once.
Status CheckWritable(const std::string& path);

// The same of a path that may be empty, where nothing is to be written.
inline Status MayWrite(const std::string& path) {
  return path.empty() ? Status() : CheckWritable(path);
}

// To a temporary file in the same folder, then to disk, then renamed; a device or pipe is written
// directly. A link is followed. An interrupt removes the temporary file.
Status WriteFile(const std::string& path, std::string_view bytes);

// The same to a path that may be empty, where nothing is to be written.
inline Status WriteIfNamed(const std::string& path, std::string_view bytes) {
  return path.empty() ? Status() : WriteFile(path, bytes);
}

// A program, and where it calls kernels of hone-loops, these beside it (loops/kernel_file.h),
// first.
Status WriteProgram(const std::string& path, std::string_view bytes, const CommonOptions& options);

Status WriteStdout(std::string_view bytes);

// Binary where the name ends in .pb, else text.
ExportFormat FormatFor(const std::string& path);

}  // namespace hone::cli

#endif  // HONE_CLI_OUTPUT_H_
