// Computations while they are written, as a graph and as HLO text.
#ifndef HONE_TESTS_MEMORY_RANDOM_COMPUTATION_H_
#define HONE_TESTS_MEMORY_RANDOM_COMPUTATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "random_program.h"

namespace hone::memory {

using Dimensions = std::vector<int64_t>;
using Attributes = std::vector<std::pair<std::string, std::string>>;

int64_t Count(const Dimensions& dimensions);
std::string Joined(const Dimensions& numbers, const char* between);
std::string List(const Dimensions& numbers);
ShapeInfo Shape(const std::string& type, Dimensions dimensions);
ShapeInfo TupleOf(std::vector<ShapeInfo> shapes);

// One computation while it is written.
class Computation {
 public:
  explicit Computation(std::string name) { info_.name = std::move(name); }

  // Called computations come with the attribute that names them; without a name, attributes do.
  uint32_t Add(const std::string& opcode, ShapeInfo shape, std::vector<uint32_t> operands = {},
               Attributes attributes = {},
               std::vector<std::pair<std::string, uint32_t>> called = {});
  uint32_t Parameter(ShapeInfo shape);
  uint32_t Constant(ShapeInfo shape, const std::string& literal);
  uint32_t Element(uint32_t tuple, int64_t index);
  // A number everywhere.
  uint32_t Filled(const ShapeInfo& shape, const std::string& literal);
  const ShapeInfo& ShapeOf(uint32_t at) const { return info_.instructions[at].shape; }

  // The last instruction is the root.
  void Finish(bool entry, RandomProgram& program);

 private:
  ComputationInfo info_;
  std::vector<std::vector<std::pair<std::string, uint32_t>>> called_;
  int32_t parameters_ = 0;
};

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_RANDOM_COMPUTATION_H_
