#include "loops/attend.h"

#include <utility>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

constexpr int64_t kSums = 4;

class Writer : public Emitter {
 public:
  Writer(const Schedule& schedule, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, AttendSizesOf(schedule, nest).queries),
        sizes_(AttendSizesOf(schedule, nest)),
        rank_(nest.loops.size() - 2) {}

  std::string Write() {
    std::vector<int64_t> shared(sizes_.parallel.begin(),
                                sizes_.parallel.begin() + static_cast<ptrdiff_t>(rank_) - 1);
    std::vector<int64_t> extents;
    for (size_t l = 0; l + 1 < rank_; ++l) extents.push_back(Extent(l));
    BeginParts(extents, shared);
    values_ = Buffer(Extent(rank_ - 1));
    queries_ = Buffer(Extent(rank_ + 1));
    weights_ = Buffer(std::min(sizes_.keys, Extent(rank_)));
    const std::vector<Part> parts = Parts(extents, shared);
    places_.assign(rank_ + 2, "");
    for (size_t l = 0; l + 2 < rank_; ++l) {
      places_[l] = For(parts[l].first, parts[l].second, Index(1));
    }
    end_ = parts.back().second;
    places_[rank_ - 2] = For(parts.back().first, end_, Index(sizes_.queries));
    Queries();
    for (size_t l = 0; l + 1 < rank_; ++l) End();
    EndParts();
    return text_;
  }

 private:
  std::string BufferType(int64_t rows) const {
    return fmt::format("memref<{}x{}x{}>", rows, sizes_.queries, type_);
  }
  std::pair<std::string, std::string> Buffer(int64_t rows) {
    const std::string type = BufferType(rows);
    return {Allocate(type), type};
  }
  using Rows = std::pair<std::string, std::string>;  // a buffer and its type
  std::string Load(const Rows& rows, const std::string& row) {
    return Let("vector.load {}[{}, {}] : {}, {}", rows.first, row, Index(0), rows.second, vector_);
  }
  void Store(const std::string& value, const Rows& rows, const std::string& row) {
    Line("vector.store {}, {}[{}, {}] : {}, {}", value, rows.first, row, Index(0), rows.second,
         vector_);
  }

  // Whether the last vector of queries may be filled in part only.
  bool Ragged() const {
    const int64_t shared = sizes_.parallel[rank_ - 2];
    return Extent(rank_ - 2) % sizes_.queries != 0 || shared % sizes_.queries != 0;
  }

  // All keys for the queries from places_[rank_ - 2] on.
  void Queries() {
    const std::string first = places_[rank_ - 2];
    const std::string left = Let("arith.subi {}, {} : index", end_, first);
    const std::string here = Let("arith.minsi {}, {} : index", left, Index(sizes_.queries));
    if (Ragged()) valid_ = Let("vector.create_mask {} : {}", here, mask_);
    const std::string zero = Index(0), one = Index(1);
    const std::string nothing = Vector(0);
    if (Ragged()) {
      const std::string d = For(zero, Index(Extent(rank_ + 1)), one);
      Store(nothing, queries_, d);
      End();
    }
    {
      const std::string row = For(zero, Ragged() ? here : Index(sizes_.queries), one);
      const std::string from = Let("arith.addi {}, {} : index", first, row);
      const std::string d = For(zero, Index(Extent(rank_ + 1)), one);
      const std::string x = Number(0, {{rank_ - 2, from}, {rank_ + 1, d}});
      Line("memref.store {}, {}[{}, {}] : {}", x, queries_.first, d, row, queries_.second);
      End();
      End();
    }
    {
      const std::string e = For(zero, Index(Extent(rank_ - 1)), one);
      Store(nothing, values_, e);
      End();
    }
    const bool wide = nest_.element == Element::kF64;
    std::vector<std::string> carried = {
        Vector(wide ? -1.7976931348623157e308 : -3.4028234663852886e38),
        nothing};  // the largest score, and the sum
    const int64_t keys = KeysAtOnce(), blocks = Extent(rank_) / keys, rest = Extent(rank_) % keys;
    std::string last = Index(blocks * keys);
    if (nest_.until >= 0) {  // what no query of these sees is left out
      const std::string seen = Plus(first, sizes_.queries + nest_.until + keys - 1);
      const std::string whole = Let("arith.divui {}, {} : index", seen, Index(keys));
      last = Let("arith.minsi {}, {} : index", Let("arith.muli {}, {} : index", whole, Index(keys)),
                 last);
      sight_ = Sight();
    }
    if (blocks > 0) {
      const Carrying loop = For(zero, last, keys, carried);
      Block(loop.index, keys, carried);
      End(loop, carried);
    }
    if (rest > 0) Block(Index(blocks * keys), rest, carried);
    {
      const std::string e = For(zero, Index(Extent(rank_ - 1)), one);
      Store(Binary("arith.divf", Load(values_, e), carried[1]), values_, e);
      End();
    }
    const std::string row = For(zero, Ragged() ? here : Index(sizes_.queries), one);
    const std::string to = Let("arith.addi {}, {} : index", first, row);
    const std::string e = For(zero, Index(Extent(rank_ - 1)), one);
    const std::string y = Let("memref.load {}[{}, {}] : {}", values_.first, e, row, values_.second);
    Line("memref.store {}, {}[{}] : {}", y, buffers_.back(),
         At(nest_.write, {{rank_ - 2, to}, {rank_ - 1, e}}), TypeOf(nest_.write));
    End();
    End();
  }

