#include "law.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/rules/attributes.h"
#include "compiler/rules/build.h"
#include "compiler/rules/expression.h"
#include "compiler/rules/match.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using List = std::vector<int64_t>;

bool IsNumber(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

class Draw : public Scope {
 public:
  Draw(const Rule& rule, const Law& law, xla::PrimitiveType type, std::mt19937_64& random)
      : rule_(rule),
        law_(law),
        random_(random),
        holes_(rule.holes.size()),
        nodes_(rule.pattern.nodes.size()) {
    variables_["T"] = Value::Word(xla::primitive_util::LowercasePrimitiveTypeName(type));
    type_ = type;
  }

  absl::StatusOr<std::unique_ptr<xla::HloModule>> Run() {
    // Size letters and variables first: shapes of holes may speak of them.
    for (const Law::Binding& binding : law_.bindings) {
      if (binding.element_type) continue;
      const std::optional<Value> value = Evaluate(binding.value, *this);
      if (!value) return absl::InvalidArgumentError(absl::StrCat(binding.name, " has no value"));
      variables_[binding.name] = *value;
    }
    auto module = std::make_unique<xla::HloModule>(rule_.name, xla::HloModuleConfig());
    xla::HloComputation::Builder builder("entry");
    int64_t parameters = 0;
    for (size_t i = 0; i < rule_.holes.size(); ++i) {
      TF_ASSIGN_OR_RETURN(const xla::Shape shape, ShapeOfHole(rule_.holes[i]));
      if (!rule_.holes[i].splat && !rule_.holes[i].constant) {
        holes_[i] = builder.AddInstruction(
            HloInstruction::CreateParameter(parameters++, shape, rule_.holes[i].name));
        continue;
      }
      TF_ASSIGN_OR_RETURN(xla::Literal number, xla::LiteralUtil::CreateR0<double>(Number()).Convert(
                                                   shape.element_type()));
      holes_[i] = builder.AddInstruction(HloInstruction::CreateConstant(std::move(number)));
      if (shape.dimensions().empty()) continue;
      holes_[i] = builder.AddInstruction(HloInstruction::CreateBroadcast(shape, holes_[i], {}));
    }
    // A computation needs a root before nodes can be added to it.
    HloInstruction* const first = builder.AddInstruction(
        HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<float>(0)));
    computation_ = module->AddEntryComputation(builder.Build(first));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (IsNumber(rule_.pattern.nodes[i]) && !rule_.pattern.nodes[i].dimensions) continue;
      TF_RETURN_IF_ERROR(BuildAt(i));
    }
    HloInstruction* const root = nodes_[rule_.pattern.root.index];
    computation_->set_root_instruction(root, /*accept_different_shape=*/true);
    TF_RETURN_IF_ERROR(computation_->RemoveInstruction(first));
    module->mutable_config().SetDefaultComputationLayout(computation_->ComputeProgramShape());
    return module;
  }

  std::optional<Value> Variable(std::string_view name) const override {
    const auto found = variables_.find(std::string(name));
    if (found != variables_.end()) return found->second;
    if (name.size() == 1) return variables_[std::string(name)] = Value::Integer(Between(1, 4));
    return std::nullopt;
  }
  const xla::Shape* ShapeOf(std::string_view name) const override {
    for (size_t i = 0; i < holes_.size(); ++i) {
      if (rule_.holes[i].name == name && holes_[i] != nullptr) return &holes_[i]->shape();
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (rule_.pattern.nodes[i].name == name && nodes_[i] != nullptr) return &nodes_[i]->shape();
    }
    return nullptr;
  }
  std::optional<Value> SplatOf(std::string_view) const override { return std::nullopt; }
  std::optional<int64_t> Random(int64_t low, int64_t high) const override {
    return Between(low, high);
  }

 private:
  int64_t Between(int64_t low, int64_t high) const {
    return high <= low ? low : low + static_cast<int64_t>(random_() % (high - low + 1));
  }

  double Number() const {
    constexpr double kNumbers[] = {0, 1, 2, 3, -1, -2, 0.5, 0.25};
    const bool is_float = InClass(type_, ElementClass::kFloat);
    if (type_ == xla::PRED) return static_cast<double>(Between(0, 1));
    return kNumbers[Between(0, is_float ? 7 : 5)];
  }

  absl::StatusOr<xla::Shape> ShapeOfHole(const Hole& hole) const {
    for (const Law::Binding& binding : law_.bindings) {
      if (binding.name != hole.name) continue;
      const auto type = Evaluate(*binding.element_type, *this);
      const auto dimensions = Evaluate(*binding.dimensions, *this);
      if (!type || !ElementType(type->word) || !dimensions ||
          dimensions->kind == Value::Kind::kWord) {
        return absl::InvalidArgumentError(absl::StrCat(hole.name, " has no shape"));
      }
      return xla::ShapeUtil::MakeValidatedShape(
          *ElementType(type->word),
          dimensions->kind == Value::Kind::kList ? dimensions->list : List{dimensions->integer});
    }
    const xla::PrimitiveType type = hole.element_class == ElementClass::kPred ? xla::PRED : type_;
    if (hole.rank == 0) return xla::ShapeUtil::MakeShape(type, {});
    return xla::ShapeUtil::MakeShape(type, {Variable("A")->integer, Variable("B")->integer});
  }

  absl::Status BuildAt(size_t index) {
    Node node = rule_.pattern.nodes[index];
    std::vector<HloInstruction*> operands;
    for (const Operand& operand : node.operands) {
      operands.push_back(operand.kind == Operand::Kind::kHole ? holes_[operand.index]
                                                              : nodes_[operand.index]);
    }
    std::vector<HloInstruction*> added;
    BuildContext context;
    context.computation = computation_;
    context.scope = this;
    context.added = &added;
    const std::vector<HloInstruction*> known = operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] != nullptr) continue;
      xla::Shape storage;
      if (node.opcode_class != OpcodeClass::kOne) node.opcode_variable = "";
      context.shape = known[k == 0 ? operands.size() - 1 : 0] != nullptr &&
                              node.opcode_class != OpcodeClass::kOne
                          ? &known[k == 0 ? operands.size() - 1 : 0]->shape()
                          : ShapeOfNumber(node, known, k, storage);
      const int number = node.operands[k].index;
      Open(rule_.pattern.nodes[number], {});
      TF_ASSIGN_OR_RETURN(operands[k], BuildNode(rule_.pattern.nodes[number], {}, context));
      nodes_[number] = operands[k];
    }
    if (node.opcode_class != OpcodeClass::kOne) DrawOpcode(rule_.pattern.nodes[index], node);
    Open(node, operands);
    context.shape = nullptr;
    TF_ASSIGN_OR_RETURN(nodes_[index], BuildNode(node, operands, context));
    if (nodes_[index]->opcode() != node.opcode && !IsNumber(node)) {
      return absl::InvalidArgumentError("what was drawn does nothing");
    }
    return absl::OkStatus();
  }

  void DrawOpcode(const Node& open, Node& node) {
    static const std::vector<HloOpcode> unary[] = {
        {HloOpcode::kExp, HloOpcode::kTanh, HloOpcode::kNegate, HloOpcode::kAbs, HloOpcode::kCeil,
         HloOpcode::kLogistic, HloOpcode::kSin},
        {HloOpcode::kNegate, HloOpcode::kAbs, HloOpcode::kSign, HloOpcode::kNot},
        {HloOpcode::kNot}};
    static const std::vector<HloOpcode> binary[] = {
        {HloOpcode::kAdd, HloOpcode::kMultiply, HloOpcode::kSubtract, HloOpcode::kMaximum,
         HloOpcode::kMinimum, HloOpcode::kDivide},
        {HloOpcode::kAdd, HloOpcode::kMultiply, HloOpcode::kSubtract, HloOpcode::kMaximum,
         HloOpcode::kAnd, HloOpcode::kXor},
        {HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor}};
    const int kind = InClass(type_, ElementClass::kFloat) ? 0 : type_ == xla::PRED ? 2 : 1;
    const auto& list = (open.opcode_class == OpcodeClass::kUnary ? unary : binary)[kind];
    auto [known, inserted] = opcodes_.emplace(open.opcode_variable, list[0]);
    if (inserted) known->second = list[Between(0, static_cast<int64_t>(list.size()) - 1)];
    node.opcode_class = OpcodeClass::kOne;
    node.opcode = known->second;
  }

  bool IsOpen(const Expression& expression) const {
    return expression.kind == Expression::Kind::kVariable &&
           variables_.find(expression.name) == variables_.end();
  }

  // Draws every attribute of a node that is a variable without a value yet.
  void Open(const Node& node, const std::vector<HloInstruction*>& operands) {
    const List dims = operands.empty() ? List{}
                                       : List(operands[0]->shape().dimensions().begin(),
                                              operands[0]->shape().dimensions().end());
    if (node.element_type && IsOpen(*node.element_type)) {
      const char* const types[] = {"f32", "bf16", "s32", "pred", "f32", "bf16"};
      variables_[node.element_type->name] =
          node.opcode == HloOpcode::kConvert || operands.empty()
              ? Value::Word(types[Between(0, 5)])
              : Value::Word(xla::primitive_util::LowercasePrimitiveTypeName(
                    operands[0]->shape().element_type()));
    }
    if (node.dimensions && IsOpen(*node.dimensions)) OpenDimensions(node, dims);
    List limit;
    for (const Attribute& attribute : node.attributes) {
      if (!IsOpen(attribute.value)) continue;
      variables_[attribute.value.name] = DrawAttribute(node, attribute.name, dims, limit);
    }
  }

  void OpenDimensions(const Node& node, const List& dims) {
    List result = dims;
    if (node.opcode == HloOpcode::kBroadcast) {
      List places(dims.size());
      std::iota(places.begin(), places.end(), 0);
      for (int64_t extra = Between(0, 2); extra > 0; --extra) {
        const int64_t at = Between(0, static_cast<int64_t>(result.size()));
        result.insert(result.begin() + at, Between(1, 3));
        for (int64_t& place : places) place += place >= at ? 1 : 0;
      }
      for (const Attribute& attribute : node.attributes) {
        if (IsOpen(attribute.value)) variables_[attribute.value.name] = Value::List(places);
      }
    } else if (node.opcode == HloOpcode::kReshape) {
      result = DrawReshape(dims);
    } else if (dims.empty()) {
      result = {Between(1, 4), Between(1, 4)};
    }
    variables_[node.dimensions->name] = Value::List(result);
  }

  List DrawReshape(List dims) const {
    for (int64_t step = Between(1, 3); step > 0; --step) {
      const auto size = static_cast<int64_t>(dims.size());
      const int64_t at = Between(0, size - 1);
      switch (Between(0, 3)) {
        case 0:
          dims.insert(dims.begin() + Between(0, size), 1);
          break;
        case 1:
          if (size > 0 && dims[at] == 1) dims.erase(dims.begin() + at);
          break;
        case 2:
          if (size > 1 && at + 1 < size) {
            dims[at] *= dims[at + 1];
            dims.erase(dims.begin() + at + 1);
          }
          break;
        default:
          if (size > 0 && dims[at] % 2 == 0) {
            dims[at] /= 2;
            dims.insert(dims.begin() + at, 2);
          }
      }
    }
    return dims;
  }

  Value DrawAttribute(const Node& node, std::string_view name, const List& dims,
                      List& limit) const {
    const auto rank = static_cast<int64_t>(dims.size());
    const auto list = [&](int64_t low, int64_t high) {
      List drawn(dims.size());
      for (int64_t& element : drawn) element = Between(low, high);
      return Value::List(drawn);
    };
    if (name == "direction") {
      const char* const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
      return Value::Word(directions[Between(0, 5)]);
    }
    if (name == "to_apply") {
      const char* const words[] = {"add", "maximum", "minimum", "multiply"};
      const char* const logical[] = {"and", "or"};
      return Value::Word(type_ == xla::PRED ? logical[Between(0, 1)] : words[Between(0, 3)]);
    }
    if (name == "value") {
      const double number = Number();
      return number == static_cast<double>(static_cast<int64_t>(number))
                 ? Value::Integer(static_cast<int64_t>(number))
                 : Value::Real(number);
    }
    if (name == "iota_dimension") return Value::Integer(Between(0, 1));
    if (name == "start") {
      List start(dims.size());
      limit = dims;
      for (size_t i = 0; i < dims.size(); ++i) {
        start[i] = Between(0, dims[i] - 1);
        limit[i] = Between(start[i] + 1, dims[i]);
      }
      return Value::List(start);
    }
    if (name == "limit") return Value::List(limit.empty() ? dims : limit);
    if (name == "strides") return list(1, Between(1, 2));
    if (name == "low" || name == "high") return list(0, 2);
    if (name == "interior") return list(0, Between(0, 1));
    if (node.opcode == HloOpcode::kConcatenate) return Value::Integer(Between(0, rank - 1));
    List drawn;
    for (int64_t i = 0; i < rank; ++i) {
      if (node.opcode == HloOpcode::kTranspose) {
        drawn.insert(drawn.begin() + Between(0, i), i);
      } else if (Between(0, 1) == 1) {
        drawn.push_back(i);
      }
    }
    return Value::List(drawn);
  }

  const Rule& rule_;
  const Law& law_;
  std::mt19937_64& random_;
  xla::PrimitiveType type_ = xla::F32;
  mutable std::map<std::string, Value> variables_;
  std::map<std::string, HloOpcode> opcodes_;
  std::vector<HloInstruction*> holes_;
  std::vector<HloInstruction*> nodes_;
  xla::HloComputation* computation_ = nullptr;
};

}  // namespace

