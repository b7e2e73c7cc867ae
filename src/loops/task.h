// A task: a kernel, or a small neighbourhood of one, as named operations over row-major tensors.
//
// Its text form is the file format, a line each:
//
//   task linear
//   input x f32[256,512]
//   input w f32[512,1024]
//   input b f32[1024]
//   y = matmul x w
//   z = add y b
//   r = relu z
//   output r
//
// Element types are the rows of core/kernel_elements.h: f32, f64 and s32; inputs may be narrow, as
// bf16, s8 or pred (1 and 0), which are f32 for what takes them, widened where they are read.
// What is f32_as_bf16 is f32 that is rounded to bf16 where it is read. Outputs may be bf16 or f16:
// `y = to_bf16 x`.
//
// Names are a letter and then letters, digits and underscores. A name is defined once and before it
// is used. '#' begins a comment.
//
// `NAME := KIND OPERANDS` is a definition: it is computed anew wherever an element of it is needed,
// as part of what needs it, and never stored. Of elementwise operations, broadcasts, constants,
// slices and transposes, for elementwise operations and reductions; of scores, for what attends by
// them; of products and convolutions (also depthwise ones), for elementwise operations alike in
// shape, which are then done while an element is in a register.
#ifndef HONE_LOOPS_TASK_H_
#define HONE_LOOPS_TASK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fingerprint.h"
#include "core/kernel_elements.h"
#include "core/result.h"

namespace hone::loops {

// What an operation rounds to: to_bf16, to_f16. Nothing of others.
std::optional<Element> RoundedTo(std::string_view kind);

struct Tensor {
  std::string name;
  Element element = Element::kF32;
  std::vector<int64_t> shape;

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * InfoOf(element).bytes; }
};

// What operations there are. Shapes in capitals; an attribute's default in parentheses.
//   matmul a[M,K] b[K,N]; batch_matmul a[B,M,K] b[B,K,N]
//   conv2d x[N,C,H,W] w[F,C,KH,KW] strides=SH,SW (1,1) dilations=DH,DW (1,1): valid, no padding
//   pool_max, pool_sum x[N,C,H,W] window=KH,KW strides=SH,SW (1,1)
//   add, subtract, multiply, divide, maximum, minimum a b: b may have fewer leading dimensions
//   equal, not_equal, less, less_equal a b: likewise, 1 where it is so, else 0
//   relu, exp, expm1, log, log1p, tanh, sqrt, rsqrt, negate, abs, logistic a
//   select c a b, alike in shape: a where c is not 0, else b
//   constant a value=V: as `a` in shape, each element V; always a definition
//   broadcast x sizes=A,B,C dimensions=I,J: dimension d of x is dimension dimensions[d] of the
//     result; x[1] without dimensions= is everywhere
//   slice x starts=A,B sizes=C,D: always a definition, of an input
//   reduce_sum, reduce_max x axes=I,J: of all dimensions, the result is [1]
//   running_sum, running_max, running_product x[A,N] or x[A,N,B] reverse=1 (0): along N, from its
//     end on if reversed
//   sort x[A,N]: along N, ascending, in IEEE 754's total order (-0 before 0); argsort x[A,N]: the
//     places along N, s32, that the elements of sort's result have in x; what is equal stays in
//     order
//   lu x[A,N,N]: [A,N+1,N], L, of which the diagonal is 1, and U in one; in the last row the row,
//     from 1 on, that row k was exchanged with in step k, the first of the largest; negative where
//     that is 0
//   cholesky x[A,N,N]: [A,N+1,N], the lower factor, of the lower triangle, with zeros above it; in
//     the last row 1, or 0 where the matrix is not positive definite in step k: NaN from there on
//   exchanges x[A,N,1]: of 0 to N-1, with elements k and x[k] exchanged for k = 0, 1 and so on; an
//     x[k] that is none reads the nearest and writes nothing
//   solve a[A,N,N] b[A,N,M] lower=1 (0) unit=1 (0) transposed=1 (0): op(a) y = b, with a triangle
//     of a, the lower or the upper one, its diagonal 1 if unit
//   transpose x permutation=I,J: dimension d of the result is dimension permutation[d] of x
//   softmax x: over the last dimension
//   layer_norm x gain[N] bias[N]: over the last dimension, epsilon 1e-5
//   attention q[B,H,S,D] k[B,H,T,D] v[B,H,T,E]: softmax(q kT / sqrt(D)) v
//   scores q[...,S,D] k[...,T,D]: q kT, [...,S,T]; always a definition, of stored tensors or
//     their transposes and broadcasts; what is computed of it is elementwise, and for one `attend`
//     only
//   product a[...,M,K] b[...,K,N] permutation=I,J: the result [...,M,N] with dimension d that of
//     number permutation[d], the last one N; of stored tensors or their transposes and broadcasts
//   convolve x[N,S...,C] w[K...,C,F] sizes=O... strides=... (1) dilations=... (1) pads=... (0)
//     permutation=I,J: the result [N,O...,F], permuted like a product's; at position o it has the
//     sum over k and c of x[n, o * stride + k * dilation - pad, c] w[k, c, f], 0 outside of x, with
//     a dilation below 0 where the kernel lies the other way round; of one to three spatial
//     dimensions; of stored tensors or their transposes
//   depthwise x[N,S...,C] w[K...,C] sizes=O... strides=... (1) dilations=... (1) pads=... (0): a
//     convolution of each feature by itself, [N,O...,C]; at position o it has the sum over k of
//     x[n, o * stride + k * dilation - pad, c] w[k, c]; of a stored tensor, and a second one or its
//     transpose
//   attend u[...,S,T] v[...,T,E] until=N permutation=I,J: softmax(u) v, with u a definition that
//     takes scores; row s sees the columns up to s + N, all of them without until=; dimension d of
//     the result is dimension permutation[d] of [...,S,E]
struct Operation {
  std::string kind;
  std::vector<int> operands;  // indices of tensors
  int result = -1;
  std::map<std::string, std::vector<int64_t>> attributes;
  double value = 0;         // of a constant
  bool definition = false;  // `:=`

  // The attribute, or so many times `other`.
  std::vector<int64_t> Get(const std::string& name, size_t count, int64_t other) const;
};

struct Task {
  std::string name;
  std::vector<Tensor> tensors;  // inputs first, then results in the order of the operations
  int inputs = 0;               // how many
  std::vector<Operation> operations;
  std::vector<int> outputs;  // indices of tensors; results of operations

  bool Defines(int tensor) const {  // `:=`
    return tensor >= inputs && operations[static_cast<size_t>(tensor - inputs)].definition;
  }
};

// Errors: what the text says that is not so, with the line.
StatusOr<Task> ParseTask(std::string_view text);
// The normal form: attributes in alphabetical order, defaults left out.
std::string TaskText(const Task& task);
// Of the normal form without the task's name and with tensors numbered.
Fingerprint FingerprintOf(const Task& task);

// Multiplications, additions and the like that its operations take.
double Flops(const Task& task);
// Of inputs and outputs.
double Bytes(const Task& task);
// Of these and of results that are stored on the way.
double StoredBytes(const Task& task);

// Names of the kinds of operations.
const std::vector<std::string>& OperationKinds();
bool IsUnary(std::string_view kind);
bool IsBinary(std::string_view kind);
bool IsRunning(std::string_view kind);
bool Sorts(std::string_view kind);
bool IsFactor(std::string_view kind);  // lu, cholesky, solve, exchanges
// Whether each element of the result is of one element of each operand.
bool IsPointwise(std::string_view kind);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TASK_H_
