#include "compiler/implementations/loop_kernels.h"

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/attention_kernels.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/running_kernels.h"
#include "compiler/native/kernels.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

bool IsDear(HloOpcode opcode) {
  return opcode == HloOpcode::kExp || opcode == HloOpcode::kExpm1 || opcode == HloOpcode::kLog ||
         opcode == HloOpcode::kLog1p || opcode == HloOpcode::kLogistic ||
         opcode == HloOpcode::kTanh || opcode == HloOpcode::kDivide || opcode == HloOpcode::kSqrt ||
         opcode == HloOpcode::kRsqrt;
}

// Rows, or columns, and what becomes of them.
struct Space {
  xla::PrimitiveType type = xla::F32;
  Sizes full;            // sizes of the arrays that are reduced
  Sizes kept;            // its first ones, of rows; its last ones, of columns; none, of one element
  bool columns = false;  // or one element: what they are reduced to is not spread over all again

  friend bool operator==(const Space& a, const Space& b) {
    return a.type == b.type && a.full == b.full && a.kept == b.kept && a.columns == b.columns;
  }

  Sizes Axes() const {
    Sizes axes;
    const size_t first = columns ? 0 : kept.size();
    for (size_t d = 0; d < full.size() - kept.size(); ++d) {
      axes.push_back(static_cast<int64_t>(first + d));
    }
    return axes;
  }

  bool Has(const xla::Shape& shape) const {
    if (!IsArray(shape) || shape.element_type() != type) return false;
    const Sizes sizes = Squeezed(shape);
    return sizes == full || sizes == kept;
  }
};

// The space of a sum or maximum over the last dimensions, the first or all.
std::optional<Space> SpaceOf(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2) return std::nullopt;
  const xla::Shape& shape = reduce.operand(0)->shape();
  const xla::PrimitiveType type = shape.element_type();
  if (!IsArray(shape) || (type != xla::F32 && type != xla::F64) || !emit::Free(reduce)) {
    return std::nullopt;
  }
  const std::optional<HloOpcode> opcode = emit::ReducerOpcode(*reduce.to_apply());
  if (opcode != HloOpcode::kAdd && opcode != HloOpcode::kMaximum) return std::nullopt;
  if (!emit::IsIdentity(*reduce.operand(1), *opcode)) return std::nullopt;
  Space space{type, Squeezed(shape), Squeezed(reduce.shape())};
  if (space.kept.size() == space.full.size() || space.full.size() > kMostKernelRank) {
    return std::nullopt;
  }
  if (space.kept.empty()) {
    space.columns = true;
    return space;
  }
  // What is reduced comes last, or first.
  int changes = 0;
  bool reduced = false, first = true;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.dimensions().size()); ++d) {
    if (shape.dimensions(d) == 1) continue;
    const bool here = absl::c_linear_search(reduce.dimensions(), d);
    if (first) space.columns = here;
    if (!first && here != reduced) ++changes;
    first = false;
    reduced = here;
  }
  if (changes != 1) return std::nullopt;
  return space;
}

// The dimensions of a broadcast without sizes of 1; nothing where they change places.
std::optional<Sizes> PlacesOf(const HloInstruction& broadcast) {
  const xla::Shape& from = broadcast.operand(0)->shape();
  Sizes places;
  for (size_t i = 0; i < broadcast.dimensions().size(); ++i) {
    if (from.dimensions(static_cast<int64_t>(i)) == 1) continue;
    const int64_t to = broadcast.dimensions()[i];
    int64_t place = 0;
    for (int64_t d = 0; d < to; ++d) place += broadcast.shape().dimensions(d) != 1 ? 1 : 0;
    if (!places.empty() && places.back() >= place) return std::nullopt;
    places.push_back(place);
  }
  return places;
}