std::vector<Law> LawsOf(const Rule& rule) {
  if (!rule.laws.empty()) return rule.laws;
  return {Law{}};
}

std::vector<xla::PrimitiveType> LawTypes(const Rule& rule) {
  std::vector<xla::PrimitiveType> types;
  for (const xla::PrimitiveType type : {xla::F32, xla::BF16, xla::S32, xla::PRED}) {
    const bool fits = std::all_of(rule.holes.begin(), rule.holes.end(), [&](const Hole& hole) {
      return hole.element_class == ElementClass::kPred || InClass(type, hole.element_class);
    });
    if (fits) types.push_back(type);
  }
  return types;
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> DrawLaw(const Rule& rule, const Law& law,
                                                        xla::PrimitiveType type,
                                                        std::mt19937_64& random) {
  if (!law.hlo.empty()) return xla::ParseAndReturnUnverifiedModule(law.hlo);
  return Draw(rule, law, type, random).Run();
}

absl::StatusOr<bool> ApplyOnce(const Rule& rule, xla::HloModule& module) {
  std::vector<HloInstruction*> order = module.entry_computation()->MakeInstructionPostOrder();
  std::reverse(order.begin(), order.end());
  for (HloInstruction* root : order) {
    const std::optional<Match> match = FindMatch(rule, root, [](const Match&) { return true; });
    if (!match) continue;
    std::vector<HloInstruction*> added;
    TF_ASSIGN_OR_RETURN(HloInstruction* const replacement, BuildReplacement(rule, *match, added));
    if (replacement == nullptr || replacement == root) continue;
    TF_RETURN_IF_ERROR(module.entry_computation()->ReplaceInstruction(root, replacement));
    return true;
  }
  return false;
}

}  // namespace hone::compiler
