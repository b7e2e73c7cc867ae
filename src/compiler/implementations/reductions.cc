// Reductions in forms that XLA:CPU fuses with what makes their operand, and makes fast loops of: by
// itself it writes the operand out and adds up one element after another.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastElements = 4096;  // of the operand: less is not worth the trouble
constexpr int64_t kLeastSize = 32;        // of what is added up
constexpr int64_t kFewRows = 8;
constexpr int64_t kRowSize = 1024;
// XLA:CPU stops fusing where a producer would be repeated more often.
constexpr int64_t kSlices = 8;

// Of one operand, with a reducer that is one operation.
std::optional<HloOpcode> ReduceOperation(const HloInstruction& root) {
  if (root.opcode() != HloOpcode::kReduce || root.operand_count() != 2 || !root.shape().IsArray() ||
      root.dimensions().empty() || !emit::Free(root) ||
      xla::ShapeUtil::ElementsIn(root.operand(0)->shape()) < kLeastElements ||
      xla::primitive_util::IsComplexType(root.shape().element_type())) {
    return std::nullopt;
  }
  return emit::ReducerOpcode(*root.to_apply());
}

// The divisor of `size` that is nearest to kRowSize, by their ratio; 1 where there is none to speak
// of.
int64_t RowSize(int64_t size) {
  int64_t best = 1;
  for (int64_t row = kLeastSize; row <= std::min(size, 16 * kRowSize); ++row) {
    if (size % row != 0) continue;
    const auto off = [](int64_t n) { return std::max(n, kRowSize) * 1.0 / std::min(n, kRowSize); };
    if (best == 1 || off(row) < off(best)) best = row;
  }
  return best;
}

}  // namespace

// A sum over the last dimensions as a product with a vector of ones.
absl::StatusOr<HloInstruction*> ReduceDotOnes(HloInstruction* root) {
  if (ReduceOperation(*root) != HloOpcode::kAdd ||
      !xla::primitive_util::IsFloatingPointType(root->shape().element_type())) {
    return nullptr;
  }
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  if (type != xla::F32 && type != xla::F64) return nullptr;
  const int64_t rank = static_cast<int64_t>(root->operand(0)->shape().dimensions().size());
  const int64_t kept = rank - static_cast<int64_t>(root->dimensions().size());
  if (absl::c_any_of(root->dimensions(), [&](int64_t d) { return d < kept; })) return nullptr;
  const std::vector<int64_t> sizes = emit::SizesOf(*root);
  const int64_t rows = emit::Product(sizes);
  const int64_t size = xla::ShapeUtil::ElementsIn(root->operand(0)->shape()) / rows;
  // Few rows are made more, whose sums are few.
  const int64_t row = rows < kFewRows ? RowSize(size) : size;
  if (row < kLeastSize) return nullptr;
  std::vector<int64_t> split = sizes;
  if (row != size) split.push_back(size / row);
  const int64_t last = static_cast<int64_t>(split.size());
  split.push_back(row);
  HloInstruction* x = emit::Reshape(emit::Convert(root->mutable_operand(0), type), split);
  HloInstruction* ones = emit::Broadcast(emit::Number(root->parent(), type, 1), {row}, {});
  HloInstruction* sum = emit::Dot(x, ones, {}, {}, {last}, {0}, type, emit::HighestPrecision());
  if (row != size) {
    sum = emit::Reduce(sum, emit::Zero(root->parent(), type), {last - 1}, HloOpcode::kAdd);
  }
  return emit::Convert(emit::WithStart(sum, root->mutable_operand(1), HloOpcode::kAdd),
                       root->shape().element_type());
}

// The operand in eight slices, put together element by element, and the reduction of what comes of
// it.
absl::StatusOr<HloInstruction*> ReduceSlices(HloInstruction* root) {
  const std::optional<HloOpcode> opcode = ReduceOperation(*root);
  if (!opcode) return nullptr;
  HloInstruction* x = root->mutable_operand(0);
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  const emit::Sizes reduced = root->dimensions();
  const int64_t dimension =
      *absl::c_max_element(reduced, [&](int64_t a, int64_t b) { return sizes[a] < sizes[b]; });
  const int64_t width = sizes[dimension] / kSlices;
  if (width * kSlices < 2 * kLeastSize) return nullptr;
  const xla::PrimitiveType type = emit::WorkType(*opcode, root->shape().element_type());
  x = emit::Convert(x, type);
  const auto slice = [&](int64_t from, int64_t to) {
    return emit::SliceAlong(x, dimension, from, to);
  };
  std::vector<HloInstruction*> parts;
  for (int64_t k = 0; k < kSlices; ++k) parts.push_back(slice(k * width, (k + 1) * width));
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (size_t k = 0; 2 * k < parts.size(); ++k) {
      parts[k] = emit::Binary(*opcode, parts[2 * k], parts[2 * k + 1]);
    }
  }
  HloInstruction* start = emit::Convert(root->mutable_operand(1), type);
  HloInstruction* result = emit::Reduce(parts[0], start, reduced, *opcode);
  if (kSlices * width < sizes[dimension]) {
    HloInstruction* none = emit::Scalar(root->parent(), emit::Identity(*opcode, type));
    HloInstruction* rest =
        emit::Reduce(slice(kSlices * width, sizes[dimension]), none, root->dimensions(), *opcode);
    result = emit::Binary(*opcode, result, rest);
  }
  return emit::Convert(result, root->shape().element_type());
}

}  // namespace hone::compiler
