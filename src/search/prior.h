// A trained policy's advice to a searcher.
#ifndef HONE_SEARCH_PRIOR_H_
#define HONE_SEARCH_PRIOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/program_arrays.h"
#include "core/state.h"

namespace hone {

// The observation of a state.
struct Observed {
  OpcodeCounts opcodes;
  std::vector<uint16_t> passes;  // those that changed something on the way here, in order
  std::shared_ptr<const ProgramArrays> arrays;  // null where Prior::NeedsArrays is false
};

class Prior {
 public:
  struct Opinion {
    std::vector<double> probabilities;  // of each of the problem's actions, in order; sum 1
    // How much further the value is expected to fall, over the initial value; nothing where the
    // policy has no value network.
    std::optional<double> gain;
  };

  virtual ~Prior() = default;
  // Deterministic.
  virtual Opinion Of(const Observed& state) const = 0;
  virtual bool NeedsArrays() const { return false; }
};

}  // namespace hone

#endif  // HONE_SEARCH_PRIOR_H_