// Whether it is a part of an array, without steps, that has the same dimensions above 1.
bool IsSlice(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kSlice) return false;
  const xla::Shape& from = instruction.operand(0)->shape();
  for (int64_t d = 0; d < static_cast<int64_t>(from.dimensions().size()); ++d) {
    if (instruction.slice_strides(d) != 1) return false;
    if (from.dimensions(d) != 1 && instruction.shape().dimensions(d) == 1) return false;
  }
  return IsArray(from);
}

// A square or a cube: the exponent; else 0.
int ExponentOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kPower) return 0;
  const std::optional<double> exponent = ConstantOf(*instruction.operand(1));
  return exponent == 2.0 ? 2 : exponent == 3.0 ? 3 : 0;
}

// Whether what it compares, or puts together of what others compare, are numbers of the space; of
// so many levels at most, for what is shared would be looked at again and again.
bool IsPredicate(const HloInstruction& instruction, const Space& space, int levels = 6) {
  if (instruction.shape().element_type() != xla::PRED || !emit::Free(instruction)) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kCompare:
      return space.Has(instruction.operand(0)->shape()) &&
             xla::Cast<xla::HloCompareInstruction>(&instruction)->order() !=
                 xla::ComparisonOrder::kTotal;
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kNot:
      return levels > 0 &&
             absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
               return IsPredicate(*operand, space, levels - 1);
             });
    default:
      return false;
  }
}

bool Fits(const HloInstruction& instruction, const Space& space) {
  if (IsPredicate(instruction, space)) return true;
  if (!space.Has(instruction.shape()) || !emit::Free(instruction)) return false;
  if (instruction.opcode() == HloOpcode::kSelect) {
    return IsPredicate(*instruction.operand(0), space);
  }
  if (TaskKind(instruction.opcode()) != nullptr || ExponentOf(instruction) != 0) return true;
  switch (instruction.opcode()) {
    case HloOpcode::kReduce: {
      const std::optional<Space> own = SpaceOf(instruction);
      return own && *own == space;
    }
    case HloOpcode::kBroadcast: {
      if (ConstantOf(instruction)) return true;
      return instruction.operand(0)->opcode() != HloOpcode::kConstant && PlacesOf(instruction);
    }
    default:
      return IsSlice(instruction) || IsIdentity(instruction);
  }
}

// Costs nothing, or little, to compute once more.
bool IsFree(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kBroadcast || IsSlice(instruction) ||
         IsIdentity(instruction) || instruction.shape().element_type() == xla::PRED;
}

bool IsElementwise(HloOpcode opcode) {
  return TaskKind(opcode) != nullptr || opcode == HloOpcode::kSelect || opcode == HloOpcode::kPower;
}

// The nearest space that an instruction is computed in.
std::optional<Space> FindSpace(HloInstruction* root) {
  std::deque<HloInstruction*> next = {root};
  std::set<HloInstruction*> seen = {root};
  while (!next.empty() && seen.size() < kMostKernelNodes) {
    HloInstruction* instruction = next.front();
    next.pop_front();
    if (std::optional<Space> space = SpaceOf(*instruction)) {
      if (space->columns && Squeezed(root->shape()) != space->kept) continue;
      return space->Has(root->shape()) ? space : std::nullopt;
    }
    if (!IsElementwise(instruction->opcode()) && !IsFree(*instruction)) continue;
    for (HloInstruction* operand : instruction->operands()) {
      if (seen.insert(operand).second) next.push_back(operand);
    }
  }
  return std::nullopt;
}

struct Neighbourhood {
  std::set<const HloInstruction*> nodes;
  bool reduces = false;
  bool computes = false;  // it has an elementwise operation over the whole arrays
};

