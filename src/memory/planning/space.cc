#include "memory/planning/space.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "memory/access.h"

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

}  // namespace

const std::vector<int64_t>& ResultDimensions(const Network& network, OpId op) {
  return network.tensors[U(network.ops[U(op)].results[0])].dimensions;
}

std::vector<int64_t> Space(const Network& network, OpId op) {
  std::vector<int64_t> space = ResultDimensions(network, op);
  for (const SumDimension& sum : SumDimensions(network, network.ops[U(op)])) {
    space.push_back(sum.size);
  }
  return space;
}

std::vector<Box> Grid(const std::vector<int64_t>& dimensions, const std::vector<int64_t>& counts,
                      bool first_fastest) {
  std::vector<int64_t> chunk(dimensions.size()), cells(dimensions.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    chunk[d] = (dimensions[d] + counts[d] - 1) / counts[d];
    cells[d] = (dimensions[d] + chunk[d] - 1) / chunk[d];
  }
  std::vector<Box> boxes;
  if (first_fastest) std::reverse(cells.begin(), cells.end());
  ForEach(WholeBox(cells), [&](std::vector<int64_t> cell, int64_t) {
    if (first_fastest) std::reverse(cell.begin(), cell.end());
    Box box = WholeBox(dimensions);
    for (size_t d = 0; d < dimensions.size(); ++d) {
      box.low[d] = cell[d] * chunk[d];
      box.high[d] = std::min(dimensions[d], box.low[d] + chunk[d]);
    }
    boxes.push_back(std::move(box));
  });
  return boxes;
}

void Split(const std::vector<int64_t>& space, size_t rank, const std::vector<Box>& boxes,
           std::vector<Box>& own, std::vector<Box>& sums) {
  own.clear();
  sums.clear();
  bool whole = true;
  for (const Box& box : boxes) {
    const auto middle = static_cast<std::ptrdiff_t>(rank);
    own.push_back({{box.low.begin(), box.low.begin() + middle},
                   {box.high.begin(), box.high.begin() + middle}});
    sums.push_back(
        {{box.low.begin() + middle, box.low.end()}, {box.high.begin() + middle, box.high.end()}});
    for (size_t d = rank; d < space.size(); ++d) whole = whole && Extent(box, d) == space[d];
  }
  if (whole) sums.clear();
}

bool Covers(const std::vector<Box>& boxes, const std::vector<int64_t>& dimensions) {
  int64_t together = 0;
  for (const Box& box : boxes) together += Elements(box);
  if (together < Elements(dimensions)) return false;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<std::pair<int64_t, int64_t>> intervals;
    for (const Box& box : boxes) intervals.emplace_back(box.low[d], box.high[d]);
    std::sort(intervals.begin(), intervals.end());
    int64_t end = 0;
    for (const auto& [low, high] : intervals) {
      if (low > end) return false;
      end = std::max(end, high);
    }
    if (end < dimensions[d]) return false;
  }
  return true;
}

bool InARow(const std::vector<Box>& own) {
  std::unordered_set<std::string> left;
  for (size_t t = 1; t < own.size(); ++t) {
    if (own[t] == own[t - 1]) continue;
    left.insert(ToText(own[t - 1]));
    if (left.contains(ToText(own[t]))) return false;
  }
  return true;
}

bool InOrder(const std::vector<Box>& own, const std::vector<Box>& sums) {
  std::unordered_map<std::string, size_t> last;
  for (size_t t = 0; t < sums.size(); ++t) {
    const auto [place, fresh] = last.try_emplace(ToText(own[t]), t);
    if (!fresh && !(sums[place->second].low < sums[t].low)) return false;
    place->second = t;
  }
  return true;
}

}  // namespace hone::memory
