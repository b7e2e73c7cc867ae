// What a plan is made for: a core with a scratchpad that software manages, beside a large memory.
#ifndef HONE_MEMORY_MACHINE_H_
#define HONE_MEMORY_MACHINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::memory {

struct Machine {
  std::string name;
  std::string meaning;
  std::vector<std::string> sources;      // where the figures are from
  std::vector<std::string> assumptions;  // and which are not published

  // On-chip tensors lie across all partitions at the same offset. One partition: plain memory.
  int64_t partitions = 1;
  int64_t bytes_per_partition = 0;
  int64_t alignment = 1;  // of offsets within a partition, in bytes
  // Accumulators beside the scratchpad, in which products are summed; 0 where there are none.
  int64_t accumulator_bytes_per_partition = 0;

  int64_t dram_bytes = 0;
  double dram_bytes_per_second = 0;
  double transfer_latency_seconds = 0;    // of one transfer
  int64_t efficient_transfer_bytes = 1;   // contiguous pieces below it take the time of this much
  double flops_per_second = 0;            // of products
  double vector_elements_per_second = 0;  // of everything else, one operation each
  double instruction_seconds = 0;         // that an engine takes to begin a tile

  // Engines work partition by partition: operands and result of an elementwise operation must lie
  // in the same partitions, products contract along the partitions of both operands.
  bool engines_are_partitioned = false;

  int64_t ScratchpadBytes() const { return partitions * bytes_per_partition; }
};

// From JSON; messages name the field. Unknown fields are errors.
StatusOr<Machine> ParseMachine(std::string_view json, const std::string& origin);

// The presets, in the order of their files' names.
const std::vector<Machine>& Machines();
StatusOr<Machine> FindMachine(const std::string& name);

// As ParseMachine reads it.
std::string ToJson(const Machine& machine);

}  // namespace hone::memory

#endif  // HONE_MEMORY_MACHINE_H_
