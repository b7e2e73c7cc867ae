// index.tsv: what is known of the programs of a folder, a line each, with tabs between the columns.
#ifndef HONE_DATASET_INDEX_H_
#define HONE_DATASET_INDEX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::dataset {

inline constexpr const char* kIndexName = "index.tsv";

// Unknown fields are empty, and -1 instructions.
struct Row {
  std::string file;    // relative to the folder
  std::string family;  // of models: gpt2, resnet, …
  std::string phase;   // one of kPhases
  std::string config;
  int64_t instructions = -1;
  std::string origin;
  std::string licence;
  std::string fingerprint;  // core/fingerprint.h, as 32 hexadecimal digits
  std::string group;        // of near-duplicates: the smallest fingerprint among its members
  std::string split;        // one of kSplits
  std::map<std::string, std::string> extra;  // columns that are not ours, by name
};

struct Index {
  std::vector<std::string> columns;  // as the file has them; those of ours that miss come after
  std::vector<Row> rows;
};

const std::vector<std::string>& IndexColumns();  // ours, in order
const std::vector<std::string>& Phases();        // train, fwd, other
const std::vector<std::string>& Splits();        // train, validation, test

// Only the column `file` must be there; other people's columns are kept. A line that is wrong is an
// error that says which line and what to do.
StatusOr<Index> ParseIndex(std::string_view text);

// HONE_CHECKs that no field holds a tab or a line's end.
std::string FormatIndex(const Index& index);

// FOLDER/index.tsv.
std::string IndexPath(const std::string& folder);

// Reads and parses IndexPath(folder); the message is about that file.
StatusOr<Index> ReadIndex(const std::string& folder);

// Can it be a field of the file: has it no tab and no line's end?
bool FitsIndex(std::string_view field);

}  // namespace hone::dataset

#endif  // HONE_DATASET_INDEX_H_
