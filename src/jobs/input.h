// Finding and reading the files that a user named.
#ifndef HONE_JOBS_INPUT_H_
#define HONE_JOBS_INPUT_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "dataset/uri.h"
#include "jobs/events.h"
#include "wire/pool.h"

namespace hone::jobs {

// The data sets of these folders, and the shipped one (dataset/uri.h).
StatusOr<std::vector<dataset::Dataset>> FindDatasets(const std::vector<std::string>& folders);

// The path of what a user named: a path that exists, else a URI of a program or folder in one of
// the data sets. A name that is neither comes back as it is.
StatusOr<std::string> FindInput(const std::string& given, const std::vector<std::string>& datasets);

// The folder that the running executable lies in.
std::filesystem::path ExecutableFolder();

// Only the files whose row in the nearest index.tsv above them names that split; all of them where
// `split` is empty. Errors: no such split; a file that no index knows; none is left.
StatusOr<std::vector<std::string>> InSplit(const std::vector<std::string>& files,
                                           const std::string& split);

// Files as named, and the programs in folders (recursive, sorted; dataset/programs.h says what is
// one), each a path or a URI. A name that does not exist and a folder without programs are errors.
// A path comes once.
FileOr<std::vector<std::string>> ExpandInputs(const std::vector<std::string>& given,
                                              const std::vector<std::string>& datasets = {});

// Programs as a user names them, and which of them are meant.
struct ProgramSet {
  std::vector<std::string> files;  // paths, folders, URIs
  std::string split;               // "" is all of them
};
// ExpandInputs, then InSplit.
FileOr<std::vector<std::string>> ChooseInputs(const ProgramSet& programs,
                                              const std::vector<std::string>& datasets);

// The whole of a regular, non-empty file. Its size is looked at before it is read.
StatusOr<std::string> ReadInput(const std::string& path, size_t most_bytes);

// FindInput and ReadInput.
StatusOr<std::string> ReadInput(const std::string& given, size_t most_bytes,
                                const std::vector<std::string>& datasets);

// ReadInput and Pool::Load.
StatusOr<ProgramInfo> LoadProgram(Pool& pool, const std::string& path, size_t most_bytes);

}  // namespace hone::jobs

#endif  // HONE_JOBS_INPUT_H_
