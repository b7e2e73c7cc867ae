#include "loops/default_rows.h"

#include <algorithm>
#include <utility>

namespace hone::loops {

std::vector<int64_t> RowsAtATime(const std::vector<Loop>& loops, Element element, bool sums) {
  constexpr int64_t kLeast = 256;  // elements
  constexpr int64_t kMany = 16, kMostRows = 32, kManyShort = 64;
  constexpr int64_t kMostElements = 2048;  // of what is elementwise: some of them lie in L1
  constexpr int64_t kMostBytes = 1 << 17;
  const int64_t extent = loops.back().extent;
  const int64_t bytes = extent * static_cast<int64_t>(InfoOf(WideOf(element)).bytes);
  int64_t many = (kLeast + extent - 1) / extent;
  int64_t most = std::max<int64_t>(kMostElements / extent, 1);
  if (sums) {
    many = std::clamp(many, kMany, kManyShort);
    most = std::clamp<int64_t>(kMostBytes / bytes, 1, std::max(kMostRows, 2 * many));
  }
  std::vector<int64_t> rows(loops.size(), 0);
  for (size_t i = loops.size() - 1; i-- > 0;) {
    if (loops[i].reduction) {
      rows[i] = 1;
      continue;
    }
    rows[i] = Scheduled::DivisorUpTo(loops[i].extent, most);
    for (const int64_t size : Scheduled::Divisors(loops[i].extent, true)) {
      if (size < many || size > most) continue;
      rows[i] = size;
      break;
    }
    most = rows[i] == loops[i].extent ? most / rows[i] : 1;
    many = std::max<int64_t>(many / rows[i], 1);
  }
  return rows;
}

bool AllAtOnce(const Nest& nest, const std::vector<int64_t>& rows, bool sums) {
  constexpr int64_t kFew = 8, kLeast = 128, kShort = 64;
  constexpr int64_t kNear = int64_t{1} << 22, kNearForFew = int64_t{1} << 23;
  const int64_t extent = nest.loops.back().extent;
  int64_t bytes = static_cast<int64_t>(InfoOf(WideOf(nest.element)).bytes), taken = 1;
  for (const Loop& loop : nest.loops) bytes *= loop.extent;
  for (const int64_t number : rows) taken *= std::max<int64_t>(number, 1);
  if (!sums) return bytes <= kNear || taken * extent < kLeast || extent < kLeast / kFew;
  if (taken >= kFew && taken * extent >= kLeast) return false;
  return bytes <= kNearForFew || extent < kShort;
}

std::optional<std::pair<int64_t, int64_t>> SquareOf(const Nest& nest, size_t inner, size_t other,
                                                    const Machine& machine) {
  constexpr int64_t kShort = 8, kFew = 64;
  const int64_t lanes = machine.Lanes(nest.element);
  const int64_t written = nest.loops[inner].extent, read = nest.loops[other].extent;
  // All of a short line of memory, that it is read once.
  const int64_t most = read <= lanes ? lanes : lanes / 2;
  const int64_t a = Scheduled::DivisorUpTo(written, most), b = Scheduled::DivisorUpTo(read, most);
  const std::pair<int64_t, int64_t> square{a, b};
  if (a == written && b == read) return square;
  const bool is_short = std::min(written, read) < kShort;
  bool good = true;
  if (InfoOf(nest.reads[0].element).narrow()) {
    good = !is_short;
  } else {
    good = a > 1 && b > 1 && (!is_short || a * b >= lanes * lanes / 8) &&
           (b < read || b >= lanes / 2 || written * read <= kFew);
  }
  return good ? std::optional(square) : std::nullopt;
}

Window WindowOf(const Nest& nest, size_t inner) {
  Window window;
  for (const Access& read : nest.reads) {
    const Row& row = read.rows.back();
    for (size_t i = 0; i < row.size() && row[inner] != 0; ++i) {
      if (row[i] == 0 || !nest.loops[i].reduction) continue;
      window.stride = std::max(window.stride, row[inner]);
      window.width = std::max(window.width, nest.loops[i].extent);
    }
  }
  return window;
}

std::optional<WindowTiles> TilesOfWindows(const Nest& nest, size_t inner, const Machine& machine) {
  constexpr int64_t kMostVectors = 8, kMostRows = 4;
  const size_t count = nest.loops.size();
  const int64_t lanes = machine.Lanes(nest.element), extent = nest.loops[inner].extent;
  const int64_t block = Scheduled::DivisorUpTo(extent, kMostVectors * lanes);
  if (WindowOf(nest, inner).stride != 1 || block < std::min(extent, lanes / 2)) return std::nullopt;
  for (const Access& read : nest.reads) {
    for (const Row& row : read.rows) {
      if (row[inner] > 1) return std::nullopt;
    }
  }
  const int64_t vectors = (block + lanes - 1) / lanes;
  WindowTiles tiles{std::vector<int64_t>(count, 0), std::vector<int64_t>(count, 0)};
  bool rows = false;  // found: the next loop further out
  for (size_t i = count; i-- > 0;) {
    if (nest.loops[i].reduction) {
      tiles.window[i] = 1;
      continue;
    }
    int64_t& size = tiles.results[i] = i == inner ? block : 1;
    if (i == inner || std::exchange(rows, true)) continue;
    size = Scheduled::DivisorUpTo(nest.loops[i].extent,
                                  std::clamp<int64_t>(kMostVectors / vectors, 1, kMostRows));
    for (const Access& read : nest.reads) {  // of several rows with a gap there is no vector
      for (const Row& row : read.rows) size = row[i] > 1 ? 1 : size;
    }
  }
  return tiles;
}

bool WindowByWindow(const Nest& nest, size_t inner, const Machine& machine) {
  constexpr int64_t kShortRow = 24, kMostVectors = 4;
  const Window window = WindowOf(nest, inner);
  const int64_t lanes = machine.Lanes(nest.element), row = nest.loops[inner].extent;
  if (window.stride < 2) return false;
  if (window.width > window.stride) return row < lanes;  // they overlap
  return row <= kShortRow || (row % lanes == 0 && row <= kMostVectors * lanes);
}

}  // namespace hone::loops