  int64_t KeysAtOnce() const { return std::min(sizes_.keys, Extent(rank_)); }

  std::string Sight() {
    std::vector<int64_t> steps;
    for (int64_t i = 0; i < sizes_.queries; ++i) steps.push_back(i + nest_.until);
    const std::string type = fmt::format("vector<{}xi32>", sizes_.queries);
    const std::string first = Let("arith.index_cast {} : index to i32", places_[rank_ - 2]);
    const std::string all = Let("vector.broadcast {} : i32 to {}", first, type);
    const std::string offsets =
        Let("arith.constant dense<[{}]> : {}", fmt::join(steps, ", "), type);
    return Let("arith.addi {}, {} : {}", all, offsets, type);
  }

  // `count` keys from `first` on. `carried`: the largest score, and the sum.
  void Block(const std::string& first, int64_t count, std::vector<std::string>& carried) {
    const std::string zero = Index(0);
    const int64_t registers = std::min(sizes_.registers, count);
    std::vector<std::string> most = {carried[0]};
    {
      const Carrying loop = For(zero, Index(count / registers * registers), registers, most);
      most[0] = Scores(first, loop.index, registers, most[0]);
      End(loop, most);
      if (count % registers != 0) {
        most[0] = Scores(first, Index(count - count % registers), count % registers, most[0]);
      }
    }
    const std::string shrink =
        Let("math.exp {} : {}", Binary("arith.subf", carried[0], most[0]), vector_);
    const std::string sum = Exponentials(count, most[0]);
    const int64_t elements = Extent(rank_ - 1);
    const int64_t at_once = std::min(sizes_.registers, elements);
    const std::string e = For(zero, Index(elements / at_once * at_once), Index(at_once));
    Mix(first, count, e, at_once, shrink);
    End();
    if (elements % at_once != 0) {
      Mix(first, count, Index(elements - elements % at_once), elements % at_once, shrink);
    }
    carried = {most[0], Let("vector.fma {}, {}, {} : {}", carried[1], shrink, sum, vector_)};
  }

  // Scores of a block to weights; their sum. Some sums side by side: of many equal small weights,
  // each addition to a single one would be rounded the same way.
  std::string Exponentials(int64_t count, const std::string& most) {
    std::vector<std::string> sums(static_cast<size_t>(std::min(kSums, count)), Vector(0));
    const auto one = [&](const std::string& key, size_t sum) {
      const std::string less = Binary("arith.subf", Load(weights_, key), most);
      const std::string weight = Let("math.exp {} : {}", less, vector_);
      Store(weight, weights_, key);
      sums[sum] = Binary("arith.addf", sums[sum], weight);
    };
    const auto step = static_cast<int64_t>(sums.size());
    const Carrying loop = For(Index(0), Index(count / step * step), step, sums);
    for (int64_t j = 0; j < step; ++j) one(Plus(loop.index, j), static_cast<size_t>(j));
    End(loop, sums);
    for (int64_t j = 0; j < count % step; ++j) {
      one(Index(count / step * step + j), static_cast<size_t>(j));
    }
    while (sums.size() > 1) {
      std::vector<std::string> halves;
      for (size_t i = 0; i + 1 < sums.size(); i += 2) {
        halves.push_back(Binary("arith.addf", sums[i], sums[i + 1]));
      }
      if (sums.size() % 2 != 0) halves.push_back(sums.back());
      sums = halves;
    }
    return sums[0];
  }

