// Writes MLIR's text of a nest that has a text of its own (nest.h): loops, indices, vectors.
#ifndef HONE_LOOPS_EMITTER_H_
#define HONE_LOOPS_EMITTER_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loops/body_text.h"

namespace hone::loops {

// On buffers: one a read of the nest, and the result's last. Values are `lanes` wide, or numbers.
class Emitter {
 public:
  Emitter(const Nest& nest, const std::vector<std::string>& buffers, int64_t lanes)
      : nest_(nest),
        buffers_(buffers),
        lanes_(lanes),
        type_(MlirType(nest.element)),
        vector_(VectorOf(lanes)),
        mask_(MaskOf(lanes)),
        prefix_(fmt::format("%{}_", nest.site)) {
    std::replace(prefix_.begin(), prefix_.end(), '.', '_');
  }

 protected:
  int64_t Extent(size_t loop) const { return nest_.loops[loop].extent; }
  std::string VectorOf(int64_t lanes) const { return fmt::format("vector<{}x{}>", lanes, type_); }
  static std::string MaskOf(int64_t lanes) { return fmt::format("vector<{}xi1>", lanes); }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += "    " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::string Name() { return fmt::format("{}{}", prefix_, next_++); }
  template <class... Args>
  std::string Let(fmt::format_string<Args...> format, Args&&... args) {
    const std::string name = Name();
    Line("{} = {}", name, fmt::format(format, std::forward<Args>(args)...));
    return name;
  }

  std::string Index(int64_t value) { return Let("arith.constant {} : index", value); }
  std::string Plus(const std::string& index, int64_t offset) {
    return offset == 0 ? index : Plus(index, Index(offset));
  }
  std::string Plus(const std::string& a, const std::string& b) {
    return Let("arith.addi {}, {} : index", a, b);
  }
  std::string Minus(const std::string& a, const std::string& b) {
    return Let("arith.subi {}, {} : index", a, b);
  }
  std::string Times(const std::string& index, int64_t factor) {
    return Let("arith.muli {}, {} : index", index, Index(factor));
  }
  std::string Least(const std::string& a, const std::string& b) {
    return Let("arith.minsi {}, {} : index", a, b);
  }
  std::string Vector(double value) {
    return Let("{}", ConstantText(value, nest_.element, vector_));
  }
  std::string Binary(const char* what, const std::string& a, const std::string& b) {
    return Let("{} {}, {} : {}", what, a, b, vector_);
  }
  std::string Spread(const std::string& scalar) {
    return Let("vector.broadcast {} : {} to {}", scalar, type_, vector_);
  }

  // Of the elements of two vectors of this type, those of these numbers.
  std::string Shuffle(const std::string& a, const std::string& b, const std::vector<int64_t>& lanes,
                      const std::string& vector) {
    return Let("vector.shuffle {}, {} [{}] : {}, {}", a, b, fmt::join(lanes, ", "), vector, vector);
  }
  // The transposed of a square of vectors of this type: halves of the square change places, and
  // halves of these. Those that are missing are another of the last one.
  std::vector<std::string> Transposed(std::vector<std::string> square, int64_t size,
                                      const std::string& vector) {
    square.resize(static_cast<size_t>(size), square.back());
    for (int64_t half = size / 2; half > 0; half /= 2) {
      std::vector<int64_t> low, high;
      for (int64_t i = 0; i < size; ++i) {
        const bool other = (i & half) != 0;
        low.push_back(other ? size + i - half : i);
        high.push_back(other ? size + i : i + half);
      }
      for (int64_t i = 0; i < size; ++i) {
        if ((i & half) != 0) continue;
        std::string& a = square[static_cast<size_t>(i)];
        std::string& b = square[static_cast<size_t>(i + half)];
        const std::string x = Shuffle(a, b, low, vector);
        b = Shuffle(a, b, high, vector);
        a = x;
      }
    }
    return square;
  }

  // A buffer, freed at the end of the block.
  std::string Allocate(const std::string& type) {
    return Let("memref.alloc() {{alignment = 64 : i64}} : {}", type);
  }