// What `root` is computed from within the space and nothing else needs; nothing where it is too
// much.
Neighbourhood Grow(const HloInstruction* root, const Space& space) {
  Neighbourhood found;
  found.nodes = {root};
  bool changed = true;
  while (changed && found.nodes.size() < kMostKernelNodes) {
    changed = false;
    const std::set<const HloInstruction*> nodes = found.nodes;
    for (const HloInstruction* node : nodes) {
      for (const HloInstruction* operand : node->operands()) {
        if (found.nodes.count(operand) != 0 || !Fits(*operand, space)) continue;
        if (space.columns && Squeezed(node->shape()) == space.full &&
            Squeezed(operand->shape()) != space.full) {
          continue;
        }
        const bool only =
            IsFree(*operand) || absl::c_all_of(operand->users(), [&](const HloInstruction* user) {
              return found.nodes.count(user) != 0;
            });
        if (!only) continue;
        found.nodes.insert(operand);
        changed = true;
      }
    }
  }
  for (const HloInstruction* node : found.nodes) {
    found.reduces = found.reduces || node->opcode() == HloOpcode::kReduce;
    found.computes =
        found.computes || (IsElementwise(node->opcode()) && Squeezed(node->shape()) == space.full);
  }
  return found;
}

// Whether a larger neighbourhood than its own takes the instruction in.
bool IsTakenIn(HloInstruction* root, const Space& space) {
  if (root->IsRoot()) return false;
  std::deque<HloInstruction*> next(root->users().begin(), root->users().end());
  std::set<HloInstruction*> seen(next.begin(), next.end());
  while (!next.empty() && seen.size() < kMostKernelNodes) {
    HloInstruction* user = next.front();
    next.pop_front();
    if (!Fits(*user, space)) continue;
    const bool may_be_root = !IsFree(*user) && PastLeast(*user) < 0;
    if (may_be_root && Grow(user, space).nodes.count(root) != 0) return true;
    for (HloInstruction* further : user->users()) {
      if (seen.insert(further).second) next.push_back(further);
    }
  }
  return false;
}

// Writes a neighbourhood as a task.
class TaskText {
 public:
  TaskText(const Neighbourhood& neighbourhood, const Space& space)
      : neighbourhood_(neighbourhood), space_(space) {}

