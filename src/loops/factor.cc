#include "loops/factor.h"

#include <utility>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

class FactorWriter : public Emitter {
 public:
  FactorWriter(const FactorSizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.lanes),
        sizes_(sizes),
        rows_(Extent(3)),
        columns_(Extent(2)),
        index_type_(fmt::format("vector<{}xi32>", sizes.lanes)) {}

  std::string Write() {
    const std::vector<int64_t> extents = {Extent(0)};
    const std::vector<int64_t> parallel = {sizes_.parallel};
    BeginParts(extents, parallel);
    const Part matrices = Parts(extents, parallel)[0];
    zero_ = Index(0);
    one_ = Index(1);
    size_ = Index(rows_);
    places_.assign(4, "");
    const bool solves = nest_.factors == Factors::kSolve;
    // The result, as it becomes so; and the matrix that is solved with.
    const Side result = Apart(Extent(1), columns_);
    const bool exchanges = nest_.factors == Factors::kExchanges;
    const Side matrix = solves ? Apart(rows_, rows_) : exchanges ? Apart(rows_, columns_) : result;
    const std::string block = For(matrices.first, matrices.second, Index(lanes_));
    // The last matrices are taken with others, that may be taken twice.
    first_ = Least(block, Index(Extent(0) - lanes_));
    Load(0, 3, solves ? 1 : 2, matrix);
    if (solves) Load(1, 1, 2, result);
    switch (nest_.factors) {
      case Factors::kLu:
        Lu(result);
        break;
      case Factors::kCholesky:
        Cholesky(result);
        break;
      case Factors::kSolve:
        Solve(matrix, result);
        break;
      case Factors::kExchanges:
        Exchanges(matrix, result);
        break;
    }
    Store(result);
    End();
    EndParts();
    return text_;
  }

 private:
  // Matrices side by side: [rows * columns, lanes].
  struct Side {
    std::string buffer, type;
    int64_t columns = 0;
  };
  Side Apart(int64_t rows, int64_t columns) {
    const std::string type = fmt::format("memref<{}x{}x{}>", rows * columns, lanes_, type_);
    return {Allocate(type), type, columns};
  }
  std::string Place(const Side& of, const std::string& i, const std::string& j) {
    return Plus(Times(i, of.columns), j);
  }
  std::string Get(const Side& of, const std::string& i, const std::string& j) {
    return Let("vector.load {}[{}, {}] : {}, {}", of.buffer, Place(of, i, j), zero_, of.type,
               vector_);
  }
  void Set(const std::string& value, const Side& of, const std::string& i, const std::string& j) {
    Line("vector.store {}, {}[{}, {}] : {}, {}", value, of.buffer, Place(of, i, j), zero_, of.type,
         vector_);
  }
  // value -= a * b
  void Take(const Side& of, const std::string& i, const std::string& j, const std::string& a,
            const std::string& b) {
    Set(Binary("arith.subf", Get(of, i, j), Binary("arith.mulf", a, b)), of, i, j);
  }

  // Whether matrices lie in memory one behind the other, with at least a vector of elements each.
  bool InOneRow(const Access& access, const std::vector<int>& loops) const {
    int64_t elements = 1;
    for (size_t d = 0; d < access.rows.size(); ++d) {
      if (access.rows.size() != 3 || PlainLoop(access.rows[d]) != loops[d] ||
          access.view[d] != Extent(static_cast<size_t>(loops[d])) ||
          (!access.low.empty() && access.low[d] != 0)) {
        return false;
      }
      if (d > 0) elements *= access.view[d];
    }
    return access.element == nest_.element && lanes_ > 1 && elements >= lanes_;
  }
  // The same memory, a row for each matrix.
  std::string Flat(const std::string& buffer, const Access& access, std::string& type) {
    const int64_t size = access.view[1] * access.view[2];
    type = fmt::format("memref<{}x{}x{}>", access.view[0], size, type_);
    return Let(
        "memref.reinterpret_cast {} to offset: [0], sizes: [{}, {}], strides: [{}, 1] : {} to {}",
        buffer, access.view[0], size, size, TypeOf(access), type);
  }
  // Squares of as many elements of as many matrices, the last of them overlapping: `from` them,
  // `to` buffers and types that are indexed [matrix, element] or, where `turned`, [element, lane].
  void Squares(int64_t elements, const std::string& matrices, const std::string& matrices_type,
               const Side& side, bool load) {
    const std::string begin = For(zero_, Index(elements), Index(lanes_));
    const std::string at = Least(begin, Index(elements - lanes_));
    std::vector<std::string> vectors;
    const auto of_matrix = [&](int64_t lane) {
      return fmt::format("{}[{}, {}] : {}, {}", matrices, Plus(first_, lane), at, matrices_type,
                         vector_);
    };
    const auto of_side = [&](int64_t element) {
      return fmt::format("{}[{}, {}] : {}, {}", side.buffer, Plus(at, element), zero_, side.type,
                         vector_);
    };
    for (int64_t l = 0; l < lanes_; ++l) {
      vectors.push_back(Let("vector.load {}", load ? of_matrix(l) : of_side(l)));
    }
    vectors = Transposed(std::move(vectors), lanes_, vector_);
    for (int64_t l = 0; l < lanes_; ++l) {
      Line("vector.store {}, {}", vectors[static_cast<size_t>(l)],
           load ? of_side(l) : of_matrix(l));
    }
    End();
  }