  // Begins a loop; the name of its index. End() ends it, and whatever else a brace began.
  std::string For(const std::string& from, const std::string& to, const std::string& step) {
    const std::string index = Name();
    Line("scf.for {} = {} to {} step {} {{", index, from, to, step);
    return index;
  }
  void End() { Line("}}"); }

  // Begins a loop that carries vectors, whose names within it replace `carried`.
  struct Carrying {
    std::string index;
    std::string results;
    std::string type;  // of each
  };
  Carrying For(const std::string& from, const std::string& to, int64_t step,
               std::vector<std::string>& carried) {
    return For(from, to, step, carried, vector_);
  }
  Carrying For(const std::string& from, const std::string& to, int64_t step,
               std::vector<std::string>& carried, const std::string& type) {
    const Carrying loop{Name(), Name(), type};
    std::vector<std::string> arguments, types;
    for (std::string& value : carried) {
      const std::string name = Name();
      arguments.push_back(fmt::format("{} = {}", name, value));
      types.push_back(type);
      value = name;
    }
    const std::string by = Index(step);
    Line("{}:{} = scf.for {} = {} to {} step {} iter_args({}) -> ({}) {{", loop.results,
         carried.size(), loop.index, from, to, by, fmt::join(arguments, ", "),
         fmt::join(types, ", "));
    return loop;
  }
  void End(const Carrying& loop, std::vector<std::string>& carried) {
    std::vector<std::string> types(carried.size(), loop.type);
    Line("scf.yield {} : {}", fmt::join(carried, ", "), fmt::join(types, ", "));
    End();
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = fmt::format("{}#{}", loop.results, i);
  }

  // Begins what processors share: the parts of loops of such extents, of so many iterations each,
  // 0 of those that are not shared. Which iterations of each loop a part has: from the first to
  // before the second.
  using Part = std::pair<std::string, std::string>;
  void BeginParts(const std::vector<int64_t>& extents, const std::vector<int64_t>& sizes) {
    std::vector<int64_t> counts;
    indices_.clear();
    for (size_t l = 0; l < sizes.size(); ++l) {
      if (sizes[l] == 0) continue;
      counts.push_back((extents[l] + sizes[l] - 1) / sizes[l]);
      indices_.push_back(fmt::format("{}p{}", prefix_, l));
    }
    if (!counts.empty()) {
      Line("scf.forall ({}) in ({}) {{", fmt::join(indices_, ", "), fmt::join(counts, ", "));
    }
  }
  std::vector<Part> Parts(const std::vector<int64_t>& extents, const std::vector<int64_t>& sizes) {
    std::vector<Part> parts;
    size_t next = 0;
    for (size_t l = 0; l < sizes.size(); ++l) {
      if (sizes[l] == 0) {
        const std::string zero = Index(0);
        parts.emplace_back(zero, Index(extents[l]));
        continue;
      }
      const std::string first = Times(indices_[next++], sizes[l]);
      const std::string end = Plus(first, sizes[l]);
      parts.emplace_back(first, extents[l] % sizes[l] == 0 ? end : Least(end, Index(extents[l])));
    }
    return parts;
  }
  void EndParts() {
    if (!indices_.empty()) End();
  }

