// Blocks of loops, and operands laid out anew for them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "loops/nest.h"

namespace hone::loops {
namespace {

std::vector<size_t> Range(size_t count) {
  std::vector<size_t> range(count);
  std::iota(range.begin(), range.end(), size_t{0});
  return range;
}

}  // namespace

bool MayPack(const Nest& nest, size_t loop) {
  const auto plain = [&](const Access& access) {
    for (size_t d = 0; d < access.rows.size(); ++d) {
      if (access.rows[d][loop] == 0) continue;
      if (PlainLoop(access.rows[d]) != static_cast<int>(loop)) return false;
      if (access.view[d] != nest.loops[loop].extent) return false;  // only a part of it is read
    }
    return true;
  };
  return plain(nest.write) && std::all_of(nest.reads.begin(), nest.reads.end(), plain);
}

void Pack(Program& program, int index, const std::vector<int64_t>& blocks) {
  Nest nest = program.nests[static_cast<size_t>(index)];
  const Nest before = nest;
  std::vector<int> inner(before.loops.size(), -1);
  for (size_t loop = 0; loop < before.loops.size(); ++loop) {
    if (blocks[loop] == 0) continue;
    HONE_CHECK(before.loops[loop].extent % blocks[loop] == 0 && MayPack(before, loop));
    inner[loop] = static_cast<int>(nest.loops.size());
    nest.loops[loop].extent /= blocks[loop];
    nest.loops.push_back({blocks[loop], before.loops[loop].reduction});
  }
  const auto split = [&](Access& access) {
    bool changed = false;
    Access next{access.tensor, access.element, {}, {}};
    for (size_t d = 0; d < access.rows.size(); ++d) {
      Row row = access.rows[d];
      row.resize(nest.loops.size(), 0);
      const int loop = PlainLoop(access.rows[d]);
      if (loop < 0 || inner[static_cast<size_t>(loop)] < 0) {
        next.rows.push_back(row);
        next.view.push_back(access.view[d]);
        continue;
      }
      changed = true;
      next.rows.push_back(row);
      next.view.push_back(access.view[d] / blocks[static_cast<size_t>(loop)]);
      Row block(nest.loops.size(), 0);
      block[static_cast<size_t>(inner[static_cast<size_t>(loop)])] = 1;
      next.rows.push_back(block);
      next.view.push_back(blocks[static_cast<size_t>(loop)]);
    }
    access = next;
    return changed;
  };
  split(nest.write);
  std::vector<Nest> packing;
  for (size_t i = 0; i < nest.reads.size(); ++i) {
    Access& read = nest.reads[i];
    if (!split(read)) continue;
    // The dimensions in the order of the loops that they are counted by first.
    std::vector<size_t> order = Range(read.rows.size());
    const auto first = [&](size_t d) {
      const auto found =
          std::find_if(read.rows[d].begin(), read.rows[d].end(), [](int64_t c) { return c != 0; });
      return found - read.rows[d].begin();
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return first(a) < first(b); });
    if (order == Range(order.size())) continue;  // it lies so already
    Nest copy;
    copy.site = fmt::format("{}.pack{}", nest.site, i);
    copy.element = nest.element;
    Access packed{static_cast<int>(program.tensors.size()), nest.element, {}, {}};
    for (const size_t d : order) {
      packed.view.push_back(read.view[d]);
      packed.rows.push_back(read.rows[d]);
      copy.loops.push_back({read.view[d], false});
    }
    program.tensors.push_back({copy.site, nest.element, packed.view});
    copy.write = {packed.tensor, packed.element, packed.view, {}};
    copy.reads = {{read.tensor, read.element, read.view, {}}};
    copy.reads[0].rows.resize(read.rows.size());
    for (size_t k = 0; k < order.size(); ++k) {
      Row unit(order.size(), 0);
      unit[k] = 1;
      copy.write.rows.push_back(unit);
      copy.reads[0].rows[order[k]] = unit;
    }
    copy.body.push_back({Scalar::kRead, 0});
    packing.push_back(std::move(copy));
    read = packed;
  }
  program.nests[static_cast<size_t>(index)] = std::move(nest);
  program.nests.insert(program.nests.begin() + index, packing.begin(), packing.end());
}

}  // namespace hone::loops