  // Scores of `count` keys from first + offset on; the largest so far.
  std::string Scores(const std::string& first, const std::string& offset, int64_t count,
                     std::string most) {
    const std::string from = Let("arith.addi {}, {} : index", first, offset);
    std::vector<std::string> keys;
    for (int64_t j = 0; j < count; ++j) keys.push_back(Plus(from, j));
    std::vector<std::string> sums(static_cast<size_t>(count), Vector(0));
    const Carrying loop = For(Index(0), Index(Extent(rank_ + 1)), 1, sums);
    const std::string query = Load(queries_, loop.index);
    for (size_t j = 0; j < keys.size(); ++j) {
      const std::string key = Spread(Number(1, {{rank_, keys[j]}, {rank_ + 1, loop.index}}));
      sums[j] = Let("vector.fma {}, {}, {} : {}", key, query, sums[j], vector_);
    }
    End(loop, sums);
    for (size_t j = 0; j < keys.size(); ++j) {
      std::string score = BodyText(
          nest_, vector_, [&](const std::string& text) { return Let("{}", text); },
          [&](const Scalar& node) {
            return node.kind == Scalar::kWhole
                       ? sums[j]
                       : Along(static_cast<size_t>(node.a), rank_ - 2, {{rank_, keys[j]}}, valid_);
          });
      if (nest_.until >= 0) score = Seen(score, keys[j]);
      Store(score, weights_, Plus(offset, static_cast<int64_t>(j)));
      const std::string larger = Let("arith.cmpf ogt, {}, {} : {}", score, most, vector_);
      most = Let("arith.select {}, {}, {} : {}, {}", larger, score, most, mask_, vector_);
    }
    return most;
  }

  // The score, or nothing of it where the query does not see the key.
  std::string Seen(const std::string& score, const std::string& key) {
    const std::string type = fmt::format("vector<{}xi32>", sizes_.queries);
    const std::string number = Let("arith.index_cast {} : index to i32", key);
    const std::string all = Let("vector.broadcast {} : i32 to {}", number, type);
    const std::string sees = Let("arith.cmpi sle, {}, {} : {}", all, sight_, type);
    const char* const least = nest_.element == Element::kF64 ? "0xFFF0000000000000" : "0xFF800000";
    const std::string nothing = Let("arith.constant dense<{}> : {}", least, vector_);
    return Let("arith.select {}, {}, {} : {}, {}", sees, score, nothing, mask_, vector_);
  }

  // Adds the block's share of `count` elements of the values, from `element` on.
  void Mix(const std::string& first, int64_t count, const std::string& element, int64_t elements,
           const std::string& shrink) {
    std::vector<std::string> places, sums;
    for (int64_t j = 0; j < elements; ++j) {
      places.push_back(Plus(element, j));
      sums.push_back(Vector(0));  // a block's by itself: fewer are added one after another
    }
    const Carrying loop = For(Index(0), Index(count), 1, sums);
    const std::string weight = Load(weights_, loop.index);
    const std::string key = Let("arith.addi {}, {} : index", first, loop.index);
    for (size_t j = 0; j < places.size(); ++j) {
      const std::string value = Spread(Number(2, {{rank_, key}, {rank_ - 1, places[j]}}));
      sums[j] = Let("vector.fma {}, {}, {} : {}", value, weight, sums[j], vector_);
    }
    End(loop, sums);
    for (size_t j = 0; j < places.size(); ++j) {
      Store(Let("vector.fma {}, {}, {} : {}", Load(values_, places[j]), shrink, sums[j], vector_),
            values_, places[j]);
    }
  }

  const AttendSizes sizes_;
  const size_t rank_;  // loops: rank_ - 2 queries, rank_ - 1 of a value, rank_ keys, then of a key
  Rows values_, queries_, weights_;
  std::string end_;    // of the queries that this part takes
  std::string valid_;  // which of a vector's queries there are; empty: all
  std::string sight_;  // the last key that each query sees, where they see not all
};

}  // namespace

std::string AttendText(const Schedule& schedule, const Nest& nest,
                       const std::vector<std::string>& buffers) {
  return Writer(schedule, nest, buffers).Write();
}

}  // namespace hone::loops
