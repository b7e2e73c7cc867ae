// Schedules by any of hone's searchers, whatever a schedule's value is.
#ifndef HONE_LOOPS_SEARCH_H_
#define HONE_LOOPS_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "loops/catalogue.h"
#include "loops/policy.h"

namespace hone::loops {

struct SearchOptions {
  std::string search = "local";  // a name of Searchers(); with a policy also those that use one
  std::shared_ptr<const LoopsPolicy> policy;
  uint64_t seed = 1;
  // Decisions of a schedule; 0: five a site, no fewer than the rules of thumb's.
  size_t longest = 0;
  bool from_default = true;  // begins with the rules of thumb's schedule
};

// `measure` gives a schedule's value, the logarithm of a time, or nothing where it is rejected; it
// remembers what was asked for. It ends where `over`, or the searcher, says so. Errors: there is no
// such searcher, or it needs a policy.
Status SearchSchedules(const Catalogue& catalogue, const SearchOptions& options,
                       const std::function<std::optional<double>(const Scheduled&)>& measure,
                       const std::function<bool()>& over);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SEARCH_H_
