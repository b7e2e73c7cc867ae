#include "blame/minimise.h"

#include <algorithm>
#include <utility>

namespace hone::blame {
namespace {

std::vector<std::vector<size_t>> Pieces(const std::vector<size_t>& all, size_t count) {
  std::vector<std::vector<size_t>> pieces;
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](size_t piece) {
      return all.begin() + static_cast<std::ptrdiff_t>(piece * all.size() / count);
    };
    pieces.emplace_back(at(i), at(i + 1));
  }
  return pieces;
}

std::vector<size_t> Without(const std::vector<size_t>& all, const std::vector<size_t>& part) {
  std::vector<size_t> rest;
  std::set_difference(all.begin(), all.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

Minimised Minimise(std::vector<size_t> all, const ShowsTest& test,
                   const std::function<bool()>& stop) {
  Minimised result;
  result.part = std::move(all);
  size_t count = 2;
  while (result.part.size() > 1) {
    count = std::min(count, result.part.size());
    const std::vector<std::vector<size_t>> pieces = Pieces(result.part, count);
    bool smaller = false;
    for (const std::vector<size_t>& piece : pieces) {
      if (stop()) return result;
      ++result.tests;
      if (test(piece) != Shows::kYes) continue;
      result.part = piece;
      count = 2;
      smaller = true;
      break;
    }
    if (smaller) continue;
    // Of two pieces each is what is left of the other.
    for (size_t i = 0; i < pieces.size() && count > 2; ++i) {
      if (stop()) return result;
      std::vector<size_t> rest = Without(result.part, pieces[i]);
      ++result.tests;
      if (test(rest) != Shows::kYes) continue;
      result.part = std::move(rest);
      count = std::max<size_t>(count - 1, 2);
      smaller = true;
      break;
    }
    if (smaller) continue;
    if (count == result.part.size()) break;
    count = 2 * count;
  }
  result.minimal = true;
  return result;
}

}  // namespace hone::blame
