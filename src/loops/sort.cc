#include "loops/sort.h"

#include "core/merge_exchange.h"
#include "loops/emitter.h"

namespace hone::loops {
namespace {

// An element on its way: a word of bits, the key alone or, where positions are wanted, with the
// position in its lower half; of keys of 64 bits the positions lie in an array of their own.
class WordsWriter : public Emitter {
 protected:
  WordsWriter(const SortSizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, /*lanes=*/1),
        sizes_(sizes),
        wide_(WideOf(nest.reads[0].element)),
        key_bits_(8 * static_cast<int64_t>(InfoOf(wide_).bytes)),
        packed_(nest.positions && key_bits_ == 32),
        apart_(nest.positions && key_bits_ == 64),
        key_(fmt::format("i{}", key_bits_)),
        word_(packed_ ? "i64" : key_) {}

  // Begins what processors share; the rows of a part.
  Part BeginRows() {
    const std::vector<int64_t> extents = {Extent(0), Extent(1)};
    const std::vector<int64_t> parallel = {sizes_.parallel, 0};
    BeginParts(extents, parallel);
    const Part rows = Parts(extents, parallel)[0];
    zero_ = Index(0);
    one_ = Index(1);
    size_ = Index(Extent(1));
    places_.assign(2, "");
    return rows;
  }

