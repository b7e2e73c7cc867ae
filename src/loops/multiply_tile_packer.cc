#include "loops/multiply_tile_packer.h"

#include <limits>
#include <utility>

namespace hone::loops {

void MultiplyTilePacker::BeginPart() {
  if (TapsLie(nest_)) {
    run_type_ = fmt::format("memref<{}x{}>", outer_ * inner_at_once_ * kLines,
                            IsBF16(1) ? MlirType(Element::kBF16) : type_);
    run_ = Allocate(run_type_);
  }
}

std::string MultiplyTilePacker::TilesOf(const Terms& terms) {
  if (outer_at_once_ > 1) return Times(terms.outer.count, Tiles(inner_at_once_));
  return Let("arith.divui {}, {} : index", Plus(terms.inner.count, kTerms - 1), Index(kTerms));
}

std::string MultiplyTilePacker::TileAt(const Operand& operand, const std::string& line,
                                       const std::string& outer, const std::string& inner) {
  const std::string two = Index(2 * kLines);
  const std::string panel =
      Times(Let("arith.divui {}, {} : index", line, two), PanelElements(operand));
  const std::string half = Times(Let("arith.remui {}, {} : index", line, two), kTerms);
  std::string pair = Let("arith.divui {}, {} : index", inner, Index(kTerms));
  if (outer_at_once_ > 1) pair = Plus(Times(outer, Tiles(inner_at_once_)), pair);
  return Plus(Plus(panel, half), Times(pair, Pair(operand)));
}

std::string MultiplyTilePacker::Units(const char* what, const std::string& a,
                                      const std::string& b) {
  return Let("arith.{} {}, {} : {}", what, a, b, kUnits);
}
std::string MultiplyTilePacker::Constant(int64_t value) {
  return Let("arith.constant dense<{}> : {}", value, kUnits);
}

std::string MultiplyTilePacker::Joined(const std::string& left, const std::string& right) {
  std::vector<int64_t> lanes;
  for (int64_t lane = 0; lane < 2 * kLines; ++lane) lanes.push_back(lane);
  return Let("vector.shuffle {}, {} [{}] : {}, {}", left, right, fmt::join(lanes, ", "), kFloats,
             kFloats);
}

std::vector<std::string> MultiplyTilePacker::Split(size_t read, const std::string& values) {
  if (IsBF16(read)) {
    const std::string wide = Let("arith.extui {} : vector<{}xi16> to {}", values, kLines, kUnits);
    return {Units("shli", wide, Constant(16))};
  }
  const auto bits = [&](const std::string& value) {
    return Let("arith.bitcast {} : {} to {}", value, kFloats, kUnits);
  };
  if (Pieces(read) == 1) return {bits(values)};
  // An infinite one is its first piece.
  const std::string infinite =
      Let("{}", ConstantText(std::numeric_limits<double>::infinity(), Element::kF32, kFloats));
  const std::string size = Let("math.absf {} : {}", values, kFloats);
  const std::string finite = Let("arith.cmpf one, {}, {} : {}", size, infinite, kFloats);
  const std::string zero = Let("{}", ConstantText(0, Element::kF32, kFloats));
  std::string rest = values;
  std::vector<std::string> pieces;
  while (true) {
    pieces.push_back(Units("andi", bits(rest), Constant(-65536)));
    if (pieces.size() == Pieces(read)) return pieces;
    const std::string taken = Let("arith.bitcast {} : {} to {}", pieces.back(), kUnits, kFloats);
    rest = Let("arith.subf {}, {} : {}", rest, taken, kFloats);
    if (pieces.size() > 1) continue;
    rest = Let("arith.select {}, {}, {} : {}, {}", finite, rest, zero, MaskOf(kLines), kFloats);
  }
}
std::vector<std::string> MultiplyTilePacker::Paired(size_t read, const std::string& first,
                                                    const std::string& second) {
  std::vector<std::string> pairs;
  const std::vector<std::string> low = Split(read, first), high = Split(read, second);
  for (size_t piece = 0; piece < low.size(); ++piece) {
    pairs.push_back(Units("ori", Units("shrui", low[piece], Constant(16)), high[piece]));
  }
  return pairs;
}
std::string MultiplyTilePacker::Lanes(const Operand& operand, const Located& from,
                                      const std::string& count, int64_t lanes) {
  const Access& access = nest_.reads[operand.read];
  const std::string valid = Valid(from, count, lanes);
  return IsBF16(operand.read) ? LoadAsIs(access, from.at, valid, lanes)
                              : LoadVector(access, from.at, valid, lanes);
}
void MultiplyTilePacker::StoreRow(const Operand& operand, const std::string& units,
                                  const std::string& at) {
  const std::string value = Let("vector.bitcast {} : {} to vector<{}xi16>", units, kUnits, kTerms);
  Line("vector.store {}, {}[{}] : {}, vector<{}xi16>", value, operand.buffer, at, operand.type,
       kTerms);
}
void MultiplyTilePacker::StoreTiles(const Operand& operand,
                                    const std::vector<std::vector<std::string>>& rows,
                                    bool transposed, const std::string& to) {
  for (size_t piece = 0; piece < rows[0].size(); ++piece) {
    std::vector<std::string> tile;
    for (const auto& row : rows) tile.push_back(row[piece]);
    if (transposed) tile = Transposed(std::move(tile), kLines, kUnits);
    for (size_t i = 0; i < tile.size(); ++i) {
      StoreRow(
          operand, tile[i],
          Plus(to, static_cast<int64_t>(piece) * 2 * kTile + static_cast<int64_t>(i) * kTerms));
    }
  }
}

void MultiplyTilePacker::Pack(const Operand& operand, const Lines& lines, const Terms& terms) {
  if (LiesInRuns(operand)) {
    PackRuns(operand, lines, terms);
    return;
  }
  const bool several = operand.first != operand.last;
  const std::string outer = For(Index(0), terms.outer.count, Index(1));
  const Others of_outer = OuterPlaces(Plus(terms.outer.first, outer));
  if (RunsAlong(operand, operand.last) &&
      (!several || (operand.whole && Extent(operand.last) % kLines == 0))) {
    PackLines(operand, lines, terms, outer, of_outer);
  } else if (RunsAlong(operand, loops_.term)) {
    PackTerms(operand, lines, terms, outer, of_outer);
  } else {
    PackNumbers(operand, lines, terms, outer, of_outer);
  }
  End();
}

std::string MultiplyTilePacker::ForLines(const Operand& operand, const Lines& lines) {
  std::string count = lines.count;
  if (!operand.whole) {
    const std::string panels =
        Let("arith.divui {}, {} : index", Plus(count, 2 * kLines - 1), Index(2 * kLines));
    count = Times(panels, 2 * kLines);
  }
  return For(Index(0), count, Index(kLines));
}

bool MultiplyTilePacker::Ragged() const {
  return inner_ % kTerms != 0 || inner_at_once_ % kTerms != 0;
}

std::string MultiplyTilePacker::LinesOfTerm(const Operand& operand, const Others& places,
                                            const Lines& inner, const std::string& place,
                                            const std::string& end, const std::string& lines_left) {
  Located at = Locate(operand, Both(places, {{loops_.term, Plus(inner.first, place)}}));
  if (!end.empty()) {
    const std::string inside = Let("arith.cmpi ult, {}, {} : index", place, end);
    at.valid = at.valid.empty() ? inside : Let("arith.andi {}, {} : i1", at.valid, inside);
  }
  return Lanes(operand, at, lines_left, kLines);
}

void MultiplyTilePacker::PackLines(const Operand& operand, const Lines& lines, const Terms& terms,
                                   const std::string& outer, const Others& of_outer) {
  const bool whole = operand.whole || operand.first != operand.last;
  const auto tiles = [&](const std::string& inner, const std::string& left) {
    const std::string end = left.empty() ? "" : terms.inner.count;
    const auto row = [&](const std::string& line, const std::string& pair) {
      const std::string lines_left = whole ? "" : Least(Minus(lines.count, line), Index(kLines));
      const Others places =
          Both(Places(Plus(lines.first, line), operand.first, operand.last), of_outer);
      const std::string first = Plus(inner, Times(pair, 2));
      const std::string even = LinesOfTerm(operand, places, terms.inner, first, end, lines_left);
      return Paired(operand.read, even,
                    LinesOfTerm(operand, places, terms.inner, Plus(first, 1), end, lines_left));
    };
    if (operand.read == 1) {
      const std::string pair = For(Index(0), Index(kLines), Index(1));
      const std::string line = ForLines(operand, lines);
      const std::string to = TileAt(operand, line, outer, inner);
      StoreTiles(operand, {row(line, pair)}, false, Plus(to, Times(pair, kTerms)));
      End();
      End();
      return;
    }
    const std::string line = ForLines(operand, lines);
    std::vector<std::vector<std::string>> rows;
    for (int64_t pair = 0; pair < kLines; ++pair) rows.push_back(row(line, Index(pair)));
    StoreTiles(operand, rows, true, TileAt(operand, line, outer, inner));
    End();
  };
  InSteps(terms.inner.count, kTerms, Ragged(), tiles);
}

std::vector<std::string> MultiplyTilePacker::TermsOfLine(const Operand& operand,
                                                         const Others& places,
                                                         const std::string& from,
                                                         const std::string& left) {
  const auto at = [&](int64_t beyond) {
    return Locate(operand, Both(places, {{loops_.term, Plus(from, beyond)}}));
  };
  if (IsBF16(operand.read)) {
    return {Let("vector.bitcast {} : vector<{}xi16> to {}", Lanes(operand, at(0), left, kTerms),
                kTerms, kUnits)};
  }
  std::string halves[2];
  for (const int64_t half : {0, 1}) {
    const std::string count = left.empty() ? ""
                                           : Let("arith.maxsi {}, {} : index",
                                                 Minus(left, Index(half * kLines)), Index(0));
    halves[half] = Lanes(operand, at(half * kLines), count, kLines);
  }
  const auto every_other = [&](int64_t first) {
    std::vector<int64_t> lanes;
    for (int64_t i = 0; i < kLines; ++i) lanes.push_back(2 * i + first);
    return Let("vector.shuffle {}, {} [{}] : {}, {}", halves[0], halves[1], fmt::join(lanes, ", "),
               kFloats, kFloats);
  };
  const std::string even = every_other(0);
  return Paired(operand.read, even, every_other(1));
}

void MultiplyTilePacker::PackTerms(const Operand& operand, const Lines& lines, const Terms& terms,
                                   const std::string& outer, const Others& of_outer) {
  const std::string line = ForLines(operand, lines);
  const std::string last = Minus(lines.count, Index(1));
  const auto tiles = [&](const std::string& inner, const std::string& left) {
    const std::string to = TileAt(operand, line, outer, inner);
    const auto row = [&](const std::string& next) {
      const std::string number = Plus(line, next);
      const std::string here = operand.whole ? number : Least(number, last);
      const Others places =
          Both(Places(Plus(lines.first, here), operand.first, operand.last), of_outer);
      return TermsOfLine(operand, places, Plus(terms.inner.first, inner), left);
    };
    if (operand.read == 0) {
      const std::string next = For(Index(0), Index(kLines), Index(1));
      StoreTiles(operand, {row(next)}, false, Plus(to, Times(next, kTerms)));
      End();
      return;
    }
    std::vector<std::vector<std::string>> rows;
    for (int64_t next = 0; next < kLines; ++next) rows.push_back(row(Index(next)));
    StoreTiles(operand, rows, true, to);
  };
  InSteps(terms.inner.count, kTerms, Ragged(), tiles);
  End();
}

void MultiplyTilePacker::PackRuns(const Operand& operand, const Lines& lines, const Terms& terms) {
  const bool bits = IsBF16(operand.read);
  const std::string vector = bits ? VectorAs(Element::kBF16, kLines) : VectorOf(kLines);
  const std::string line = ForLines(operand, lines);
  const auto at = [&](const std::string& outer, const std::string& inner) {
    return Times(Plus(Times(outer, inner_at_once_), inner), kLines);
  };
  InRuns(operand, lines, line, terms, bits,
         [&](const std::string& outer, const std::string& inner, const std::string& values) {
           Line("vector.store {}, {}[{}] : {}, {}", values, run_, at(outer, inner), run_type_,
                vector);
         });
  const std::string outer = For(Index(0), terms.outer.count, Index(1));
  const std::string inner = For(Index(0), terms.inner.count, Index(kTerms));
  const std::string to = TileAt(operand, line, outer, inner);
  const std::string pair = For(Index(0), Index(kLines), Index(1));
  const auto load = [&](int64_t second) {
    const std::string term = Plus(inner, Plus(Times(pair, 2), second));
    return Let("vector.load {}[{}] : {}, {}", run_, at(outer, term), run_type_, vector);
  };
  const std::string even = load(0);
  StoreTiles(operand, {Paired(operand.read, even, load(1))}, false, Plus(to, Times(pair, kTerms)));
  for (int loop = 0; loop < 4; ++loop) End();
}

void MultiplyTilePacker::PackNumbers(const Operand& operand, const Lines& lines, const Terms& terms,
                                     const std::string& outer, const Others& of_outer) {
  const std::string line = ForLines(operand, lines);
  const Access& access = nest_.reads[operand.read];
  const std::string last = Minus(lines.count, Index(1));
  const std::string inner = For(Index(0), terms.inner.count, Index(kTerms));
  const std::string to = TileAt(operand, line, outer, inner);
  const std::string next = For(Index(0), Index(kLines), Index(1));
  const std::string here = Least(Plus(line, next), last);
  const Others places =
      Both(Places(Plus(lines.first, here), operand.first, operand.last), of_outer);
  const std::string pair = For(Index(0), Index(kLines), Index(1));
  const auto value = [&](int64_t second) {
    const std::string term = Plus(inner, Plus(Times(pair, 2), second));
    std::string valid = Let("arith.cmpi ult, {}, {} : index", term, terms.inner.count);
    const std::string inside = Let("arith.select {}, {}, {} : index", valid, term, Index(0));
    const Located at =
        Locate(operand, Both(places, {{loops_.term, Plus(terms.inner.first, inside)}}));
    if (!at.valid.empty()) valid = Let("arith.andi {}, {} : i1", valid, at.valid);
    const bool bits = IsBF16(operand.read);
    const char* const type = bits ? "i16" : "f32";
    const std::string number =
        bits ? Let("memref.load {} : {}", at.at, TypeOf(access)) : LoadNumber(access, at.at);
    const std::string zero = Let("{}", ConstantText(0, bits ? Element::kI32 : Element::kF32, type));
    const std::string chosen = Let("arith.select {}, {}, {} : {}", valid, number, zero, type);
    return Let("vector.broadcast {} : {} to vector<{}x{}>", chosen, type, kLines, type);
  };
  const std::string first = value(0);
  const std::vector<std::string> pieces = Paired(operand.read, first, value(1));
  for (size_t piece = 0; piece < pieces.size(); ++piece) {
    const std::string units =
        Let("vector.bitcast {} : {} to vector<{}xi16>", pieces[piece], kUnits, kTerms);
    const std::string two =
        Let("vector.extract_strided_slice {} {{offsets = [0], sizes = [2], strides = [1]}} : "
            "vector<{}xi16> to vector<2xi16>",
            units, kTerms);
    const std::string row = operand.read == 0 ? next : pair, lane = operand.read == 0 ? pair : next;
    const std::string at =
        Plus(Plus(Plus(to, static_cast<int64_t>(piece) * 2 * kTile), Times(row, kTerms)),
             Times(lane, 2));
    Line("vector.store {}, {}[{}] : {}, vector<2xi16>", two, operand.buffer, at, operand.type);
  }
  End();
  End();
  End();
  End();
}

}  // namespace hone::loops
