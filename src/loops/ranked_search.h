// Schedules by a searcher that goes by a cost model: of many that it proposes the best few are
// measured.
#ifndef HONE_LOOPS_RANKED_SEARCH_H_
#define HONE_LOOPS_RANKED_SEARCH_H_

#include <functional>
#include <optional>

#include "loops/cost_model.h"
#include "loops/search.h"

namespace hone::loops {

// As SearchSchedules, but for what is measured. The searcher begins anew, by another seed, for each
// few; it ends, too, where nothing new is proposed. What looks the same to the model is measured
// once, and the rules of thumb's schedule never: it is known.
Status SearchRanked(const Catalogue& catalogue, SearchOptions options, const LoopsCostModel& model,
                    const Machine& machine,
                    const std::function<std::optional<double>(const Scheduled&)>& measure,
                    const std::function<bool()>& over);

}  // namespace hone::loops

#endif  // HONE_LOOPS_RANKED_SEARCH_H_
