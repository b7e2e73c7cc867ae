// Writes what multiplies (multiply.h), whatever makes a block of the result: vectors, or a matrix
// unit.
#ifndef HONE_LOOPS_MULTIPLY_WRITER_H_
#define HONE_LOOPS_MULTIPLY_WRITER_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loops/emitter.h"
#include "loops/multiply_sizes.h"
#include "loops/own_text.h"

namespace hone::loops {

class MultiplyWriter : public Emitter {
 public:
  MultiplyWriter(const MultiplySizes& sizes, const Nest& nest,
                 const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.columns),
        sizes_(sizes),
        loops_(nest),
        inner_(Extent(loops_.term)),
        outer_(loops_.terms / inner_),
        inner_at_once_(sizes.AtOnce(nest).inner),
        outer_at_once_(sizes.AtOnce(nest).outer) {}
  virtual ~MultiplyWriter() = default;

  std::string Write();

 protected:
  // An operand as it is packed: panels of `lines`.
  struct Operand {
    size_t read = 0;
    size_t first = 0, last = 0;  // loops that its lines are: rows of the one, columns of the other
    int64_t lines = 0;
    int64_t panels = 0;  // at once, at most
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
  };

  // What is done before the work is shared; what a part of it does before all else, and at its end.
  virtual void BeforeParts() {}
  virtual void BeginPart() {}
  virtual void EndPart() {}
  // An operand's elements, all panels together, and of what type they are.
  virtual int64_t PackedElements(const Operand& operand) const = 0;
  virtual std::string PackedType() const = 0;
  // Lays out some lines anew, some terms of each.
  virtual void Pack(const Operand& operand, const Lines& lines, const Terms& terms) = 0;
  // Whether all columns of a block come to some rows before the next rows do: results are written
  // in longer runs of memory, and the second operand comes from a farther cache.
  virtual bool RowsOutside() const { return false; }
  // The block of the result from `row` and `column` on, both within the packed ones.
  virtual void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                        const Terms& terms, const std::string& row, const std::string& column) = 0;

