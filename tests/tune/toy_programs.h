// Programs for a ToyEvaluator that several files of tests tune.
#ifndef HONE_TESTS_TUNE_TOY_PROGRAMS_H_
#define HONE_TESTS_TUNE_TOY_PROGRAMS_H_

#include <map>
#include <string>

#include "toy_evaluator.h"
#include "tune/tune_program.h"

namespace hone::tune {

using Decided = std::map<std::string, std::string>;

inline bool Is(const Decided& decided, const std::string& name, const std::string& value) {
  const auto found = decided.find(name);
  return found != decided.end() && found->second == value;
}

// Ten fusion sites and six partition sites of which a few matter, and two flags.
inline ToyEvaluator MakeSeparable(uint64_t seed = 1) {
  ToyEvaluator toy(
      [](const Decided& decided) {
        double time = 0;
        if (Is(decided, "3", "keep")) time -= 0.2;
        if (Is(decided, "12", "4")) time -= 0.1;
        if (Is(decided, "fast_loops", "true")) time -= 0.15;
        if (Is(decided, "slow_loops", "true")) time += 0.3;
        for (const char* bad : {"1", "2", "4", "5"}) {
          if (Is(decided, bad, "keep")) time += 0.05;
        }
        return time;
      },
      seed);
  for (SiteKey key = 1; key <= 10; ++key) {
    toy.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000 * key);
  }
  for (SiteKey key = 11; key <= 16; ++key) {
    toy.AddSite(key, CompileSiteKind::kPartitions, {"1", "2", "4"}, 5000);
  }
  toy.AddFlag("fast_loops", {"false", "true"});
  toy.AddFlag("slow_loops", {"false", "true"});
  return toy;
}

inline TuneOptions Seconds(double seconds) {
  TuneOptions options;
  options.budget_seconds = seconds;
  return options;
}

}  // namespace hone::tune

#endif  // HONE_TESTS_TUNE_TOY_PROGRAMS_H_
