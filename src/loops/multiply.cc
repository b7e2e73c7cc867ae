#include "loops/multiply.h"

#include <algorithm>
#include <utility>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostTransposed = MultiplySizes::kMostTransposed;

// An operand as it is packed: panels of `lines`, term by term, `apart` elements from one term's to
// the next one's.
struct Operand {
  size_t read = 0;
  size_t first = 0, last = 0;  // loops that its lines are: rows of the one, columns of the other
  int64_t lines = 0;
  int64_t apart = 0;
  bool whole = false;  // no block ends within a panel
  std::string buffer, type;
};

// Where a block of lines begins, and how many there are.
struct Lines {
  std::string first, count;
};

// A block of the sum: some iterations of its last loop, for some of all the others'.
struct Terms {
  Lines outer, inner;
  std::string count;
};

class Writer : public Emitter {
 public:
  Writer(const MultiplySizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.columns),
        sizes_(sizes),
        loops_(nest),
        inner_(Extent(loops_.term)),
        outer_(loops_.terms / inner_),
        inner_at_once_(std::min(sizes.packed_terms, inner_)),
        outer_at_once_(std::min(std::max<int64_t>(1, sizes.packed_terms / inner_), outer_)) {}

  std::string Write() {
    std::vector<int64_t> extents, shared;
    for (size_t l = 0; l <= loops_.column; ++l) {
      if (!loops_.Counts(l)) continue;
      extents.push_back(loops_.Extent(nest_, l));
      shared.push_back(sizes_.parallel[l]);
    }
    BeginParts(extents, shared);
    const Operand a = Buffer(0, loops_.first_row, loops_.row, sizes_.packed_rows, sizes_.rows,
                             sizes_.RowsApart());
    const Operand b = Buffer(1, loops_.column, loops_.column, sizes_.packed_columns, sizes_.columns,
                             sizes_.columns);
    const std::vector<Part> parts = Parts(extents, shared);
    places_.assign(nest_.loops.size(), "");
    for (size_t l = 0; l < loops_.first_row; ++l) {
      places_[l] = For(parts[l].first, parts[l].second, Index(1));
    }
    const Lines columns = Blocks(parts[loops_.first_row + 1], sizes_.packed_columns);
    const Terms terms = BlocksOfTerms();
    Pack(b, columns, terms);
    const Lines rows = Blocks(parts[loops_.first_row], sizes_.packed_rows);
    Pack(a, rows, terms);
    const std::string zero = Index(0);
    const std::string column = For(zero, columns.count, Index(b.lines));
    const std::string row = For(zero, rows.count, Index(a.lines));
    Multiply(a, b, rows, columns, terms, row, column);
    for (size_t l = 0; l < loops_.first_row + 6; ++l) End();
    EndParts();
    return text_;
  }

 private:
  // In panels. Squares may reach beyond the last term, in each row of several.
  int64_t TermsApart() const {
    const int64_t terms = inner_at_once_ * outer_at_once_;
    const bool beyond = outer_ > 1 && inner_ % kMostTransposed != 0;
    return RoundedUp(terms, kMostTransposed) + (beyond ? kMostTransposed : 0);
  }

  Operand Buffer(size_t read, size_t first, size_t last, int64_t packed, int64_t lines,
                 int64_t apart) {
    const int64_t extent = loops_.Extent(nest_, last);
    const int64_t panels = (std::min(packed, extent) + lines - 1) / lines;
    const int64_t shared = sizes_.parallel[last] == 0 ? extent : sizes_.parallel[last];
    const auto ends_whole = [&](int64_t size, int64_t of) {
      return size >= of || size % lines == 0;
    };
    Operand operand{read, first, last, lines, apart, false, "", ""};
    operand.whole = extent % lines == 0 && ends_whole(shared, extent) &&
                    ends_whole(packed, std::min(shared, extent));
    operand.type = fmt::format("memref<{}x{}>", panels * apart * TermsApart(), type_);
    operand.buffer = Let("memref.alloc() {{alignment = 64 : i64}} : {}", operand.type);
    return operand;
  }

