// Arrays out of a file that numpy wrote: savez, savez_compressed, and what `hone record` keeps.
#ifndef HONE_JOBS_NPZ_H_
#define HONE_JOBS_NPZ_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::jobs {

struct NamedArray {
  std::string name;
  std::string type;  // XLA's name, of the dtype; "raw16" for two bytes whose type numpy lacks
  std::vector<int64_t> dimensions;
  std::string bytes;  // row-major, little-endian
};

// In the file's order. `kinds`, the names of dtypes in a recording, are put in. Errors:
// kInvalidInput, naming the array.
StatusOr<std::vector<NamedArray>> ReadNpz(std::string_view file);

}  // namespace hone::jobs

#endif  // HONE_JOBS_NPZ_H_
