#include "compiler/implementations/small_matrices.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// The steps grow with the third power.
constexpr int64_t kLargestLu = 4;
constexpr int64_t kLargestTriangle = 8;

HloInstruction* Add(HloInstruction* x, HloInstruction* y) {
  return emit::Binary(HloOpcode::kAdd, x, y);
}
HloInstruction* Subtract(HloInstruction* x, HloInstruction* y) {
  return emit::Binary(HloOpcode::kSubtract, x, y);
}
HloInstruction* Multiply(HloInstruction* x, HloInstruction* y) {
  return emit::Binary(HloOpcode::kMultiply, x, y);
}
HloInstruction* Divide(HloInstruction* x, HloInstruction* y) {
  return emit::Binary(HloOpcode::kDivide, x, y);
}
// The elements of matrices [batch…, rows, columns], each an array of the batch's shape.
class Elements {
 public:
  explicit Elements(HloInstruction* matrices) {
    std::vector<int64_t> sizes = emit::SizesOf(*matrices);
    columns_ = sizes.back();
    rows_ = sizes[sizes.size() - 2];
    batch_.assign(sizes.begin(), sizes.end() - 2);
    std::vector<int64_t> starts(sizes.size(), 0), limits = sizes;
    const std::vector<int64_t> strides(sizes.size(), 1);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < columns_; ++j) {
        starts[sizes.size() - 2] = i;
        limits[sizes.size() - 2] = i + 1;
        starts.back() = j;
        limits.back() = j + 1;
        elements_.push_back(emit::Reshape(emit::Slice(matrices, starts, limits, strides), batch_));
      }
    }
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  HloInstruction*& at(int64_t i, int64_t j) { return elements_[i * columns_ + j]; }

  // As they are now, put together again.
  HloInstruction* Together() const { return Together(elements_, {rows_, columns_}); }
  // Arrays of the batch's shape as one array [batch…, sizes…].
  HloInstruction* Together(const std::vector<HloInstruction*>& parts,
                           std::vector<int64_t> sizes) const {
    std::vector<int64_t> one = batch_;
    one.push_back(1);
    std::vector<HloInstruction*> shaped;
    for (HloInstruction* part : parts) shaped.push_back(emit::Reshape(part, one));
    std::vector<int64_t> all = batch_;
    all.insert(all.end(), sizes.begin(), sizes.end());
    return emit::Reshape(emit::Concatenate(shaped, static_cast<int64_t>(batch_.size())), all);
  }

 private:
  int64_t rows_ = 0, columns_ = 0;
  std::vector<int64_t> batch_;
  std::vector<HloInstruction*> elements_;
};

// Matrices of a type and shape that this file can do.
bool AreSmall(const HloInstruction& x, int64_t most) {
  const xla::Shape& shape = x.shape();
  if (!shape.IsArray() || (shape.element_type() != xla::F32 && shape.element_type() != xla::F64)) {
    return false;
  }
  const auto sizes = shape.dimensions();
  return sizes.size() >= 2 && sizes.back() <= most && sizes[sizes.size() - 2] <= most &&
         emit::Product(sizes) > 0;
}

