// Sequences of passes that a search begins from.
#ifndef HONE_TUNE_STARTS_H_
#define HONE_TUNE_STARTS_H_

#include <string>
#include <vector>

#include "core/pass.h"
#include "search/searcher.h"

namespace hone {

// Sequences by the passes' names, without what is not in the action set; empty ones left out.
std::vector<Sequence> InActionSet(const std::vector<PassInfo>& passes,
                                  const std::vector<std::vector<std::string>>& sequences,
                                  const std::vector<PassId>& actions);

// hone's rules behind XLA's own order, and around it: what does well without any search. Nothing
// where no rule is in the action set.
void AddRuleStarts(const std::vector<PassInfo>& passes, const std::vector<PassId>& actions,
                   const Sequence& by_default, std::vector<Sequence>& starts);

}  // namespace hone

#endif  // HONE_TUNE_STARTS_H_
