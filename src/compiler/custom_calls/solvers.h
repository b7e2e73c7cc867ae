// Handlers of the custom calls that solve and factor: see lapack_calls.cc for their names.
#ifndef HONE_COMPILER_CUSTOM_CALLS_SOLVERS_H_
#define HONE_COMPILER_CUSTOM_CALLS_SOLVERS_H_

#include "compiler/custom_calls/call.h"

namespace hone::compiler {

// Instantiated for float, double and both complex types. Each says what its operands (in) and
// results (out) are; n is the order of a square matrix, info LAPACK's own verdict for each matrix.

// Triangular systems. in: a n x n, b; attributes side, uplo, trans_x, diag. out: x as b.
template <class T>
void Trsm(Call& call);
// LU with row exchanges. in: a m x n. out: both factors, pivots min(m, n), info.
template <class T>
void Getrf(Call& call);
// QR. in: a m x n. out: R and reflectors, tau min(m, n).
template <class T>
void Geqrf(Call& call);
// QR with column exchanges. in: a m x n, pivots n. out: as Geqrf's, pivots in the middle.
template <class T>
void Geqp3(Call& call);
// Q out of its reflectors. in: reflectors m x n, tau k. out: Q m x n.
template <class T>
void Orgqr(Call& call);
// A product with Q. in: reflectors, tau, c m x n; attributes left, transpose. out: the product as
// c.
template <class T>
void Ormqr(Call& call);
// Cholesky. in: a n x n; attribute uplo. out: the factor (and a's other triangle), info.
template <class T>
void Potrf(Call& call);
// Tridiagonal systems. in: the three diagonals (the lower one from its second element), b. out:
// what became of them, x as b, info.
template <class T>
void Gtsv(Call& call);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_SOLVERS_H_
