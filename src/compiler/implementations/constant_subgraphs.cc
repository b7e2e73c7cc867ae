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
#include "compiler/implementations/work.h"
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

constexpr int64_t kMostBytes = int64_t{1} << 22;  // of a constant
constexpr size_t kMostMadeFrom = 2000;
// Operations for each byte of what they make, which has to be read: fewer are done as fast again.
constexpr double kLeastWorkPerByte = 4;
constexpr double kLeastFolded = 1000;  // in all

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
      most = std::max(most, MostElements(at->shape()));
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
  if (work < kLeastFolded || MostElements(one.shape()) > MostDear(one)) return {};
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
