#include "compiler/run/input_roles.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using xla::ShapeIndex;

// A leaf of an instruction's result.
using Place = std::pair<const HloInstruction*, ShapeIndex>;

// The instruction behind broadcasts, reshapes and converts.
const HloInstruction* Behind(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kBroadcast ||
         instruction->opcode() == HloOpcode::kReshape ||
         instruction->opcode() == HloOpcode::kConvert ||
         instruction->opcode() == HloOpcode::kCopy) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

bool IsScalarLike(const HloInstruction* instruction) {
  const HloInstruction* source = Behind(instruction);
  return source->shape().IsArray() && xla::ShapeUtil::IsEffectiveScalar(source->shape());
}

// Of JAX's names for LAPACK: Cholesky factorisations and triangular solves.
bool WantsPositiveDefinite(absl::string_view target) {
  return absl::StartsWith(target, "lapack_") &&
         (absl::EndsWith(target, "potrf_ffi") || absl::EndsWith(target, "trsm_ffi"));
}

ShapeIndex Prepend(int64_t head, const ShapeIndex& tail) {
  ShapeIndex index = tail;
  index.push_front(head);
  return index;
}

ShapeIndex DropFront(const ShapeIndex& index) { return ShapeIndex(index.begin() + 1, index.end()); }

class RoleWalk {
 public:
  explicit RoleWalk(InputRole* role) : role_(role) {
    floating_ = xla::primitive_util::IsFloatingPointType(role->shape.element_type());
    inexact_ = floating_ || xla::primitive_util::IsComplexType(role->shape.element_type());
  }

  void Run(const HloInstruction* parameter, const ShapeIndex& index) {
    Visit(parameter, index);
    while (!pending_.empty()) {
      Place place = pending_.front();
      pending_.pop_front();
      const HloInstruction* instruction = place.first;
      if (instruction == instruction->parent()->root_instruction()) FlowToCallers(place);
      for (const HloInstruction* user : instruction->users()) {
        for (int64_t k = 0; k < user->operand_count(); ++k) {
          if (user->operand(k) == instruction) FlowToUser(place, user, k);
        }
      }
    }
  }

 private:
  void Visit(const HloInstruction* instruction, const ShapeIndex& index) {
    if (seen_.size() < kMostPlaces && seen_.emplace(instruction, index).second) {
      pending_.emplace_back(instruction, index);
    }
  }

  void FlowToCallers(const Place& place) {
    for (const HloInstruction* caller : place.first->parent()->caller_instructions()) {
      if (caller->opcode() == HloOpcode::kWhile) {
        if (caller->while_body() != place.first->parent()) continue;
        FlowIntoLoop(caller, place.second);
      } else if (caller->opcode() == HloOpcode::kCall || caller->opcode() == HloOpcode::kFusion ||
                 caller->opcode() == HloOpcode::kConditional) {
        Visit(caller, place.second);
      }
    }
  }

  void FlowIntoLoop(const HloInstruction* loop, const ShapeIndex& index) {
    Visit(loop, index);
    Visit(loop->while_body()->parameter_instruction(0), index);
    Visit(loop->while_condition()->parameter_instruction(0), index);
  }

  void Bound(int64_t bound) {
    bound = std::max<int64_t>(bound, 1);
    role_->index_bound = role_->index_bound == 0 ? bound : std::min(role_->index_bound, bound);
  }

  void FanIn(int64_t length) { role_->fan_in = std::max(role_->fan_in, length); }

  // What `user` makes of the value as its k-th operand.
  void FlowToUser(const Place& place, const HloInstruction* user, int64_t k) {
    const ShapeIndex& index = place.second;
    switch (user->opcode()) {
      case HloOpcode::kTuple:
        return Visit(user, Prepend(k, index));
      case HloOpcode::kGetTupleElement:
        if (!index.empty() && index.front() == user->tuple_index()) Visit(user, DropFront(index));
        return;
      case HloOpcode::kWhile:
        return FlowIntoLoop(user, index);
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
        return Visit(user->called_computations()[0]->parameter_instruction(k), index);
      case HloOpcode::kConditional:
        if (k > 0) Visit(user->branch_computation(k - 1)->parameter_instruction(0), index);
        return;
      case HloOpcode::kOptimizationBarrier:
      case HloOpcode::kDomain:
      case HloOpcode::kCopy:
        return Visit(user, index);
      case HloOpcode::kConvert:
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
      case HloOpcode::kBroadcast:
      case HloOpcode::kTranspose:
      case HloOpcode::kSlice:
      case HloOpcode::kReverse:
      case HloOpcode::kConcatenate:
      case HloOpcode::kMaximum:
      case HloOpcode::kMinimum:
        return Visit(user, {});
      case HloOpcode::kCustomCall:
        if (k == 0 && WantsPositiveDefinite(user->custom_call_target()))
          role_->positive_definite = inexact_;
        if (user->operand_count() == 1 && user->shape().IsArray()) Visit(user, {});
        return;
      case HloOpcode::kSort:
        return Visit(user, user->shape().IsTuple() ? ShapeIndex{k} : ShapeIndex{});
      case HloOpcode::kPad:
        if (k == 0) Visit(user, {});
        return;
      case HloOpcode::kSelect:
        if (k > 0) Visit(user, {});
        return;
      case HloOpcode::kClamp:
        if (k == 1) Visit(user, {});
        return;
      default:
        break;
    }
    FlowToIndexing(user, k);
    FlowToArithmetic(user, k);
  }

