#include "loops/depthwise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostUnrolled = 256;   // multiplications, of one place in the other dimensions
constexpr int64_t kMostKnownBlocks = 3;  // at either end
constexpr int64_t kMostNear = 1 << 20;   // bytes that are likely in a cache near by

class SlidingWriter : public Emitter {
 public:
  SlidingWriter(const SlidingSizes& sizes, const Nest& nest,
                const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.lanes),
        sizes_(sizes),
        loops_(nest),
        positions_(std::min(sizes.positions, Extent(loops_.along))) {}

  std::string Write() {
    std::vector<int64_t> extents;
    for (size_t l = 0; l <= loops_.feature; ++l) extents.push_back(Extent(l));
    const std::vector<int64_t> shared(
        sizes_.parallel.begin(), sizes_.parallel.begin() + static_cast<ptrdiff_t>(extents.size()));
    BeginParts(extents, shared);
    const std::vector<Part> parts = Parts(extents, shared);
    features_ = parts[loops_.feature];
    ragged_ = Extent(loops_.feature) % lanes_ != 0 || shared[loops_.feature] % lanes_ != 0;
    places_.assign(nest_.loops.size(), "");
    LayOutKernel(shared[loops_.feature]);
    bases_.assign(loops_.spatial, "");
    taps_.assign(loops_.spatial, {});
    for (size_t l = 0; l < loops_.along; ++l) {
      places_[l] = For(parts[l].first, parts[l].second, Index(1));
      if (l > 0) TapsInside(l - 1);
    }
    Row(parts[loops_.along], shared[loops_.along] != 0);
    for (size_t l = 0; l < loops_.along; ++l) End();
    EndParts();
    return text_;
  }

 private:
  // Along a spatial dimension: how the first operand is gone through.
  int64_t Stride(size_t d) const { return nest_.reads[0].rows[d + 1][d + 1]; }
  int64_t Dilation(size_t d) const { return nest_.reads[0].rows[d + 1][loops_.Tap(d)]; }
  int64_t Pad(size_t d) const { return nest_.reads[0].low[d + 1]; }
  int64_t Size(size_t d) const { return nest_.reads[0].view[d + 1]; }
  int64_t Taps(size_t d) const { return Extent(loops_.Tap(d)); }
  size_t last() const { return loops_.spatial - 1; }

  // Of the first operand and the result.
  int64_t Bytes() const {
    const auto bytes = [](const Access& access) {
      auto all = static_cast<int64_t>(InfoOf(access.element).bytes);
      for (const int64_t size : access.view) all *= size;
      return all;
    };
    return bytes(nest_.reads[0]) + bytes(nest_.write);
  }

  // body() for each vector of features, `count_` of them and `valid_` where it may not be full.
  template <class Body>
  void EachVector(const Body& body) {
    std::string& place = places_[loops_.feature];
    const auto& [first, end] = features_;
    if (!ragged_) {
      place = For(first, end, Index(lanes_));
      body();
      End();
      return;
    }
    const std::string count = Minus(end, first), lanes = Index(lanes_);
    const std::string left = Let("arith.remui {}, {} : index", count, lanes);
    const std::string whole = Minus(end, left);
    place = For(first, whole, lanes);
    body();
    End();
    Line("scf.if {} {{", Let("arith.cmpi ne, {}, {} : index", left, Index(0)));
    place = whole;
    count_ = left;
    valid_ = Let("vector.create_mask {} : {}", left, mask_);
    body();
    count_ = valid_ = "";
    End();
  }

  // All taps of a part's features as [taps, features], in what is computed in.
  void LayOutKernel(int64_t shared) {
    int64_t taps = 1;
    for (size_t d = 0; d < loops_.spatial; ++d) taps *= Taps(d);
    const int64_t features = shared == 0 ? Extent(loops_.feature) : shared;
    kernel_type_ = fmt::format("memref<{}x{}x{}>", taps, RoundedUp(features, lanes_), type_);
    kernel_ = Allocate(kernel_type_);
    const std::string zero = Index(0), one = Index(1);
    std::string tap;
    for (size_t d = 0; d < loops_.spatial; ++d) {
      const std::string here = places_[loops_.Tap(d)] = For(zero, Index(Taps(d)), one);
      tap = d == 0 ? here : Plus(Times(tap, Taps(d)), here);
    }
    EachVector([&] {
      const std::string factors = Along(1, loops_.feature, {}, valid_);
      Line("vector.store {}, {}[{}, {}] : {}, {}", factors, kernel_, tap,
           Minus(places_[loops_.feature], features_.first), kernel_type_, vector_);
    });
    for (size_t d = 0; d < loops_.spatial; ++d) End();
  }

