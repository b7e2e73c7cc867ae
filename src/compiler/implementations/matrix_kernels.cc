// LU, Cholesky and triangular solves of many small matrices as kernels of hone-loops, which take
// one matrix in each lane of a vector. XLA:CPU calls LAPACK for each matrix.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/exchanges.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/small_matrices.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// LAPACK serves few or large ones well. All of them lie in a core's cache.
constexpr int64_t kFewestMatrices = 4, kLargest = 64;

bool AreMany(const HloInstruction& x) {
  const xla::Shape& shape = x.shape();
  if (!IsArray(shape) || (shape.element_type() != xla::F32 && shape.element_type() != xla::F64)) {
    return false;
  }
  const std::vector<int64_t> sizes = emit::SizesOf(x);
  const size_t rank = sizes.size();
  if (rank < 3 || sizes[rank - 1] != sizes[rank - 2]) return false;
  const int64_t n = sizes.back(), elements = emit::Product(sizes);
  return n >= 2 && n <= kLargest && elements / (n * n) >= kFewestMatrices &&
         elements >= kLeastElements;
}

// [batch…, n, m] as [matrices, n, m].
HloInstruction* Flat(HloInstruction* x) {
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  const int64_t n = sizes[sizes.size() - 2], m = sizes.back();
  return emit::Reshape(x, {emit::Product(sizes) / (n * m), n, m});
}

std::string InputText(int number, const HloInstruction& x) {
  return absl::StrCat("input i", number, " ", TaskType(x.shape().element_type()), "[",
                      absl::StrJoin(x.shape().dimensions(), ","), "];");
}

HloInstruction* Call(absl::string_view kind, const std::vector<HloInstruction*>& inputs,
                     absl::string_view attributes, const std::vector<int64_t>& sizes) {
  std::string task(loops::kKernelTaskBegin), names;
  for (size_t k = 0; k < inputs.size(); ++k) {
    absl::StrAppend(&task, InputText(static_cast<int>(k), *inputs[k]));
    absl::StrAppend(&names, " i", k);
  }
  absl::StrAppend(&task, "v0 = ", kind, names, attributes, ";output v0;");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(inputs[0]->shape().element_type(), sizes);
  return KernelCall(inputs[0]->parent(), shape, inputs, task);
}

// What a kernel makes of matrices [batch…, n, n]: as many, and a row [batch…, n] below each.
struct Factored {
  HloInstruction* factor = nullptr;
  HloInstruction* row = nullptr;
};
Factored FactoredBy(absl::string_view kind, HloInstruction* matrices) {
  const std::vector<int64_t> sizes = emit::SizesOf(*matrices);
  HloInstruction* const flat = Flat(matrices);
  const int64_t count = flat->shape().dimensions(0), n = sizes.back();
  HloInstruction* const made = Call(kind, {flat}, /*attributes=*/"", {count, n + 1, n});
  HloInstruction* const factor = emit::Slice(made, {0, 0, 0}, {count, n, n}, {1, 1, 1});
  HloInstruction* const row = emit::Slice(made, {0, n, 0}, {count, n + 1, n}, {1, 1, 1});
  return {emit::Reshape(factor, sizes),
          emit::Reshape(row, std::vector<int64_t>(sizes.begin(), sizes.end() - 1))};
}

// LAPACK's info: the number, from 1, of the first step that failed, else 0.
HloInstruction* FirstOf(HloInstruction* failed) {
  std::vector<int64_t> sizes = emit::SizesOf(*failed);
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1, n = sizes.back();
  HloInstruction* const steps =
      emit::Binary(HloOpcode::kAdd, emit::Iota(failed->parent(), xla::S32, sizes, last),
                   emit::NumberLike(failed, xla::S32, 1));
  HloInstruction* const first =
      emit::Reduce(emit::Select(failed, steps, emit::NumberLike(failed, xla::S32, n + 1)),
                   emit::Number(failed->parent(), xla::S32, n + 1), {last}, HloOpcode::kMinimum);
  HloInstruction* const none =
      emit::Compare(ComparisonDirection::kGt, first, emit::NumberLike(first, xla::S32, n));
  return emit::Select(none, emit::NumberLike(first, xla::S32, 0), first);
}

