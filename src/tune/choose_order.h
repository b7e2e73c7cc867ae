// Which of the orders that a search found is its result: the first, best first, that keeps its
// promise and computes the same.
#ifndef HONE_TUNE_CHOOSE_ORDER_H_
#define HONE_TUNE_CHOOSE_ORDER_H_

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "env/pass_order.h"
#include "tune/best_orders.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone {

// `candidates` end with the program as it is, which nothing speaks against. `by_default` is XLA's
// own order, where it changes something. Fills in what is found out of the result and of its
// verification; `report` is told of each "replay" and "verify".
void ChooseOrder(Pool& pool, PassOrder& order, const OptimizeOptions& options,
                 std::vector<FoundOrder> candidates, const std::optional<FoundOrder>& by_default,
                 const std::function<void(std::string_view)>& report, OptimizeResult& result);

}  // namespace hone

#endif  // HONE_TUNE_CHOOSE_ORDER_H_
