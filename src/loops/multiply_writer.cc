#include "loops/multiply_writer.h"

namespace hone::loops {

std::string MultiplyWriter::Write() {
  std::vector<int64_t> extents, shared;
  for (size_t l = 0; l <= loops_.column; ++l) {
    if (!loops_.Counts(l)) continue;
    extents.push_back(loops_.Extent(nest_, l));
    shared.push_back(sizes_.parallel[l]);
  }
  BeforeParts();
  BeginParts(extents, shared);
  const Operand a = Buffer(0, loops_.first_row, loops_.row, sizes_.packed_rows, sizes_.rows);
  const Operand b = Buffer(1, loops_.column, loops_.column, sizes_.packed_columns, sizes_.columns);
  BeginPart();
  if (WaitsBeside()) {
    const int64_t rows =
        sizes_.parallel[loops_.row] == 0 ? loops_.rows : sizes_.parallel[loops_.row];
    waiting_type_ = fmt::format("memref<{}x{}x{}>", RoundedUp(std::min(rows, loops_.rows), a.lines),
                                WaitingColumns(), type_);
    waiting_ = Allocate(waiting_type_);
  }
  const std::vector<Part> parts = Parts(extents, shared);
  first_row_ = parts[loops_.first_row].first;
  places_.assign(nest_.loops.size(), "");
  for (size_t l = 0; l < loops_.first_row; ++l) {
    places_[l] = For(parts[l].first, parts[l].second, Index(1));
  }
  const Lines columns = Blocks(parts[loops_.first_row + 1], sizes_.packed_columns);
  const std::string zero = Index(0);
  Terms terms;
  terms.outer = Blocks({zero, Index(outer_)}, outer_at_once_);
  terms.inner = Blocks({zero, Index(inner_)}, inner_at_once_);
  Pack(b, columns, terms);
  const Lines rows = Blocks(parts[loops_.first_row], sizes_.packed_rows);
  Pack(a, rows, terms);
  std::string row, column;
  if (RowsOutside()) row = For(zero, rows.count, Index(a.lines));
  column = For(zero, columns.count, Index(b.lines));
  if (!RowsOutside()) row = For(zero, rows.count, Index(a.lines));
  Multiply(a, b, rows, columns, terms, row, column);
  for (size_t l = 0; l < loops_.first_row + 6; ++l) End();
  EndPart();
  EndParts();
  return text_;
}

MultiplyWriter::Operand MultiplyWriter::Buffer(size_t read, size_t first, size_t last,
                                               int64_t packed, int64_t lines) {
  const int64_t extent = loops_.Extent(nest_, last);
  const int64_t shared = sizes_.parallel[last] == 0 ? extent : sizes_.parallel[last];
  const auto ends_whole = [&](int64_t size, int64_t of) { return size >= of || size % lines == 0; };
  Operand operand{read,  first, last, lines, (std::min(packed, extent) + lines - 1) / lines,
                  false, "",    ""};
  operand.whole = extent % lines == 0 && ends_whole(shared, extent) &&
                  ends_whole(packed, std::min(shared, extent));
  if (PackedElements(operand) == 0) return operand;
  operand.type = fmt::format("memref<{}x{}>", PackedElements(operand), PackedType());
  operand.buffer = Allocate(operand.type);
  return operand;
}

MultiplyWriter::Lines MultiplyWriter::Blocks(const Part& part, int64_t size) {
  const std::string first = For(part.first, part.second, Index(size));
  return {first, Least(Minus(part.second, first), Index(size))};
}

MultiplyWriter::Others MultiplyWriter::Places(std::string all, size_t first, size_t last) {
  Others places;
  for (size_t loop = last; loop > first; --loop) {
    const std::string extent = Index(Extent(loop));
    places.emplace_back(loop, Let("arith.remui {}, {} : index", all, extent));
    all = Let("arith.divui {}, {} : index", all, extent);
  }
  places.emplace_back(first, all);
  return places;
}

std::vector<std::string> MultiplyWriter::LinesFrom(const Operand& operand, const Lines& lines,
                                                   const std::string& line, int64_t count) {
  const std::string last = operand.whole ? "" : Minus(lines.count, Index(1));
  std::vector<std::string> all;
  for (int64_t l = 0; l < count; ++l) {
    const std::string here = operand.whole ? Plus(line, l) : Least(Plus(line, l), last);
    all.push_back(Plus(lines.first, here));
  }
  return all;
}

MultiplyWriter::Runs MultiplyWriter::RunsOf(const Access& access) const {
  Runs runs{access, access};
  while (PlainLoop(runs.before.rows.back()) != static_cast<int>(loops_.term)) {
    runs.before.rows.pop_back();
    runs.before.view.pop_back();
  }
  runs.before.rows.pop_back();
  runs.before.view.pop_back();
  runs.access.view = runs.before.view;
  runs.access.view.push_back(loops_.terms);
  return runs;
}

std::string MultiplyWriter::Collapsed(const std::string& buffer, const Access& access,
                                      const Runs& runs) {
  const size_t before = runs.before.view.size();
  std::string groups;
  for (size_t d = 0; d < access.view.size(); ++d) {
    groups += fmt::format("{}{}", d == 0 ? "[" : d <= before ? "], [" : ", ", d);
  }
  return Let("memref.collapse_shape {} [{}]] : {} into {}", buffer, groups, TypeOf(access),
             TypeOf(runs.access));
}

bool MultiplyWriter::RunsAlong(const Operand& operand, size_t loop) const {
  const Access& access = nest_.reads[operand.read];
  const size_t last = LastDimension(access);
  const auto [least, most] = RangeOf(nest_, access, last);
  return least >= 0 && most < access.view[last] && access.rows[last][loop] == 1;
}

MultiplyWriter::Located MultiplyWriter::Locate(const Operand& operand, const Others& places) {
  const Access& access = nest_.reads[operand.read];
  std::vector<std::string> indices;
  std::string valid;
  for (size_t d = 0; d < access.rows.size(); ++d) {
    const int64_t low = access.low.empty() ? 0 : access.low[d];
    std::string index;
    for (size_t loop = 0; loop < access.rows[d].size(); ++loop) {
      const int64_t step = access.rows[d][loop];
      if (step == 0) continue;
      std::string place = places_[loop];
      for (const auto& [other, here] : places) {
        if (other == loop) place = here;
      }
      HONE_CHECK(!place.empty());
      if (step != 1) place = Times(place, step);
      index = index.empty() ? place : Plus(index, place);
    }
    if (index.empty()) index = Index(0);
    if (low != 0) index = Plus(index, Index(-low));
    const auto [least, most] = RangeOf(nest_, access, d);
    if (least < 0 || most >= access.view[d]) {
      const std::string inside =
          Let("arith.cmpi ult, {}, {} : index", index, Index(access.view[d]));
      index = Let("arith.select {}, {}, {} : index", inside, index, Index(0));
      valid = valid.empty() ? inside : Let("arith.andi {}, {} : i1", valid, inside);
    }
    indices.push_back(index);
  }
  return {fmt::format("{}[{}]", buffers_[operand.read], fmt::join(indices, ", ")), valid};
}

std::string MultiplyWriter::Valid(const Located& from, const std::string& count, int64_t lanes) {
  if (from.valid.empty() && count.empty()) return "";
  std::string here = count.empty() ? Index(lanes) : count;
  if (!from.valid.empty()) {
    here = Let("arith.select {}, {}, {} : index", from.valid, here, Index(0));
  }
  return Let("vector.create_mask {} : {}", here, MaskOf(lanes));
}

std::optional<MultiplyWriter::Ahead> MultiplyWriter::AheadOf(const Operand& a, const Operand& b,
                                                             const Lines& rows,
                                                             const Lines& columns,
                                                             const Terms& terms,
                                                             const std::string& row) {
  const auto part = [&](size_t loop, int64_t extent) {
    return sizes_.parallel[loop] == 0 ? extent : std::min(extent, sizes_.parallel[loop]);
  };
  const bool several = inner_at_once_ < inner_ || outer_ > 1 ||
                       sizes_.packed_columns < part(loops_.column, loops_.columns);
  constexpr int64_t kStays = 1 << 20;  // bytes that stay in a near cache anyway
  const Access& access = nest_.reads[1];
  auto bytes = static_cast<int64_t>(InfoOf(access.element).bytes);
  for (const int64_t size : access.view) bytes *= size;
  if (!several || bytes <= kStays || outer_at_once_ > 1 || !LiesWithin(nest_, access) ||
      !(RunsAlong(b, loops_.column) || RunsAlong(b, loops_.term))) {
    return std::nullopt;
  }
  Ahead ahead;
  ahead.turns = (part(loops_.row, loops_.rows) + a.lines - 1) / a.lines;
  ahead.turn =
      Let("arith.divui {}, {} : index", Minus(Plus(rows.first, row), first_row_), Index(a.lines));
  const auto select = [&](const std::string& which, const std::string& x, const std::string& y) {
    return Let("arith.select {}, {}, {} : index", which, x, y);
  };
  const std::string zero = Index(0), inner = Plus(terms.inner.first, inner_at_once_);
  const std::string more_inner = Let("arith.cmpi ult, {}, {} : index", inner, Index(inner_));
  ahead.inner = select(more_inner, inner, zero);
  const std::string outer = select(more_inner, terms.outer.first, Plus(terms.outer.first, 1));
  const std::string more = Let("arith.cmpi ult, {}, {} : index", outer, Index(outer_));
  ahead.outer = OuterPlaces(select(more, outer, zero));
  ahead.column = select(more, columns.first, Plus(columns.first, sizes_.packed_columns));
  return ahead;
}

void MultiplyWriter::AskFor(const Ahead& ahead, const Operand& b, const std::string& column,
                            const std::string& term, int64_t terms) {
  constexpr int64_t kLineBytes = 64;
  const Access& access = nest_.reads[b.read];
  const bool along_columns = RunsAlong(b, loops_.column);
  const int64_t lines = along_columns ? terms : b.lines, along = along_columns ? b.lines : terms;
  const int64_t share = (lines + ahead.turns - 1) / ahead.turns;
  const std::string first = Times(ahead.turn, share), end = Plus(first, share);
  const std::string line =
      For(first, ahead.turns > lines ? Least(end, Index(lines)) : end, Index(1));
  const std::string first_column = Plus(ahead.column, column), first_term = Plus(ahead.inner, term);
  const int64_t step = kLineBytes / static_cast<int64_t>(InfoOf(access.element).bytes);
  for (int64_t next = 0; next < along; next += step) {
    const std::string here_column = Plus(first_column, along_columns ? Index(next) : line);
    const std::string here_term = Plus(first_term, along_columns ? line : Index(next));
    const Located at =
        Locate(b, Both(ahead.outer, {{loops_.column, here_column}, {loops_.term, here_term}}));
    Line("memref.prefetch {}, read, locality<2>, data : {}", at.at, TypeOf(access));
  }
  End();
}

void MultiplyWriter::ToResult(const std::vector<std::string>& sums, const Operand& a,
                              const Operand& b, const Lines& rows, const Lines& columns,
                              const Terms& terms, const std::string& row,
                              const std::string& column) {
  const auto count_of_sums = static_cast<int64_t>(sums.size());
  const Access result = RowsAsOne(nest_.write);
  result_type_ = TypeOf(result);
  const std::string buffer = RowsAsOne(buffers_.back(), nest_.write);
  const std::string first_column = Plus(columns.first, column);
  std::vector<Row> places;
  const std::string last_row = a.whole ? "" : Minus(Plus(rows.first, rows.count), Index(1));
  for (int64_t i = 0; i < count_of_sums; ++i) {
    const std::string here = Plus(Plus(rows.first, row), i);
    Row place;
    place.result = fmt::format("{}[{}]", buffer,
                               At(result, {{loops_.row, here}, {loops_.column, first_column}}));
    place.waits = place.result;
    if (WaitsBeside()) {
      place.waits = fmt::format("{}[{}, {}]", waiting_, Minus(here, first_row_), column);
    }
    if (Ends()) {  // as far as there are such rows, else others
      const std::string row_here = a.whole ? here : Least(here, last_row);
      place.point = {
          Both(Places(row_here, loops_.first_row, loops_.row), {{loops_.column, first_column}}),
          At(result, {{loops_.row, row_here}, {loops_.column, first_column}})};
    }
    places.push_back(std::move(place));
  }
  if (a.whole && b.whole) {
    Store(sums, places, {}, terms);
    return;
  }
  const std::string rows_left = Minus(rows.count, row);
  const std::string columns_left = Minus(columns.count, column);
  const auto enough = [&](const std::string& left_over, int64_t wanted) {
    return Let("arith.cmpi sge, {}, {} : index", left_over, Index(wanted));
  };
  const std::string whole = Let("arith.andi {}, {} : i1", enough(rows_left, count_of_sums),
                                enough(columns_left, b.lines));
  Line("scf.if {} {{", whole);
  Store(sums, places, {}, terms);
  Line("}} else {{");
  std::vector<std::string> masks;
  const std::string count = Least(columns_left, Index(b.lines)), zero = Index(0);
  for (int64_t i = 0; i < count_of_sums; ++i) {
    const std::string valid = Let("arith.cmpi slt, {}, {} : index", Index(i), rows_left);
    const std::string lanes = Let("arith.select {}, {}, {} : index", valid, count, zero);
    masks.push_back(Let("vector.create_mask {} : {}", lanes, mask_));
  }
  Store(sums, places, masks, terms);
  End();
}

Access MultiplyWriter::RowsAsOne(Access result) const {
  for (size_t d = 0; d < result.rows.size(); ++d) {
    const int loop = PlainLoop(result.rows[d]);
    if (loop < static_cast<int>(loops_.first_row) || loop >= static_cast<int>(loops_.row)) {
      continue;
    }
    HONE_CHECK(PlainLoop(result.rows[d + 1]) == loop + 1);
    result.view[d + 1] *= result.view[d];
    result.view.erase(result.view.begin() + static_cast<ptrdiff_t>(d));
    result.rows.erase(result.rows.begin() + static_cast<ptrdiff_t>(d--));
  }
  return result;
}

std::string MultiplyWriter::RowsAsOne(const std::string& buffer, const Access& access) {
  if (loops_.first_row == loops_.row) return buffer;
  std::string groups;
  for (size_t d = 0; d < nest_.write.rows.size(); ++d) {
    const int loop = PlainLoop(nest_.write.rows[d]);
    const bool within =
        loop > static_cast<int>(loops_.first_row) && loop <= static_cast<int>(loops_.row);
    groups += within ? fmt::format(", {}", d) : fmt::format("{}{}", d == 0 ? "[" : "], [", d);
  }
  return Let("memref.collapse_shape {} [{}]] : {} into {}", buffer, groups, TypeOf(access),
             TypeOf(RowsAsOne(access)));
}

void MultiplyWriter::StoreVector(const std::string& value, const std::string& to,
                                 const std::string& type, const std::string& mask,
                                 Element element) {
  const std::string vector = VectorAs(element, lanes_);
  if (mask.empty()) {
    Line("vector.store {}, {} : {}, {}", value, to, type, vector);
  } else {
    Line("vector.maskedstore {}, {}, {} : {}, {}, {}", to, mask, value, type, mask_, vector);
  }
}

void MultiplyWriter::Store(const std::vector<std::string>& sums, const std::vector<Row>& rows,
                           const std::vector<std::string>& masks, const Terms& terms) {
  const std::string waiting_type = WaitsBeside() ? waiting_type_ : result_type_;
  const auto store = [&](bool first, bool last) {
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::string mask = masks.empty() ? "" : masks[i];
      std::string value = sums[i];
      if (!first && mask.empty()) {
        value = Binary("arith.addf", value,
                       Let("vector.load {} : {}, {}", rows[i].waits, waiting_type, vector_));
      } else if (!first) {
        value = Binary("arith.addf", value,
                       Let("vector.maskedload {}, {}, {} : {}, {}, {} into {}", rows[i].waits, mask,
                           value, waiting_type, mask_, vector_, vector_));
      }
      if (!last) {
        StoreVector(value, rows[i].waits, waiting_type, mask, nest_.element);
        continue;
      }
      if (Ends()) value = Made(value, rows[i].point, mask);
      value = NarrowedText(value, nest_.write.element, lanes_,
                           [&](const std::string& text) { return Let("{}", text); });
      StoreVector(value, rows[i].result, result_type_, mask, nest_.write.element);
    }
  };
  if (!Waits()) {
    store(true, true);
    return;
  }
  const std::string all = Plus(terms.outer.first, terms.inner.first);
  Line("scf.if {} {{", Let("arith.cmpi eq, {}, {} : index", all, Index(0)));
  store(true, false);
  Line("}} else {{");
  const bool changes = Ends() || WaitsBeside();
  if (changes) {
    const auto ends = [&](const Lines& block, int64_t extent) {
      return Let("arith.cmpi eq, {}, {} : index", Plus(block.first, block.count), Index(extent));
    };
    Line("scf.if {} {{",
         Let("arith.andi {}, {} : i1", ends(terms.outer, outer_), ends(terms.inner, inner_)));
    store(false, true);
    Line("}} else {{");
  }
  store(false, false);
  if (changes) End();
  End();
}

std::string MultiplyWriter::Made(const std::string& sums, const Point& point,
                                 const std::string& mask) {
  return BodyText(
      nest_, vector_, [&](const std::string& text) { return Let("{}", text); },
      [&](const Scalar& node) {
        if (node.kind == Scalar::kWhole) return sums;
        const auto read = static_cast<size_t>(node.a);
        if (!LiesAsResult(nest_.reads[read])) {
          return Along(read, loops_.column, point.places, mask);
        }
        // Without dividing rows into loops.
        const Access lies = RowsAsOne(nest_.reads[read]);
        const std::string at =
            fmt::format("{}[{}]", RowsAsOne(buffers_[read], nest_.reads[read]), point.in_result);
        return LoadVector(lies, at, mask, lanes_);
      });
}

}  // namespace hone::loops
