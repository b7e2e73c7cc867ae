// A product with what a triangular solve gives as a solve of a product: where an inverse is written
// and then multiplied, the solve has as many right sides as the product has columns, not as the
// matrix has.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/small_matrices.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr int64_t kLeastTimesFewer = 2;  // right sides

// Of a dot with a solution X of a solve. The side with X is summed over one dimension of the
// matrices and keeps the other.
struct Place {
  HloInstruction* solution = nullptr;
  TriangularSolve solve;
  int number = 0;                // of the operand
  bool over_right_sides = true;  // else over the dimension that is solved
};

// Whoever takes the solution besides would have it made all the same.
bool IsAlone(const HloInstruction* from, const HloInstruction* to) {
  for (; from != to; from = from->operand(0)) {
    if (from->user_count() != 1) return false;
  }
  return to->user_count() == 1;
}

std::optional<Place> PlaceOf(HloInstruction* dot, int number) {
  const Source source = SourceOf(dot->mutable_operand(number));
  const auto solve = TriangularSolveOf(source.array);
  if (!solve || !emit::Free(*source.array) || !IsAlone(dot->operand(number), source.array)) {
    return std::nullopt;
  }
  const DotSide side = DotSideOf(*dot, number);
  Dimensions free = side.free;
  free.erase(
      std::remove_if(free.begin(), free.end(),
                     [&](int64_t d) { return dot->operand(number)->shape().dimensions(d) == 1; }),
      free.end());
  if (side.contracted.size() != 1 || free.size() != 1) return std::nullopt;
  Dimensions places = source.places;
  const int64_t column = places.back();
  places.pop_back();
  const int64_t row = places.back();
  places.pop_back();
  if (places != side.batch) return std::nullopt;
  const bool rows = row == side.contracted[0] && column == free[0];
  if (!rows && (column != side.contracted[0] || row != free[0])) return std::nullopt;
  return Place{source.array, *solve, number, rows != solve->left};
}

// The other operand as [batch…, summed over, all else].
HloInstruction* Other(HloInstruction* dot, int number) {
  HloInstruction* const other = dot->mutable_operand(1 - number);
  const DotSide side = DotSideOf(*dot, 1 - number);
  Dimensions order = side.batch;
  order.push_back(side.contracted[0]);
  order.insert(order.end(), side.free.begin(), side.free.end());
  Dimensions sizes = SizesAt(*other, side.batch);
  sizes.push_back(other->shape().dimensions(side.contracted[0]));
  sizes.push_back(emit::Product(SizesAt(*other, side.free)));
  return emit::Reshape(emit::Transpose(other, order), sizes);
}

// Summed over these dimensions of the two matrices.
HloInstruction* Product(HloInstruction* x, int64_t of_x, HloInstruction* y, int64_t of_y,
                        const xla::PrecisionConfig& precision) {
  const Dimensions batch = Range(0, RankOf(*x) - 2);
  return emit::Dot(x, y, batch, batch, {of_x}, {of_y}, x->shape().element_type(), precision);
}

}  // namespace

absl::StatusOr<HloInstruction*> DotBeforeSolve(HloInstruction* root) {
  if (root->opcode() != xla::HloOpcode::kDot || !emit::Free(*root) ||
      xla::ShapeUtil::IsZeroElementArray(root->shape())) {
    return nullptr;
  }
  std::optional<Place> place = PlaceOf(root, 0);
  if (!place) place = PlaceOf(root, 1);
  if (!place) return nullptr;
  const auto& [solution, solve, number, over_right_sides] = *place;
  const xla::PrimitiveType type = solution->shape().element_type();
  if (root->shape().element_type() != type ||
      root->operand(1 - number)->shape().element_type() != type ||
      (!over_right_sides && xla::primitive_util::IsComplexType(type))) {
    return nullptr;
  }
  const int64_t row = RankOf(*solution) - 2, column = row + 1;
  const int64_t right_sides = solution->shape().dimensions(solve.left ? column : row);
  const xla::PrecisionConfig& precision = root->precision_config();
  const Dimensions free = SizesAt(*root->operand(1 - number), DotSideOf(*root, 1 - number).free);
  if (emit::Product(free) * kLeastTimesFewer > right_sides) return nullptr;
  HloInstruction* const y = Other(root, number);
  HloInstruction* result = nullptr;  // [batch…, what X keeps, free]
  if (over_right_sides) {
    // X Y = op(A)^-1 (B Y); or Y' X = (Y' B) op(A)^-1.
    HloInstruction* const right = solve.left ? Product(solve.other, column, y, row, precision)
                                             : Product(y, row, solve.other, row, precision);
    const absl::StatusOr<HloInstruction*> behind = DotBeforeSolve(right);
    if (!behind.ok()) return behind;
    result = SolveWith(solution, *behind != nullptr ? *behind : right, solve.left,
                       /*transposed=*/false);
    if (!solve.left) result = Turned(result);
  } else {
    // X' Y = B' (op(A)'^-1 Y); or X Y = B (op(A)^-1 Y).
    HloInstruction* const solved = SolveWith(solution, y, /*left=*/true, solve.left);
    result = Product(solve.other, solve.left ? row : column, solved, row, precision);
  }
  if (number == 1) result = Turned(result);
  return emit::Reshape(result, emit::SizesOf(*root));
}

}  // namespace hone::compiler
