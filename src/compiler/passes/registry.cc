// What PassTable is made of.
#include <string>
#include <utility>

#include "compiler/passes/pass_table.h"

namespace hone::compiler {
namespace {

// The action set `rewrites`: a simplifier, of which some rewrites only are made. Variants of a pass
// differ in options, and are not varied again.
void AddDecided(std::vector<PassEntry>& table) {
  struct Selector {
    const char* name;
    const char* meaning;
    Decisions decisions;
    bool only_algsimp;  // drawn halves are of use where a pass has very many rewrites
  };
  const std::vector<Selector> selectors = {
      {"shrinking", "only what lowers the op count", {Otherwise::kShrinking}, false},
      {"not_growing", "only what does not raise the op count", {Otherwise::kNotGrowing}, false},
      {"less_bytes", "only what does not raise the bytes accessed", {Otherwise::kLessBytes}, true},
      {"half_1", "a half of its rewrites, by what they look like", {Otherwise::kHalf, 1}, true},
      {"half_2", "another half of its rewrites", {Otherwise::kHalf, 2}, true},
      {"half_3", "another half of its rewrites", {Otherwise::kHalf, 3}, true},
      {"half_4", "another half of its rewrites", {Otherwise::kHalf, 4}, true},
  };
  const size_t passes = table.size();
  for (size_t i = 0; i < passes; ++i) {
    const bool variant = table[i].info.name.find(':') != std::string::npos;
    if (!table[i].info.simplify || variant || table[i].grain != Grain::kRewrites) continue;
    for (const Selector& selector : selectors) {
      if (selector.only_algsimp && table[i].info.name != "algsimp") continue;
      PassEntry entry = table[i];
      entry.info.meaning = entry.info.name + ": " + selector.meaning;
      entry.info.name += std::string("?") + selector.name;
      entry.info.kind = PassKind::kRewrites;
      entry.info.simplify = false;
      entry.decisions = selector.decisions;
      table.push_back(std::move(entry));
    }
  }
}

std::vector<PassEntry> BuildRegistry() {
  std::vector<PassEntry> table = XlaPasses();
  AddDecided(table);
  return table;
}

}  // namespace

Status ReadUserRules(const std::vector<std::string>&) { return {}; }

const std::vector<PassEntry>& PassTable() {
  static const auto* const table = new std::vector<PassEntry>(BuildRegistry());
  return *table;
}

}  // namespace hone::compiler
