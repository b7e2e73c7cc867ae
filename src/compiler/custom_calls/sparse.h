// Handlers of the custom calls for sparse systems and matrices.
#ifndef HONE_COMPILER_CUSTOM_CALLS_SPARSE_H_
#define HONE_COMPILER_CUSTOM_CALLS_SPARSE_H_

#include "xla/ffi/api/ffi.h"

namespace hone::compiler {

// Tridiagonal systems that may be singular, as they come up in inverse iteration: elimination with
// row exchanges chosen by the rows' sizes; a pivot too small to divide by is moved away from zero
// by a multiple of the largest element's rounding error (LAPACK's xLAGTF and xLAGTS with a negative
// JOB). in: the lower (from its second element), the middle and the upper diagonal, b n x m. out: x
// as b.
xla::ffi::Error SolvePerturbedTridiagonal(const xla::ffi::RemainingArgs& operands,
                                          const xla::ffi::RemainingRets& results,
                                          const xla::ffi::Dictionary& attributes);

// A sparse matrix (values, where each row begins, columns), its rows compressed, times a dense
// matrix or vector, both row by row.
xla::ffi::Error MultiplyCompressedRows(const xla::ffi::RemainingArgs& operands,
                                       const xla::ffi::RemainingRets& results,
                                       const xla::ffi::Dictionary& attributes);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_SPARSE_H_
