#include "compiler/implementations/task_text.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/emit.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

class Writer {
 public:
  Writer(const Neighbourhood& neighbourhood, const Space& space, const MadeText& made)
      : neighbourhood_(neighbourhood), space_(space), made_(made) {
    if (space.made != nullptr) names_[space.made] = made.name;
  }

  KernelTask Write(HloInstruction* root) {
    root_ = root;
    const std::string result = NameOf(root);
    std::string inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs += absl::StrCat("input i", i, " ", Type(), "[",
                             absl::StrJoin(InputSizes(*inputs_[i]), ","), "];");
    }
    return {absl::StrCat(loops::kKernelTaskBegin, made_.inputs, inputs, made_.text, text_,
                         "output ", result, ";"),
            inputs_};
  }

 private:
  // Without sizes of 1; of a product's arrays as the task has them.
  Sizes SizesOf(const xla::Shape& shape) const {
    const Sizes sizes = Squeezed(shape);
    if (space_.made == nullptr || sizes != space_.full) return sizes;
    Sizes grouped;
    for (const Sizes& group : space_.groups) {
      grouped.push_back(1);
      for (const int64_t d : group) grouped.back() *= sizes[d];
    }
    return grouped;
  }
  // Which dimensions of such an array these are.
  Sizes GroupsOf(const Sizes& places) const {
    if (space_.made == nullptr || places.empty()) return places;
    return {absl::c_find(space_.groups, places) - space_.groups.begin()};
  }

  const char* Type() const { return TaskType(space_.type); }

  Sizes InputSizes(const HloInstruction& input) const {
    Sizes sizes = SizesOf(input.shape());
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
    if (IsIdentity(*node) || IsRounding(*node) || IsOfPredicate(*node)) {
      return names_[node] = NameOf(node->mutable_operand(0));
    }
    if (node->opcode() == HloOpcode::kReduce) {
      const std::string operand = NameOf(node->mutable_operand(0));
      const bool sum = emit::ReducerOpcode(*node->to_apply()) == HloOpcode::kAdd;
      return Let(node, true,
                 absl::StrCat(sum ? "reduce_sum " : "reduce_max ", operand,
                              " axes=", absl::StrJoin(space_.Axes(), ",")));
    }
    if (node->opcode() == HloOpcode::kBroadcast) {
      const std::string operand = NameOf(node->mutable_operand(0));
      const Sizes sizes = SizesOf(node->shape()), places = GroupsOf(*PlacesOf(*node));
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
    // A product's sums are in registers, where everything is computed once.
    const bool stored = space_.made != nullptr
                            ? node == root_
                            : neighbourhood_.nodes.size() == 1 || Takers(node) == 0 ||
                                  (Takers(node) > 1 && Dear(node));
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
  const MadeText& made_;
  const HloInstruction* root_ = nullptr;
  std::vector<HloInstruction*> inputs_;
  std::map<const HloInstruction*, std::string> names_;
  std::string text_;
  int next_ = 0;
};

}  // namespace

KernelTask WriteTask(HloInstruction* root, const Neighbourhood& neighbourhood, const Space& space,
                     const MadeText& made) {
  return Writer(neighbourhood, space, made).Write(root);
}

HloInstruction* CallWith(HloInstruction* root, const Neighbourhood& neighbourhood,
                         const Space& space, const MadeText& made,
                         std::vector<HloInstruction*> inputs) {
  const KernelTask task = WriteTask(root, neighbourhood, space, made);
  inputs.insert(inputs.end(), task.inputs.begin(), task.inputs.end());
  if (inputs.empty() || inputs.size() > kMostKernelInputs) return nullptr;
  for (HloInstruction*& input : inputs) {
    const xla::PrimitiveType type = input->shape().element_type();
    if (type != xla::PRED && KernelType(type) != space.type) return nullptr;
    input = emit::Convert(input, space.type);
  }
  return KernelCall(root, space.type, std::move(inputs), task.text);
}

}  // namespace hone::compiler
