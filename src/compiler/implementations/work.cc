#include "compiler/implementations/work.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostBytesWithin = int64_t{1} << 28;  // of an array
constexpr double kLoopWork = 1e6;                       // a loop's, or LAPACK's, whatever they do
constexpr char kLapack[] = "lapack_";                   // what its calls' names begin with

bool HasConstantParts(const xla::Shape& shape) {
  bool all = true;
  xla::ShapeUtil::ForEachSubshape(shape, [&](const xla::Shape& part, const xla::ShapeIndex&) {
    all = all && (part.IsTuple() || (part.IsArray() && part.is_static()));
  });
  return all && xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*)) <= kMostBytesWithin;
}

bool ArePure(const HloInstruction& caller) {
  return absl::c_all_of(caller.called_computations(), [](const xla::HloComputation* called) {
    return absl::c_all_of(called->instructions(), [](const HloInstruction* inner) {
      return inner->opcode() == HloOpcode::kParameter || IsPure(*inner);
    });
  });
}

}  // namespace

bool IsPure(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kCall:
    case HloOpcode::kCholesky:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConditional:
    case HloOpcode::kConstant:
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kFft:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kIota:
    case HloOpcode::kMap:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kSort:
    case HloOpcode::kTopK:
    case HloOpcode::kTranspose:
    case HloOpcode::kTriangularSolve:
    case HloOpcode::kTuple:
    case HloOpcode::kWhile:
      break;
    case HloOpcode::kCustomCall:
      if (one.custom_call_target().rfind(kLapack, 0) != 0) return false;
      break;
    default:
      if (!one.IsElementwise() || one.opcode() == HloOpcode::kRng) return false;
  }
  return !one.HasSideEffectNoRecurse() && !one.has_sharding() &&
         one.control_predecessors().empty() && HasConstantParts(one.shape()) && ArePure(one);
}

double MostElements(const xla::Shape& shape) {
  int64_t most = 0;
  xla::ShapeUtil::ForEachLeafShape(shape, [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    if (leaf.IsArray()) most = std::max(most, xla::ShapeUtil::ElementsIn(leaf));
  });
  return static_cast<double>(most);
}

double WorkOf(const HloInstruction& one) {
  const double elements = MostElements(one.shape());
  const double taken = one.operand_count() > 0 ? MostElements(one.operand(0)->shape()) : 0;
  switch (one.opcode()) {
    case HloOpcode::kCall:
    case HloOpcode::kCholesky:
    case HloOpcode::kConditional:
    case HloOpcode::kCustomCall:
    case HloOpcode::kTriangularSolve:
    case HloOpcode::kWhile:
      return std::max(kLoopWork, 16 * (elements + taken));
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kFft:
    case HloOpcode::kReduceWindow:
      return 16 * (elements + taken);
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kScatter:
    case HloOpcode::kSort:
    case HloOpcode::kTopK:
      return 32 * (taken + elements);
    case HloOpcode::kReduce:
      return taken;
    case HloOpcode::kGather:
      return 16 * elements;
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
    case HloOpcode::kRsqrt:
    case HloOpcode::kSqrt:
      return 4 * elements;
    default:
      if (IsFunction(one.opcode())) return 16 * elements;
      return one.IsElementwise() ? elements : 0;
  }
}

}  // namespace hone::compiler
