#include "loops/multiply.h"

#include <algorithm>
#include <utility>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostColumns = 64;
constexpr int64_t kMostTransposed = 16;  // lines and terms of a square that is transposed

int64_t RoundedUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// An operand as it is packed: panels of `lines`, term by term, `apart` elements from one term's to
// the next one's.
struct Operand {
  size_t read = 0;
  size_t loop = 0;  // what its lines are: rows of the first operand, columns of the second
  int64_t lines = 0;
  int64_t apart = 0;
  std::string buffer, type;
};

// Where a block of lines begins, and how many there are.
struct Lines {
  std::string first, count;
};

class Writer : public Emitter {
 public:
  Writer(const MultiplySizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.columns),
        sizes_(sizes),
        rows_(nest.loops.size() - 3),
        columns_(rows_ + 1),
        sum_(rows_ + 2) {}

  std::string Write() {
    const std::vector<int64_t> shared(sizes_.parallel.begin(), sizes_.parallel.end() - 1);
    BeginParts(shared);
    const Operand a = Buffer(0, rows_, sizes_.packed_rows, sizes_.rows, sizes_.RowsApart());
    const Operand b =
        Buffer(1, columns_, sizes_.packed_columns, sizes_.columns, sizes_.columns);
    const std::vector<Part> parts = Parts(shared);
    places_.assign(sum_ + 1, "");
    for (size_t l = 0; l < rows_; ++l) {
      places_[l] = For(parts[l].first, parts[l].second, Index(1));
    }
    const Lines columns = Blocks(parts[columns_], sizes_.packed_columns);
    const Lines terms = Blocks({Index(0), Index(Extent(sum_))}, sizes_.packed_terms);
    Pack(b, columns, terms);
    const Lines rows = Blocks(parts[rows_], sizes_.packed_rows);
    Pack(a, rows, terms);
    const std::string zero = Index(0);
    const std::string column = For(zero, columns.count, Index(b.lines));
    const std::string row = For(zero, rows.count, Index(a.lines));
    Multiply(a, b, rows, columns, terms, row, column);
    for (size_t l = 0; l < rows_ + 5; ++l) End();
    EndParts();
    return text_;
  }

 private:
  int64_t TermsApart() const {  // in panels; squares may reach beyond the last term
    return RoundedUp(std::min(sizes_.packed_terms, Extent(sum_)), kMostTransposed);
  }

  Operand Buffer(size_t read, size_t loop, int64_t packed, int64_t lines, int64_t apart) {
    const int64_t panels = (std::min(packed, Extent(loop)) + lines - 1) / lines;
    const std::string type = fmt::format("memref<{}x{}>", panels * apart * TermsApart(), type_);
    return {read, loop, lines, apart, Let("memref.alloc() {{alignment = 64 : i64}} : {}", type),
            type};
  }

  // Begins a loop over blocks.
  Lines Blocks(const Part& part, int64_t size) {
    const std::string first = For(part.first, part.second, Index(size));
    return {first, Least(Minus(part.second, first), Index(size))};
  }

  // Where the panel with this line begins in the buffer.
  std::string PanelAt(const Operand& operand, const std::string& line) {
    const std::string panel =
        Let("arith.divui {}, {} : index", line, Index(operand.lines));
    return Times(panel, operand.apart * TermsApart());
  }

  void Pack(const Operand& operand, const Lines& lines, const Lines& terms) {
    const int last = PlainLoop(nest_.reads[operand.read].rows.back());
    if (last == static_cast<int>(operand.loop)) {
      PackLines(operand, lines, terms);
    } else if (last == static_cast<int>(sum_)) {
      PackTransposed(operand, lines, terms);
    } else {
      PackNumbers(operand, lines, terms);
    }
  }

  std::string ReadAt(const Operand& operand, const std::string& line, const std::string& term) {
    return fmt::format("{}[{}]", buffers_[operand.read],
                       At(nest_.reads[operand.read], {{operand.loop, line}, {sum_, term}}));
  }
  std::string TypeOfRead(const Operand& operand) const {
    return TypeOf(nest_.reads[operand.read]);
  }

