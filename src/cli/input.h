// Finding and reading the files that a user named.
#ifndef HONE_CLI_INPUT_H_
#define HONE_CLI_INPUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "wire/pool.h"

namespace hone::cli {

// What went wrong with which file.
struct FileError {
  std::string file;
  Error error;
};

// Files as named, and the programs in folders (recursive, sorted): what ends in .hlo, .txt or .pb,
// each also with .gz, but no README, LICENSE or index. A name that does not exist and
// a folder without programs are errors. A path comes once.
tl::expected<std::vector<std::string>, FileError> ExpandInputs(
    const std::vector<std::string>& given);

// The whole of a regular, non-empty file. Its size is looked at before it is read.
StatusOr<std::string> ReadInput(const std::string& path, size_t most_bytes);

// ReadInput and Pool::Load.
StatusOr<ProgramInfo> LoadProgram(Pool& pool, const std::string& path, size_t most_bytes);

}  // namespace hone::cli

#endif  // HONE_CLI_INPUT_H_