  // Begins a loop over blocks.
  Lines Blocks(const Part& part, int64_t size) {
    const std::string first = For(part.first, part.second, Index(size));
    return {first, Least(Minus(part.second, first), Index(size))};
  }
  Terms BlocksOfTerms() {
    Terms terms;
    const std::string zero = Index(0);
    terms.outer = Blocks({zero, Index(outer_)}, outer_at_once_);
    terms.inner = Blocks({zero, Index(inner_)}, inner_at_once_);
    terms.count =
        outer_at_once_ == 1 ? terms.inner.count : Times(terms.outer.count, inner_at_once_);
    return terms;
  }

  // Where the panel with this line begins in the buffer.
  std::string PanelAt(const Operand& operand, const std::string& line) {
    const std::string panel = Let("arith.divui {}, {} : index", line, Index(operand.lines));
    return Times(panel, operand.apart * TermsApart());
  }
  std::string TermAt(const Operand& operand, const std::string& outer, const std::string& inner) {
    return Times(outer_ == 1 ? inner : Plus(Times(outer, inner_at_once_), inner), operand.apart);
  }

  // The iterations of the loops first to last that are number `all` of all, the last one fastest.
  Others Places(std::string all, size_t first, size_t last) {
    Others places;
    for (size_t loop = last; loop > first; --loop) {
      const std::string extent = Index(Extent(loop));
      places.emplace_back(loop, Let("arith.remui {}, {} : index", all, extent));
      all = Let("arith.divui {}, {} : index", all, extent);
    }
    places.emplace_back(first, all);
    return places;
  }
  Others OuterPlaces(const std::string& outer) {
    return loops_.first_term == loops_.term ? Others()
                                            : Places(outer, loops_.first_term, loops_.term - 1);
  }
  static Others Both(Others a, const Others& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // The least and the largest index of a dimension.
  std::pair<int64_t, int64_t> Range(const Access& access, size_t dimension) const {
    const int64_t low = access.low.empty() ? 0 : access.low[dimension];
    std::pair<int64_t, int64_t> range(-low, -low);
    for (size_t loop = 0; loop < nest_.loops.size(); ++loop) {
      const int64_t step = access.rows[dimension][loop];
      (step < 0 ? range.first : range.second) += step * (Extent(loop) - 1);
    }
    return range;
  }

  // Where an operand is read; `valid` is empty where that is never outside.
  struct Located {
    std::string at, valid;
  };
  Located Locate(const Operand& operand, const Others& places) {
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
      const auto [least, most] = Range(access, d);
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

  // So many lanes, `count` of them where that is not empty, or zeros where it is not valid.
  std::string Load(const Operand& operand, const Located& from, const std::string& count,
                   int64_t lanes) {
    const Access& access = nest_.reads[operand.read];
    if (from.valid.empty() && count.empty()) {
      return LoadVector(access, from.at, /*mask=*/"", lanes);
    }
    std::string here = count.empty() ? Index(lanes) : count;
    if (!from.valid.empty()) {
      here = Let("arith.select {}, {}, {} : index", from.valid, here, Index(0));
    }
    const std::string valid = Let("vector.create_mask {} : {}", here, MaskOf(lanes));
    return LoadVector(access, from.at, valid, lanes);
  }
  void StorePacked(const Operand& operand, const std::string& value, const std::string& at,
                   int64_t lanes) {
    Line("vector.store {}, {}[{}] : {}, {}", value, operand.buffer, at, operand.type,
         VectorOf(lanes));
  }

  void Pack(const Operand& operand, const Lines& lines, const Terms& terms) {
    const Access& access = nest_.reads[operand.read];
    const size_t last = LastDimension(access);
    const auto [least, most] = Range(access, last);
    const bool inside = least >= 0 && most < access.view[last];
    const auto runs = [&](size_t loop) { return inside && access.rows[last][loop] == 1; };
    const bool several = operand.first != operand.last;
    if (runs(operand.last) && !several && loops_.first_term == loops_.term) {
      PackLines(operand, lines, terms);
    } else if (runs(operand.last) &&
               (!several || (operand.whole && Extent(operand.last) % operand.lines == 0))) {
      PackLinesOfTerms(operand, lines, terms);
    } else if (runs(loops_.term)) {
      PackTransposed(operand, lines, terms);
    } else {
      PackNumbers(operand, lines, terms);
    }
  }

  // body(index, "") at 0, step, ..., and body(index, so many) for what is left, where that may be.
  template <class Body>
  void InSteps(const std::string& count, int64_t step, bool ragged, const Body& body) {
    const std::string zero = Index(0);
    const std::string whole = Times(Let("arith.divui {}, {} : index", count, Index(step)), step);
    body(For(zero, whole, Index(step)), "");
    End();
    if (!ragged) return;
    const std::string left = Minus(count, whole);
    Line("scf.if {} {{", Let("arith.cmpi ne, {}, {} : index", left, zero));
    body(whole, left);
    End();
  }

  // Of memory that runs along the lines, a term after another: that is how it lies.
  void PackLines(const Operand& operand, const Lines& lines, const Terms& terms) {
    const std::string term = For(Index(0), terms.count, Index(1));
    const std::string from = Plus(terms.inner.first, term);
    const std::string offset = Times(term, operand.apart);
    const auto copy = [&](const std::string& line, const std::string& count) {
      const Located at =
          Locate(operand, {{operand.last, Plus(lines.first, line)}, {loops_.term, from}});
      StorePacked(operand, Load(operand, at, count, operand.lines),
                  Plus(PanelAt(operand, line), offset), operand.lines);
    };
    InSteps(lines.count, operand.lines, !operand.whole, copy);
    End();
  }

  // The same panel by panel, where lines or terms are several loops.
  void PackLinesOfTerms(const Operand& operand, const Lines& lines, const Terms& terms) {
    const std::string zero = Index(0), one = Index(1);
    const std::string line = For(zero, lines.count, Index(operand.lines));
    const std::string panel = PanelAt(operand, line);
    const std::string left =
        operand.whole ? "" : Least(Minus(lines.count, line), Index(operand.lines));
    const Others of_lines = Places(Plus(lines.first, line), operand.first, operand.last);
    const std::string outer = For(zero, terms.outer.count, one);
    const Others places = Both(of_lines, OuterPlaces(Plus(terms.outer.first, outer)));
    const std::string inner = For(zero, terms.inner.count, one);
    const Located at =
        Locate(operand, Both(places, {{loops_.term, Plus(terms.inner.first, inner)}}));
    StorePacked(operand, Load(operand, at, left, operand.lines),
                Plus(panel, TermAt(operand, outer, inner)), operand.lines);
    End();
    End();
    End();
  }

  // Of memory that runs along the last loop of the sum. What is beyond the last line is another of
  // that line.
  void PackTransposed(const Operand& operand, const Lines& lines, const Terms& terms) {
    int64_t size = kMostTransposed;
    while (operand.apart % size != 0) size /= 2;
    const std::string zero = Index(0);
    const std::string last = Minus(lines.count, Index(1));
    const std::string line = For(zero, lines.count, Index(operand.lines));
    const std::string panel = PanelAt(operand, line);
    std::vector<Others> of_lines;
    for (int64_t l = 0; l < operand.lines; ++l) {
      const std::string here = l == 0 ? line : Least(Plus(line, l), last);
      of_lines.push_back(Places(Plus(lines.first, here), operand.first, operand.last));
    }
    const std::string outer = For(zero, terms.outer.count, Index(1));
    const Others of_outer = OuterPlaces(Plus(terms.outer.first, outer));
    const auto squares = [&](const std::string& inner, const std::string& left) {
      const std::string from = Plus(terms.inner.first, inner);
      const std::string to = Plus(panel, TermAt(operand, outer, inner));
      for (int64_t first = 0; first < operand.lines; first += size) {
        std::vector<std::string> values;
        for (int64_t l = first; l < std::min(first + size, operand.lines); ++l) {
          const Others places = Both(of_lines[static_cast<size_t>(l)], of_outer);
          const Located at = Locate(operand, Both(places, {{loops_.term, from}}));
          values.push_back(Load(operand, at, left, size));
        }
        Square(operand, std::move(values), size, first == 0 ? to : Plus(to, first));
      }
    };
    InSteps(terms.inner.count, size, inner_ % size != 0 || inner_at_once_ % size != 0, squares);
    End();
    End();
  }

  // Lines, so many terms of each, to the buffer's place `to`, term by term: halves of the square
  // change places, and halves of these.
  void Square(const Operand& operand, std::vector<std::string> values, int64_t size,
              const std::string& to) {
    const std::string vector = VectorOf(size);
    values.resize(static_cast<size_t>(size), values.back());
    for (int64_t half = size / 2; half > 0; half /= 2) {
      std::vector<int64_t> low, high;
      for (int64_t i = 0; i < size; ++i) {
        const bool other = (i & half) != 0;
        low.push_back(other ? size + i - half : i);
        high.push_back(other ? size + i : i + half);
      }
      for (int64_t i = 0; i < size; ++i) {
        if ((i & half) != 0) continue;
        std::string& a = values[static_cast<size_t>(i)];
        std::string& b = values[static_cast<size_t>(i + half)];
        const std::string x =
            Let("vector.shuffle {}, {} [{}] : {}, {}", a, b, fmt::join(low, ", "), vector, vector);
        b = Let("vector.shuffle {}, {} [{}] : {}, {}", a, b, fmt::join(high, ", "), vector, vector);
        a = x;
      }
    }
    for (int64_t i = 0; i < size; ++i) {
      StorePacked(operand, values[static_cast<size_t>(i)], Plus(to, i * operand.apart), size);
    }
  }

  // Of memory that runs along neither.
  void PackNumbers(const Operand& operand, const Lines& lines, const Terms& terms) {
    const std::string zero = Index(0), one = Index(1), panel = Index(operand.lines);
    const std::string line = For(zero, lines.count, one);
    const std::string to =
        Plus(PanelAt(operand, line), Let("arith.remui {}, {} : index", line, panel));
    const Others of_line = Places(Plus(lines.first, line), operand.first, operand.last);
    const std::string outer = For(zero, terms.outer.count, one);
    const Others places = Both(of_line, OuterPlaces(Plus(terms.outer.first, outer)));
    const std::string inner = For(zero, terms.inner.count, one);
    const Located at =
        Locate(operand, Both(places, {{loops_.term, Plus(terms.inner.first, inner)}}));
    std::string value = LoadNumber(nest_.reads[operand.read], at.at);
    if (!at.valid.empty()) {
      const std::string nothing = Let("{}", ConstantText(0, nest_.element, type_));
      value = Let("arith.select {}, {}, {} : {}", at.valid, value, nothing, type_);
    }
    Line("memref.store {}, {}[{}] : {}", value, operand.buffer,
         Plus(to, TermAt(operand, outer, inner)), operand.type);
    End();
    End();
    End();
  }

  // The block of the result from `row` and `column` on, both within the packed ones.
  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) {
    const std::string panel_a = PanelAt(a, row), panel_b = PanelAt(b, column);
    std::vector<std::string> sums(static_cast<size_t>(a.lines), Vector(0));
    const Carrying loop = For(Index(0), terms.count, 1, sums);
    const std::string right = Let("vector.load {}[{}] : {}, {}", b.buffer,
                                  Plus(panel_b, Times(loop.index, b.apart)), b.type, vector_);
    const std::string left = Plus(panel_a, Times(loop.index, a.apart));
    for (int64_t i = 0; i < a.lines; ++i) {
      const std::string factor =
          Spread(Let("memref.load {}[{}] : {}", a.buffer, Plus(left, i), a.type));
      std::string& sum = sums[static_cast<size_t>(i)];
      sum = Let("vector.fma {}, {}, {} : {}", factor, right, sum, vector_);
    }
    End(loop, sums);
    const Access result = RowsAsOne(nest_.write);
    const std::string type = TypeOf(result);
    const std::string buffer = RowsAsOne(buffers_.back(), nest_.write);
    const std::string first_column = Plus(columns.first, column);
    std::vector<std::string> places;
    std::vector<Point> points;  // as far as there are such rows, else others
    const std::string last_row = a.whole ? "" : Minus(Plus(rows.first, rows.count), Index(1));
    for (int64_t i = 0; i < a.lines; ++i) {
      const std::string here = Plus(Plus(rows.first, row), i);
      places.push_back(fmt::format(
          "{}[{}]", buffer, At(result, {{loops_.row, here}, {loops_.column, first_column}})));
      if (!Ends()) continue;
      const std::string row_here = a.whole ? here : Least(here, last_row);
      points.push_back(
          {Both(Places(row_here, loops_.first_row, loops_.row), {{loops_.column, first_column}}),
           At(result, {{loops_.row, row_here}, {loops_.column, first_column}})});
    }
    if (a.whole && b.whole) {
      Store(sums, places, points, type, {}, terms);
      return;
    }
    const std::string rows_left = Minus(rows.count, row);
    const std::string columns_left = Minus(columns.count, column);
    const auto enough = [&](const std::string& left_over, int64_t wanted) {
      return Let("arith.cmpi sge, {}, {} : index", left_over, Index(wanted));
    };
    const std::string whole =
        Let("arith.andi {}, {} : i1", enough(rows_left, a.lines), enough(columns_left, b.lines));
    Line("scf.if {} {{", whole);
    Store(sums, places, points, type, {}, terms);
    Line("}} else {{");
    std::vector<std::string> masks;
    const std::string count = Least(columns_left, Index(b.lines)), zero = Index(0);
    for (int64_t i = 0; i < a.lines; ++i) {
      const std::string valid = Let("arith.cmpi slt, {}, {} : index", Index(i), rows_left);
      const std::string lanes = Let("arith.select {}, {}, {} : index", valid, count, zero);
      masks.push_back(Let("vector.create_mask {} : {}", lanes, mask_));
    }
    Store(sums, places, points, type, masks, terms);
    End();
  }

  // Neighbouring columns in a row, and where that is in the result with its rows as one.
  struct Point {
    Others places;
    std::string in_result;
  };

  // Whether something is made of the sums.
  bool Ends() const { return nest_.body.size() > 1; }

  // What lies as the result does, with one dimension for all rows.
  Access RowsAsOne(Access result) const {
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
  std::string RowsAsOne(const std::string& buffer, const Access& access) {
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
  // Whether a read lies as the result does.
  bool LiesAsResult(const Access& read) const {
    return read.view == nest_.write.view && read.rows == nest_.write.rows && read.low.empty();
  }

  // Sums to the result, added to what is there but for the first terms; behind the last ones, what
  // is made of them.
  void Store(const std::vector<std::string>& sums, const std::vector<std::string>& places,
             const std::vector<Point>& points, const std::string& type,
             const std::vector<std::string>& masks, const Terms& terms) {
    const auto store = [&](bool first, bool last) {
      for (size_t i = 0; i < sums.size(); ++i) {
        const std::string mask = masks.empty() ? "" : masks[i];
        std::string value = sums[i];
        if (!first && mask.empty()) {
          value =
              Binary("arith.addf", value, Let("vector.load {} : {}, {}", places[i], type, vector_));
        } else if (!first) {
          value = Binary("arith.addf", value,
                         Let("vector.maskedload {}, {}, {} : {}, {}, {} into {}", places[i], mask,
                             value, type, mask_, vector_, vector_));
        }
        if (last && Ends()) value = Made(value, points[i], mask);
        if (mask.empty()) {
          Line("vector.store {}, {} : {}, {}", value, places[i], type, vector_);
        } else {
          Line("vector.maskedstore {}, {}, {} : {}, {}, {}", places[i], mask, value, type, mask_,
               vector_);
        }
      }
    };
    if (inner_at_once_ == inner_ && outer_at_once_ == outer_) {
      store(true, true);
      return;
    }
    const std::string all = Plus(terms.outer.first, terms.inner.first);
    Line("scf.if {} {{", Let("arith.cmpi eq, {}, {} : index", all, Index(0)));
    store(true, false);
    Line("}} else {{");
    if (Ends()) {
      const auto ends = [&](const Lines& block, int64_t extent) {
        return Let("arith.cmpi eq, {}, {} : index", Plus(block.first, block.count), Index(extent));
      };
      Line("scf.if {} {{",
           Let("arith.andi {}, {} : i1", ends(terms.outer, outer_), ends(terms.inner, inner_)));
      store(false, true);
      Line("}} else {{");
    }
    store(false, false);
    if (Ends()) End();
    End();
  }

  // What the body makes of sums in neighbouring columns.
  std::string Made(const std::string& sums, const Point& point, const std::string& mask) {
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

  const MultiplySizes sizes_;
  const MultiplyLoops loops_;
  const int64_t inner_, outer_;  // iterations of the sum's last loop, and of all its others
  const int64_t inner_at_once_, outer_at_once_;  // of a block
};

}  // namespace

std::string MultiplyText(const Schedule& schedule, const Nest& nest,
                         const std::vector<std::string>& buffers) {
  return Writer(MultiplySizesOf(schedule, nest), nest, buffers).Write();
}

}  // namespace hone::loops
