// Between tuning, its store and the cost models.
#ifndef HONE_TUNE_ESTIMATES_H_
#define HONE_TUNE_ESTIMATES_H_

#include <vector>

#include "cost/train_cost_model.h"
#include "store/rows.h"
#include "tune/tune_program.h"

namespace hone::tune {

CostEstimate RooflineEstimate(const cost::Machine& machine);
CostEstimate ModelEstimate(cost::CostModel model);

// Training examples of a cost model: each executable once, by its race of most pairs. An example's
// value is the program's usual time with the stock compiler, less the plan's gain in its race, so
// that changes of the machine between races do not count. Measurements whose graph cannot
// be read, or has more than `most_nodes`, are left out.
std::vector<cost::Example> ExamplesOf(const std::vector<store::MeasuredModule>& measured,
                                      size_t most_nodes);

}  // namespace hone::tune

#endif  // HONE_TUNE_ESTIMATES_H_
