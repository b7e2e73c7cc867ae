// By a matrix unit (Intel AMX: "Intel Architecture Instruction Set Extensions Programming
// Reference", chapter 3): a block of 32 by 32 sums in four of its tiles, and two tiles of each
// operand, 16 lines by 32 terms in bf16.
//
// What is f32 is the sum of three numbers of bf16, of 8 bits each, and a product the sum of those
// of their products that f32 has bits for (Henry, Tang and Heinecke, "Leveraging the bfloat16
// Artificial Intelligence Datatype For Higher-Precision Computations", 2019: x3, with 6 products).
#include <limits>
#include <optional>
#include <utility>

#include "loops/multiply_writer.h"

namespace hone::loops {
namespace {

constexpr int64_t kLines = 16;  // of a tile
constexpr int64_t kTerms = 2 * kLines;
constexpr int64_t kTile = kLines * kTerms;
constexpr int64_t kAtOnce = 4;  // rows that go to the result
constexpr size_t kPieces = 3;   // of an f32: as many sizes of products count
constexpr size_t kMostProducts = 6;
// Products of tiles, of each pair of tiles of the second operand, that hide what is asked of memory
// beside them.
constexpr int64_t kLeastBeside = 24;
constexpr const char* kUnits = "vector<16xi32>";  // pairs of terms
constexpr const char* kFloats = "vector<16xf32>";

class TileWriter : public MultiplyWriter {
 public:
  using MultiplyWriter::MultiplyWriter;

 private:
  Element ElementOf(size_t read) const { return nest_.reads[read].element; }
  bool IsBF16(size_t read) const { return ElementOf(read) == Element::kBF16; }
  size_t Pieces(size_t read) const { return static_cast<size_t>(InfoOf(ElementOf(read)).pieces); }
  // In a panel one pair of tiles after another: of the first terms each piece's, the next terms'.
  int64_t Pair(const Operand& operand) const {
    return 2 * kTile * InfoOf(ElementOf(operand.read)).pieces;
  }
  static int64_t Tiles(int64_t terms) { return RoundedUp(terms, kTerms) / kTerms; }
  int64_t PanelElements(const Operand& operand) const {
    return Pair(operand) * Tiles(inner_at_once_) * outer_at_once_;
  }
  int64_t PackedElements(const Operand& operand) const override {
    return operand.panels * PanelElements(operand);
  }
  std::string PackedType() const override { return "i16"; }

  // No other text knows of tiles, so that they hold what they are given from one call to the next.
  template <class... Args>
  void Assembly(const std::string& text, const std::string& constraints, const Args&... operands) {
    const std::vector<std::string> list = {operands...};
    const std::vector<std::string> types(list.size(), "i64");
    Line("llvm.inline_asm has_side_effects asm_dialect = att \"{}\", \"{}\" {} : ({}) -> ()", text,
         constraints, fmt::join(list, ", "), fmt::join(types, ", "));
  }
  std::string Number(int64_t value) { return Let("arith.constant {} : i64", value); }
  // Of an element of what is packed.
  std::string Address(const std::string& base, const std::string& at) {
    const std::string offset = Let("arith.index_cast {} : index to i64", Times(at, 2));
    return Let("arith.addi {}, {} : i64", base, offset);
  }
  std::string Base(const std::string& buffer, const std::string& type) {
    const std::string index =
        Let("memref.extract_aligned_pointer_as_index {} : {} -> index", buffer, type);
    return Let("arith.index_cast {} : index to i64", index);
  }

  // Linux lends tiles to a process that asks for them (arch_prctl, ARCH_REQ_XCOMP_PERM).
  void BeforeParts() override {
    const std::string call = Number(158), ask = Number(0x1023), tiles = Number(18);
    Line(
        "{} = llvm.inline_asm has_side_effects asm_dialect = att \"syscall\", "
        "\"={{rax}},{{rax}},{{rdi}},{{rsi}},~{{rcx}},~{{r11}},~{{memory}}\" {}, {}, {} : "
        "(i64, i64, i64) -> i64",
        Name(), call, ask, tiles);
  }

  void BeginPart() override {
    block_type_ = fmt::format("memref<{}xf32>", 2 * kLines * 2 * kLines);
    block_ = Allocate(block_type_);
    if (TapsLie(nest_)) {
      run_type_ = fmt::format("memref<{}x{}>", outer_ * inner_at_once_ * kLines,
                              IsBF16(1) ? MlirType(Element::kBF16) : type_);
      run_ = Allocate(run_type_);
    }
    // Palette 1, 8 tiles of 16 rows of 64 bytes.
    std::vector<int> bytes(64, 0);
    bytes[0] = 1;
    for (size_t tile = 0; tile < 8; ++tile) {
      bytes[16 + 2 * tile] = 64;
      bytes[48 + tile] = 16;
    }
    const std::string type = "memref<64xi8>";
    const std::string how = Allocate(type);
    const std::string value =
        Let("arith.constant dense<[{}]> : vector<64xi8>", fmt::join(bytes, ", "));
    Line("vector.store {}, {}[{}] : {}, vector<64xi8>", value, how, Index(0), type);
    Assembly("ldtilecfg ($0)", "r,~{memory}", Base(how, type));
  }
  void EndPart() override { Assembly("tilerelease", "~{memory}"); }

