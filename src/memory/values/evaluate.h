// The operators' arithmetic, box by box, for the simulator.
//
// Everything works in the coordinates of whole tensors, so a tile is computed by the same loops as
// the whole: only the box of results differs. Reading outside of an operand's box is a broken
// invariant: the boxes come from memory/access.h.
#ifndef HONE_MEMORY_VALUES_EVALUATE_H_
#define HONE_MEMORY_VALUES_EVALUATE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "memory/network.h"

namespace hone::memory {

// A box of a tensor, wherever that is kept.
using ReadTensor = std::function<Array(TensorId, const Box&)>;

// A box of an expression.
Array Materialise(const Network& network, ExprId expr, const Box& box, const ReadTensor& read);

// A function that sees each result of an operator before it is read.
using ChangeResult = std::function<void(const Op&, Array&)>;

// The boxes `out` of an operator's results; operand k holds (at least) OperandBox of it. `change`,
// if any, is for operators in its loops and branches; its own results are the caller's to change.
// Errors: kUnsupported for operators and types without arithmetic here, naming them; kDeadline
// where an EvaluationLimit is over.
StatusOr<std::vector<Array>> EvaluateOp(const Network& network, const Op& op,
                                        const std::vector<Array>& operands,
                                        const std::vector<Box>& out,
                                        const ChangeResult& change = nullptr);

// Whether every operator is one that can be computed, as far as opcodes and types say; at once,
// without computing anything. Errors: as EvaluateOp's.
Status CanEvaluate(const Network& network);

StatusOr<Array> EvaluateElementwise(const Op& op, const std::vector<Array>& operands,
                                    ElementType type, const Box& out);
StatusOr<Array> EvaluateDot(const Op& op, const Array& lhs, const Array& rhs, ElementType type,
                            const Box& out);
StatusOr<Array> EvaluateConvolution(const Op& op, const Array& lhs,
                                    const std::vector<int64_t>& lhs_dimensions, const Array& rhs,
                                    const std::vector<int64_t>& rhs_dimensions, ElementType type,
                                    const Box& out);
// reduce, reduce-window, select-and-scatter
StatusOr<std::vector<Array>> EvaluateWindowed(const Network& network, const Op& op,
                                              const std::vector<Array>& operands,
                                              const std::vector<Box>& out);
// gather, scatter, sort, topk, dynamic-slice, dynamic-update-slice, while, conditional
StatusOr<std::vector<Array>> EvaluateIrregular(const Network& network, const Op& op,
                                               const std::vector<Array>& operands,
                                               const std::vector<Box>& out,
                                               const ChangeResult& change);
// fft, cholesky, triangular-solve, batch-norm-…
StatusOr<std::vector<Array>> EvaluateLinearAlgebra(const Network& network, const Op& op,
                                                   const std::vector<Array>& operands,
                                                   const std::vector<Box>& out);

// All outputs, each a whole array; `leaves` has the values of parameters and large constants.
// `change`, if any, is done to every result, those within loops and branches too.
StatusOr<std::vector<Array>> EvaluateNetwork(const Network& network, const ReadTensor& leaves,
                                             const ChangeResult& change = nullptr);

// While it lives, it notices reductions that this thread evaluates, in loops and branches too,
// whose result depends on how often their initial value is taken: XLA leaves that open. One at a
// time.
class InitialValueWatch {
 public:
  InitialValueWatch();
  ~InitialValueWatch();
  InitialValueWatch(const InitialValueWatch&) = delete;
  InitialValueWatch& operator=(const InitialValueWatch&) = delete;

  // The name of the first since the last call; empty where there was none.
  std::string Noticed() { return std::exchange(noticed_, {}); }
  void Notice(const std::string& name) {
    if (noticed_.empty()) noticed_ = name;
  }

 private:
  std::string noticed_;
};

// While it lives, what this thread evaluates or simulates asks `over` now and then, and ends with
// kDeadline once that is true. One at a time.
class EvaluationLimit {
 public:
  explicit EvaluationLimit(std::function<bool()> over);
  ~EvaluationLimit();
  EvaluationLimit(const EvaluationLimit&) = delete;
  EvaluationLimit& operator=(const EvaluationLimit&) = delete;

  // What is returned where it is over; fine where this thread has no limit.
  static Status Check();

 private:
  std::function<bool()> over_;
};

// A computation of scalars, applied to many at once: each argument has as many elements as the
// first.
StatusOr<std::vector<Array>> EvaluateLanes(const Network& body,
                                           const std::vector<Array>& arguments);

tl::unexpected<Error> NoArithmetic(const Op& op, const std::string& why = "");

}  // namespace hone::memory

#endif  // HONE_MEMORY_VALUES_EVALUATE_H_