// The dimensions of matrices, the last two changed round.
std::vector<int64_t> SwappedLast(const xla::Shape& shape) {
  std::vector<int64_t> order(shape.dimensions().size());
  absl::c_iota(order, 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

HloInstruction* Solved(const TriangularSolve& solve) {
  if (!solve.left) return Turned(Solved(FromLeft(solve)));
  HloInstruction* const right = solve.other;
  Elements a(solve.matrix);
  const int64_t n = a.rows();
  std::vector<int64_t> sizes = emit::SizesOf(*right);
  const size_t rank = sizes.size();
  std::vector<int64_t> starts(rank, 0), limits = sizes;
  const std::vector<int64_t> strides(rank, 1);
  std::vector<int64_t> row_sizes = sizes;
  row_sizes.erase(row_sizes.end() - 2);
  std::vector<int64_t> batch_dimensions;
  for (size_t d = 0; d + 2 < rank; ++d) batch_dimensions.push_back(static_cast<int64_t>(d));
  const auto element = [&](int64_t i, int64_t j) {
    HloInstruction* one = solve.transposed ? a.at(j, i) : a.at(i, j);
    return emit::Broadcast(one, row_sizes, batch_dimensions);
  };
  std::vector<HloInstruction*> x(n, nullptr);
  const bool forward = solve.lower != solve.transposed;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    starts[rank - 2] = i;
    limits[rank - 2] = i + 1;
    x[i] = emit::Reshape(emit::Slice(right, starts, limits, strides), row_sizes);
    for (int64_t done = 0; done < step; ++done) {
      const int64_t j = forward ? done : n - 1 - done;
      x[i] = Subtract(x[i], Multiply(element(i, j), x[j]));
    }
    if (!solve.unit_diagonal) x[i] = Divide(x[i], element(i, i));
  }
  std::vector<int64_t> one_row = sizes;
  one_row[rank - 2] = 1;
  for (HloInstruction*& row : x) row = emit::Reshape(row, one_row);
  return emit::Concatenate(x, static_cast<int64_t>(rank) - 2);
}

// The factor, with what is on the other side of the diagonal as it was. `info` becomes LAPACK's:
// the number, from 1, of the first column where the matrix is not positive definite, else 0.
HloInstruction* CholeskyFactor(HloInstruction* matrices, bool lower, HloInstruction** info) {
  Elements a(matrices);
  const int64_t n = a.rows();
  // Of the lower factor, whichever triangle it lies in.
  const auto at = [&](int64_t i, int64_t j) -> HloInstruction*& {
    return lower ? a.at(i, j) : a.at(j, i);
  };
  *info = emit::NumberLike(a.at(0, 0), xla::S32, 0);
  for (int64_t j = 0; j < n; ++j) {
    HloInstruction* d = at(j, j);
    for (int64_t k = 0; k < j; ++k) d = Subtract(d, Multiply(at(j, k), at(j, k)));
    HloInstruction* good = emit::Compare(ComparisonDirection::kGt, d,
                                         emit::NumberLike(d, d->shape().element_type(), 0));
    HloInstruction* none =
        emit::Compare(ComparisonDirection::kEq, *info, emit::NumberLike(d, xla::S32, 0));
    HloInstruction* here = emit::Binary(HloOpcode::kAnd, emit::Unary(HloOpcode::kNot, good), none);
    *info = emit::Select(here, emit::NumberLike(d, xla::S32, j + 1), *info);
    at(j, j) = emit::Unary(HloOpcode::kSqrt, d);
    for (int64_t i = j + 1; i < n; ++i) {
      HloInstruction* x = at(i, j);
      for (int64_t k = 0; k < j; ++k) x = Subtract(x, Multiply(at(i, k), at(j, k)));
      at(i, j) = Divide(x, at(j, j));
    }
  }
  return a.Together();
}

// The other side of the diagonal is zero, and a matrix that is not positive definite has a factor
// of NaNs (xla/hlo/transforms/expanders/cholesky_expander.cc).
HloInstruction* XlasCholesky(HloInstruction* root) {
  const bool lower = root->cholesky_options().lower();
  HloInstruction* info = nullptr;
  HloInstruction* factor = CholeskyFactor(root->mutable_operand(0), lower, &info);
  HloInstruction* const zeros = emit::NumberLike(factor, factor->shape().element_type(), 0);
  return NanWhereFailed(emit::Select(InTriangle(factor, lower), factor, zeros), info);
}

// (L and U in one, rows exchanged from 1 on, info), as LAPACK's getrf.
HloInstruction* Lu(HloInstruction* matrices) {
  Elements a(matrices);
  const int64_t rows = a.rows(), columns = a.columns();
  const xla::PrimitiveType type = matrices->shape().element_type();
  std::vector<HloInstruction*> pivots;
  HloInstruction* info = emit::NumberLike(a.at(0, 0), xla::S32, 0);
  for (int64_t k = 0; k < std::min(rows, columns); ++k) {
    HloInstruction* largest = emit::Unary(HloOpcode::kAbs, a.at(k, k));
    HloInstruction* pivot = emit::NumberLike(largest, xla::S32, k);
    for (int64_t i = k + 1; i < rows; ++i) {
      HloInstruction* size = emit::Unary(HloOpcode::kAbs, a.at(i, k));
      HloInstruction* larger = emit::Compare(ComparisonDirection::kGt, size, largest);
      largest = emit::Select(larger, size, largest);
      pivot = emit::Select(larger, emit::NumberLike(pivot, xla::S32, i), pivot);
    }
    pivots.push_back(Add(pivot, emit::NumberLike(pivot, xla::S32, 1)));
    std::vector<HloInstruction*> top(columns);
    for (int64_t j = 0; j < columns; ++j) top[j] = a.at(k, j);
    for (int64_t i = k + 1; i < rows; ++i) {
      HloInstruction* is =
          emit::Compare(ComparisonDirection::kEq, pivot, emit::NumberLike(pivot, xla::S32, i));
      for (int64_t j = 0; j < columns; ++j) {
        top[j] = emit::Select(is, a.at(i, j), top[j]);
        a.at(i, j) = emit::Select(is, a.at(k, j), a.at(i, j));
      }
    }
    for (int64_t j = 0; j < columns; ++j) a.at(k, j) = top[j];
    HloInstruction* zero =
        emit::Compare(ComparisonDirection::kEq, a.at(k, k), emit::NumberLike(largest, type, 0));
    HloInstruction* none =
        emit::Compare(ComparisonDirection::kEq, info, emit::NumberLike(info, xla::S32, 0));
    info = emit::Select(emit::Binary(HloOpcode::kAnd, zero, none),
                        emit::NumberLike(info, xla::S32, k + 1), info);
    for (int64_t i = k + 1; i < rows; ++i) {
      a.at(i, k) = emit::Select(zero, a.at(i, k), Divide(a.at(i, k), a.at(k, k)));
      for (int64_t j = k + 1; j < columns; ++j) {
        a.at(i, j) = Subtract(a.at(i, j), Multiply(a.at(i, k), a.at(k, j)));
      }
    }
  }
  const auto count = static_cast<int64_t>(pivots.size());
  return matrices->parent()->AddInstruction(
      HloInstruction::CreateTuple({a.Together(), a.Together(pivots, {count}), info}));
}

// Of those that are there.
void SetLetter(absl::string_view name, char letter, std::string& config) {
  const std::string key = absl::StrCat(name, " = ");
  const size_t at = config.find(key) + key.size();
  config.replace(at, config.find_first_of(" ,}", at) - at, absl::StrCat(static_cast<int>(letter)));
}

// LAPACK's columns lie one behind the other.
xla::Shape ByColumns(const xla::Shape& shape) {
  std::vector<int64_t> order = SwappedLast(shape);
  absl::c_reverse(order);
  return xla::ShapeUtil::MakeShapeWithDenseLayout(shape.element_type(), shape.dimensions(), order);
}

// Does it return arrays of the expected number of dimensions, in the operand's type?
bool Returns(const HloInstruction& root, const std::vector<size_t>& ranks) {
  if (!root.shape().IsTuple() || root.shape().tuple_shapes().size() != ranks.size()) return false;
  for (size_t k = 0; k < ranks.size(); ++k) {
    const xla::Shape& part = root.shape().tuple_shapes(static_cast<int>(k));
    if (!part.IsArray() || part.dimensions().size() != ranks[k]) return false;
    const xla::PrimitiveType type = k == 0 ? root.operand(0)->shape().element_type() : xla::S32;
    if (part.element_type() != type) return false;
  }
  return true;
}

HloInstruction* OfLapack(HloInstruction* root) {
  const LapackFactor factor = LapackFactorOf(*root);
  if (factor == LapackFactor::kNone) return nullptr;
  HloInstruction* const x = root->mutable_operand(0);
  if (factor == LapackFactor::kLu) return AreSmall(*x, kLargestLu) ? Lu(x) : nullptr;
  if (!AreSmall(*x, kLargestTriangle)) return nullptr;
  HloInstruction* info = nullptr;
  HloInstruction* made = CholeskyFactor(x, factor == LapackFactor::kLowerCholesky, &info);
  return root->parent()->AddInstruction(HloInstruction::CreateTuple({made, info}));
}

}  // namespace

