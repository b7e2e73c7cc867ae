// Handlers of the custom calls that decompose: see lapack_calls.cc for their names.
#ifndef HONE_COMPILER_CUSTOM_CALLS_DECOMPOSITIONS_H_
#define HONE_COMPILER_CUSTOM_CALLS_DECOMPOSITIONS_H_

#include "compiler/custom_calls/call.h"

namespace hone::compiler {

// Instantiated for float, double and both complex types. Results that LAPACK leaves untouched are
// zeros. in: a, square but for singular values. out: in this order, with info, LAPACK's own
// verdict, last.

// Singular values by divide and conquer, and by QR steps. Attribute mode: A(ll), S(ome) or N(one)
// of U and V*. out: scratch as a, values, U, V*, info.
template <class T>
void Gesdd(Call& call);
template <class T>
void Gesvd(Call& call);
// Eigenvalues of symmetric or Hermitian matrices. Attributes uplo and mode (V: vectors too, or N).
// out: vectors, values, info.
template <class T>
void Syevd(Call& call);
// Eigenvalues of general ones. Attributes compute_left and compute_right (V or N). out: values (of
// real matrices first all real parts, then all imaginary ones), left vectors, right vectors, info.
template <class T>
void Geev(Call& call);
// Schur form. Attributes mode (V or N) and sort (only N). out: the form, vectors, values as Geev's,
// how many were selected, info.
template <class T>
void Gees(Call& call);
// Hessenberg form. Attributes low and high. out: the form and reflectors, tau n - 1, info.
template <class T>
void Gehrd(Call& call);
// Tridiagonal form of symmetric or Hermitian matrices. Attribute uplo. out: reflectors, diagonal,
// off-diagonal, tau, info.
template <class T>
void Sytrd(Call& call);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_DECOMPOSITIONS_H_
