// Bytes moved between a scratchpad and DRAM: by planner, and by tensor.
#ifndef HONE_REPORT_SECTIONS_TRAFFIC_H_
#define HONE_REPORT_SECTIONS_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "report/json.h"

namespace hone::report {

struct Way {
  std::string name;  // "one by one", "hone", "bound"
  int64_t bytes = 0;
  double seconds = -1;  // estimated; -1 where it is not
  bool ours = false;
};

struct TensorTraffic {
  std::string tensor;
  std::string role;  // "parameter", "constant", "intermediate", "output"
  int64_t size = 0;  // bytes of the tensor
  int64_t loaded = 0;
  int64_t stored = 0;
};

struct Traffic {
  std::string note;
  std::vector<Way> ways;
  std::vector<TensorTraffic> tensors;
};

// The tensors with the most traffic first; of many the rest is summed up in a last row.
Json ToSection(const Traffic& traffic);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_TRAFFIC_H_
