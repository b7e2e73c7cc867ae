// Programs of a few instructions for tests of the planner, and what they compute.
#ifndef HONE_TESTS_MEMORY_SMALL_PROGRAMS_H_
#define HONE_TESTS_MEMORY_SMALL_PROGRAMS_H_

#include <string>
#include <utility>
#include <vector>

#include "memory/machine.h"
#include "memory/network.h"
#include "memory/simulator/simulate.h"

namespace hone::memory {

Machine SmallMachine(int64_t partitions, int64_t bytes_per_partition);

// Inputs between -1 and 1, integers below 64, as bytes in memory.
Evaluation RandomInputs(const Network& network, uint64_t seed);

// What the network computes without any plan.
std::vector<Array> Expected(const Network& network, const Evaluation& values);
void ExpectClose(const std::vector<Array>& outputs, const std::vector<Array>& expected);

InstructionInfo Instruction(const std::string& opcode, std::vector<int64_t> dimensions,
                            std::vector<uint32_t> operands = {},
                            std::vector<std::pair<std::string, std::string>> attributes = {});
InstructionInfo Parameter(int32_t number, std::vector<int64_t> dimensions,
                          const std::string& type = "f32");
// A zero, or another number as it is written in HLO.
InstructionInfo Number(const std::string& literal);
// The last instruction is the root. Instructions may call two computations of two numbers:
constexpr uint32_t kAdds = 0;
constexpr uint32_t kMaximum = 1;
InstructionInfo Reduce(std::vector<int64_t> dimensions, uint32_t operand, uint32_t initial,
                       const std::string& along, uint32_t computation);
Network Built(std::vector<InstructionInfo> instructions);

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_SMALL_PROGRAMS_H_