  std::string TypeOf(const Access& access) const {
    return fmt::format("memref<{}x{}>", fmt::join(access.view, "x"), MlirType(access.element));
  }
  // As they lie in memory.
  static std::string VectorAs(Element element, int64_t lanes) {
    return fmt::format("vector<{}x{}>", lanes, MlirType(element));
  }
  static std::string ZerosText(Element element, int64_t lanes) {
    return ConstantText(0, InfoOf(element).bits() ? Element::kI32 : element,
                        VectorAs(element, lanes));
  }
  std::string Widened(const std::string& value, const Access& access, int64_t lanes) {
    return WidenedText(value, access.element, lanes,
                       [&](const std::string& text) { return Let("{}", text); });
  }
  // Of the lanes that the mask has, all without one; of the others zeros. `at` is a buffer with
  // indices.
  std::string LoadVector(const Access& access, const std::string& at, const std::string& mask,
                         int64_t lanes) {
    return Widened(LoadAsIs(access, at, mask, lanes), access, lanes);
  }
  std::string LoadAsIs(const Access& access, const std::string& at, const std::string& mask,
                       int64_t lanes) {
    const std::string type = TypeOf(access);
    const std::string vector = VectorAs(access.element, lanes);
    if (mask.empty()) return Let("vector.load {} : {}, {}", at, type, vector);
    const std::string zeros = Let("{}", ZerosText(access.element, lanes));
    return Let("vector.maskedload {}, {}, {} : {}, {}, {} into {}", at, mask, zeros, type,
               MaskOf(lanes), vector, vector);
  }
  std::string LoadNumber(const Access& access, const std::string& at) {
    return Widened(Let("memref.load {} : {}", at, TypeOf(access)), access, /*lanes=*/0);
  }
  // The indices of an access at places_, but for some loops.
  using Others = std::vector<std::pair<size_t, std::string>>;
  std::string At(const Access& access, const Others& others = {}) {
    std::vector<std::string> indices;
    for (size_t d = 0; d < access.rows.size(); ++d) {
      const int loop = PlainLoop(access.rows[d]);
      const int64_t first = access.low.empty() ? 0 : -access.low[d];
      if (loop < 0) {
        indices.push_back(Index(first));
        continue;
      }
      std::string place = places_[static_cast<size_t>(loop)];
      for (const auto& [other, index] : others) {
        if (other == static_cast<size_t>(loop)) place = index;
      }
      HONE_CHECK(!place.empty());
      indices.push_back(Plus(place, first));
    }
    return fmt::format("{}", fmt::join(indices, ", "));
  }
  std::string Number(size_t read, const Others& others) {
    const Access& access = nest_.reads[read];
    return LoadNumber(access, fmt::format("{}[{}]", buffers_[read], At(access, others)));
  }

  // The read for neighbouring iterations of a loop, as a vector; those that `valid` tells, where it
  // is not empty.
  std::string Along(size_t read, size_t loop, const Others& others, const std::string& valid) {
    const Access& access = nest_.reads[read];
    const std::string at = fmt::format("{}[{}]", buffers_[read], At(access, others));
    size_t dimension = access.rows.size();
    for (size_t d = 0; d < access.rows.size(); ++d) {
      if (PlainLoop(access.rows[d]) == static_cast<int>(loop)) dimension = d;
    }
    if (dimension == access.rows.size()) {
      return Spread(LoadNumber(access, at));
    }
    if (dimension + 1 == access.rows.size()) {
      return LoadVector(access, at, valid, lanes_);
    }
    int64_t stride = 1;
    for (size_t d = dimension + 1; d < access.view.size(); ++d) stride *= access.view[d];
    std::vector<int64_t> steps;
    for (int64_t i = 0; i < lanes_; ++i) steps.push_back(i * stride);
    const std::string type = fmt::format("vector<{}xi64>", lanes_);
    const std::string offsets =
        Let("arith.constant dense<[{}]> : {}", fmt::join(steps, ", "), type);
    const std::string all = valid.empty() ? Let("arith.constant dense<true> : {}", mask_) : valid;
    const std::string zeros = Let("{}", ZerosText(access.element, lanes_));
    const std::string vector = VectorAs(access.element, lanes_);
    return Widened(Let("vector.gather {} [{}], {}, {} : {}, {}, {}, {} into {}", at, offsets, all,
                       zeros, TypeOf(access), type, mask_, vector, vector),
                   access, lanes_);
  }

  const Nest& nest_;
  const std::vector<std::string>& buffers_;
  const int64_t lanes_;
  const std::string type_, vector_, mask_;
  std::vector<std::string> places_;  // of the loops, where it is one index
  std::string text_;

 private:
  std::string prefix_;
  std::vector<std::string> indices_;  // of the parts that processors share
  int next_ = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_EMITTER_H_