  const SortSizes sizes_;
  const Element wide_;
  const int64_t key_bits_;
  const bool packed_, apart_;
  const std::string key_, word_;  // types
  std::string zero_, one_, size_;
};

class DigitsWriter : public WordsWriter {
 public:
  DigitsWriter(const SortSizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : WordsWriter(sizes, nest, buffers),
        shift_(packed_ ? 32 : 0),
        digits_((key_bits_ + sizes.bits - 1) / sizes.bits) {}

  std::string Write() {
    const Part rows = BeginRows();
    words_type_ = fmt::format("memref<2x{}x{}>", Extent(1), word_);
    words_ = Allocate(words_type_);
    if (apart_) {
      positions_type_ = fmt::format("memref<2x{}xi32>", Extent(1));
      positions_ = Allocate(positions_type_);
    }
    counts_type_ = fmt::format("memref<{}x{}xi32>", digits_, int64_t{1} << sizes_.bits);
    counts_ = Allocate(counts_type_);
    places_[0] = For(rows.first, rows.second, one_);
    Row();
    End();
    EndParts();
    return text_;
  }

 private:
  // A number of a type of integers.
  std::string Int(const std::string& type, uint64_t value) {
    return Let("arith.constant {} : {}", static_cast<int64_t>(value), type);
  }
  std::string Op(const char* what, const std::string& a, const std::string& b,
                 const std::string& type) {
    return Let("arith.{} {}, {} : {}", what, a, b, type);
  }
  uint64_t Sign() const { return key_bits_ == 64 ? uint64_t{1} << 63 : 0xFFFFFFFF80000000ull; }

  // The number's bits as an unsigned integer that is the greater, the greater the number.
  std::string Key(const std::string& number) {
    const std::string type = key_;
    if (!InfoOf(wide_).floating) return Op("xori", number, Int(type, Sign()), type);
    const std::string bits = Let("arith.bitcast {} : {} to {}", number, MlirType(wide_), type);
    // Negative numbers: all bits turned over. Others: the sign alone.
    const std::string signs =
        Op("shrsi", bits, Int(type, static_cast<uint64_t>(key_bits_ - 1)), type);
    return Op("xori", bits, Op("ori", signs, Int(type, Sign()), type), type);
  }
  std::string NumberOf(const std::string& key) {
    const std::string type = key_;
    if (!InfoOf(wide_).floating) return Op("xori", key, Int(type, Sign()), type);
    const std::string turned = Op("xori", key, Int(type, ~uint64_t{0}), type);
    const std::string signs =
        Op("shrsi", turned, Int(type, static_cast<uint64_t>(key_bits_ - 1)), type);
    const std::string bits = Op("xori", key, Op("ori", signs, Int(type, Sign()), type), type);
    return Let("arith.bitcast {} : {} to {}", bits, type, MlirType(wide_));
  }

  // The place in the counts of a word's digit.
  std::string Digit(const std::string& word, int64_t digit) {
    const auto by = static_cast<uint64_t>(shift_ + digit * sizes_.bits);
    const std::string low = by == 0 ? word : Op("shrui", word, Int(word_, by), word_);
    const auto mask = (uint64_t{1} << sizes_.bits) - 1;
    return Let("arith.index_castui {} : {} to index", Op("andi", low, Int(word_, mask), word_),
               word_);
  }
  std::string LoadCount(const std::string& digit, const std::string& value) {
    return Let("memref.load {}[{}, {}] : {}", counts_, digit, value, counts_type_);
  }
  void StoreCount(const std::string& count, const std::string& digit, const std::string& value) {
    Line("memref.store {}, {}[{}, {}] : {}", count, counts_, digit, value, counts_type_);
  }
  // Of the one or the other half of the words.
  std::string LoadWord(const std::string& side, const std::string& place) {
    return Let("memref.load {}[{}, {}] : {}", words_, side, place, words_type_);
  }
  void StoreWord(const std::string& word, const std::string& side, const std::string& place) {
    Line("memref.store {}, {}[{}, {}] : {}", word, words_, side, place, words_type_);
  }

  void Row() {
    Count();
    std::string side = zero_;  // where the words are
    for (int64_t digit = 0; digit < digits_; ++digit) side = Move(digit, side);
    places_[1] = For(zero_, size_, one_);
    const std::string at = fmt::format("{}[{}]", buffers_[1], At(nest_.write));
    std::string result;
    if (apart_) {
      result = Let("memref.load {}[{}, {}] : {}", positions_, side, places_[1], positions_type_);
    } else {
      const std::string word = LoadWord(side, places_[1]);
      result = packed_ ? Let("arith.trunci {} : i64 to i32", word) : NumberOf(word);
    }
    Line("memref.store {}, {} : {}", result, at, TypeOf(nest_.write));
    End();
  }

  // Writes the words, and counts how often each place has which digit.
  void Count() {
    const std::string none = Int("i32", 0);
    const std::string digit = For(zero_, Index(digits_), one_);
    const std::string value = For(zero_, Index(int64_t{1} << sizes_.bits), one_);
    StoreCount(none, digit, value);
    End();
    End();
    places_[1] = For(zero_, size_, one_);
    std::string word = Key(Number(0, {}));
    if (nest_.positions) {
      const std::string position = Let("arith.index_cast {} : index to i32", places_[1]);
      if (apart_) {
        Line("memref.store {}, {}[{}, {}] : {}", position, positions_, zero_, places_[1],
             positions_type_);
      } else {
        const std::string high =
            Op("shli", Let("arith.extui {} : i32 to i64", word), Int("i64", 32), "i64");
        word = Op("ori", high, Let("arith.extui {} : i32 to i64", position), "i64");
      }
    }
    StoreWord(word, zero_, places_[1]);
    const std::string once = Int("i32", 1);
    for (int64_t d = 0; d < digits_; ++d) {
      const std::string of = Index(d), has = Digit(word, d);
      StoreCount(Op("addi", LoadCount(of, has), once, "i32"), of, has);
    }
    End();
  }

  // To the other side, in the order of a digit; where the words are then.
  std::string Move(int64_t digit, const std::string& side) {
    const std::string of = Index(digit);
    const std::string first = LoadCount(of, Digit(LoadWord(side, zero_), digit));
    const std::string all = Int("i32", static_cast<uint64_t>(Extent(1)));
    const std::string differ = Let("arith.cmpi ne, {}, {} : i32", first, all);
    const std::string result = Name();
    Line("{} = scf.if {} -> (index) {{", result, differ);
    const std::string other = Minus(one_, side);
    // Where the first of each digit comes to lie.
    const std::string sum = Name(), before = Name(), value = Name(), none = Int("i32", 0);
    Line("{} = scf.for {} = {} to {} step {} iter_args({} = {}) -> (i32) {{", sum, value, zero_,
         Index(int64_t{1} << sizes_.bits), one_, before, none);
    const std::string count = LoadCount(of, value);
    StoreCount(before, of, value);
    Line("scf.yield {} : i32", Op("addi", before, count, "i32"));
    End();
    const std::string once = Int("i32", 1);
    const std::string i = For(zero_, size_, one_);
    const std::string word = LoadWord(side, i), has = Digit(word, digit);
    const std::string place = LoadCount(of, has);
    StoreCount(Op("addi", place, once, "i32"), of, has);
    const std::string to = Let("arith.index_cast {} : i32 to index", place);
    StoreWord(word, other, to);
    if (apart_) {
      const std::string position =
          Let("memref.load {}[{}, {}] : {}", positions_, side, i, positions_type_);
      Line("memref.store {}, {}[{}, {}] : {}", position, positions_, other, to, positions_type_);
    }
    End();
    Line("scf.yield {} : index", other);
    Line("}} else {{");
    Line("scf.yield {} : index", side);
    End();
    return result;
  }

  const int64_t shift_, digits_;
  std::string words_, words_type_, positions_, positions_type_, counts_, counts_type_;
};

// Rows by comparisons, one in each lane; positions break ties.
class NetworkWriter : public WordsWriter {
 public:
  NetworkWriter(const SortSizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : WordsWriter(sizes, nest, buffers), result_(nest.positions ? "i32" : key_) {}

  std::string Write() {
    const Part rows = BeginRows();
    const std::string lanes = Index(sizes_.lanes);
    const std::string keys_type = Columns(key_), results_type = Columns(result_);
    const std::string keys = Allocate(keys_type);
    const std::string results = result_ == key_ ? keys : Allocate(results_type);
    const std::string block = For(rows.first, rows.second, lanes);
    // The last rows are sorted with others, that may be sorted twice.
    const std::string first = Least(block, Index(Extent(0) - sizes_.lanes));
    std::string lane = For(zero_, lanes, one_);
    places_[0] = Plus(first, lane);
    places_[1] = For(zero_, size_, one_);
    std::string number = Number(0, {});
    if (InfoOf(wide_).floating) {
      number = Let("arith.bitcast {} : {} to {}", number, MlirType(wide_), key_);
    }
    Line("memref.store {}, {}[{}, {}] : {}", number, keys, places_[1], lane, keys_type);
    End();
    End();
    Sort(keys, keys_type, results, results_type);
    lane = For(zero_, lanes, one_);
    places_[0] = Plus(first, lane);
    places_[1] = For(zero_, size_, one_);
    std::string result =
        Let("memref.load {}[{}, {}] : {}", results, places_[1], lane, results_type);
    if (!nest_.positions && InfoOf(wide_).floating) {
      result = Let("arith.bitcast {} : {} to {}", result, key_, MlirType(wide_));
    }
    Line("memref.store {}, {}[{}] : {}", result, buffers_[1], At(nest_.write), TypeOf(nest_.write));
    End();
    End();
    End();
    EndParts();
    return text_;
  }

 private:
  // Places by lanes.
  std::string Columns(const std::string& type) const {
    return fmt::format("memref<{}x{}x{}>", Extent(1), sizes_.lanes, type);
  }
  std::string Lanes(const std::string& type) const {
    return fmt::format("vector<{}x{}>", sizes_.lanes, type);
  }
  std::string All(const std::string& type, uint64_t value) {
    return Let("arith.constant dense<{}> : {}", static_cast<int64_t>(value), Lanes(type));
  }
  std::string Op(const char* what, const std::string& a, const std::string& b,
                 const std::string& type) {
    return Let("arith.{} {}, {} : {}", what, a, b, Lanes(type));
  }
  // Of the bits of floats, signed integers in the order of the floats; and the other way round.
  std::string Turned(const std::string& bits) {
    if (!InfoOf(wide_).floating) return bits;
    const uint64_t rest = ~uint64_t{0} >> (65 - key_bits_);
    const std::string signs =
        Op("shrsi", bits, All(key_, static_cast<uint64_t>(key_bits_ - 1)), key_);
    return Op("xori", bits, Op("andi", signs, All(key_, rest), key_), key_);
  }

  void Sort(const std::string& keys, const std::string& keys_type, const std::string& results,
            const std::string& results_type) {
    const int64_t size = Extent(1);
    words_.clear();
    positions_.clear();
    for (int64_t k = 0; k < size; ++k) {
      std::string word = Turned(
          Let("vector.load {}[{}, {}] : {}, {}", keys, Index(k), zero_, keys_type, Lanes(key_)));
      if (packed_) {
        word = Let("arith.extsi {} : {} to {}", word, Lanes(key_), Lanes(word_));
        word = Op("ori", Op("shli", word, All(word_, 32), word_),
                  All(word_, static_cast<uint64_t>(k)), word_);
      }
      words_.push_back(word);
      if (apart_) positions_.push_back(All(word_, static_cast<uint64_t>(k)));
    }
    ForEachExchange(size, [&](int64_t i, int64_t j) { PutInOrder(i, j); });
    for (int64_t k = 0; k < size; ++k) {
      std::string result = words_[k];
      if (nest_.positions) {
        result = Let("arith.trunci {} : {} to {}", apart_ ? positions_[k] : result, Lanes(word_),
                     Lanes(result_));
      } else {
        result = Turned(result);
      }
      Line("vector.store {}, {}[{}, {}] : {}, {}", result, results, Index(k), zero_, results_type,
           Lanes(result_));
    }
  }

  void PutInOrder(int64_t i, int64_t j) {
    const std::string a = words_[i], b = words_[j];
    if (!apart_) {
      words_[i] = Op("minsi", a, b, word_);
      words_[j] = Op("maxsi", a, b, word_);
      return;
    }
    const std::string p = positions_[i], q = positions_[j], flags = MaskOf(sizes_.lanes);
    const auto compare = [&](const char* how, const std::string& x, const std::string& y) {
      return Let("arith.cmpi {}, {}, {} : {}", how, x, y, Lanes(word_));
    };
    const std::string ties =
        Let("arith.andi {}, {} : {}", compare("eq", a, b), compare("sgt", p, q), flags);
    const std::string swap = Let("arith.ori {}, {} : {}", compare("sgt", a, b), ties, flags);
    const auto select = [&](const std::string& x, const std::string& y) {
      return Let("arith.select {}, {}, {} : {}, {}", swap, x, y, flags, Lanes(word_));
    };
    words_[i] = select(b, a);
    words_[j] = select(a, b);
    positions_[i] = select(q, p);
    positions_[j] = select(p, q);
  }

  const std::string result_;                    // type
  std::vector<std::string> words_, positions_;  // in each place
};

}  // namespace

std::string SortText(const Schedule& schedule, const Nest& nest,
                     const std::vector<std::string>& buffers) {
  const SortSizes sizes = SortSizesOf(schedule, nest);
  if (sizes.lanes > 0) return NetworkWriter(sizes, nest, buffers).Write();
  return DigitsWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