  // The read's matrices from first_ on, whose rows and columns are the iterations of two loops.
  void Load(size_t read, size_t rows, size_t columns, const Side& to) {
    const Access& access = nest_.reads[read];
    if (InOneRow(access, {0, static_cast<int>(rows), static_cast<int>(columns)})) {
      std::string type;
      const std::string flat = Flat(buffers_[read], access, type);
      Squares(access.view[1] * access.view[2], flat, type, to, /*load=*/true);
      return;
    }
    const std::string lane = For(zero_, Index(lanes_), one_);
    places_[0] = Plus(first_, lane);
    places_[rows] = For(zero_, Index(Extent(rows)), one_);
    places_[columns] = For(zero_, Index(Extent(columns)), one_);
    Line("memref.store {}, {}[{}, {}] : {}", Number(read, {}), to.buffer,
         Place(to, places_[rows], places_[columns]), lane, to.type);
    End();
    End();
    End();
  }
  void Store(const Side& from) {
    if (InOneRow(nest_.write, {0, 1, 2})) {
      std::string type;
      const std::string flat = Flat(buffers_.back(), nest_.write, type);
      Squares(nest_.write.view[1] * nest_.write.view[2], flat, type, from, /*load=*/false);
      return;
    }
    const std::string lane = For(zero_, Index(lanes_), one_);
    places_[0] = Plus(first_, lane);
    places_[1] = For(zero_, Index(Extent(1)), one_);
    places_[2] = For(zero_, Index(columns_), one_);
    const std::string value = Let("memref.load {}[{}, {}] : {}", from.buffer,
                                  Place(from, places_[1], places_[2]), lane, from.type);
    Line("memref.store {}, {}[{}] : {}", value, buffers_.back(), At(nest_.write),
         TypeOf(nest_.write));
    End();
    End();
    End();
  }

  // A row's number in each lane.
  std::string Everywhere(const std::string& index) {
    const std::string number = Let("arith.index_cast {} : index to i32", index);
    return Let("vector.broadcast {} : i32 to {}", number, index_type_);
  }
  std::string Select(const std::string& mask, const std::string& x, const std::string& y,
                     const std::string& type) {
    return Let("arith.select {}, {}, {} : {}, {}", mask, x, y, mask_, type);
  }
  std::string Size(const std::string& x) { return Let("math.absf {} : {}", x, vector_); }

  void Lu(const Side& a) {
    const std::string k = For(zero_, size_, one_);
    const std::string next = Plus(k, one_);
    // The first of the largest elements of the column, from the diagonal on.
    const std::string most = Name(), i = Name(), so_far = Name(), at = Name();
    const std::string first = Size(Get(a, k, k)), here = Everywhere(k);
    Line("{}:2 = scf.for {} = {} to {} step {} iter_args({} = {}, {} = {}) -> ({}, {}) {{", most, i,
         next, size_, one_, so_far, first, at, here, vector_, index_type_);
    const std::string size = Size(Get(a, i, k));
    const std::string larger = Let("arith.cmpf ogt, {}, {} : {}", size, so_far, vector_);
    const std::string greatest = Select(larger, size, so_far, vector_);
    const std::string where = Select(larger, Everywhere(i), at, index_type_);
    Line("scf.yield {}, {} : {}, {}", greatest, where, vector_, index_type_);
    End();
    const std::string pivot = most + "#1";
    Exchange(a, k, pivot);
    const std::string diagonal = Get(a, k, k);
    const std::string none = Let("arith.cmpf oeq, {}, {} : {}", diagonal, Vector(0), vector_);
    const std::string from_1 = Binary(
        "arith.addf", Let("arith.sitofp {} : {} to {}", pivot, index_type_, vector_), Vector(1));
    const std::string turned = Let("arith.negf {} : {}", from_1, vector_);
    Set(Select(none, turned, from_1, vector_), a, size_, k);
    const std::string row = For(next, size_, one_);
    const std::string below = Get(a, row, k);
    const std::string factor = Select(none, below, Binary("arith.divf", below, diagonal), vector_);
    Set(factor, a, row, k);
    const std::string column = For(next, size_, one_);
    Take(a, row, column, factor, Get(a, k, column));
    End();
    End();
    End();
  }
  // Row k with each lane's own row.
  void Exchange(const Side& a, const std::string& k, const std::string& pivot) {
    const std::string i = For(Plus(k, one_), size_, one_);
    const std::string is = Let("arith.cmpi eq, {}, {} : {}", pivot, Everywhere(i), index_type_);
    Line("scf.if {} {{", Let("vector.reduction <or>, {} : {} into i1", is, mask_));
    const std::string j = For(zero_, size_, one_);
    const std::string x = Get(a, k, j), y = Get(a, i, j);
    Set(Select(is, y, x, vector_), a, k, j);
    Set(Select(is, x, y, vector_), a, i, j);
    End();
    End();
    End();
  }

