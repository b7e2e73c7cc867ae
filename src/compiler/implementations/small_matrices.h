// Linear algebra of small matrices, written out element by element over the batch.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SMALL_MATRICES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SMALL_MATRICES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// "trsm" of a call of "lapack_strsm_ffi"; empty of other instructions.
absl::string_view LapackFunction(const xla::HloInstruction& call);
// A decomposition of matrices [batch…, n, m] by such a call, ?getrf or ?potrf, that returns what
// those do.
enum class LapackFactor { kNone, kLu, kLowerCholesky, kUpperCholesky };
LapackFactor LapackFactorOf(const xla::HloInstruction& call);
// An attribute of such a call, as in {side = 76 : ui8}: a letter. Nothing where there is none.
std::optional<char> LetterOf(const xla::HloInstruction& call, absl::string_view name);

// Matrices [batch…, n, m] as [batch…, m, n].
xla::HloInstruction* Turned(xla::HloInstruction* matrices);

// Of arrays like it, what lies on the diagonal or in that triangle.
xla::HloInstruction* InTriangle(xla::HloInstruction* like, bool lower);
// NaNs in place of the factors [batch…, n, n] of matrices for which LAPACK's info [batch…] is not
// 0.
xla::HloInstruction* NanWhereFailed(xla::HloInstruction* factor, xla::HloInstruction* info);

// A triangular solve, XLA's own or LAPACK's: op(matrix) x = other, or x op(matrix) = other.
struct TriangularSolve {
  xla::HloInstruction* matrix = nullptr;  // [batch…, n, n]
  xla::HloInstruction* other = nullptr;   // [batch…, n, m], or [batch…, m, n]
  bool left = true, lower = false, unit_diagonal = false, transposed = false;
};
// Nothing where `root` is something else.
std::optional<TriangularSolve> TriangularSolveOf(xla::HloInstruction* root);
// Of a solve from the right: x A = b is A' x' = b'. What solves it is the wanted one, Turned.
TriangularSolve FromLeft(TriangularSolve solve);
// The same kind of solve with the same matrix, of another side and another right side, [batch…, n,
// k] from the left, [batch…, k, n] from the right. `transposed`: with the transposed of the matrix
// that `root` solves with, of real numbers. `matrix`: this one in place of root's.
xla::HloInstruction* SolveWith(xla::HloInstruction* root, xla::HloInstruction* right, bool left,
                               bool transposed, xla::HloInstruction* matrix = nullptr);

// Of a triangular solve or a Cholesky decomposition, XLA's own or LAPACK's (?trsm, ?potrf), or an
// LU decomposition of LAPACK's (?getrf), in f32 or f64: the same values, made by the textbook's
// steps. Where a matrix is not positive definite the Cholesky factor is NaN from there on. Null
// where `root` is something else, or too large.
xla::HloInstruction* SmallMatrices(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SMALL_MATRICES_H_
