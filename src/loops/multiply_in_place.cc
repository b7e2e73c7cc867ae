// Products of few rows, such as a vector's by a matrix: each element of the second operand is
// needed a few times only, so that it is read where it lies, in as many streams as processors read
// ahead.
#include "loops/multiply_writer.h"

namespace hone::loops {
namespace {

class InPlaceWriter : public MultiplyWriter {
 public:
  using MultiplyWriter::MultiplyWriter;

 private:
  int64_t PackedElements(const Operand&) const override { return 0; }
  std::string PackedType() const override { return type_; }
  void Pack(const Operand&, const Lines&, const Terms&) override {}

  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) override {
    const std::vector<std::string> places = LinesFrom(a, rows, row, a.lines);
    ToResult(RunsAlong(b, loops_.column) ? AlongColumns(a, b, places, columns, terms, column)
                                         : AlongTerms(a, b, places, columns, terms, column),
             a, b, rows, columns, terms, row, column);
  }

  // A term after another, of each neighbouring columns: a vector a row.
  std::vector<std::string> AlongColumns(const Operand& a, const Operand& b,
                                        const std::vector<std::string>& rows, const Lines& columns,
                                        const Terms& terms, const std::string& column) {
    const std::string left = b.whole ? "" : Least(Minus(columns.count, column), Index(b.lines));
    const std::string here = Plus(columns.first, column);
    std::vector<std::string> sums(rows.size(), Vector(0));
    const Carrying loop = For(Index(0), terms.inner.count, 1, sums);
    const std::string term = Plus(terms.inner.first, loop.index);
    const Located from = Locate(b, {{loops_.column, here}, {loops_.term, term}});
    const std::string right =
        LoadVector(nest_.reads[1], from.at, Valid(from, left, lanes_), lanes_);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Located at = Locate(a, {{loops_.row, rows[i]}, {loops_.term, term}});
      const std::string factor = Spread(LoadNumber(nest_.reads[0], at.at));
      sums[i] = Let("vector.fma {}, {}, {} : {}", factor, right, sums[i], vector_);
    }
    End(loop, sums);
    return sums;
  }

  // As many columns as a vector has lanes, of each neighbouring terms: their sums are those of the
  // lanes of a vector a column.
  std::vector<std::string> AlongTerms(const Operand& a, const Operand& b,
                                      const std::vector<std::string>& rows, const Lines& columns,
                                      const Terms& terms, const std::string& column) {
    const std::vector<std::string> places = LinesFrom(b, columns, column, lanes_);
    const std::string whole =
        Times(Let("arith.divui {}, {} : index", terms.inner.count, Index(lanes_)), lanes_);
    const bool ragged = inner_ % lanes_ != 0 || inner_at_once_ % lanes_ != 0;
    std::vector<std::string> result;
    for (const std::string& row : rows) {
      std::vector<std::string> sums(places.size(), Vector(0));
      const auto add = [&](const std::string& place, const std::string& left) {
        const std::string term = Plus(terms.inner.first, place);
        const auto load = [&](const Operand& operand, size_t loop, const std::string& line) {
          const Located from = Locate(operand, {{loop, line}, {loops_.term, term}});
          return LoadVector(nest_.reads[operand.read], from.at, Valid(from, left, lanes_), lanes_);
        };
        const std::string factors = load(a, loops_.row, row);
        for (size_t l = 0; l < places.size(); ++l) {
          sums[l] = Let("vector.fma {}, {}, {} : {}", factors, load(b, loops_.column, places[l]),
                        sums[l], vector_);
        }
      };
      const Carrying loop = For(Index(0), whole, lanes_, sums);
      add(loop.index, "");
      End(loop, sums);
      if (ragged) add(whole, Minus(terms.inner.count, whole));
      result.push_back(SumOf(Transposed(std::move(sums), lanes_, vector_)));
    }
    return result;
  }

  std::string SumOf(std::vector<std::string> vectors) {
    for (size_t half = vectors.size() / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) {
        vectors[i] = Binary("arith.addf", vectors[i], vectors[i + half]);
      }
    }
    return vectors[0];
  }
};

}  // namespace

std::string InPlaceText(const MultiplySizes& sizes, const Nest& nest,
                        const std::vector<std::string>& buffers) {
  return InPlaceWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
