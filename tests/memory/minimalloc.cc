#include "minimalloc.h"

#include <sstream>
#include <string>

namespace hone::memory {

AllocationProblem ReadMinimalloc(std::istream& file) {
  AllocationProblem problem;
  problem.capacity = 1'048'576;
  std::string line;
  std::getline(file, line);  // id,lower,upper,size
  while (std::getline(file, line)) {
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream fields(line);
    std::string id;
    AllocationBuffer buffer;
    fields >> id >> buffer.start >> buffer.end >> buffer.size;
    problem.buffers.push_back(buffer);
  }
  return problem;
}

}  // namespace hone::memory