  void FlowToIndexing(const HloInstruction* user, int64_t k) {
    switch (user->opcode()) {
      case HloOpcode::kDynamicSlice:
        if (k == 0) return Visit(user, {});
        return Bound(user->operand(0)->shape().dimensions(k - 1) -
                     user->dynamic_slice_sizes()[k - 1] + 1);
      case HloOpcode::kDynamicUpdateSlice:
        if (k < 2) return Visit(user, {});
        return Bound(user->shape().dimensions(k - 2) - user->operand(1)->shape().dimensions(k - 2) +
                     1);
      case HloOpcode::kGather: {
        if (k == 0) return Visit(user, {});
        for (int64_t dimension : user->gather_dimension_numbers().start_index_map()) {
          Bound(user->operand(0)->shape().dimensions(dimension) -
                user->gather_slice_sizes()[dimension] + 1);
        }
        return;
      }
      case HloOpcode::kScatter: {
        const auto* scatter = xla::Cast<xla::HloScatterInstruction>(user);
        if (k != scatter->scatter_operand_count()) return;
        const auto& numbers = scatter->scatter_dimension_numbers();
        const xla::Shape& target = scatter->operand(0)->shape();
        for (int64_t dimension : numbers.scatter_dims_to_operand_dims()) {
          // Windows of more than one element are rare: one less than the size is always legal.
          const bool inserted = std::count(numbers.inserted_window_dims().begin(),
                                           numbers.inserted_window_dims().end(), dimension) > 0;
          Bound(inserted ? target.dimensions(dimension) : 1);
        }
        return;
      }
      case HloOpcode::kCompare: {
        const HloInstruction* other = Behind(user->operand(1 - k));
        if (!floating_ && other->opcode() == HloOpcode::kIota) {
          Bound(other->shape().dimensions(
              xla::Cast<xla::HloIotaInstruction>(other)->iota_dimension()));
        }
        return;
      }
      default:
        return;
    }
  }

  void FlowToArithmetic(const HloInstruction* user, int64_t k) {
    switch (user->opcode()) {
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract:
        // An index plus a constant is an index (of negative ones: `select(i < 0, i + n, i)`).
        if (!inexact_ || user->opcode() == HloOpcode::kAdd) {
          const bool constant = Behind(user->operand(1 - k))->opcode() == HloOpcode::kConstant;
          if (inexact_ || constant || role_->shape.element_type() == xla::U32) Visit(user, {});
        }
        return;
      case HloOpcode::kXor:
      case HloOpcode::kOr:
      case HloOpcode::kShiftLeft:
      case HloOpcode::kShiftRightLogical:
      case HloOpcode::kRngBitGenerator:
        if (xla::primitive_util::IsUnsignedIntegralType(role_->shape.element_type())) {
          role_->random_bits = true;
        }
        return;
      case HloOpcode::kMultiply:
        if (inexact_ && IsScalarLike(user->operand(1 - k))) Visit(user, {});
        return;
      case HloOpcode::kDivide:
        if (!inexact_) return;
        if (k == 1) {
          role_->positive = floating_;
        } else if (IsScalarLike(user->operand(1))) {
          Visit(user, {});
        }
        return;
      case HloOpcode::kSqrt:
      case HloOpcode::kRsqrt:
      case HloOpcode::kLog:
      case HloOpcode::kLog1p:
        role_->positive = floating_;
        return;
      case HloOpcode::kPower:
        if (k == 0) role_->positive = floating_;
        return;
      case HloOpcode::kCholesky:
        role_->positive_definite = inexact_;
        return;
      case HloOpcode::kTriangularSolve:
        if (k == 0) role_->positive_definite = inexact_;
        return;
      case HloOpcode::kDot: {
        const auto& numbers = user->dot_dimension_numbers();
        int64_t length = 1;
        for (int64_t dimension : numbers.lhs_contracting_dimensions()) {
          length *= user->operand(0)->shape().dimensions(dimension);
        }
        return FanIn(length);
      }
      case HloOpcode::kConvolution: {
        const auto& numbers = user->convolution_dimension_numbers();
        const xla::Shape& kernel = user->operand(1)->shape();
        int64_t length = kernel.dimensions(numbers.kernel_input_feature_dimension());
        for (int64_t dimension : numbers.kernel_spatial_dimensions()) {
          length *= kernel.dimensions(dimension);
        }
        return FanIn(length);
      }
      default:
        return;
    }
  }

  static constexpr size_t kMostPlaces = 20000;

  InputRole* role_;
  bool floating_ = false;
  bool inexact_ = false;  // or complex
  std::set<Place> seen_;
  std::deque<Place> pending_;
};

}  // namespace

std::vector<InputRole> FindInputRoles(const xla::HloModule& module) {
  std::vector<InputRole> roles;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    xla::ShapeUtil::ForEachLeafShape(parameter->shape(),
                                     [&](const xla::Shape& leaf, const ShapeIndex& index) {
                                       InputRole role;
                                       role.shape = leaf;
                                       role.shape.clear_layout();
                                       RoleWalk(&role).Run(parameter, index);
                                       roles.push_back(std::move(role));
                                     });
  }
  return roles;
}

InputRole FindConstantRole(const HloInstruction& constant) {
  InputRole role;
  role.shape = constant.shape();
  role.shape.clear_layout();
  RoleWalk(&role).Run(&constant, {});
  return role;
}

}  // namespace hone::compiler