HloInstruction* Tuple(std::vector<HloInstruction*> parts) {
  return parts[0]->parent()->AddInstruction(HloInstruction::CreateTuple(parts));
}

// (L and U, rows exchanged from 1 on, info), as LAPACK's getrf.
HloInstruction* Lu(HloInstruction* matrices) {
  const Factored lu = FactoredBy("lu", matrices);
  HloInstruction* const pivots = emit::Convert(emit::Unary(HloOpcode::kAbs, lu.row), xla::S32);
  HloInstruction* const failed =
      emit::Compare(ComparisonDirection::kLt, lu.row,
                    emit::NumberLike(lu.row, lu.row->shape().element_type(), 0));
  return Tuple({lu.factor, pivots, FirstOf(failed)});
}

struct Cholesky {
  HloInstruction* factor = nullptr;  // the upper or the lower one, zeros beside it
  HloInstruction* info = nullptr;
};
Cholesky CholeskyOf(HloInstruction* matrices, bool lower) {
  const Factored made = FactoredBy("cholesky", lower ? matrices : Turned(matrices));
  HloInstruction* const failed =
      emit::Compare(ComparisonDirection::kEq, made.row,
                    emit::NumberLike(made.row, made.row->shape().element_type(), 0));
  return {lower ? made.factor : Turned(made.factor), FirstOf(failed)};
}

// (The factor, with what is on the other side of the diagonal as it was; info), as LAPACK's potrf.
HloInstruction* LapacksCholesky(HloInstruction* matrices, bool lower) {
  const Cholesky made = CholeskyOf(matrices, lower);
  return Tuple({emit::Select(InTriangle(matrices, lower), made.factor, matrices), made.info});
}

// Zeros beside the factor; NaNs alone where the matrix is not positive definite.
HloInstruction* XlasCholesky(HloInstruction* root) {
  const Cholesky made = CholeskyOf(root->mutable_operand(0), root->cholesky_options().lower());
  return NanWhereFailed(made.factor, made.info);
}

HloInstruction* Solved(const TriangularSolve& solve) {
  if (!solve.left) return Turned(Solved(FromLeft(solve)));
  HloInstruction *const matrix = Flat(solve.matrix), *const right = Flat(solve.other);
  const std::string attributes =
      absl::StrCat(solve.lower ? " lower=1" : "", solve.transposed ? " transposed=1" : "",
                   solve.unit_diagonal ? " unit=1" : "");
  return emit::Reshape(Call("solve", {matrix, right}, attributes, emit::SizesOf(*right)),
                       emit::SizesOf(*solve.other));
}

}  // namespace

// And the permutations that LU's exchanges make.
absl::StatusOr<HloInstruction*> MatrixKernels(HloInstruction* root) {
  if (IsInOneKernel(*root->parent()) || root->HasControlDependencies() || root->has_sharding()) {
    return nullptr;
  }
  if (root->opcode() == HloOpcode::kWhile) return ExchangesCall(root);
  if (root->operand_count() == 0 || !AreMany(*root->operand(0))) return nullptr;
  if (const auto solve = TriangularSolveOf(root)) {
    const std::vector<int64_t> sizes = emit::SizesOf(*solve->other);
    const int64_t right = solve->left ? sizes.back() : sizes[sizes.size() - 2];
    return emit::Free(*root) && right <= kLargest ? Solved(*solve) : nullptr;
  }
  HloInstruction* const x = root->mutable_operand(0);
  if (root->opcode() == HloOpcode::kCholesky)
    return emit::Free(*root) ? XlasCholesky(root) : nullptr;
  const LapackFactor factor = LapackFactorOf(*root);
  if (factor == LapackFactor::kNone) return nullptr;
  if (factor == LapackFactor::kLu) return Lu(x);
  return LapacksCholesky(x, factor == LapackFactor::kLowerCholesky);
}

}  // namespace hone::compiler
