// Plans as files.
#ifndef HONE_MEMORY_PLAN_FILE_H_
#define HONE_MEMORY_PLAN_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "memory/machine.h"
#include "memory/plan.h"

namespace hone::memory {

// The contents of a plan's file, beside the plan.
struct PlanFile {
  std::string program;      // path or name of the program, as it was given
  std::string fingerprint;  // of the program
  Machine machine;
  // Which of the program's networks it is of; none in files of before there were several, which are
  // of the first.
  std::optional<UpdateOrder> updates;
  Plan plan;
};

// JSON, a step a line: buffers with their addresses, blocks of steps with a box for each tile.
std::string WritePlan(const Network& network, const PlanFile& file);

// What stands before the plan: enough to find the program and the network, which ReadPlan needs.
StatusOr<PlanFile> ReadPlanHeader(std::string_view text);

// Errors: kInvalidInput where it is no plan, or none of this network: every index is checked.
StatusOr<PlanFile> ReadPlan(std::string_view text, const Network& network);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLAN_FILE_H_
