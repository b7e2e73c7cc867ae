// Ask/tell search (ask_tell.h) over sequences of actions.
#ifndef HONE_SEARCH_SEARCHER_H_
#define HONE_SEARCH_SEARCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/fingerprint.h"
#include "search/ask_tell.h"
#include "search/prior.h"

namespace hone {

using Action = uint16_t;
using Sequence = std::vector<Action>;

struct SearchProblem {
  std::vector<Action> actions;   // what sequences are made of; not empty
  std::vector<Sequence> starts;  // known good sequences, such as the default order; may be empty
  double initial_value = 0;      // of the empty sequence
  size_t longest = 256;          // actions in one sequence

  // Sequences that did well on other programs, the most useful first; may be empty.
  std::vector<Sequence> coreset;
  // Null where there is none. With one, results say what it is to be asked about.
  std::shared_ptr<const Prior> prior;
  Fingerprint initial_state;
  Observed initial_observed;  // filled where there is a prior
};

// The effect of one action of a sequence.
struct ActionResult {
  Action action = 0;
  bool changed = false;
  bool failed = false;
  double value = 0;   // after it; lower is better
  Fingerprint state;  // after it: equal states have equal futures
  // Of `state`, where the problem has a prior. Arrays, where it needs them, come with the last
  // result of a sequence only, for they are dear.
  Observed observed;
};

// A sequence's value is that of its best prefix: the rest need not be taken.
struct Trial {
  Sequence sequence;
  std::vector<ActionResult> results;  // one an action; empty where it could not be evaluated
};

  // Trials come back in the order of asking.
using Searcher = AskTell<Sequence, Trial>;

enum class Needs { kNothing, kCoreset, kPrior };

struct SearcherInfo {
  std::string_view name;
  std::string_view meaning;  // one line
  Needs needs;               // of the problem; it must not be missing
  std::unique_ptr<Searcher> (*make)(const SearchProblem& problem, uint64_t seed);
};

// All of them; the first is the default.
const std::vector<SearcherInfo>& Searchers();
const SearcherInfo* FindSearcher(std::string_view name);

// The best prefix of a trial, without the actions that changed nothing.
struct Prefix {
  double value = 0;
  Sequence sequence;
};
Prefix BestPrefix(const Trial& trial, double initial_value);

// What of a sequence may be asked: the problem's actions, no more than its longest.
Sequence Usable(const SearchProblem& problem, const Sequence& sequence);

}  // namespace hone

#endif  // HONE_SEARCH_SEARCHER_H_
