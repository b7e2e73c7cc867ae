// Writes into one place of an array, x.at[i, j].set(y) or .add(y), without a scatter, which
// XLA:CPU makes a loop of and no loop that is one kernel (loops.cc) may have.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// Where an update of one place begins in each dimension, and how far it goes.
struct Window {
  std::vector<HloInstruction*> starts;  // scalars
  std::vector<int64_t> sizes;
  HloInstruction* inside = nullptr;  // whether all of it lies in the array
};

// Nothing where there are several places.
std::optional<Window> WindowOf(HloInstruction* scatter) {
  const xla::ScatterDimensionNumbers& numbers = scatter->scatter_dimension_numbers();
  const xla::Shape& shape = scatter->operand(0)->shape();
  HloInstruction* const indices = scatter->mutable_operand(1);
  const int components = numbers.scatter_dims_to_operand_dims_size();
  if (components == 0 || emit::Product(emit::SizesOf(*indices)) != components ||
      numbers.input_batching_dims_size() > 0) {
    return std::nullopt;
  }
  const xla::PrimitiveType type = indices->shape().element_type();
  HloInstruction* const flat = emit::Reshape(indices, {components});
  Window window;
  window.starts.assign(shape.dimensions().size(), emit::Number(scatter->parent(), type, 0));
  int next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.dimensions().size()); ++d) {
    const bool inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    window.sizes.push_back(
        inserted ? 1 : scatter->operand(2)->shape().dimensions(numbers.update_window_dims(next++)));
  }
  for (int k = 0; k < components; ++k) {
    const int64_t d = numbers.scatter_dims_to_operand_dims(k);
    HloInstruction* const start = emit::Reshape(emit::SliceAlong(flat, 0, k, k + 1), {});
    window.starts[d] = start;
    // Indices of few bits may not reach as far.
    const int64_t last = std::min(shape.dimensions(d) - window.sizes[d], emit::LargestOf(type));
    HloInstruction* inside =
        emit::Compare(ComparisonDirection::kLe, start, emit::Number(scatter->parent(), type, last));
    if (xla::primitive_util::IsSignedIntegralType(type)) {
      inside = emit::Binary(
          HloOpcode::kAnd, inside,
          emit::Compare(ComparisonDirection::kGe, start, emit::Number(scatter->parent(), type, 0)));
    }
    window.inside =
        window.inside == nullptr ? inside : emit::Binary(HloOpcode::kAnd, window.inside, inside);
  }
  return window;
}

}  // namespace

// What would go over the array's edge is not written: its clamped place keeps what it has.
absl::StatusOr<HloInstruction*> OnePlace(HloInstruction* root) {
  if (!emit::Free(*root) || root->operand_count() != 3 ||
      xla::ShapeUtil::IsZeroElementArray(root->shape()) ||
      xla::ShapeUtil::IsZeroElementArray(root->operand(2)->shape())) {
    return nullptr;
  }
  const bool replaces = emit::Replaces(*root->to_apply());
  const std::optional<HloOpcode> opcode = emit::ReducerOpcode(*root->to_apply());
  if (!replaces && !opcode) return nullptr;
  HloInstruction* const x = root->mutable_operand(0);
  const std::optional<Window> window = WindowOf(root);
  if (!window) return nullptr;
  HloInstruction* const before = emit::DynamicSlice(x, window->starts, window->sizes);
  HloInstruction* const update = emit::Reshape(root->mutable_operand(2), window->sizes);
  HloInstruction* const after = replaces ? update : emit::Binary(*opcode, before, update);
  HloInstruction* const written =
      emit::Select(emit::Broadcast(window->inside, window->sizes, {}), after, before);
  return emit::DynamicUpdateSlice(x, written, window->starts);
}

}  // namespace hone::compiler
