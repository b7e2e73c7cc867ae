// Which known name did a person mean?
#ifndef HONE_CORE_NEAREST_H_
#define HONE_CORE_NEAREST_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
inline size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> here(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    here[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      here[j] = std::min({last[j] + 1, here[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        here[j] = std::min(here[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, here);
  }
  return last[b.size()];
}

// The known name nearest to `name`, or "" where none is near: further than half of its letters.
// A name that starts with what was typed beats one that is as far away.
inline std::string Nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = name.size() / 2 + 1;
  for (const std::string& candidate : known) {
    size_t distance = EditDistance(name, candidate);
    const bool starts = name.size() >= 3 && candidate.substr(0, name.size()) == name;
    if (starts) distance = std::min<size_t>(distance, 1);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

// " (did you mean 'x'?)" or "".
inline std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(name, known);
  return nearest.empty() ? "" : " (did you mean '" + nearest + "'?)";
}

}  // namespace hone

#endif  // HONE_CORE_NEAREST_H_
