// A sequence of passes, and what each changed.
#ifndef HONE_REPORT_SECTIONS_PASSES_H_
#define HONE_REPORT_SECTIONS_PASSES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"

namespace hone::report {

struct PassStep {
  std::string pass;
  std::string meaning;
  double value = 0;  // of the objective, after it
  // Instructions it added or took away, by opcode, the most first.
  std::vector<std::pair<std::string, int64_t>> opcodes;
};

struct Passes {
  std::string note;
  std::string value_name;  // "instructions"
  double initial = 0;
  std::vector<PassStep> steps;
};

Json ToSection(const Passes& passes);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_PASSES_H_