  // Of memory that runs along the lines.
  void PackLines(const Operand& operand, const Lines& lines, const Lines& terms) {
    const std::string vector = VectorOf(operand.lines);
    const std::string zero = Index(0);
    const std::string whole =
        Times(Let("arith.divui {}, {} : index", lines.count, Index(operand.lines)), operand.lines);
    const std::string term = For(zero, terms.count, Index(1));
    const std::string from = Plus(terms.first, term);
    const std::string offset = Times(term, operand.apart);
    const auto place = [&](const std::string& line) { return Plus(PanelAt(operand, line), offset); };
    {
      const std::string line = For(zero, whole, Index(operand.lines));
      const std::string at = ReadAt(operand, Plus(lines.first, line), from);
      const std::string value = Let("vector.load {} : {}, {}", at, TypeOfRead(operand), vector);
      Line("vector.store {}, {}[{}] : {}, {}", value, operand.buffer, place(line), operand.type,
           vector);
      End();
    }
    const std::string left = Minus(lines.count, whole);
    Line("scf.if {} {{", Let("arith.cmpi ne, {}, {} : index", left, zero));
    const std::string at = ReadAt(operand, Plus(lines.first, whole), from);
    const std::string value = MaskedLoad(at, TypeOfRead(operand), left, operand.lines);
    Line("vector.store {}, {}[{}] : {}, {}", value, operand.buffer, place(whole), operand.type,
         vector);
    End();
    End();
  }

  std::string MaskedLoad(const std::string& at, const std::string& type, const std::string& count,
                         int64_t lanes) {
    const std::string vector = VectorOf(lanes), mask = MaskOf(lanes);
    const std::string valid = Let("vector.create_mask {} : {}", count, mask);
    const std::string nothing = Let("{}", ConstantText(0, nest_.element, vector));
    return Let("vector.maskedload {}, {}, {} : {}, {}, {} into {}", at, valid, nothing, type, mask,
               vector, vector);
  }

  // Of memory that runs along the sum. What is beyond the last line is another of that line.
  void PackTransposed(const Operand& operand, const Lines& lines, const Lines& terms) {
    int64_t size = kMostTransposed;
    while (operand.apart % size != 0) size /= 2;
    const std::string zero = Index(0);
    const std::string last = Minus(lines.count, Index(1));
    const std::string line = For(zero, lines.count, Index(operand.lines));
    const std::string panel = PanelAt(operand, line);
    std::vector<std::string> places;
    for (int64_t l = 0; l < operand.lines; ++l) {
      places.push_back(Plus(lines.first, Least(Plus(line, l), last)));
    }
    const auto squares = [&](const std::string& term, const std::string& left) {
      const std::string from = Plus(terms.first, term);
      const std::string to = Plus(panel, Times(term, operand.apart));
      for (int64_t first = 0; first < operand.lines; first += size) {
        Square(operand, places, first, size, from, left, to);
      }
    };
    const std::string whole =
        Times(Let("arith.divui {}, {} : index", terms.count, Index(size)), size);
    squares(For(zero, whole, Index(size)), "");
    End();
    if (Extent(sum_) % size != 0 || sizes_.packed_terms % size != 0) {
      const std::string left = Minus(terms.count, whole);
      Line("scf.if {} {{", Let("arith.cmpi ne, {}, {} : index", left, zero));
      squares(whole, left);
      End();
    }
    End();
  }

