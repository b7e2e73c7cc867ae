#include "loops/multiply.h"

#include <algorithm>
#include <utility>

#include "loops/multiply_writer.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostTransposed = MultiplySizes::kMostTransposed;

// By vectors: panels lie term by term, and a block of the result stays in registers.
class PanelWriter : public MultiplyWriter {
 public:
  using MultiplyWriter::MultiplyWriter;

 private:
  bool Lies(const Operand& operand) const { return operand.read == 0 && RowsLie(nest_); }
  int64_t PackedElements(const Operand& operand) const override {
    return Lies(operand) ? 0 : operand.panels * Apart(operand) * TermsApart();
  }
  std::string PackedType() const override { return type_; }
  bool RowsOutside() const override { return true; }

  // From one term's to the next one's.
  int64_t Apart(const Operand& operand) const {
    return operand.read == 0 ? sizes_.RowsApart() : operand.lines;
  }
  // In panels. Squares may reach beyond the last term, in each row of several.
  int64_t TermsApart() const {
    const int64_t terms = inner_at_once_ * outer_at_once_;
    const bool beyond = outer_ > 1 && inner_ % kMostTransposed != 0;
    return RoundedUp(terms, kMostTransposed) + (beyond ? kMostTransposed : 0);
  }
  std::string CountOf(const Terms& terms) {
    return outer_at_once_ == 1 ? terms.inner.count : Times(terms.outer.count, inner_at_once_);
  }

  // Where the panel with this line begins in the buffer.
  std::string PanelAt(const Operand& operand, const std::string& line) {
    const std::string panel = Let("arith.divui {}, {} : index", line, Index(operand.lines));
    return Times(panel, Apart(operand) * TermsApart());
  }
  std::string TermAt(const Operand& operand, const std::string& outer, const std::string& inner) {
    return Times(outer_ == 1 ? inner : Plus(Times(outer, inner_at_once_), inner), Apart(operand));
  }

  // So many lanes, `count` of them where that is not empty, or zeros where it is not valid.
  std::string Load(const Operand& operand, const Located& from, const std::string& count,
                   int64_t lanes) {
    return LoadVector(nest_.reads[operand.read], from.at, Valid(from, count, lanes), lanes);
  }
  void StorePacked(const Operand& operand, const std::string& value, const std::string& at,
                   int64_t lanes) {
    Line("vector.store {}, {}[{}] : {}, {}", value, operand.buffer, at, operand.type,
         VectorOf(lanes));
  }

  void Pack(const Operand& operand, const Lines& lines, const Terms& terms) override {
    if (Lies(operand)) return;
    if (LiesInRuns(operand) && operand.lines % kRun == 0) {
      PackRuns(operand, lines, terms);
      return;
    }
    const bool several = operand.first != operand.last;
    if (RunsAlong(operand, operand.last) && !several && loops_.first_term == loops_.term) {
      PackLines(operand, lines, terms);
    } else if (RunsAlong(operand, operand.last) &&
               (!several || (operand.whole && Extent(operand.last) % operand.lines == 0))) {
      PackLinesOfTerms(operand, lines, terms);
    } else if (RunsAlong(operand, loops_.term)) {
      PackTransposed(operand, lines, terms);
    } else {
      PackNumbers(operand, lines, terms);
    }
  }