absl::string_view LapackFunction(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCustomCall) return {};
  absl::string_view target = call.custom_call_target();
  const bool is_lapack =
      absl::ConsumePrefix(&target, "lapack_") && absl::ConsumeSuffix(&target, "_ffi");
  return is_lapack && !target.empty() ? target.substr(1) : absl::string_view();
}

LapackFactor LapackFactorOf(const HloInstruction& call) {
  const absl::string_view function = LapackFunction(call);
  if ((function != "getrf" && function != "potrf") || call.operand_count() != 1) {
    return LapackFactor::kNone;
  }
  const size_t rank = call.operand(0)->shape().dimensions().size();
  if (function == "getrf") {
    return Returns(call, {rank, rank - 1, rank - 2}) ? LapackFactor::kLu : LapackFactor::kNone;
  }
  const std::optional<char> side = LetterOf(call, "uplo");
  if (!side || !Returns(call, {rank, rank - 2})) return LapackFactor::kNone;
  return *side == 'L' ? LapackFactor::kLowerCholesky : LapackFactor::kUpperCholesky;
}

std::optional<char> LetterOf(const HloInstruction& call, absl::string_view name) {
  const absl::string_view config = call.raw_backend_config_string();
  const std::string key = absl::StrCat(name, " = ");
  const size_t at = config.find(key);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = config.substr(at + key.size());
  int letter = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find_first_of(" ,}")), &letter)) return std::nullopt;
  return static_cast<char>(letter);
}

HloInstruction* Turned(HloInstruction* matrices) {
  return emit::Transpose(matrices, SwappedLast(matrices->shape()));
}