  // Lines `first`, first + 1, ... at so many terms from `from` on, `left` of them where that is not
  // empty, to the buffer's place `to`: halves of the square change places, and halves of these.
  void Square(const Operand& operand, const std::vector<std::string>& places, int64_t first,
              int64_t size, const std::string& from, const std::string& left,
              const std::string& to) {
    const std::string vector = VectorOf(size);
    std::vector<std::string> values;
    for (int64_t l = 0; l < size; ++l) {
      if (first + l >= operand.lines) {
        values.push_back(values.back());
        continue;
      }
      const std::string at = ReadAt(operand, places[static_cast<size_t>(first + l)], from);
      values.push_back(left.empty()
                           ? Let("vector.load {} : {}, {}", at, TypeOfRead(operand), vector)
                           : MaskedLoad(at, TypeOfRead(operand), left, size));
    }
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
        const std::string x = Let("vector.shuffle {}, {} [{}] : {}, {}", a, b,
                                  fmt::join(low, ", "), vector, vector);
        b = Let("vector.shuffle {}, {} [{}] : {}, {}", a, b, fmt::join(high, ", "), vector, vector);
        a = x;
      }
    }
    for (int64_t i = 0; i < size; ++i) {
      Line("vector.store {}, {}[{}] : {}, {}", values[static_cast<size_t>(i)], operand.buffer,
           Plus(to, i * operand.apart + first), operand.type, vector);
    }
  }

  // Of memory that runs along neither.
  void PackNumbers(const Operand& operand, const Lines& lines, const Lines& terms) {
    const std::string zero = Index(0), one = Index(1), panel = Index(operand.lines);
    const std::string line = For(zero, lines.count, one);
    const std::string to =
        Plus(PanelAt(operand, line), Let("arith.remui {}, {} : index", line, panel));
    const std::string from = Plus(lines.first, line);
    const std::string term = For(zero, terms.count, one);
    const std::string at = ReadAt(operand, from, Plus(terms.first, term));
    const std::string value = Let("memref.load {} : {}", at, TypeOfRead(operand));
    Line("memref.store {}, {}[{}] : {}", value, operand.buffer,
         Plus(to, Times(term, operand.apart)), operand.type);
    End();
    End();
  }

  // The block of the result from `row` and `column` on, both within the packed ones.
  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Lines& terms, const std::string& row, const std::string& column) {
    const std::string panel_a = PanelAt(a, row), panel_b = PanelAt(b, column);
    std::vector<std::string> sums(static_cast<size_t>(a.lines), Vector(0));
    const Carrying loop = For(Index(0), terms.count, 1, sums);
    const std::string right =
        Let("vector.load {}[{}] : {}, {}", b.buffer, Plus(panel_b, Times(loop.index, b.apart)),
            b.type, vector_);
    const std::string left = Plus(panel_a, Times(loop.index, a.apart));
    for (int64_t i = 0; i < a.lines; ++i) {
      const std::string factor =
          Spread(Let("memref.load {}[{}] : {}", a.buffer, Plus(left, i), a.type));
      std::string& sum = sums[static_cast<size_t>(i)];
      sum = Let("vector.fma {}, {}, {} : {}", factor, right, sum, vector_);
    }
    End(loop, sums);
    const std::string first_row = Plus(rows.first, row);
    const std::string first_column = Plus(columns.first, column);
    const std::string rows_left = Minus(rows.count, row);
    const std::string columns_left = Minus(columns.count, column);
    const auto store = [&](bool whole) {
      Store(sums, first_row, first_column, whole ? "" : rows_left, columns_left, terms);
    };
    const auto enough = [&](const std::string& left_over, int64_t wanted) {
      return Let("arith.cmpi sge, {}, {} : index", left_over, Index(wanted));
    };
    const std::string whole = Let("arith.andi {}, {} : i1", enough(rows_left, a.lines),
                                  enough(columns_left, b.lines));
    Line("scf.if {} {{", whole);
    store(true);
    Line("}} else {{");
    store(false);
    End();
  }

  // Sums to the result, added to what is there but for the first terms. `rows_left` is empty where
  // all are there.
  void Store(const std::vector<std::string>& sums, const std::string& row,
             const std::string& column, const std::string& rows_left,
             const std::string& columns_left, const Lines& terms) {
    std::vector<std::string> places, masks;
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::string here = Plus(row, static_cast<int64_t>(i));
      places.push_back(fmt::format("{}[{}]", buffers_.back(),
                                   At(nest_.write, {{rows_, here}, {columns_, column}})));
    }
    const std::string type = TypeOf(nest_.write);
    if (!rows_left.empty()) {
      const std::string count = Least(columns_left, Index(sizes_.columns)), zero = Index(0);
      for (size_t i = 0; i < sums.size(); ++i) {
        const std::string valid = Let("arith.cmpi slt, {}, {} : index",
                                      Index(static_cast<int64_t>(i)), rows_left);
        const std::string lanes = Let("arith.select {}, {}, {} : index", valid, count, zero);
        masks.push_back(Let("vector.create_mask {} : {}", lanes, mask_));
      }
    }
    const auto store = [&](bool first) {
      for (size_t i = 0; i < sums.size(); ++i) {
        std::string value = sums[i];
        if (!first && masks.empty()) {
          value = Binary("arith.addf", value,
                         Let("vector.load {} : {}, {}", places[i], type, vector_));
        } else if (!first) {
          value = Binary("arith.addf", value,
                         Let("vector.maskedload {}, {}, {} : {}, {}, {} into {}", places[i],
                             masks[i], value, type, mask_, vector_, vector_));
        }
        if (masks.empty()) {
          Line("vector.store {}, {} : {}, {}", value, places[i], type, vector_);
        } else {
          Line("vector.maskedstore {}, {}, {} : {}, {}, {}", places[i], masks[i], value, type,
               mask_, vector_);
        }
      }
    };
    if (sizes_.packed_terms >= Extent(sum_)) {
      store(true);
      return;
    }
    Line("scf.if {} {{", Let("arith.cmpi eq, {}, {} : index", terms.first, Index(0)));
    store(true);
    Line("}} else {{");
    store(false);
    End();
  }

  const MultiplySizes sizes_;
  const size_t rows_, columns_, sum_;  // loops
};

}  // namespace

