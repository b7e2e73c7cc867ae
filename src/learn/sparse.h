// Sums and maxima over rows of a tensor, with gradients: what message passing needs of a batch of
// graphs. On the CPU; the same bits for any number of threads.
#ifndef HONE_LEARN_SPARSE_H_
#define HONE_LEARN_SPARSE_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace hone::learn {

// A constant sparse matrix, by rows and, for the gradient, by columns.
struct Sparse : torch::CustomClassHolder {
  struct Rows {
    std::vector<int32_t> start = {0};  // [rows + 1] into the others
    std::vector<int32_t> column;
    std::vector<float> value;

    int64_t size() const { return static_cast<int64_t>(start.size()) - 1; }
  };

  Sparse(Rows rows, int64_t columns);

  const Rows rows;
  const Rows transposed;
};
using SparsePointer = c10::intrusive_ptr<Sparse>;

// matrix [R, C] times dense [C, W] float32, to [R, W].
torch::Tensor Multiply(const SparsePointer& matrix, const torch::Tensor& dense);

// Elementwise maxima of rows start[i] to start[i + 1] - 1 of `dense` [N, W] float32, to
// [start.size() - 1, W]; 0 of no rows. The gradient goes to the first of equals.
torch::Tensor SegmentMax(const std::vector<int64_t>& start, const torch::Tensor& dense);

}  // namespace hone::learn

#endif  // HONE_LEARN_SPARSE_H_
