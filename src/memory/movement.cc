#include "memory/movement.h"

#include <utility>

namespace hone::memory {
namespace {

const Expr& At(const Network& network, ExprId id) { return network.exprs[static_cast<size_t>(id)]; }

// Where an update's second input comes to lie.
Box PlaceOf(const Network& network, const Expr& update) {
  Box place = WholeBox(At(network, update.inputs[1]).dimensions);
  for (size_t d = 0; d < place.low.size(); ++d) {
    place.low[d] += update.numbers[d];
    place.high[d] += update.numbers[d];
  }
  return place;
}

// What a slice with at least one element sees of its input, first to last.
Box SeenBy(const Expr& slice) {
  Box seen{slice.numbers, slice.numbers};
  for (size_t d = 0; d < seen.low.size(); ++d) {
    seen.high[d] += (slice.dimensions[d] - 1) * slice.strides[d] + 1;
  }
  return seen;
}

// One step nearer to what the slice looks at. False where its input stays.
bool SliceDeeper(const Network& network, Expr& slice) {
  const Expr& in = At(network, slice.inputs[0]);
  const Box seen = SeenBy(slice);
  if (in.movement == Movement::kSlice) {
    for (size_t d = 0; d < slice.numbers.size(); ++d) {
      slice.numbers[d] = in.numbers[d] + in.strides[d] * slice.numbers[d];
      slice.strides[d] *= in.strides[d];
    }
    slice.inputs[0] = in.inputs[0];
    return true;
  }
  if (in.movement == Movement::kUpdate) {
    const Box place = PlaceOf(network, in);
    if (IsEmpty(Intersect(seen, place))) {
      slice.inputs[0] = in.inputs[0];
      return true;
    }
    if (!Contains(place, seen)) return false;
    for (size_t d = 0; d < slice.numbers.size(); ++d) slice.numbers[d] -= in.numbers[d];
    slice.inputs[0] = in.inputs[1];
    return true;
  }
  if (in.movement == Movement::kConcatenate) {
    const auto axis = static_cast<size_t>(in.axis);
    int64_t before = 0;
    for (ExprId part : in.inputs) {
      const int64_t size = At(network, part).dimensions[axis];
      if (seen.low[axis] >= before && seen.high[axis] <= before + size) {
        slice.numbers[axis] -= before;
        slice.inputs[0] = part;
        return true;
      }
      before += size;
    }
  }
  return false;
}

}  // namespace

ExprId AddMovement(Network& network, Expr expr) {
  const bool empty = Elements(expr.dimensions) == 0;
  if (expr.movement == Movement::kSlice && !empty) {
    while (SliceDeeper(network, expr)) {
    }
    // As large as its input: all of it, in order.
    if (expr.dimensions == At(network, expr.inputs[0]).dimensions) return expr.inputs[0];
  } else if (expr.movement == Movement::kUpdate) {
    const std::vector<int64_t>& part = At(network, expr.inputs[1]).dimensions;
    if (part == expr.dimensions) return expr.inputs[1];
    if (Elements(part) == 0) return expr.inputs[0];
    const Box place = PlaceOf(network, expr);
    for (;;) {
      const Expr& below = At(network, expr.inputs[0]);
      if (below.movement != Movement::kUpdate) break;
      if (!Contains(place, PlaceOf(network, below))) break;
      expr.inputs[0] = below.inputs[0];
    }
  }
  network.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(network.exprs.size() - 1);
}

}  // namespace hone::memory
