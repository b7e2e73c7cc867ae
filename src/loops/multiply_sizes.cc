#include "loops/multiply_sizes.h"

#include <algorithm>

#include "loops/own_text.h"

namespace hone::loops {

int LoopAlong(const Access& access) { return PlainLoop(access.rows[LastDimension(access)]); }

MultiplyLoops::MultiplyLoops(const Nest& nest) {
  term = nest.loops.size() - 1;
  first_term = nest.loops.size() - static_cast<size_t>(nest.term_loops);
  column = first_term - 1;
  row = column - 1;
  first_row = column - static_cast<size_t>(nest.row_loops);
  rows = terms = 1;
  columns = nest.loops[column].extent;
  for (size_t l = first_row; l <= row; ++l) rows *= nest.loops[l].extent;
  for (size_t l = first_term; l <= term; ++l) terms *= nest.loops[l].extent;
}

int64_t MultiplySizes::RowsApart() const {
  int64_t apart = 1;
  while (apart < rows) apart *= 2;
  return apart;
}

bool TapsLie(const Nest& nest) {
  const MultiplyLoops loops(nest);
  if (nest.loops[loops.term].extent % MultiplySizes::kTiled != 0) return false;
  std::vector<size_t> order = {loops.term};
  for (size_t loop = loops.first_term; loop < loops.term; ++loop) {
    if (nest.loops[loop].extent != 1) order.push_back(loop);
  }
  if (order.size() == 1) return false;
  const Access& access = nest.reads[1];
  for (size_t d = access.rows.size(); d-- > 0 && !order.empty();) {
    if (access.view[d] == 1) continue;
    const bool all = access.view[d] == nest.loops[order.back()].extent &&
                     (access.low.empty() || access.low[d] == 0);
    if (!all || PlainLoop(access.rows[d]) != static_cast<int>(order.back())) return false;
    order.pop_back();
  }
  return order.empty();
}

bool AreFewRows(const Nest& nest) {
  const MultiplyLoops loops(nest);
  if (nest.row_loops != 1 || nest.term_loops != 1 || loops.rows > MultiplySizes::kFewRows) {
    return false;
  }
  const auto along = [&](size_t read) {
    const Access& access = nest.reads[read];
    const int loop = LoopAlong(access);
    const bool all =
        loop >= 0 && access.low.empty() &&
        access.view[LastDimension(access)] == nest.loops[static_cast<size_t>(loop)].extent;
    return all ? loop : -1;
  };
  const auto column = static_cast<int>(loops.column), term = static_cast<int>(loops.term);
  return along(1) == column || (along(1) == term && along(0) == term);
}

std::pair<int64_t, int64_t> RangeOf(const Nest& nest, const Access& access, size_t dimension) {
  const int64_t low = access.low.empty() ? 0 : access.low[dimension];
  std::pair<int64_t, int64_t> range(-low, -low);
  for (size_t loop = 0; loop < nest.loops.size(); ++loop) {
    const int64_t step = access.rows[dimension][loop];
    (step < 0 ? range.first : range.second) += step * (nest.loops[loop].extent - 1);
  }
  return range;
}

bool LiesWithin(const Nest& nest, const Access& access) {
  for (size_t d = 0; d < access.rows.size(); ++d) {
    const auto [least, most] = RangeOf(nest, access, d);
    if (least < 0 || most >= access.view[d]) return false;
  }
  return true;
}

bool RowsLie(const Nest& nest) {
  const Access& first = nest.reads[0];
  return LiesWithin(nest, first) && !AreFewRows(nest) && first.element == nest.element &&
         first.rows[LastDimension(first)][MultiplyLoops(nest).term] == 1;
}

MultiplySizes::Terms MultiplySizes::AtOnce(const Nest& nest) const {
  const MultiplyLoops loops(nest);
  const int64_t inner = nest.loops[loops.term].extent, outer = loops.terms / inner;
  if (!TapsLie(nest)) {
    return {std::min(std::max<int64_t>(1, packed_terms / inner), outer),
            std::min(packed_terms, inner)};
  }
  int64_t features = std::max(kTiled, std::min(packed_terms / outer, inner) / kTiled * kTiled);
  while (inner % features != 0) features -= kTiled;
  return {outer, features};
}

int64_t MultiplySizes::LineBytesAsTiles(const Nest& nest, size_t read) const {
  const Terms terms = AtOnce(nest);
  return 2 * RoundedUp(terms.inner, kTiled) * terms.outer * InfoOf(nest.reads[read].element).pieces;
}

int64_t MultiplySizes::PackedBytes(const Nest& nest) const {
  if (AsTiles()) {
    return RoundedUp(packed_rows, kTiled) * LineBytesAsTiles(nest, 0) +
           RoundedUp(packed_columns, kTiled) * LineBytesAsTiles(nest, 1);
  }
  const Terms at_once = AtOnce(nest);
  const int64_t terms = RoundedUp(at_once.inner * at_once.outer, kMostTransposed) + kMostTransposed;
  const int64_t of_rows = RowsLie(nest) ? 0 : RoundedUp(packed_rows, rows) / rows * RowsApart();
  return (of_rows + RoundedUp(packed_columns, columns)) * terms *
         static_cast<int64_t>(InfoOf(nest.element).bytes);
}

// Pairs are twice as fast as f32: they gain nothing where an element takes several numbers.
bool MayBeBy(Unit unit, const Nest& nest) {
  if (unit == Unit::kVectors) return true;
  const int pieces =
      InfoOf(nest.reads[0].element).pieces * InfoOf(nest.reads[1].element).pieces;
  return nest.element == Element::kF32 && (unit == Unit::kTiles ? pieces > 0 : pieces == 1);
}

MultiplySizes MultiplySizesOf(const Schedule& schedule, const Nest& nest) {
  MultiplySizes sizes;
  const MultiplyLoops loops(nest);
  sizes.parallel.assign(nest.loops.size(), 0);
  bool packed = false;
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind != StepKind::kTile) continue;
    const auto set = [&](size_t loop, int64_t& size) {
      if (step.numbers[loop] != 0) size = step.numbers[loop];
    };
    set(loops.row, packed ? sizes.rows : sizes.packed_rows);
    set(loops.column, packed ? sizes.columns : sizes.packed_columns);
    set(loops.term, packed ? sizes.terms : sizes.packed_terms);
    packed = true;
  }
  return sizes;
}

}  // namespace hone::loops
