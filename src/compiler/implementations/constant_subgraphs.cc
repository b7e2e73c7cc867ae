// What follows from constants and counters alone, by more work than reading it takes: places of
// triangles and of true elements, windows, tables of angles, random numbers of a fixed key. JAX
// traces them with the program, and XLA's constant folding takes no counters, no loops, and nothing
// that it holds for dear. They are compiled and run here, once, and become constants.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/fingerprint.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/run/execute.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostBytes = int64_t{1} << 22;        // of a constant
constexpr int64_t kMostBytesWithin = int64_t{1} << 28;  // of what it is made of, each
constexpr size_t kMostMadeFrom = 2000;
// Operations for each byte of what they make, which has to be read: fewer are done as fast again.
constexpr double kLeastWorkPerByte = 4;
constexpr double kLeastFolded = 1000;  // in all
constexpr double kLoopWork = 1e6;      // a loop's, or LAPACK's, whatever they do
constexpr char kLapack[] = "lapack_";  // what its calls' names begin with

bool HasConstantParts(const xla::Shape& shape) {
  bool all = true;
  xla::ShapeUtil::ForEachSubshape(shape, [&](const xla::Shape& part, const xla::ShapeIndex&) {
    all = all && (part.IsTuple() || (part.IsArray() && part.is_static()));
  });
  return all && xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*)) <= kMostBytesWithin;
}

// Whether its value follows from its operands', wherever and however often it is computed.
bool IsPure(const HloInstruction& one);

bool ArePure(const HloInstruction& caller) {
  return absl::c_all_of(caller.called_computations(), [](const xla::HloComputation* called) {
    return absl::c_all_of(called->instructions(), [](const HloInstruction* inner) {
      return inner->opcode() == HloOpcode::kParameter || IsPure(*inner);
    });
  });
}

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

// Of a tuple the most of one part.
double ElementsOf(const xla::Shape& shape) {
  int64_t most = 0;
  xla::ShapeUtil::ForEachLeafShape(shape, [&](const xla::Shape& leaf, const xla::ShapeIndex&) {
    if (leaf.IsArray()) most = std::max(most, xla::ShapeUtil::ElementsIn(leaf));
  });
  return static_cast<double>(most);
}

// Operations, about. What only moves elements is fused with what takes them.
double WorkOf(const HloInstruction& one) {
  const double elements = ElementsOf(one.shape());
  const double taken = one.operand_count() > 0 ? ElementsOf(one.operand(0)->shape()) : 0;
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

bool IsDear(const HloInstruction& one) {
  return WorkOf(one) >=
         kLeastWorkPerByte * static_cast<double>(xla::ShapeUtil::ByteSizeOf(one.shape(), 8));
}

// What an array is computed from, operands before users; empty where that is not known.
std::vector<const HloInstruction*> MadeFrom(const HloInstruction& array) {
  std::vector<const HloInstruction*> order, left = {&array};
  absl::flat_hash_set<const HloInstruction*> seen, placed;
  const auto is_known = [](const HloInstruction* one) {
    return one->opcode() != HloOpcode::kParameter && IsPure(*one);
  };
  if (!is_known(&array)) return {};
  while (!left.empty()) {
    const HloInstruction* const one = left.back();
    if (seen.insert(one).second) {
      if (seen.size() > kMostMadeFrom || !absl::c_all_of(one->operands(), is_known)) return {};
      for (const HloInstruction* operand : one->operands()) {
        if (!seen.contains(operand)) left.push_back(operand);
      }
      continue;
    }
    left.pop_back();
    if (placed.insert(one).second) order.push_back(one);
  }
  return order;
}

// The most elements of what is dear, on the way here by what is not.
double MostDear(const HloInstruction& one) {
  double most = 0;
  std::vector<const HloInstruction*> left = {&one};
  absl::flat_hash_set<const HloInstruction*> seen = {&one};
  while (!left.empty()) {
    const HloInstruction* const at = left.back();
    left.pop_back();
    if (IsDear(*at)) {
      most = std::max(most, ElementsOf(at->shape()));
      continue;
    }
    for (const HloInstruction* operand : at->operands()) {
      if (seen.insert(operand).second) left.push_back(operand);
    }
  }
  return most;
}

// What it is made of; empty where it is not to be a constant. What is made cheaply of fewer
// constants is left to the kernels that take it.
std::vector<const HloInstruction*> WorthIt(const HloInstruction& one) {
  if (!IsArray(one.shape()) || one.opcode() == HloOpcode::kConstant ||
      one.opcode() == HloOpcode::kBroadcast ||
      xla::ShapeUtil::ByteSizeOf(one.shape()) > kMostBytes) {
    return {};
  }
  std::vector<const HloInstruction*> made_from = MadeFrom(one);
  double work = 0;
  for (const HloInstruction* part : made_from) work += WorkOf(*part);
  if (work < kLeastFolded || ElementsOf(one.shape()) > MostDear(one)) return {};
  return made_from;
}

// The values of programs without parameters that were run here before: a pass meets the same ones
// again and again.
class Values {
 public:
  static Values& Get() {
    static Values* const values = new Values;
    return *values;
  }
  std::shared_ptr<const xla::Literal> Find(const Fingerprint& program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.program == program) return entry.value;
    }
    return nullptr;
  }
  void Keep(const Fingerprint& program, std::shared_ptr<const xla::Literal> value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_front({program, std::move(value)});
    if (entries_.size() > kMostKept) entries_.pop_back();
  }

 private:
  static constexpr size_t kMostKept = 128;
  struct Entry {
    Fingerprint program;
    std::shared_ptr<const xla::Literal> value;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

std::unique_ptr<xla::HloModule> ProgramOf(const std::vector<const HloInstruction*>& made_from) {
  auto module = std::make_unique<xla::HloModule>("constants", xla::HloModuleConfig());
  xla::HloCloneContext context(module.get());
  xla::HloComputation::Builder builder("entry");
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* one : made_from) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : one->operands()) operands.push_back(copies.at(operand));
    copies[one] =
        builder.AddInstruction(one->CloneWithNewOperands(one->shape(), operands, &context));
  }
  module->AddEntryComputationWithLayouts(builder.Build(copies.at(made_from.back())));
  return module;
}

