// Nests whose text hone writes itself, where the transform dialect would make loops of them: what
// each kind is asked, in one table.
#ifndef HONE_LOOPS_OWN_TEXT_H_
#define HONE_LOOPS_OWN_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "loops/machine.h"
#include "loops/schedule.h"

namespace hone::loops {

inline int64_t RoundedUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

struct OwnText {
  // Why the step may not be decided; nothing where it may. Its numbers are at least 0, and not all
  // of them are 0.
  std::string (*why_not)(const Schedule& schedule, const Nest& nest, const SiteState& state,
                         const Step& step);
  // By rules of thumb.
  Schedule (*by_thumb)(const Nest& nest, const Machine& machine);
  // In operations of one processor, not shared (loops/estimate.h).
  double (*cost)(const Schedule& schedule, const Nest& nest, const Machine& machine);
  // As MLIR's text, on buffers: one a read of the nest, and the result's last.
  std::string (*text)(const Schedule& schedule, const Nest& nest,
                      const std::vector<std::string>& buffers);
};

// Of a nest that only processors share and vectors divide, once: why the step is none of these.
// `what`: such a nest does, as "sorts".
std::string WhyNeitherSharedNorTiled(std::string_view what, const SiteState& state,
                                     const Step& step);

// Of a nest that has one: Nest::own_text().
const OwnText& OwnTextOf(const Nest& nest);

}  // namespace hone::loops

#endif  // HONE_LOOPS_OWN_TEXT_H_