  // Which taps are inside, at the position that the loop of a dimension is at, and where the first
  // of all taps is.
  void TapsInside(size_t d) {
    const int64_t dilation = Dilation(d), step = std::abs(dilation), pad = Pad(d), taps = Taps(d);
    const std::string base = Plus(Times(places_[d + 1], Stride(d)), -pad), zero = Index(0);
    bases_[d] = base;
    const int64_t reach = (taps - 1) * dilation;
    const int64_t least = -pad + std::min<int64_t>(0, reach);
    const int64_t most = (Extent(d + 1) - 1) * Stride(d) - pad + std::max<int64_t>(0, reach);
    const auto quotient = [&](const std::string& value) {  // rounded down, 0 below it
      const std::string above = Let("arith.maxsi {}, {} : index", value, zero);
      return step == 1 ? above : Let("arith.divui {}, {} : index", above, Index(step));
    };
    const std::string all = Index(taps);
    const auto until = [&](const std::string& value) { return Least(quotient(value), all); };
    // Of taps that go on: base + tap * step is at least 0, and below the size. Of others: base -
    // tap * step.
    const std::string beyond = Plus(Minus(Index(Size(d)), base), step - 1);
    if (dilation > 0) {
      taps_[d].first = least >= 0 ? zero : until(Plus(Minus(zero, base), step - 1));
      taps_[d].second = most < Size(d) ? all : until(beyond);
    } else {
      taps_[d].first = most < Size(d) ? zero : until(Plus(base, step - Size(d)));
      taps_[d].second = least >= 0 ? all : until(Plus(base, step));
    }
  }

  // All positions of a part along the last dimension. Where it is not shared, it is known of each
  // block at the ends what lies outside; else that is asked of all blocks.
  void Row(const Part& part, bool shared) {
    const size_t d = last();
    const int64_t reach = (Taps(d) - 1) * Dilation(d), extent = Extent(loops_.along);
    // From the first position of which all taps are inside to behind the last one.
    const int64_t low = Pad(d) - std::min<int64_t>(0, reach);
    const int64_t high = Size(d) - 1 + Pad(d) - std::max<int64_t>(0, reach);
    const int64_t first = std::min(extent, low <= 0 ? 0 : (low + Stride(d) - 1) / Stride(d));
    const int64_t end = std::clamp(high < 0 ? 0 : high / Stride(d) + 1, first, extent);
    const int64_t before = RoundedUp(first, positions_);
    const int64_t whole = std::max<int64_t>(0, end - before) / positions_ * positions_;
    const int64_t behind = std::max<int64_t>(0, extent - before - whole);
    const int64_t most = kMostKnownBlocks * positions_;
    if (!shared && before <= most && behind <= most) {
      Known(0, std::min(before, extent));
      if (whole > 0) {
        const std::string start = For(Index(before), Index(before + whole), Index(positions_));
        EachVector([&] { Block(start, positions_, {}, /*asks=*/false); });
        End();
      }
      Known(before + whole, extent);
      return;
    }
    const std::string count = Minus(part.second, part.first);
    const std::string left = Let("arith.remui {}, {} : index", count, Index(positions_));
    const std::string rest = Minus(part.second, left);
    const std::string start = For(part.first, rest, Index(positions_));
    const std::string inside =
        Let("arith.andi {}, {} : i1", Let("arith.cmpi sge, {}, {} : index", start, Index(first)),
            Let("arith.cmpi sle, {}, {} : index", start, Index(end - positions_)));
    Line("scf.if {} {{", inside);
    EachVector([&] { Block(start, positions_, {}, /*asks=*/false); });
    Line("}} else {{");
    EachVector([&] { Block(start, positions_, {}, /*asks=*/true); });
    End();
    End();
    if (positions_ == 1) return;
    const std::string single = For(rest, part.second, Index(1));
    EachVector([&] { Block(single, 1, {}, /*asks=*/true); });
    End();
  }