  std::string Write(HloInstruction* root) {
    const std::string result = NameOf(root);
    std::string inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs += absl::StrCat("input i", i, " ", Type(), "[",
                             absl::StrJoin(InputSizes(*inputs_[i]), ","), "];");
    }
    return absl::StrCat(loops::kKernelTaskBegin, inputs, text_, "output ", result, ";");
  }

  const std::vector<HloInstruction*>& inputs() const { return inputs_; }

 private:
  const char* Type() const { return TaskType(space_.type); }

  static Sizes InputSizes(const HloInstruction& input) {
    Sizes sizes = Squeezed(input.shape());
    if (sizes.empty()) sizes = {1};
    return sizes;
  }

  std::string Input(HloInstruction* instruction) {
    const auto found = absl::c_find(inputs_, instruction);
    const size_t index = found - inputs_.begin();
    if (found == inputs_.end()) inputs_.push_back(instruction);
    return absl::StrCat("i", index);
  }

  // How many nodes take a node's value, those looked through that change nothing.
  int64_t Takers(const HloInstruction* node) const {
    int64_t takers = 0;
    for (const HloInstruction* user : node->users()) {
      if (neighbourhood_.nodes.count(user) == 0) continue;
      takers += IsFree(*user) || PastLeast(*user) >= 0 ? Takers(user) : 1;
    }
    return takers;
  }

  // Whether computing an element of the node takes more than a few cycles.
  bool Dear(const HloInstruction* node) const {
    if (neighbourhood_.nodes.count(node) == 0 || node->opcode() == HloOpcode::kReduce) return false;
    if (IsDear(node->opcode()) && Squeezed(node->shape()) == space_.full) return true;
    return absl::c_any_of(node->operands(),
                          [&](const HloInstruction* operand) { return Dear(operand); });
  }

  std::string Let(const HloInstruction* node, bool stored, const std::string& what) {
    const std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&text_, name, stored ? " = " : " := ", what, ";");
    names_[node] = name;
    return name;
  }

  // A constant in the shape of another value, which it stands beside.
  std::string Constant(double value, const std::string& beside) {
    const std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&text_, name, " := constant ", beside,
                    " value=", absl::StrFormat("%.17g", value), ";");
    return name;
  }

  std::string NameOf(HloInstruction* node) {
    if (const auto found = names_.find(node); found != names_.end()) return found->second;
    if (neighbourhood_.nodes.count(node) == 0) return names_[node] = Input(node);
    if (const int past = PastLeast(*node); past >= 0) {
      return names_[node] = NameOf(node->mutable_operand(past));
    }
    if (IsIdentity(*node)) return names_[node] = NameOf(node->mutable_operand(0));
    if (node->opcode() == HloOpcode::kReduce) {
      const std::string operand = NameOf(node->mutable_operand(0));
      const bool sum = emit::ReducerOpcode(*node->to_apply()) == HloOpcode::kAdd;
      return Let(node, true,
                 absl::StrCat(sum ? "reduce_sum " : "reduce_max ", operand,
                              " axes=", absl::StrJoin(space_.Axes(), ",")));
    }
    if (node->opcode() == HloOpcode::kBroadcast) {
      const std::string operand = NameOf(node->mutable_operand(0));
      const Sizes sizes = Squeezed(node->shape()), places = *PlacesOf(*node);
      if (places.size() == sizes.size()) return names_[node] = operand;
      return Let(node, false,
                 absl::StrCat("broadcast ", operand, " sizes=", absl::StrJoin(sizes, ","),
                              places.empty() ? "" : " dimensions=", absl::StrJoin(places, ",")));
    }
    if (node->opcode() == HloOpcode::kSlice) {
      const std::string operand = Input(node->mutable_operand(0));
      Sizes starts;
      for (int64_t d = 0; d < static_cast<int64_t>(node->shape().dimensions().size()); ++d) {
        if (node->shape().dimensions(d) != 1) starts.push_back(node->slice_starts(d));
      }
      return Let(
          node, false,
          absl::StrCat("slice ", operand, " sizes=", absl::StrJoin(Squeezed(node->shape()), ","),
                       " starts=", absl::StrJoin(starts, ",")));
    }
    return Elementwise(node);
  }

  std::string Elementwise(HloInstruction* node) {
    const bool stored =
        neighbourhood_.nodes.size() == 1 || Takers(node) == 0 || (Takers(node) > 1 && Dear(node));
    if (const int exponent = ExponentOf(*node); exponent != 0) {
      const std::string x = NameOf(node->mutable_operand(0));
      const std::string factor =
          exponent == 2 ? x : Let(node, false, absl::StrCat("multiply ", x, " ", x));
      return Let(node, stored, absl::StrCat("multiply ", factor, " ", x));
    }
    std::vector<std::string> operands;
    std::string beside;
    for (HloInstruction* operand : node->operands()) {
      const bool constant = neighbourhood_.nodes.count(operand) != 0 && ConstantOf(*operand);
      operands.push_back(constant ? "" : NameOf(operand));
      if (!constant) beside = operands.back();
    }
    // Of constants alone: an input is as good.
    if (beside.empty()) beside = operands[0] = Input(node->mutable_operand(0));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].empty()) operands[i] = Constant(*ConstantOf(*node->operand(i)), beside);
    }
    if (node->opcode() == HloOpcode::kNot) operands.push_back(Constant(0, operands[0]));
    const char* const kind = KindOf(*node, operands);
    return Let(node, stored, absl::StrCat(kind, " ", absl::StrJoin(operands, " ")));
  }

  // The operands of some change places. Predicates are 1 and 0.
  static const char* KindOf(const HloInstruction& node, std::vector<std::string>& operands) {
    switch (node.opcode()) {
      case HloOpcode::kAnd:
        return "multiply";
      case HloOpcode::kOr:
        return "maximum";
      case HloOpcode::kNot:
        return "equal";
      case HloOpcode::kSelect:
        return "select";
      case HloOpcode::kCompare:
        break;
      default:
        return TaskKind(node.opcode());
    }
    const xla::ComparisonDirection direction = node.comparison_direction();
    if (direction == xla::ComparisonDirection::kEq) return "equal";
    if (direction == xla::ComparisonDirection::kNe) return "not_equal";
    const bool greater = direction == xla::ComparisonDirection::kGt;
    const bool least = direction == xla::ComparisonDirection::kGe;
    if (greater || least) std::swap(operands[0], operands[1]);
    return greater || direction == xla::ComparisonDirection::kLt ? "less" : "less_equal";
  }

  const Neighbourhood& neighbourhood_;
  const Space& space_;
  std::vector<HloInstruction*> inputs_;
  std::map<const HloInstruction*, std::string> names_;
  std::string text_;
  int next_ = 0;
};

