#include "loops/accumulate.h"

#include <limits>

#include "loops/emitter.h"

namespace hone::loops {
namespace {

class Writer : public Emitter {
 public:
  Writer(const AccumulateSizes& sizes, const Nest& nest, const std::vector<std::string>& buffers)
      : Emitter(nest, buffers, sizes.lanes), sizes_(sizes) {}

  std::string Write() {
    std::vector<int64_t> extents;
    for (size_t l = 0; l < nest_.loops.size(); ++l) extents.push_back(Extent(l));
    BeginParts(extents, sizes_.parallel);
    const std::vector<Part> parts = Parts(extents, sizes_.parallel);
    places_.assign(extents.size(), "");
    places_[0] = For(parts[0].first, parts[0].second, Index(1));
    extents.size() == 2 ? Row() : Columns(parts[2]);
    End();
    EndParts();
    return text_;
  }

 private:
  bool sums() const { return nest_.combine == Combine::kSum; }
  bool multiplies() const { return nest_.combine == Combine::kProduct; }

  std::string Combined(const std::string& a, const std::string& b) {
    const bool floating = InfoOf(nest_.element).floating;
    if (sums()) return Binary(floating ? "arith.addf" : "arith.addi", a, b);
    if (multiplies()) return Binary(floating ? "arith.mulf" : "arith.muli", a, b);
    return Binary(floating ? "arith.maximumf" : "arith.maxsi", a, b);
  }
  std::string Nothing() {
    if (sums()) return Vector(0);
    if (multiplies()) return Vector(1);
    return Vector(InfoOf(nest_.element).floating ? -std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<int32_t>::min());
  }

  // Of the lanes that the mask has, all without one.
  std::string Load(const std::string& mask, const std::string& nothing) {
    const Access& read = nest_.reads[0];
    const std::string at = fmt::format("{}[{}]", buffers_[0], At(read));
    const std::string value = LoadVector(read, at, mask, lanes_);
    // Zeros are nothing to a sum alone.
    if (mask.empty() || sums()) return value;
    return Let("arith.select {}, {}, {} : {}, {}", mask, value, nothing, mask_, vector_);
  }
  void Store(const std::string& value, const std::string& mask) {
    const std::string at = At(nest_.write), type = TypeOf(nest_.write);
    if (mask.empty()) {
      Line("vector.store {}, {}[{}] : {}, {}", value, buffers_[1], at, type, vector_);
    } else {
      Line("vector.maskedstore {}[{}], {}, {} : {}, {}, {}", buffers_[1], at, mask, value, type,
           mask_, vector_);
    }
  }

  // The row at places_[0], a vector after another.
  void Row() {
    const int64_t size = Extent(1), lanes = sizes_.lanes, rest = size % lanes, whole = size - rest;
    std::vector<std::string> carried = {Nothing()};  // all before, in each lane
    if (whole > 0) {
      const Carrying loop = For(Index(0), Index(whole), lanes, carried);
      places_[1] = nest_.reverse ? Minus(Index(size - lanes), loop.index) : loop.index;
      RowVector("", carried[0]);
      End(loop, carried);
    }
    if (rest == 0) return;
    places_[1] = Index(nest_.reverse ? 0 : whole);
    RowVector(Let("vector.create_mask {} : {}", Index(rest), mask_), carried[0]);
  }

  void RowVector(const std::string& mask, std::string& carried) {
    const int64_t lanes = sizes_.lanes;
    const std::string nothing = Nothing();
    std::string value = Load(mask, nothing);
    for (int64_t step = 1; step < lanes; step *= 2) {
      std::vector<int64_t> from;
      for (int64_t i = 0; i < lanes; ++i) {
        const int64_t lane = nest_.reverse ? i + step : i - step;
        from.push_back(lane >= 0 && lane < lanes ? lanes + lane : i);
      }
      value = Combined(value, Shuffle(nothing, value, from, vector_));
    }
    Store(Combined(value, carried), mask);
    const int64_t last = nest_.reverse ? 0 : lanes - 1;
    carried = Combined(
        carried,
        Shuffle(value, value, std::vector<int64_t>(static_cast<size_t>(lanes), last), vector_));
  }

  // A vector of columns after another, each from end to end.
  void Columns(const Part& part) {
    const int64_t size = Extent(1), lanes = sizes_.lanes, shared = sizes_.parallel[2];
    places_[2] = For(part.first, part.second, Index(lanes));
    std::string mask;
    if (Extent(2) % lanes != 0 || shared % lanes != 0) {
      mask = Let("vector.create_mask {} : {}", Minus(part.second, places_[2]), mask_);
    }
    const std::string nothing = Nothing();
    std::vector<std::string> carried = {nothing};
    const Carrying loop = For(Index(0), Index(size), 1, carried);
    places_[1] = nest_.reverse ? Minus(Index(size - 1), loop.index) : loop.index;
    carried[0] = Combined(carried[0], Load(mask, nothing));
    Store(carried[0], mask);
    End(loop, carried);
    End();
  }

  const AccumulateSizes sizes_;
};

}  // namespace

std::string AccumulateText(const Schedule& schedule, const Nest& nest,
                           const std::vector<std::string>& buffers) {
  return Writer(AccumulateSizesOf(schedule, nest), nest, buffers).Write();
}

}  // namespace hone::loops