  // The first element of the tile with this line, a multiple of 16, and these terms, `inner` a
  // multiple of 32.
  std::string TileAt(const Operand& operand, const std::string& line, const std::string& outer,
                     const std::string& inner) {
    const std::string two = Index(2 * kLines);
    const std::string panel =
        Times(Let("arith.divui {}, {} : index", line, two), PanelElements(operand));
    const std::string half = Times(Let("arith.remui {}, {} : index", line, two), kTerms);
    std::string pair = Let("arith.divui {}, {} : index", inner, Index(kTerms));
    if (outer_at_once_ > 1) pair = Plus(Times(outer, Tiles(inner_at_once_)), pair);
    return Plus(Plus(panel, half), Times(pair, Pair(operand)));
  }

  std::string Units(const char* what, const std::string& a, const std::string& b) {
    return Let("arith.{} {}, {} : {}", what, a, b, kUnits);
  }
  std::string Constant(int64_t value) {
    return Let("arith.constant dense<{}> : {}", value, kUnits);
  }

  // What was loaded as numbers of bf16, each in the upper half of 32 bits.
  std::vector<std::string> Split(size_t read, const std::string& values) {
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
  // Pairs of terms of the pieces of the first ones and of the second ones.
  std::vector<std::string> Paired(size_t read, const std::string& first,
                                  const std::string& second) {
    std::vector<std::string> pairs;
    const std::vector<std::string> low = Split(read, first), high = Split(read, second);
    for (size_t piece = 0; piece < low.size(); ++piece) {
      pairs.push_back(Units("ori", Units("shrui", low[piece], Constant(16)), high[piece]));
    }
    return pairs;
  }
  // Bits of what is bf16, else in f32; zeros where they are not valid.
  std::string Lanes(const Operand& operand, const Located& from, const std::string& count,
                    int64_t lanes) {
    const Access& access = nest_.reads[operand.read];
    const std::string valid = Valid(from, count, lanes);
    return IsBF16(operand.read) ? LoadAsIs(access, from.at, valid, lanes)
                                : LoadVector(access, from.at, valid, lanes);
  }
  void StoreRow(const Operand& operand, const std::string& units, const std::string& at) {
    const std::string value =
        Let("vector.bitcast {} : {} to vector<{}xi16>", units, kUnits, kTerms);
    Line("vector.store {}, {}[{}] : {}, vector<{}xi16>", value, operand.buffer, at, operand.type,
         kTerms);
  }
  // Of each piece's tile: rows of lines for the first operand, of pairs of terms for the second.
  void StoreTiles(const Operand& operand, const std::vector<std::vector<std::string>>& rows,
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

  void Pack(const Operand& operand, const Lines& lines, const Terms& terms) override {
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

  // Begins a loop over 16 lines each. Panels are packed whole, with zeros or other lines in place
  // of those that are missing: whatever were there might be no number.
  std::string ForLines(const Operand& operand, const Lines& lines) {
    std::string count = lines.count;
    if (!operand.whole) {
      const std::string panels =
          Let("arith.divui {}, {} : index", Plus(count, 2 * kLines - 1), Index(2 * kLines));
      count = Times(panels, 2 * kLines);
    }
    return For(Index(0), count, Index(kLines));
  }

  bool Ragged() const { return inner_ % kTerms != 0 || inner_at_once_ % kTerms != 0; }

  // A term of 16 lines, at a place in its block; nothing from `end` on, where that is not empty.
  std::string LinesOfTerm(const Operand& operand, const Others& places, const Lines& inner,
                          const std::string& place, const std::string& end,
                          const std::string& lines_left) {
    Located at = Locate(operand, Both(places, {{loops_.term, Plus(inner.first, place)}}));
    if (!end.empty()) {
      const std::string inside = Let("arith.cmpi ult, {}, {} : index", place, end);
      at.valid = at.valid.empty() ? inside : Let("arith.andi {}, {} : i1", at.valid, inside);
    }
    return Lanes(operand, at, lines_left, kLines);
  }

  // Of memory that runs along the lines, as it lies: two terms become a row of pairs.
  void PackLines(const Operand& operand, const Lines& lines, const Terms& terms,
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

  // 32 terms of a line, as pairs; so many of them where `left` is not empty.
  std::vector<std::string> TermsOfLine(const Operand& operand, const Others& places,
                                       const std::string& from, const std::string& left) {
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
      return Let("vector.shuffle {}, {} [{}] : {}, {}", halves[0], halves[1],
                 fmt::join(lanes, ", "), kFloats, kFloats);
    };
    const std::string even = every_other(0);
    return Paired(operand.read, even, every_other(1));
  }

  // Of memory that runs along the last loop of the sum. What is beyond the last line is another of
  // that line.
  void PackTerms(const Operand& operand, const Lines& lines, const Terms& terms,
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

  // Of memory that runs along all terms of the block: 16 lines' terms, one after another, and these
  // to the tiles.
  void PackRuns(const Operand& operand, const Lines& lines, const Terms& terms) {
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
    StoreTiles(operand, {Paired(operand.read, even, load(1))}, false,
               Plus(to, Times(pair, kTerms)));
    for (int loop = 0; loop < 4; ++loop) End();
  }

  // Of memory that runs along neither.
  void PackNumbers(const Operand& operand, const Lines& lines, const Terms& terms,
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
      const std::string zero =
          Let("{}", ConstantText(0, bits ? Element::kI32 : Element::kF32, type));
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
      const std::string row = operand.read == 0 ? next : pair,
                        lane = operand.read == 0 ? pair : next;
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

  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) override {
    const std::string zero = Index(0);
    const std::string panel_a = TileAt(a, row, zero, zero), panel_b = TileAt(b, column, zero, zero);
    const std::string base_a = Base(a.buffer, a.type), base_b = Base(b.buffer, b.type);
    const std::string base = Base(block_, block_type_);
    const std::string row_bytes = Number(2 * kTerms), block_row = Number(4 * 2 * kLines);
    Assembly("tilezero %tmm0; tilezero %tmm1; tilezero %tmm2; tilezero %tmm3", "~{memory}");
    std::string count;
    if (outer_at_once_ > 1) {
      count = Times(terms.outer.count, Tiles(inner_at_once_));
    } else {
      count = Let("arith.divui {}, {} : index", Plus(terms.inner.count, kTerms - 1), Index(kTerms));
    }
    const size_t pieces_a = Pieces(a.read), pieces_b = Pieces(b.read);
    std::optional<Ahead> ahead = AheadOf(a, b, rows, columns, terms, row);
    const size_t products = std::min(pieces_a * pieces_b, kMostProducts);
    if (ahead && ahead->turns * static_cast<int64_t>(products) < kLeastBeside) ahead.reset();
    const std::string pair = For(zero, count, Index(1));
    if (ahead) AskFor(*ahead, b, column, Times(pair, kTerms), kTerms);
    const std::string at_a = Address(base_a, Plus(panel_a, Times(pair, Pair(a))));
    const std::string at_b = Address(base_b, Plus(panel_b, Times(pair, Pair(b))));
    // In turns, so that what is loaded of one operand mostly stays for the next product.
    std::string text;
    size_t has_a = kPieces, has_b = kPieces;
    for (size_t i = pieces_a; i-- > 0;) {
      const size_t count = std::min(pieces_b, kPieces - i);
      for (size_t n = 0; n < count; ++n) {
        const size_t j = i % 2 == 0 ? count - 1 - n : n;
        const auto load = [&](size_t piece, size_t& has, int from, int tile) {
          if (has == piece) return;
          has = piece;
          for (const int half : {0, 1}) {
            text += fmt::format("tileloadd {}(${},$2,1), %tmm{}; ",
                                2 * kTile * (2 * static_cast<int64_t>(piece) + half), from,
                                tile + half);
          }
        };
        load(i, has_a, 0, 4);
        load(j, has_b, 1, 6);
        text +=
            "tdpbf16ps %tmm6, %tmm4, %tmm0; tdpbf16ps %tmm7, %tmm4, %tmm1; "
            "tdpbf16ps %tmm6, %tmm5, %tmm2; tdpbf16ps %tmm7, %tmm5, %tmm3; ";
      }
    }
    Assembly(text, "r,r,r,~{memory}", at_a, at_b, row_bytes);
    End();
    Assembly(
        "tilestored %tmm0, ($0,$1,1); tilestored %tmm1, 64($0,$1,1); "
        "tilestored %tmm2, 2048($0,$1,1); tilestored %tmm3, 2112($0,$1,1)",
        "r,r,~{memory}", base, block_row);
    if (pieces_a > 1 || pieces_b > 1) {
      Line("scf.if {} {{", HasNoNumber());
      Again(a, b, panel_a, panel_b, count);
      End();
    }
    const std::string next = For(zero, Index(2 * kLines), Index(kAtOnce));
    std::vector<std::string> sums;
    for (int64_t i = 0; i < kAtOnce; ++i) sums.push_back(LoadBlockRow(Plus(next, i)));
    ToResult(sums, a, b, rows, columns, terms, Plus(row, next), column);
    End();
  }

  std::string BlockRow(const std::string& row) {
    return fmt::format("{}[{}]", block_, Times(row, 2 * kLines));
  }
  std::string LoadBlockRow(const std::string& row) {
    return Let("vector.load {} : {}, {}", BlockRow(row), block_type_, vector_);
  }

  // Whether a sum in the block may be none: then all sums together are none.
  std::string HasNoNumber() {
    std::vector<std::string> all = {Vector(0)};
    const Carrying row = For(Index(0), Index(2 * kLines), 1, all);
    all[0] = Binary("arith.addf", all[0], LoadBlockRow(row.index));
    End(row, all);
    const std::string sum =
        Let("vector.reduction <add>, {} fastmath<reassoc> : {} into f32", all[0], vector_);
    return Let("arith.cmpf uno, {0}, {0} : f32", sum);
  }

  // The block once more, by multiplications of whole elements: where an element is infinite, its
  // products with the other one's pieces that are 0 are none, though the product is infinite.
  void Again(const Operand& a, const Operand& b, const std::string& panel_a,
             const std::string& panel_b, const std::string& pairs) {
    const std::string row = For(Index(0), Index(2 * kLines), Index(1));
    std::vector<std::string> sums = {Vector(0)};
    const Carrying pair = For(Index(0), pairs, 1, sums);
    const Carrying unit = For(Index(0), Index(kLines), 1, sums);
    const std::string in_a = Plus(Plus(panel_a, Times(pair.index, Pair(a))),
                                  Plus(Times(row, kTerms), Times(unit.index, 2)));
    const std::string in_b =
        Plus(Plus(panel_b, Times(pair.index, Pair(b))), Times(unit.index, kTerms));
    for (const int64_t second : {0, 1}) {
      const std::string factor = Spread(WholeNumber(a, Plus(in_a, second)));
      const std::string left = WholeVector(b, in_b, second);
      const std::string right = WholeVector(b, Plus(in_b, kTile), second);
      std::vector<int64_t> lanes;
      for (int64_t lane = 0; lane < 2 * kLines; ++lane) lanes.push_back(lane);
      const std::string both = Let("vector.shuffle {}, {} [{}] : {}, {}", left, right,
                                   fmt::join(lanes, ", "), kFloats, kFloats);
      sums[0] = Let("vector.fma {}, {}, {} : {}", factor, both, sums[0], vector_);
    }
    End(unit, sums);
    End(pair, sums);
    Line("vector.store {}, {} : {}, {}", sums[0], BlockRow(row), block_type_, vector_);
    End();
  }

  // An element of what is packed, of its pieces.
  std::string WholeNumber(const Operand& operand, const std::string& at) {
    std::string whole;
    for (size_t piece = 0; piece < Pieces(operand.read); ++piece) {
      const std::string bits = Let("memref.load {}[{}] : {}", operand.buffer,
                                   Plus(at, static_cast<int64_t>(piece) * 2 * kTile), operand.type);
      const std::string value =
          WidenedText(bits, Element::kBF16, /*lanes=*/0,
                      [&](const std::string& text) { return Let("{}", text); });
      whole = piece == 0 ? value : Let("arith.addf {}, {} : f32", whole, value);
    }
    return whole;
  }
  // The first or the second elements of a row of pairs.
  std::string WholeVector(const Operand& operand, const std::string& at, int64_t second) {
    std::string whole;
    for (size_t piece = 0; piece < Pieces(operand.read); ++piece) {
      const std::string halves =
          Let("vector.load {}[{}] : {}, vector<{}xi16>", operand.buffer,
              Plus(at, static_cast<int64_t>(piece) * 2 * kTile), operand.type, kTerms);
      const std::string units =
          Let("vector.bitcast {} : vector<{}xi16> to {}", halves, kTerms, kUnits);
      const std::string bits =
          second == 0 ? Units("shli", units, Constant(16)) : Units("andi", units, Constant(-65536));
      const std::string value = Let("arith.bitcast {} : {} to {}", bits, kUnits, kFloats);
      whole = piece == 0 ? value : Let("arith.addf {}, {} : {}", whole, value, kFloats);
    }
    return whole;
  }

  std::string block_, block_type_;  // of sums
  std::string run_, run_type_;      // a buffer for 16 lines of a block's terms
};

}  // namespace

std::string TilesText(const MultiplySizes& sizes, const Nest& nest,
                      const std::vector<std::string>& buffers) {
  return TileWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