  // The iterations of the loops first to last that are number `all` of all, the last one fastest.
  Others Places(std::string all, size_t first, size_t last);
  Others OuterPlaces(const std::string& outer) {
    return loops_.first_term == loops_.term ? Others()
                                            : Places(outer, loops_.first_term, loops_.term - 1);
  }
  static Others Both(Others a, const Others& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // So many lines from `line` of a block on, by their numbers among all; the last one in place of
  // those that are missing.
  std::vector<std::string> LinesFrom(const Operand& operand, const Lines& lines,
                                     const std::string& line, int64_t count);

  // Whether an operand's terms are read in runs of its memory.
  bool LiesInRuns(const Operand& operand) const { return operand.read == 1 && TapsLie(nest_); }
  // The terms of kRun lines from `line` on, out of runs of memory: put(outer, inner, values) for
  // each of the block's, with the values as they lie in memory or as vectors to compute with.
  // Others of the last line in place of lines that are missing.
  static constexpr int64_t kRun = MultiplySizes::kMostTransposed;
  template <class Put>
  void InRuns(const Operand& operand, const Lines& lines, const std::string& line,
              const Terms& terms, bool as_is, const Put& put) {
    const Runs runs = RunsOf(nest_.reads[operand.read]);
    const std::string buffer = Collapsed(buffers_[operand.read], nest_.reads[operand.read], runs);
    std::vector<std::string> at;
    for (const std::string& here : LinesFrom(operand, lines, line, kRun)) {
      at.push_back(At(runs.before, {{operand.last, here}}));
    }
    const std::string first = Times(terms.inner.first, outer_);
    const std::string place = For(Index(0), Times(terms.inner.count, outer_), Index(kRun));
    const std::string from = Plus(first, place);
    std::vector<std::string> values;
    for (const std::string& index : at) {
      const std::string here = fmt::format("{}[{}, {}]", buffer, index, from);
      values.push_back(as_is ? LoadAsIs(runs.access, here, "", kRun)
                             : LoadVector(runs.access, here, "", kRun));
    }
    const Element element = nest_.reads[operand.read].element;
    values = Transposed(std::move(values), kRun, as_is ? VectorAs(element, kRun) : VectorOf(kRun));
    for (int64_t i = 0; i < kRun; ++i) {
      const std::string term = Plus(place, i), taps = Index(outer_);
      put(Let("arith.remui {}, {} : index", term, taps),
          Let("arith.divui {}, {} : index", term, taps), values[static_cast<size_t>(i)]);
    }
    End();
  }

  // Whether neighbouring iterations of a loop are neighbours in memory, never outside.
  bool RunsAlong(const Operand& operand, size_t loop) const;

  // Where an operand is read; `valid` is empty where that is never outside.
  struct Located {
    std::string at, valid;
  };
  Located Locate(const Operand& operand, const Others& places);

  // Of so many lanes those that are there: `count`, all where that is empty, none where it is not
  // valid. Empty where all are, without a question.
  std::string Valid(const Located& from, const std::string& count, int64_t lanes);

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

  // Where the block of the second operand begins that is packed next, and which of the blocks of
  // rows it is that passes by this one.
  struct Ahead {
    Others outer;
    std::string inner, column, turn;
    int64_t turns = 1;
  };
  // Nothing where there is none, or where its lines of memory are no runs of columns or terms.
  std::optional<Ahead> AheadOf(const Operand& a, const Operand& b, const Lines& rows,
                               const Lines& columns, const Terms& terms, const std::string& row);
  // Asks memory for a share of that block: of the panel with this column, so many terms from
  // `term` on. All blocks of rows together ask for all of it, while there is enough to multiply.
  void AskFor(const Ahead& ahead, const Operand& b, const std::string& column,
              const std::string& term, int64_t terms);

  // Sums of neighbouring columns from `column` on, a vector a row from `row` on, to the result: all
  // lie within panels, but maybe not within the blocks.
  void ToResult(const std::vector<std::string>& sums, const Operand& a, const Operand& b,
                const Lines& rows, const Lines& columns, const Terms& terms, const std::string& row,
                const std::string& column);

  const MultiplySizes sizes_;
  const MultiplyLoops loops_;
  const int64_t inner_, outer_;  // iterations of the sum's last loop, and of all its others
  const int64_t inner_at_once_, outer_at_once_;  // of a block

 private:
  // Neighbouring columns in a row, and where that is in the result with its rows as one.
  struct Point {
    Others places;
    std::string in_result;
  };

  // An array with the dimensions that terms run along as one, and those before it alone.
  struct Runs {
    Access access, before;
  };
  Runs RunsOf(const Access& access) const;
  std::string Collapsed(const std::string& buffer, const Access& access, const Runs& runs);

  Operand Buffer(size_t read, size_t first, size_t last, int64_t packed, int64_t lines);
  // Begins a loop over blocks.
  Lines Blocks(const Part& part, int64_t size);
  // Whether something is made of the sums.
  bool Ends() const { return nest_.body.size() > 1; }
  // What lies as the result does, with one dimension for all rows.
  Access RowsAsOne(Access result) const;
  std::string RowsAsOne(const std::string& buffer, const Access& access);
  // Whether a read lies as the result does.
  bool LiesAsResult(const Access& read) const {
    return read.view == nest_.write.view && read.rows == nest_.write.rows && read.low.empty();
  }
  // Whether sums of some terms wait for the others; in the result, or where that is narrower,
  // beside it.
  bool Waits() const { return inner_at_once_ < inner_ || outer_at_once_ < outer_; }
  bool WaitsBeside() const { return Waits() && nest_.write.element != nest_.element; }
  // A row of sums: where they wait, and where the result is to be.
  struct Row {
    std::string waits, result;
    Point point;
  };
  // Sums, added to those that wait but for the first terms, to where they wait; behind the last
  // ones, what is made of them to the result.
  void Store(const std::vector<std::string>& sums, const std::vector<Row>& rows,
             const std::vector<std::string>& masks, const Terms& terms);
  void StoreVector(const std::string& value, const std::string& to, const std::string& type,
                   const std::string& mask, Element element);
  // Columns that wait beside the result, of a row of a part.
  int64_t WaitingColumns() const {
    return RoundedUp(std::min(sizes_.packed_columns, loops_.columns), sizes_.columns);
  }
  // What the body makes of sums in neighbouring columns.
  std::string Made(const std::string& sums, const Point& point, const std::string& mask);

  std::string result_type_;             // with its rows as one
  std::string waiting_, waiting_type_;  // a buffer for sums
  std::string first_row_;               // of the part
};

// By the matrix unit (multiply_tiles.cc).
std::string TilesText(const MultiplySizes& sizes, const Nest& nest,
                      const std::vector<std::string>& buffers);
// By pairs of bf16 in vectors (multiply_pairs.cc).
std::string PairsText(const MultiplySizes& sizes, const Nest& nest,
                      const std::vector<std::string>& buffers);
// Of few rows, without packing (multiply_in_place.cc).
std::string InPlaceText(const MultiplySizes& sizes, const Nest& nest,
                        const std::vector<std::string>& buffers);

}  // namespace hone::loops

#endif  // HONE_LOOPS_MULTIPLY_WRITER_H_