  void Known(int64_t from, int64_t to) {
    for (int64_t start = from; start < to; start += positions_) {
      const std::string place = Index(start);
      EachVector([&] { Block(place, std::min(positions_, to - start), start, false); });
    }
  }

  // So many positions, of one vector of features. What lies outside is left out where it is known,
  // and read as 0 where that is asked.
  void Block(const std::string& start, int64_t count, const std::optional<int64_t>& known,
             bool asks) {
    std::vector<std::string> sums(static_cast<size_t>(count), Vector(0));
    std::vector<Carrying> around;
    std::string row;  // of the laid out kernel: of the first tap along the last dimension
    Others places;
    for (size_t d = 0; d < last(); ++d) {
      around.push_back(For(taps_[d].first, taps_[d].second, 1, sums));
      const std::string tap = around.back().index;
      row = d == 0 ? tap : Plus(Times(row, Taps(d)), tap);
      places.emplace_back(d, Plus(bases_[d], Times(tap, Dilation(d))));
    }
    const size_t d = last();
    row = row.empty() ? Index(0) : Times(row, Taps(d));
    const std::string base = Plus(Times(start, Stride(d)), -Pad(d));
    const int64_t taps = Taps(d);
    const int64_t at_once = std::clamp<int64_t>(kMostUnrolled / count, 1, taps);
    const auto known_base = known ? std::optional(*known * Stride(d) - Pad(d)) : std::nullopt;
    if (at_once == taps) {
      Multiply(sums, row, base, known_base, places, taps, asks);
    } else {
      const bool outside = asks || known.has_value();
      const int64_t whole = taps / at_once * at_once;
      const Carrying loop = For(Index(0), Index(whole), at_once, sums);
      Multiply(sums, Plus(row, loop.index), Plus(base, Times(loop.index, Dilation(d))), {}, places,
               at_once, outside);
      End(loop, sums);
      if (whole < taps) {
        Multiply(sums, Plus(row, whole), Plus(base, whole * Dilation(d)), {}, places, taps - whole,
                 outside);
      }
    }
    while (!around.empty()) {
      End(around.back(), sums);
      around.pop_back();
    }
    if (last() > 0 && Bytes() > kMostNear) Prefetch(start, count);
    ToResult(sums, start);
  }

  // What the same positions of the next row read that those of this one have not, and where they
  // are written. Nothing is asked of a place that is not there.
  void Prefetch(const std::string& start, int64_t count) {
    const size_t row = last() - 1, along = last();
    Others here;
    for (size_t d = 0; d < row; ++d) here.emplace_back(d, bases_[d]);
    const int64_t reach = std::max<int64_t>(0, (Taps(row) - 1) * Dilation(row));
    const std::string& feature = places_[loops_.feature];
    for (int64_t next = 1; next <= Stride(row); ++next) {
      for (int64_t p = 0; p < count * Stride(along); ++p) {
        std::vector<std::string> indices = {places_[0]};
        for (const auto& [d, base] : here) indices.push_back(base);
        indices.push_back(Plus(bases_[row], reach + next));
        indices.push_back(Plus(Times(start, Stride(along)), p));
        indices.push_back(feature);
        Line("memref.prefetch {}[{}], read, locality<3>, data : {}", buffers_[0],
             fmt::join(indices, ", "), TypeOf(nest_.reads[0]));
      }
    }
    for (int64_t p = 0; p < count; ++p) {
      Line("memref.prefetch {}[{}], write, locality<3>, data : {}", buffers_.back(),
           At(nest_.write, {{row + 1, Plus(places_[row + 1], 1)}, {loops_.along, Plus(start, p)}}),
           TypeOf(nest_.write));
    }
  }

