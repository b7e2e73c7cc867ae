#include "learn/sparse.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "core/result.h"

namespace hone::learn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsPerThread = 512;

Sparse::Rows Transpose(const Sparse::Rows& rows, int64_t columns) {
  Sparse::Rows turned;
  turned.start.assign(columns + 1, 0);
  turned.column.resize(rows.column.size());
  turned.value.resize(rows.value.size());
  for (int32_t column : rows.column) ++turned.start[column + 1];
  for (int64_t i = 0; i < columns; ++i) turned.start[i + 1] += turned.start[i];
  std::vector<int32_t> next(turned.start.begin(), turned.start.end() - 1);
  for (int32_t row = 0; row < rows.size(); ++row) {
    for (int32_t e = rows.start[row]; e < rows.start[row + 1]; ++e) {
      const int32_t place = next[rows.column[e]]++;
      turned.column[place] = row;
      turned.value[place] = rows.value[e];
    }
  }
  return turned;
}

torch::Tensor Product(const Sparse::Rows& rows, const torch::Tensor& dense) {
  const torch::Tensor in = dense.contiguous();
  const int64_t width = in.size(1);
  torch::Tensor out = torch::zeros({rows.size(), width}, in.options());
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, rows.size(), kRowsPerThread, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* sum = to + row * width;
      for (int32_t e = rows.start[row]; e < rows.start[row + 1]; ++e) {
        const float* term = from + rows.column[e] * width;
        const float value = rows.value[e];
        for (int64_t i = 0; i < width; ++i) sum[i] += value * term[i];
      }
    }
  });
  return out;
}

struct MultiplyFunction : torch::autograd::Function<MultiplyFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& dense,
                               const SparsePointer& matrix) {
    context->saved_data["matrix"] = c10::IValue::make_capsule(matrix);
    return Product(matrix->rows, dense);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder = context->saved_data["matrix"].toCapsule();
    const auto* matrix = static_cast<const Sparse*>(holder.get());
    return {Product(matrix->transposed, gradients[0]), torch::Tensor()};
  }
};

struct SegmentMaxFunction : torch::autograd::Function<SegmentMaxFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& dense,
                               const std::vector<int64_t>& start) {
    const torch::Tensor in = dense.contiguous();
    const int64_t width = in.size(1);
    const int64_t segments = static_cast<int64_t>(start.size()) - 1;
    torch::Tensor out = torch::zeros({segments, width}, in.options());
    torch::Tensor best = torch::full({segments, width}, -1, torch::kInt64);
    const float* from = in.data_ptr<float>();
    float* to = out.data_ptr<float>();
    int64_t* row_of = best.data_ptr<int64_t>();
    for (int64_t s = 0; s < segments; ++s) {
      for (int64_t row = start[s]; row < start[s + 1]; ++row) {
        for (int64_t i = 0; i < width; ++i) {
          const float value = from[row * width + i];
          if (row == start[s] || value > to[s * width + i]) {
            to[s * width + i] = value;
            row_of[s * width + i] = row;
          }
        }
      }
    }
    context->save_for_backward({best});
    context->saved_data["rows"] = in.size(0);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor best = context->get_saved_variables()[0];
    const torch::Tensor gradient = gradients[0].contiguous();
    const int64_t width = gradient.size(1);
    torch::Tensor out =
        torch::zeros({context->saved_data["rows"].toInt(), width}, gradient.options());
    const float* from = gradient.data_ptr<float>();
    const int64_t* row_of = best.data_ptr<int64_t>();
    float* to = out.data_ptr<float>();
    for (int64_t place = 0; place < gradient.numel(); ++place) {
      if (row_of[place] >= 0) to[row_of[place] * width + place % width] += from[place];
    }
    return {out, torch::Tensor()};
  }
};

}  // namespace

Sparse::Sparse(Rows by_rows, int64_t columns)
    : rows(std::move(by_rows)), transposed(Transpose(rows, columns)) {}

torch::Tensor Multiply(const SparsePointer& matrix, const torch::Tensor& dense) {
  HONE_CHECK(dense.size(0) == matrix->transposed.size());
  return MultiplyFunction::apply(dense, matrix);
}

torch::Tensor SegmentMax(const std::vector<int64_t>& start, const torch::Tensor& dense) {
  HONE_CHECK(!start.empty() && start.back() == dense.size(0));
  return SegmentMaxFunction::apply(dense, start);
}

}  // namespace hone::learn