int64_t MultiplySizes::RowsApart() const {
  int64_t apart = 1;
  while (apart < rows) apart *= 2;
  return apart;
}

int64_t MultiplySizes::Packed() const {
  const int64_t terms = RoundedUp(packed_terms, kMostTransposed);
  return (RoundedUp(packed_rows, rows) / rows * RowsApart() + RoundedUp(packed_columns, columns)) *
         terms;
}

MultiplySizes MultiplySizesOf(const Schedule& schedule, const Nest& nest) {
  MultiplySizes sizes;
  const size_t rows = nest.loops.size() - 3, columns = rows + 1, sum = rows + 2;
  sizes.parallel.assign(nest.loops.size(), 0);
  bool packed = false;
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind != StepKind::kTile) continue;
    const auto set = [&](size_t loop, int64_t& size) {
      if (step.numbers[loop] != 0) size = step.numbers[loop];
    };
    set(rows, packed ? sizes.rows : sizes.packed_rows);
    set(columns, packed ? sizes.columns : sizes.packed_columns);
    if (!packed) set(sum, sizes.packed_terms);
    packed = true;
  }
  return sizes;
}

std::string WhyNotMultiply(const Schedule& schedule, const Nest& nest, const SiteState& state,
                           const Step& step) {
  const size_t rows = nest.loops.size() - 3, columns = rows + 1, sum = rows + 2;
  const bool parallel = step.kind == StepKind::kParallel;
  if (!parallel && step.kind != StepKind::kTile) {
    return "of what multiplies there is parallel and tile to decide";
  }
  if (parallel && (state.parallel || state.tiles > 0)) {
    return "processors share the outermost tiles, once";
  }
  if (!parallel && state.tiles == 2) return "there are two levels of tiles already";
  const bool registers = !parallel && state.tiles == 1;
  bool any = false;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    if (size == 0) continue;
    any = true;
    if (size < 0) return fmt::format("tiles of {}", size);
    if (parallel && i == sum) return fmt::format("loop {} sums up: processors cannot share it", i);
    if (!parallel && i < rows) return fmt::format("loop {} goes one by one", i);
    if (registers && i == sum) return "terms go one by one in registers";
    if (registers && i == rows && size > MultiplySizes::kMostRows) {
      return fmt::format("there are at most {} rows in registers", MultiplySizes::kMostRows);
    }
    if (registers && i == columns &&
        (size < 4 || size > kMostColumns || (size & (size - 1)) != 0)) {
      return fmt::format("columns in registers are a power of two from 4 to {}", kMostColumns);
    }
    if (!registers && size > nest.loops[i].extent) {
      return fmt::format("loop {} has only {} iterations", i, nest.loops[i].extent);
    }
  }
  if (!any) return "no loop is tiled";
  if (parallel) return "";
  Schedule after = schedule;
  after.push_back(step);
  const int64_t bytes = MultiplySizesOf(after, nest).Packed() *
                        static_cast<int64_t>(InfoOf(nest.element).bytes);
  return bytes > MultiplySizes::kMostPackedBytes
             ? fmt::format("what is packed at once takes {} bytes, more than {}", bytes,
                           MultiplySizes::kMostPackedBytes)
             : "";
}

std::string MultiplyText(const Scheduled& scheduled, const Nest& nest,
                         const std::vector<std::string>& buffers) {
  return Writer(MultiplySizesOf(scheduled.schedule(), nest), nest, buffers).Write();
}

}  // namespace hone::loops
