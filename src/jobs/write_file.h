// Writing results: files that are whole or not there at all.
#ifndef HONE_JOBS_WRITE_FILE_H_
#define HONE_JOBS_WRITE_FILE_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "jobs/events.h"
#include "jobs/workers.h"
#include "wire/pool.h"

namespace hone::jobs {

// Can a file be written there? By trying: ask before long work, so that a bad path fails at once.
Status CheckWritable(const std::string& path);

// The same of several paths; those that are empty are not written.
FileOr<void> CheckAllWritable(std::initializer_list<std::string> paths);

// To a temporary file in the same folder, then to disk, then renamed; a device or pipe is written
// directly. A link is followed.
Status WriteFile(const std::string& path, std::string_view bytes);

// A line more, behind what is there: whole or not at all, also where others add lines meanwhile.
Status AddLine(const std::string& path, std::string_view line);

// WriteFile to a path that may be empty, where nothing is to be written.
FileOr<void> WriteIfNamed(const std::string& path, std::string_view bytes);

// Removes the temporary file that WriteFile has just begun. For handlers of signals that end the
// process.
void RemoveTemporary();

// A program, and where it calls kernels of hone-loops, these beside it (loops/kernel_file.h),
// first. Nothing where the path is empty.
FileOr<void> WriteProgram(const std::string& path, std::string_view bytes,
                          const WorkerOptions& options);

// Binary where the name ends in .pb, else text.
ExportFormat FormatFor(const std::string& path);

}  // namespace hone::jobs

#endif  // HONE_JOBS_WRITE_FILE_H_
