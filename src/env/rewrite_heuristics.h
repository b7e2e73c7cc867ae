// Simple ways to choose among the rewrites of a listing, to compare others with.
#ifndef HONE_ENV_REWRITE_HEURISTICS_H_
#define HONE_ENV_REWRITE_HEURISTICS_H_

#include <string_view>
#include <vector>

#include "core/objective.h"
#include "core/rewrite.h"
#include "core/rng.h"

namespace hone {

// Whether each site is accepted. `objective` is kOpCount, kFlops or kBytes; others are as kOpCount.
using RewriteHeuristic = std::vector<bool> (*)(const Rewrites& rewrites, Objective objective,
                                               Rng& rng);

std::vector<bool> AcceptAll(const Rewrites& rewrites, Objective objective, Rng& rng);
std::vector<bool> AcceptNone(const Rewrites& rewrites, Objective objective, Rng& rng);
// Rewrites that lower the objective by themselves, best first; of conflicting ones only the first.
std::vector<bool> AcceptByDelta(const Rewrites& rewrites, Objective objective, Rng& rng);
// Rewrites that do not raise the number of instructions.
std::vector<bool> AcceptBySize(const Rewrites& rewrites, Objective objective, Rng& rng);
// Each with probability 1/2.
std::vector<bool> AcceptRandom(const Rewrites& rewrites, Objective objective, Rng& rng);

struct NamedRewriteHeuristic {
  std::string_view name;
  RewriteHeuristic accept;
};
inline constexpr NamedRewriteHeuristic kRewriteHeuristics[] = {{"all", AcceptAll},
                                                               {"none", AcceptNone},
                                                               {"by_delta", AcceptByDelta},
                                                               {"by_size", AcceptBySize},
                                                               {"random", AcceptRandom}};

}  // namespace hone

#endif  // HONE_ENV_REWRITE_HEURISTICS_H_
