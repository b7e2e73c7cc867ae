// How a result came to be, complete enough to make the same bytes again.
#ifndef HONE_CORE_RECIPE_H_
#define HONE_CORE_RECIPE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/rewrite.h"

namespace hone {

struct RecipeProgram {
  std::string file;         // the path as the user gave it
  std::string name;         // of the HLO module
  std::string fingerprint;  // Fingerprint::ToHex of the program as loaded
};

struct RecipeVerification {
  std::string verified = "skipped";  // "true", "false" or "skipped"
  std::string method;                // in words, and the reason where it is not "true"
  int inputs = 0;
  double worst_error = 0;  // as a multiple of the tolerance
};

struct Recipe {
  std::string hone_version;
  std::string xla_version;  // Pool::version(); another XLA may give other bytes
  RecipeProgram program;
  std::vector<std::string> passes;  // by name, in order, only those that changed something
  // About the rewrites of each pass; empty where all passes are as they are.
  std::vector<Decisions> decisions;
  std::string result_fingerprint;  // Fingerprint::ToHex after the last pass
  std::string objective;            // ObjectiveName
  double initial_value = 0;
  // After the stock compiler's own order; infinite where nobody found that out.
  double default_value = std::numeric_limits<double>::infinity();
  double result_value = 0;
  uint64_t seed = 0;
  std::map<std::string, std::string> flags;  // of the command that found it, by name, as text
  RecipeVerification verification;
};

}  // namespace hone

#endif  // HONE_CORE_RECIPE_H_
