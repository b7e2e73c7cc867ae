// Which files are programs, and what their names tell.
#ifndef HONE_DATASET_PROGRAMS_H_
#define HONE_DATASET_PROGRAMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::dataset {

// By the file's name alone: it ends in .hlo, .txt or .pb, each also with .gz, in any case of
// letters, and is no README, LICENSE, index or hidden file.
bool LooksLikeProgram(std::string_view file);

// What LooksLikeProgram accepts as an end, and ".gz" variants: ".hlo", ".hlo.gz", …
const std::vector<std::string>& ProgramExtensions();

// "gpt2/train.hlo.gz" -> "gpt2/train"; unchanged where no such extension is there.
std::string WithoutExtension(std::string_view file);

// The programs in a folder and below it, relative to it, sorted; links to folders are not followed.
// A folder without programs is an error.
StatusOr<std::vector<std::string>> ListPrograms(const std::string& folder);

// The folder that holds the file; where it lies at the top, the letters that its name begins with.
std::string GuessFamily(std::string_view file);

// "train" or "fwd" where a word of the file's name says so, else "other".
std::string GuessPhase(std::string_view file);

}  // namespace hone::dataset

#endif  // HONE_DATASET_PROGRAMS_H_
