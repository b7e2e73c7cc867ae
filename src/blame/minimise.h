// The smallest part of a list that still does it: delta debugging (Zeller and Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", TSE 2002), with a test that may not know.
#ifndef HONE_BLAME_MINIMISE_H_
#define HONE_BLAME_MINIMISE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace hone::blame {

enum class Shows : uint8_t { kNo, kYes, kUnsure };

// Asked about ascending indices.
using ShowsTest = std::function<Shows(const std::vector<size_t>&)>;

struct Minimised {
  std::vector<size_t> part;  // that shows it, ascending
  // No single one can be left out, as far as the test knows.
  bool minimal = false;
  int tests = 0;
};

// `all` is known to show it, ascending; the empty list not to. An unsure answer of the test counts
// as not showing it. Ends early, with what there is, once `stop` says so.
Minimised Minimise(std::vector<size_t> all, const ShowsTest& test,
                   const std::function<bool()>& stop);

}  // namespace hone::blame

#endif  // HONE_BLAME_MINIMISE_H_