// The value of `NAME = "..."` in a call's attributes; empty where there is none.
std::string AttributeOf(const std::string& attributes, const char* name) {
  const std::string begin = absl::StrCat(name, " = \"");
  const size_t at = attributes.find(begin);
  if (at == std::string::npos) return "";
  const size_t end = attributes.find('"', at + begin.size());
  if (end == std::string::npos) return "";
  return attributes.substr(at + begin.size(), end - at - begin.size());
}

}  // namespace

std::vector<HloOpcode> LoopKernels::root_opcodes() const {
  std::vector<HloOpcode> opcodes = {HloOpcode::kReduce, HloOpcode::kDot, HloOpcode::kTranspose,
                                    HloOpcode::kReduceWindow};
  for (uint32_t i = 0; i < xla::HloOpcodeCount(); ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    if (IsElementwise(opcode)) opcodes.push_back(opcode);
  }
  return opcodes;
}

absl::StatusOr<HloInstruction*> LoopKernels::Replacement(HloInstruction* root) const {
  if (!IsArray(root->shape()) || PastLeast(*root) >= 0) return nullptr;
  if (root->opcode() == HloOpcode::kDot || root->opcode() == HloOpcode::kTranspose) {
    return IsInOneKernel(*root->parent()) ? nullptr : AttentionCall(root);
  }
  if (root->opcode() == HloOpcode::kReduceWindow) return RunningCall(root);
  const std::optional<Space> space = FindSpace(root);
  if (!space || !Fits(*root, *space) || emit::Product(space->full) < kLeastElements) return nullptr;
  const Neighbourhood neighbourhood = Grow(root, *space);
  if (!neighbourhood.reduces || neighbourhood.nodes.size() >= kMostKernelNodes) return nullptr;
  // XLA reduces all of an array well that is in memory already.
  if (space->kept.empty() && !neighbourhood.computes) return nullptr;
  if (IsTakenIn(root, *space) || IsInOneKernel(*root->parent())) return nullptr;
  if (IsOfAttention(*root)) return nullptr;
  TaskText writer(neighbourhood, *space);
  const std::string task = writer.Write(root);
  if (writer.inputs().empty() || writer.inputs().size() > kMostKernelInputs) return nullptr;
  if (absl::c_any_of(writer.inputs(), [&](const HloInstruction* input) {
        return input->shape().element_type() != space->type;
      })) {
    return nullptr;
  }
  return KernelCall(root, writer.inputs(), task);
}

absl::StatusOr<std::vector<std::string>> MissingKernels(const xla::HloModule& module) {
  std::set<std::string> tasks;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->IsCustomCall(loops::kKernelCall)) continue;
      const std::string& attributes = instruction->raw_backend_config_string();
      const std::string task = AttributeOf(attributes, loops::kKernelTask);
      const std::string name = AttributeOf(attributes, loops::kKernelName);
      if (task.empty() || name != loops::KernelName(task)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the custom call hone_loops ", instruction->name(),
                         " does not tell what it computes, or has another kernel's name"));
      }
      if (native::FindKernel(name) == nullptr) tasks.insert(task);
    }
  }
  return std::vector<std::string>(tasks.begin(), tasks.end());
}

}  // namespace hone::compiler