std::shared_ptr<const xla::Literal> ValueOf(const std::vector<const HloInstruction*>& made_from) {
  const std::unique_ptr<xla::HloModule> module = ProgramOf(made_from);
  const Fingerprint fingerprint = DigestModule(*module).fingerprint;
  if (auto known = Values::Get().Find(fingerprint)) return known;
  const absl::StatusOr<Program> program = Program::Compile(*module, CodeQuality::kStock);
  if (!program.ok()) return nullptr;
  const absl::StatusOr<verify::Outputs> outputs = program->Run({});
  if (!outputs.ok() || outputs->arrays.size() != 1) return nullptr;
  const verify::ArrayView& array = outputs->arrays.front();
  const xla::Shape& shape = made_from.back()->shape();
  auto value = std::make_shared<xla::Literal>(
      xla::ShapeUtil::MakeShapeWithDescendingLayout(shape.element_type(), shape.dimensions()));
  // Of narrow types it is something wider that is told.
  if (array.bytes() != static_cast<size_t>(value->size_bytes())) return nullptr;
  std::memcpy(value->untyped_data(), array.data, array.bytes());
  Values::Get().Keep(fingerprint, value);
  return value;
}

// A program of constants alone is one that somebody wants to run.
bool HasParameters(const xla::HloModule& module) {
  return module.entry_computation()->num_parameters() > 0;
}

}  // namespace

absl::StatusOr<HloInstruction*> ConstantSubgraphs(HloInstruction* root) {
  if (!emit::Free(*root) || IsInOneKernel(*root->parent()) || !HasParameters(*root->GetModule())) {
    return nullptr;
  }
  const std::vector<const HloInstruction*> made_from = WorthIt(*root);
  if (made_from.empty()) return nullptr;
  // Else what takes it is the constant.
  if (!root->IsRoot() && absl::c_all_of(root->users(), [](const HloInstruction* user) {
        return !WorthIt(*user).empty();
      })) {
    return nullptr;
  }
  const std::shared_ptr<const xla::Literal> value = ValueOf(made_from);
  if (value == nullptr || !xla::ShapeUtil::Compatible(value->shape(), root->shape()))
    return nullptr;
  return root->parent()->AddInstruction(HloInstruction::CreateConstant(value->Clone()));
}

std::vector<HloOpcode> ConstantSubgraphsRoots() {
  std::vector<HloOpcode> roots = emit::ElementwiseOpcodes();
  for (const HloOpcode more : {HloOpcode::kCall,
                               HloOpcode::kCholesky,
                               HloOpcode::kConcatenate,
                               HloOpcode::kConditional,
                               HloOpcode::kConvolution,
                               HloOpcode::kDot,
                               HloOpcode::kDynamicSlice,
                               HloOpcode::kDynamicUpdateSlice,
                               HloOpcode::kFft,
                               HloOpcode::kGather,
                               HloOpcode::kGetTupleElement,
                               HloOpcode::kMap,
                               HloOpcode::kPad,
                               HloOpcode::kReduce,
                               HloOpcode::kReduceWindow,
                               HloOpcode::kReshape,
                               HloOpcode::kReverse,
                               HloOpcode::kScatter,
                               HloOpcode::kSlice,
                               HloOpcode::kSort,
                               HloOpcode::kTranspose,
                               HloOpcode::kTriangularSolve,
                               HloOpcode::kWhile}) {
    roots.push_back(more);
  }
  return roots;
}

}  // namespace hone::compiler
