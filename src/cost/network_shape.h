// The arrays of the network of cost_network.h.
#ifndef HONE_COST_NETWORK_SHAPE_H_
#define HONE_COST_NETWORK_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/program_arrays.h"

namespace hone::cost {

inline constexpr int kNodeNumbers = kArrayDimensions + 7;
inline constexpr int kPlanFeatures = 48;

struct NetworkShape {
  int64_t opcodes = 0;  // rows of the embedding; the first is for what is not known
  int64_t types = 0;    // likewise
  int64_t width = 12;
  int64_t rounds = 2;
  int64_t hidden = 12;
};

// One of the network's arrays, within the parameters as one long list; row-major.
struct ParameterSlot {
  std::string name;
  int64_t rows = 0, columns = 0, offset = 0;
};
std::vector<ParameterSlot> SlotsOf(const NetworkShape& shape);
int64_t ParameterCount(const NetworkShape& shape);

}  // namespace hone::cost

#endif  // HONE_COST_NETWORK_SHAPE_H_