HloInstruction* InTriangle(HloInstruction* like, bool lower) {
  const std::vector<int64_t> sizes = emit::SizesOf(*like);
  const auto rank = static_cast<int64_t>(sizes.size());
  HloInstruction* const i = emit::Iota(like->parent(), xla::S32, sizes, rank - 2);
  HloInstruction* const j = emit::Iota(like->parent(), xla::S32, sizes, rank - 1);
  return emit::Compare(ComparisonDirection::kGe, lower ? i : j, lower ? j : i);
}

HloInstruction* NanWhereFailed(HloInstruction* factor, HloInstruction* info) {
  const std::vector<int64_t> sizes = emit::SizesOf(*factor);
  std::vector<int64_t> batch(sizes.size() - 2);
  absl::c_iota(batch, 0);
  HloInstruction* const good =
      emit::Compare(ComparisonDirection::kEq, info, emit::NumberLike(info, xla::S32, 0));
  HloInstruction* const nan = emit::Scalar(
      factor->parent(), xla::LiteralUtil::NanValue(factor->shape().element_type()).value());
  return emit::Select(emit::Broadcast(good, sizes, batch), factor, emit::Broadcast(nan, sizes, {}));
}

TriangularSolve FromLeft(TriangularSolve solve) {
  solve.left = true;
  solve.transposed = !solve.transposed;
  solve.other = Turned(solve.other);
  return solve;
}

std::optional<TriangularSolve> TriangularSolveOf(HloInstruction* root) {
  if (root->operand_count() != 2 || !root->shape().IsArray()) return std::nullopt;
  TriangularSolve solve{root->mutable_operand(0), root->mutable_operand(1)};
  if (root->opcode() == HloOpcode::kTriangularSolve) {
    const xla::TriangularSolveOptions& options = root->triangular_solve_options();
    solve.left = options.left_side();
    solve.lower = options.lower();
    solve.unit_diagonal = options.unit_diagonal();
    solve.transposed = options.transpose_a() != xla::TriangularSolveOptions::NO_TRANSPOSE;
    return solve;
  }
  if (LapackFunction(*root) != "trsm") return std::nullopt;
  const auto side = LetterOf(*root, "side"), uplo = LetterOf(*root, "uplo"),
             diagonal = LetterOf(*root, "diag"), transposed = LetterOf(*root, "trans_x");
  if (!side || !uplo || !diagonal || !transposed) return std::nullopt;
  solve.left = *side == 'L';
  solve.lower = *uplo == 'L';
  solve.unit_diagonal = *diagonal == 'U';
  solve.transposed = *transposed != 'N';
  return solve;
}

HloInstruction* SolveWith(HloInstruction* root, HloInstruction* right, bool left, bool transposed,
                          HloInstruction* matrix) {
  if (matrix == nullptr) matrix = root->mutable_operand(0);
  const bool other_way = TriangularSolveOf(root)->transposed != transposed;
  if (root->opcode() == HloOpcode::kTriangularSolve) {
    xla::TriangularSolveOptions options = root->triangular_solve_options();
    options.set_left_side(left);
    if (transposed) {
      options.set_transpose_a(other_way ? xla::TriangularSolveOptions::TRANSPOSE
                                        : xla::TriangularSolveOptions::NO_TRANSPOSE);
    }
    return root->AddInstruction(
        HloInstruction::CreateTriangularSolve(right->shape(), matrix, right, options));
  }
  const auto* const call = xla::Cast<xla::HloCustomCallInstruction>(root);
  const xla::Shape shape = ByColumns(right->shape());
  HloInstruction* const solved = root->AddInstruction(HloInstruction::CreateCustomCall(
      shape, {matrix, right}, call->custom_call_target(), {ByColumns(matrix->shape()), shape},
      /*opaque=*/"", call->api_version()));
  std::string config = call->raw_backend_config_string();
  SetLetter("side", left ? 'L' : 'R', config);
  if (transposed) SetLetter("trans_x", other_way ? 'T' : 'N', config);
  solved->set_raw_backend_config_string(std::move(config));
  xla::Cast<xla::HloCustomCallInstruction>(solved)->set_output_to_operand_aliasing(
      call->output_to_operand_aliasing());
  return solved;
}

HloInstruction* SmallMatrices(HloInstruction* root) {
  if (root->HasControlDependencies() || root->has_sharding()) return nullptr;
  if (const auto solve = TriangularSolveOf(root)) {
    return emit::Free(*root) && AreSmall(*solve->matrix, kLargestTriangle) ? Solved(*solve)
                                                                           : nullptr;
  }
  if (root->opcode() == HloOpcode::kCustomCall) return OfLapack(root);
  if (root->opcode() != HloOpcode::kCholesky || !emit::Free(*root)) return nullptr;
  return AreSmall(*root->operand(0), kLargestTriangle) ? XlasCholesky(root) : nullptr;
}

}  // namespace hone::compiler
