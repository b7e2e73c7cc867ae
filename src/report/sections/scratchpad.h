// The layout of a scratchpad over time.
#ifndef HONE_REPORT_SECTIONS_SCRATCHPAD_H_
#define HONE_REPORT_SECTIONS_SCRATCHPAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "report/json.h"

namespace hone::report {

struct Room {
  std::string tensor;
  std::string use;     // "loaded", "computed", "copy"
  int64_t offset = 0;  // bytes, within a partition
  int64_t bytes = 0;   // likewise
  int64_t start = 0;   // steps of the plan: from this one
  int64_t end = 0;     // to before this one
};

struct Scratchpad {
  std::string note;
  int64_t bytes_per_partition = 0;
  int64_t partitions = 1;
  int64_t steps = 0;
  std::vector<Room> rooms;
};

// Where there are very many rooms, the largest by bytes times steps; the number left out is told.
Json ToSection(const Scratchpad& scratchpad);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_SCRATCHPAD_H_