  // Of memory that runs along the lines, a term after another: that is how it lies.
  void PackLines(const Operand& operand, const Lines& lines, const Terms& terms) {
    const std::string term = For(Index(0), CountOf(terms), Index(1));
    const std::string from = Plus(terms.inner.first, term);
    const std::string offset = Times(term, Apart(operand));
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
    while (Apart(operand) % size != 0) size /= 2;
    const std::string zero = Index(0);
    const std::string line = For(zero, lines.count, Index(operand.lines));
    const std::string panel = PanelAt(operand, line);
    std::vector<Others> of_lines;
    for (const std::string& here : LinesFrom(operand, lines, line, operand.lines)) {
      of_lines.push_back(Places(here, operand.first, operand.last));
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

  // Lines, so many terms of each, to the buffer's place `to`, term by term.
  void Square(const Operand& operand, std::vector<std::string> values, int64_t size,
              const std::string& to) {
    const std::vector<std::string> terms = Transposed(std::move(values), size, VectorOf(size));
    for (int64_t i = 0; i < size; ++i) {
      StorePacked(operand, terms[static_cast<size_t>(i)], Plus(to, i * Apart(operand)), size);
    }
  }

  // Of memory that runs along all terms of the block.
  void PackRuns(const Operand& operand, const Lines& lines, const Terms& terms) {
    const std::string line = For(Index(0), lines.count, Index(operand.lines));
    const std::string panel = PanelAt(operand, line);
    for (int64_t first = 0; first < operand.lines; first += kRun) {
      InRuns(operand, lines, Plus(line, first), terms, /*as_is=*/false,
             [&](const std::string& outer, const std::string& inner, const std::string& values) {
               StorePacked(operand, values, Plus(Plus(panel, TermAt(operand, outer, inner)), first),
                           kRun);
             });
    }
    End();
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

  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) override {
    std::vector<std::string> sums(static_cast<size_t>(a.lines), Vector(0));
    const std::string panel = PanelAt(b, column);
    if (Lies(a)) {
      AddLying(sums, a, b, rows, terms, row, panel);
    } else {
      AddPacked(sums, a, b, terms, PanelAt(a, row), panel);
    }
    ToResult(sums, a, b, rows, columns, terms, row, column);
  }

  // A term of panels of the second operand, as a vector.
  std::string Right(const Operand& b, const std::string& at) {
    return Let("vector.load {}[{}] : {}, {}", b.buffer, at, b.type, vector_);
  }
  void Add(std::string& sum, const std::string& factor, const std::string& right) {
    sum = Let("vector.fma {}, {}, {} : {}", Spread(factor), right, sum, vector_);
  }

  void AddPacked(std::vector<std::string>& sums, const Operand& a, const Operand& b,
                 const Terms& terms, const std::string& panel_a, const std::string& panel_b) {
    const Carrying loop = For(Index(0), CountOf(terms), 1, sums);
    const std::string right = Right(b, Plus(panel_b, Times(loop.index, Apart(b))));
    const std::string left = Plus(panel_a, Times(loop.index, Apart(a)));
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::string at = Plus(left, static_cast<int64_t>(i));
      Add(sums[i], Let("memref.load {}[{}] : {}", a.buffer, at, a.type), right);
    }
    End(loop, sums);
  }

  // Of rows that lie.
  void AddLying(std::vector<std::string>& sums, const Operand& a, const Operand& b,
                const Lines& rows, const Terms& terms, const std::string& row,
                const std::string& panel) {
    std::vector<Others> of_rows;
    for (const std::string& here : LinesFrom(a, rows, row, a.lines)) {
      of_rows.push_back(Places(here, a.first, a.last));
    }
    const Carrying outer = For(Index(0), terms.outer.count, 1, sums);
    const Others of_outer = OuterPlaces(Plus(terms.outer.first, outer.index));
    const Carrying inner = For(Index(0), terms.inner.count, 1, sums);
    const std::string term = Plus(terms.inner.first, inner.index);
    const std::string right = Right(b, Plus(panel, TermAt(b, outer.index, inner.index)));
    for (size_t i = 0; i < sums.size(); ++i) {
      const Located at = Locate(a, Both(Both(of_rows[i], of_outer), {{loops_.term, term}}));
      Add(sums[i], LoadNumber(nest_.reads[0], at.at), right);
    }
    End(inner, sums);
    End(outer, sums);
  }
};

}  // namespace

std::string MultiplyText(const Schedule& schedule, const Nest& nest,
                         const std::vector<std::string>& buffers) {
  const MultiplySizes sizes = MultiplySizesOf(schedule, nest);
  if (sizes.unit() == Unit::kTiles) return TilesText(sizes, nest, buffers);
  if (sizes.unit() == Unit::kPairs) return PairsText(sizes, nest, buffers);
  return AreFewRows(nest) ? InPlaceText(sizes, nest, buffers)
                          : PanelWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