  void Cholesky(const Side& a) {
    const std::string k = For(zero_, size_, one_), next = Plus(k, one_);
    const std::string square = Get(a, k, k);
    const std::string good = Let("arith.cmpf ogt, {}, {} : {}", square, Vector(0), vector_);
    Set(Select(good, Vector(1), Vector(0), vector_), a, size_, k);
    const std::string diagonal = Let("math.sqrt {} : {}", square, vector_);
    Set(diagonal, a, k, k);
    const std::string by = Binary("arith.divf", Vector(1), diagonal);
    const std::string i = For(next, size_, one_);
    Set(Binary("arith.mulf", Get(a, i, k), by), a, i, k);
    Set(Vector(0), a, k, i);
    End();
    const std::string row = For(next, size_, one_);
    const std::string factor = Get(a, row, k);
    const std::string column = For(next, Plus(row, one_), one_);
    Take(a, row, column, factor, Get(a, column, k));
    End();
    End();
    End();
  }

  // Of 0 to N - 1, with each element in turn exchanged with the pivot's.
  void Exchanges(const Side& pivots, const Side& order) {
    std::string i = For(zero_, size_, one_);
    Set(Everywhere(i), order, i, zero_);
    End();
    const std::string k = For(zero_, size_, one_);
    const std::string pivot = Get(pivots, k, zero_), x = Get(order, k, zero_);
    const std::string nearest =
        Binary("arith.maxsi", Vector(0),
               Binary("arith.minsi", pivot, Vector(static_cast<double>(rows_ - 1))));
    std::vector<std::string> y = {x};
    const Carrying loop = For(zero_, size_, 1, y);
    i = Everywhere(loop.index);
    const std::string old = Get(order, loop.index, zero_);
    const auto is = [&](const std::string& place) {
      return Let("arith.cmpi eq, {}, {} : {}", place, i, vector_);
    };
    y[0] = Select(is(nearest), old, y[0], vector_);
    Set(Select(is(pivot), x, old, vector_), order, loop.index, zero_);
    End(loop, y);
    Set(y[0], order, k, zero_);
    End();
  }

  // As many right sides as the result has columns.
  void Solve(const Side& a, const Side& x) {
    const bool forward = nest_.lower != nest_.transposed;
    const std::string step = For(zero_, size_, one_);
    const std::string k = forward ? step : Minus(Index(rows_ - 1), step);
    const std::string columns = Index(columns_);
    if (!nest_.unit) {
      const std::string diagonal = Get(a, k, k);
      // One division for many right sides.
      const std::string factor =
          columns_ > 1 ? Binary("arith.divf", Vector(1), diagonal) : diagonal;
      const std::string c = For(zero_, columns, one_);
      Set(Binary(columns_ > 1 ? "arith.mulf" : "arith.divf", Get(x, k, c), factor), x, k, c);
      End();
    }
    const std::string i = forward ? For(Plus(k, one_), size_, one_) : For(zero_, k, one_);
    const std::string factor = nest_.transposed ? Get(a, k, i) : Get(a, i, k);
    const std::string c = For(zero_, columns, one_);
    Take(x, i, c, factor, Get(x, k, c));
    End();
    End();
    End();
  }

  const FactorSizes sizes_;
  const int64_t rows_, columns_;
  const std::string index_type_;
  std::string zero_, one_, size_;
  std::string first_;  // of the matrices in the lanes
};

}  // namespace

std::string FactorText(const Schedule& schedule, const Nest& nest,
                       const std::vector<std::string>& buffers) {
  return FactorWriter(FactorSizesOf(schedule, nest), nest, buffers).Write();
}

}  // namespace hone::loops
