#include "tune/starts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hone {

std::vector<Sequence> InActionSet(const std::vector<PassInfo>& passes,
                                  const std::vector<std::vector<std::string>>& sequences,
                                  const std::vector<PassId>& actions) {
  std::unordered_map<std::string, PassId> by_name;
  for (PassId action : actions) by_name[passes[action].name] = action;
  std::vector<Sequence> found;
  for (const std::vector<std::string>& names : sequences) {
    Sequence sequence;
    for (const std::string& name : names) {
      if (const auto known = by_name.find(name); known != by_name.end()) {
        sequence.push_back(known->second);
      }
    }
    if (!sequence.empty()) found.push_back(std::move(sequence));
  }
  return found;
}

void AddRuleStarts(const std::vector<PassInfo>& passes, const std::vector<PassId>& actions,
                   const Sequence& by_default, std::vector<Sequence>& starts) {
  const bool has_rules = std::any_of(actions.begin(), actions.end(), [&](PassId action) {
    return passes[action].kind == PassKind::kRules;
  });
  if (!has_rules) return;
  // The algebraic simplifier takes joined lanes apart again, so they come last.
  const std::vector<std::vector<std::string>> ends = {
      {"batch_lanes", "cse", "dce", "batch_lanes", "dce"},
      {"rules", "algsimp", "cse", "dce", "rules", "cse", "dce", "batch_lanes", "cse", "dce",
       "batch_lanes", "dce", "rules", "dce"},
      {"batch_lanes", "cse", "dce", "batch_lanes", "dce", "rules", "cse", "dce", "batch_lanes",
       "cse", "dce", "batch_lanes", "dce"},
  };
  const std::vector<Sequence> inlined =
      InActionSet(passes, {{"call-inliner:every_call_site"}}, actions);
  for (const Sequence& end : InActionSet(passes, ends, actions)) {
    Sequence start = inlined.empty() ? Sequence() : inlined[0];
    start.insert(start.end(), by_default.begin(), by_default.end());
    start.insert(start.end(), end.begin(), end.end());
    starts.push_back(std::move(start));
  }
}

}  // namespace hone