  // Adds so many taps along the last dimension, the first of which has the row in the kernel and is
  // at `base` for the first position.
  void Multiply(std::vector<std::string>& sums, const std::string& row, const std::string& base,
                const std::optional<int64_t>& known_base, const Others& places, int64_t taps,
                bool asks) {
    const std::string column = Minus(places_[loops_.feature], features_.first);
    std::vector<std::string> factors;
    for (int64_t tap = 0; tap < taps; ++tap) {
      factors.push_back(Let("vector.load {}[{}, {}] : {}, {}", kernel_, Plus(row, tap), column,
                            kernel_type_, vector_));
    }
    // What is read at a place goes into these sums, with these taps.
    std::map<int64_t, std::vector<std::pair<size_t, size_t>>> uses;
    const size_t d = last();
    for (size_t p = 0; p < sums.size(); ++p) {
      for (size_t tap = 0; tap < factors.size(); ++tap) {
        uses[static_cast<int64_t>(p) * Stride(d) + static_cast<int64_t>(tap) * Dilation(d)]
            .emplace_back(p, tap);
      }
    }
    for (const auto& [offset, of] : uses) {
      if (known_base && (*known_base + offset < 0 || *known_base + offset >= Size(d))) continue;
      const std::string value = Read(Plus(base, offset), places, asks);
      for (const auto& [p, tap] : of) {
        sums[p] = Let("vector.fma {}, {}, {} : {}", value, factors[tap], sums[p], vector_);
      }
    }
  }

  // A vector of features at an index along the last spatial dimension.
  std::string Read(std::string index, const Others& places, bool asks) {
    std::string valid = valid_;
    if (asks) {
      const std::string inside = Let("arith.cmpi ult, {}, {} : index", index, Index(Size(last())));
      const std::string zero = Index(0);
      index = Let("arith.select {}, {}, {} : index", inside, index, zero);
      const std::string count = Let("arith.select {}, {}, {} : index", inside,
                                    count_.empty() ? Index(lanes_) : count_, zero);
      valid = Let("vector.create_mask {} : {}", count, mask_);
    }
    std::vector<std::string> indices = {places_[0]};
    for (const auto& [d, place] : places) indices.push_back(place);
    indices.push_back(index);
    indices.push_back(places_[loops_.feature]);
    return LoadVector(nest_.reads[0], fmt::format("{}[{}]", buffers_[0], fmt::join(indices, ", ")),
                      valid, lanes_);
  }

  // What is made of sums of neighbouring positions, to the result.
  void ToResult(const std::vector<std::string>& sums, const std::string& start) {
    std::vector<std::string> values, at;
    for (size_t p = 0; p < sums.size(); ++p) {
      const Others here = {{loops_.along, Plus(start, static_cast<int64_t>(p))}};
      const std::string made = BodyText(
          nest_, vector_, [&](const std::string& text) { return Let("{}", text); },
          [&](const Scalar& node) {
            return node.kind == Scalar::kWhole
                       ? sums[p]
                       : Along(static_cast<size_t>(node.a), loops_.feature, here, valid_);
          });
      values.push_back(NarrowedText(made, nest_.write.element, lanes_,
                                    [&](const std::string& text) { return Let("{}", text); }));
      at.push_back(fmt::format("{}[{}]", buffers_.back(), At(nest_.write, here)));
    }
    const std::string type = TypeOf(nest_.write), vector = VectorAs(nest_.write.element, lanes_);
    for (size_t p = 0; p < sums.size(); ++p) {
      if (valid_.empty()) {
        Line("vector.store {}, {} : {}, {}", values[p], at[p], type, vector);
      } else {
        Line("vector.maskedstore {}, {}, {} : {}, {}, {}", at[p], valid_, values[p], type, mask_,
             vector);
      }
    }
  }

  const SlidingSizes sizes_;
  const SlidingLoops loops_;
  const int64_t positions_;
  Part features_;              // of this part of the work
  bool ragged_ = false;        // whether the last vector of features may not be full
  std::string count_, valid_;  // of features in such a vector; empty where it is full
  std::string kernel_, kernel_type_;
  std::vector<std::string> bases_;  // of the dimensions but the last
  std::vector<Part> taps_;
};

}  // namespace

std::string SlidingText(const Schedule& schedule, const Nest& nest,
                        const std::vector<std::string>& buffers) {
  return SlidingWriter(SlidingSizesOf(schedule, nest), nest, buffers).Write();
}

}  // namespace hone::loops
