#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/rules/attributes.h"
#include "compiler/rules/build.h"
#include "compiler/rules/node_attributes.h"
#include "compiler/xla_names.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/shape_inference.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Instructions = std::vector<HloInstruction*>;
using List = std::vector<int64_t>;
using Made = absl::StatusOr<std::unique_ptr<HloInstruction>>;

// An operand with this many users is not searched for an equal one, unless it is a scalar.
constexpr int64_t kMostUsers = 32;

bool IsNumber(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

// One node, before it is added.
class NodeBuilder {
 public:
  NodeBuilder(const Node& node, const Instructions& operands, const BuildContext& context)
      : node_(node), operands_(operands), context_(context), attributes_(node, context.scope) {}

  // The instruction, or an operand that it would equal in `same`.
  Made Make(HloInstruction*& same) {
    for (const HloInstruction* operand : operands_) {
      if (!operand->shape().IsArray()) return DoesNotFit(node_, "an operand is no array");
    }
    if (node_.element_type || node_.dimensions) {
      TF_ASSIGN_OR_RETURN(written_, attributes_.WrittenShape());
    }
    if (IsNumber(node_)) return MakeNumber();
    if (context_.like != nullptr &&
        (node_.opcode_class != OpcodeClass::kOne || attributes_.HasLike())) {
      return MakeLike();
    }
    return MakeOpcode(same);
  }

 private:
  HloInstruction* Add(std::unique_ptr<HloInstruction> made) const {
    if (context_.origin != nullptr) made->set_metadata(context_.origin->metadata());
    HloInstruction* const added = context_.computation->AddInstruction(std::move(made));
    context_.added->push_back(added);
    return added;
  }

  Made MakeNumber() const {
    const Shape* shape = written_ ? &*written_ : context_.shape;
    if (shape == nullptr) return DoesNotFit(node_, "nothing tells the number's shape");
    const std::optional<Value> value = attributes_.Get("value");
    if (!value || !value->IsNumber()) return DoesNotFit(node_, "the number has no value");
    const xla::PrimitiveType type = shape->element_type();
    absl::StatusOr<xla::Literal> literal = absl::InternalError("");
    if (InClass(type, ElementClass::kFloat)) {
      literal = xla::LiteralUtil::CreateR0<double>(value->AsReal()).Convert(type);
    } else if (value->kind == Value::Kind::kInteger) {
      literal = xla::LiteralUtil::CreateR0<int64_t>(value->integer).Convert(type);
    } else {
      return DoesNotFit(node_, "a number that is not whole for a type that is");
    }
    TF_RETURN_IF_ERROR(literal.status());
    std::unique_ptr<HloInstruction> scalar = HloInstruction::CreateConstant(std::move(*literal));
    if (shape->dimensions().empty()) return scalar;
    return HloInstruction::CreateBroadcast(ShapeUtil::MakeShape(type, shape->dimensions()),
                                           Add(std::move(scalar)), {});
  }

  Made MakeLike() const {
    const HloInstruction& like = *context_.like;
    if (like.operand_count() != static_cast<int64_t>(operands_.size())) {
      return DoesNotFit(node_, "not as many operands as what it is like");
    }
    Shape shape = like.shape();
    if (written_) {
      shape = *written_;
    } else if (node_.opcode_class != OpcodeClass::kOne) {
      // Elementwise, of one element type.
      shape = operands_[0]->shape();
      for (const HloInstruction* operand : operands_) {
        if (!ShapeUtil::Compatible(operand->shape(), shape)) {
          return DoesNotFit(node_, "operands of different shapes");
        }
      }
      if (shape.element_type() != like.operand(0)->shape().element_type()) {
        return DoesNotFit(node_, "another element type than what it is like");
      }
    } else {
      for (size_t i = 0; i < operands_.size(); ++i) {
        if (!ShapeUtil::Compatible(operands_[i]->shape(), like.operand(i)->shape())) {
          return DoesNotFit(node_, "other operands than what it is like: write the shape");
        }
      }
    }
    return like.CloneWithNewOperands(shape, operands_);
  }

  Made MakeElementwise() const {
    std::vector<const Shape*> shapes;
    for (const HloInstruction* operand : operands_) shapes.push_back(&operand->shape());
    switch (operands_.size()) {
      case 1: {
        TF_ASSIGN_OR_RETURN(const Shape shape,
                            xla::ShapeInference::InferUnaryOpShape(node_.opcode, operands_[0]));
        return HloInstruction::CreateUnary(shape, node_.opcode, operands_[0]);
      }
      case 2: {
        if (!ShapeUtil::SameDimensions(*shapes[0], *shapes[1])) {
          return DoesNotFit(node_, "operands of different shapes");
        }
        TF_ASSIGN_OR_RETURN(const Shape shape, xla::ShapeInference::InferBinaryOpShape(
                                                   node_.opcode, operands_[0], operands_[1]));
        return HloInstruction::CreateBinary(shape, node_.opcode, operands_[0], operands_[1]);
      }
      default: {
        TF_ASSIGN_OR_RETURN(const Shape shape,
                            xla::ShapeInference::InferTernaryOpShape(node_.opcode, operands_[0],
                                                                     operands_[1], operands_[2]));
        return HloInstruction::CreateTernary(shape, node_.opcode, operands_[0], operands_[1],
                                             operands_[2]);
      }
    }
  }

  Made MakeCompare() const {
    TF_ASSIGN_OR_RETURN(const std::string word, attributes_.GetWord("direction"));
    TF_ASSIGN_OR_RETURN(const auto direction, xla::StringToComparisonDirection(word));
    const Shape& shape = operands_[0]->shape();
    if (!ShapeUtil::Compatible(shape, operands_[1]->shape())) {
      return DoesNotFit(node_, "operands of different shapes");
    }
    return HloInstruction::CreateCompare(ShapeUtil::MakeShape(xla::PRED, shape.dimensions()),
                                         operands_[0], operands_[1], direction);
  }

  Made MakeBroadcast(HloInstruction*& same) const {
    const Shape& from = operands_[0]->shape();
    if (!written_ || written_->element_type() != from.element_type()) {
      return DoesNotFit(node_,
                        "a broadcast needs its shape written, of its operand's element type");
    }
    TF_ASSIGN_OR_RETURN(const List dimensions,
                        attributes_.GetDimensions("dimensions", written_->dimensions().size()));
    if (dimensions.size() != from.dimensions().size() ||
        !std::is_sorted(dimensions.begin(), dimensions.end())) {
      return DoesNotFit(node_, "its dimensions do not go with its operand's rank");
    }
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (written_->dimensions(static_cast<int>(dimensions[i])) !=
          from.dimensions(static_cast<int>(i))) {
        return DoesNotFit(node_, "its sizes do not go with its operand's");
      }
    }
    if (ShapeUtil::Compatible(*written_, from)) return Same(operands_[0], same);
    return HloInstruction::CreateBroadcast(*written_, operands_[0], dimensions);
  }

  static Made Same(HloInstruction* operand, HloInstruction*& same) {
    same = operand;
    return std::unique_ptr<HloInstruction>();
  }

  Made MakeTranspose(HloInstruction*& same) const {
    const Shape& from = operands_[0]->shape();
    TF_ASSIGN_OR_RETURN(const List permutation,
                        attributes_.GetDimensions("dimensions", from.dimensions().size()));
    if (permutation.size() != from.dimensions().size()) {
      return DoesNotFit(node_, "no permutation of its operand's dimensions");
    }
    if (std::is_sorted(permutation.begin(), permutation.end())) return Same(operands_[0], same);
    TF_ASSIGN_OR_RETURN(const Shape shape,
                        xla::ShapeInference::InferTransposeShape(from, permutation));
    return HloInstruction::CreateTranspose(shape, operands_[0], permutation);
  }

  Made MakeReshape(HloInstruction*& same) const {
    const Shape& from = operands_[0]->shape();
    if (!written_ || written_->element_type() != from.element_type() ||
        ShapeUtil::ElementsIn(*written_) != ShapeUtil::ElementsIn(from)) {
      return DoesNotFit(node_, "a reshape needs its shape written, of as many elements");
    }
    if (ShapeUtil::Compatible(*written_, from)) return Same(operands_[0], same);
    return HloInstruction::CreateReshape(*written_, operands_[0]);
  }

  Made MakeConvert(HloInstruction*& same) const {
    const Shape& from = operands_[0]->shape();
    if (!written_ || !ShapeUtil::SameDimensions(*written_, from)) {
      return DoesNotFit(node_, "a convert needs its shape written, with its operand's dimensions");
    }
    if (ShapeUtil::Compatible(*written_, from)) return Same(operands_[0], same);
    return HloInstruction::CreateConvert(*written_, operands_[0]);
  }

  Made MakeSlice(HloInstruction*& same) const {
    const Shape& from = operands_[0]->shape();
    const size_t rank = from.dimensions().size();
    TF_ASSIGN_OR_RETURN(const List start, attributes_.GetForEach("start", rank));
    TF_ASSIGN_OR_RETURN(const List limit, attributes_.GetForEach("limit", rank));
    TF_ASSIGN_OR_RETURN(const List strides, attributes_.GetForEach("strides", rank));
    TF_ASSIGN_OR_RETURN(const Shape shape,
                        xla::ShapeInference::InferSliceShape(from, start, limit, strides));
    if (ShapeUtil::Compatible(shape, from)) return Same(operands_[0], same);
    return HloInstruction::CreateSlice(shape, operands_[0], start, limit, strides);
  }

  Made MakePad(HloInstruction*& same) const {
    const size_t rank = operands_[0]->shape().dimensions().size();
    TF_ASSIGN_OR_RETURN(const List low, attributes_.GetForEach("low", rank));
    TF_ASSIGN_OR_RETURN(const List high, attributes_.GetForEach("high", rank));
    TF_ASSIGN_OR_RETURN(const List interior, attributes_.GetForEach("interior", rank));
    xla::PaddingConfig config;
    bool nothing = true;
    for (size_t i = 0; i < rank; ++i) {
      auto* const dimension = config.add_dimensions();
      dimension->set_edge_padding_low(low[i]);
      dimension->set_edge_padding_high(high[i]);
      dimension->set_interior_padding(interior[i]);
      nothing &= low[i] == 0 && high[i] == 0 && interior[i] == 0;
    }
    if (nothing) return Same(operands_[0], same);
    TF_ASSIGN_OR_RETURN(
        const Shape shape,
        xla::ShapeInference::InferPadShape(operands_[0]->shape(), operands_[1]->shape(), config));
    return HloInstruction::CreatePad(shape, operands_[0], operands_[1], config);
  }

  Made MakeReverse(HloInstruction*& same) const {
    const Shape& shape = operands_[0]->shape();
    TF_ASSIGN_OR_RETURN(const List dimensions,
                        attributes_.GetDimensions("dimensions", shape.dimensions().size()));
    if (dimensions.empty()) return Same(operands_[0], same);
    return HloInstruction::CreateReverse(shape, operands_[0], dimensions);
  }

  Made MakeConcatenate(HloInstruction*& same) const {
    TF_ASSIGN_OR_RETURN(const List dimension, attributes_.GetList("dimensions"));
    if (operands_.size() == 1) return Same(operands_[0], same);
    std::vector<const Shape*> shapes;
    for (const HloInstruction* operand : operands_) shapes.push_back(&operand->shape());
    if (dimension.size() != 1) return DoesNotFit(node_, "dimensions is one number");
    TF_ASSIGN_OR_RETURN(const Shape shape,
                        xla::ShapeInference::InferConcatOpShape(shapes, dimension[0]));
    return HloInstruction::CreateConcatenate(shape, operands_, dimension[0]);
  }

  Made MakeIota() const {
    TF_ASSIGN_OR_RETURN(const List dimension, attributes_.GetList("iota_dimension"));
    if (!written_ || dimension.size() != 1 || dimension[0] < 0 ||
        dimension[0] >= static_cast<int64_t>(written_->dimensions().size()) ||
        !InClass(written_->element_type(), ElementClass::kNumber)) {
      return DoesNotFit(node_, "an iota needs its shape written and a dimension of it");
    }
    return HloInstruction::CreateIota(*written_, dimension[0]);
  }

  absl::StatusOr<xla::HloComputation*> Reduction(const std::string& word,
                                                 xla::PrimitiveType type) const {
    // Of the reduction that is replaced. Never that of another one: two instructions that call one
    // computation are no fewer than two that call two.
    if (context_.like != nullptr && context_.like->opcode() == HloOpcode::kReduce &&
        context_.like->shape().IsArray() && context_.like->shape().element_type() == type) {
      const std::optional<Value> name = AttributeOf(*context_.like, "to_apply");
      if (name && name->word == word) return context_.like->to_apply();
    }
    TF_ASSIGN_OR_RETURN(const HloOpcode opcode, xla::StringToHloOpcode(word));
    if (!IsBinaryClass(opcode)) return DoesNotFit(node_, "to_apply is no reduction");
    const Shape scalar = ShapeUtil::MakeShape(type, {});
    xla::HloComputation::Builder builder(word);
    HloInstruction* const a =
        builder.AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"));
    HloInstruction* const b =
        builder.AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"));
    TF_RETURN_IF_ERROR(xla::ShapeInference::InferBinaryOpShape(opcode, a, b).status());
    builder.AddInstruction(HloInstruction::CreateBinary(scalar, opcode, a, b));
    return context_.computation->parent()->AddEmbeddedComputation(builder.Build());
  }

  Made MakeReduce() const {
    if (operands_.size() != 2) return DoesNotFit(node_, "only reductions of one operand");
    const Shape& from = operands_[0]->shape();
    TF_ASSIGN_OR_RETURN(const List dimensions,
                        attributes_.GetDimensions("dimensions", from.dimensions().size()));
    TF_ASSIGN_OR_RETURN(const std::string word, attributes_.GetWord("to_apply"));
    if (!ShapeUtil::IsScalar(operands_[1]->shape()) ||
        operands_[1]->shape().element_type() != from.element_type()) {
      return DoesNotFit(node_, "its start is no scalar of its element type");
    }
    TF_ASSIGN_OR_RETURN(xla::HloComputation* const computation,
                        Reduction(word, from.element_type()));
    return HloInstruction::CreateReduce(ShapeUtil::DeleteDimensions(dimensions, from), operands_[0],
                                        operands_[1], dimensions, computation);
  }

  Made MakeDot() const {
    xla::DotDimensionNumbers numbers;
    const size_t lhs_rank = operands_[0]->shape().dimensions().size();
    const size_t rhs_rank = operands_[1]->shape().dimensions().size();
    TF_ASSIGN_OR_RETURN(const List lhs_batch,
                        attributes_.GetDimensions("lhs_batch_dims", lhs_rank));
    TF_ASSIGN_OR_RETURN(const List rhs_batch,
                        attributes_.GetDimensions("rhs_batch_dims", rhs_rank));
    TF_ASSIGN_OR_RETURN(const List lhs_contract,
                        attributes_.GetDimensions("lhs_contracting_dims", lhs_rank));
    TF_ASSIGN_OR_RETURN(const List rhs_contract,
                        attributes_.GetDimensions("rhs_contracting_dims", rhs_rank));
    numbers.mutable_lhs_batch_dimensions()->Assign(lhs_batch.begin(), lhs_batch.end());
    numbers.mutable_rhs_batch_dimensions()->Assign(rhs_batch.begin(), rhs_batch.end());
    numbers.mutable_lhs_contracting_dimensions()->Assign(lhs_contract.begin(), lhs_contract.end());
    numbers.mutable_rhs_contracting_dimensions()->Assign(rhs_contract.begin(), rhs_contract.end());
    const HloInstruction* const like =
        context_.like != nullptr && context_.like->opcode() == HloOpcode::kDot ? context_.like
                                                                               : nullptr;
    std::optional<xla::PrimitiveType> type;
    if (like != nullptr) type = like->shape().element_type();
    TF_ASSIGN_OR_RETURN(const Shape shape,
                        xla::ShapeInference::InferDotOpShape(operands_[0]->shape(),
                                                             operands_[1]->shape(), numbers, type));
    return HloInstruction::CreateDot(
        shape, operands_[0], operands_[1], numbers,
        like != nullptr ? like->precision_config() : DefaultPrecision());
  }

  static xla::PrecisionConfig DefaultPrecision() {
    xla::PrecisionConfig precision;
    precision.mutable_operand_precision()->Resize(2, xla::PrecisionConfig::DEFAULT);
    return precision;
  }

  Made MakeDynamicSlice() const {
    TF_ASSIGN_OR_RETURN(const List sizes, attributes_.GetList("sizes"));
    std::vector<Shape> starts;
    for (size_t i = 1; i < operands_.size(); ++i) starts.push_back(operands_[i]->shape());
    TF_ASSIGN_OR_RETURN(const Shape shape, xla::ShapeInference::InferDynamicSliceShape(
                                               operands_[0]->shape(), starts, sizes));
    return HloInstruction::CreateDynamicSlice(shape, operands_[0],
                                              absl::MakeSpan(operands_).subspan(1), sizes);
  }

  Made MakeOpcode(HloInstruction*& same) const {
    switch (node_.opcode) {
      case HloOpcode::kBroadcast:
        return MakeBroadcast(same);
      case HloOpcode::kCompare:
        return MakeCompare();
      case HloOpcode::kConcatenate:
        return MakeConcatenate(same);
      case HloOpcode::kConvert:
        return MakeConvert(same);
      case HloOpcode::kDot:
        return MakeDot();
      case HloOpcode::kDynamicSlice:
        return MakeDynamicSlice();
      case HloOpcode::kIota:
        return MakeIota();
      case HloOpcode::kPad:
        return MakePad(same);
      case HloOpcode::kReduce:
        return MakeReduce();
      case HloOpcode::kReshape:
        return MakeReshape(same);
      case HloOpcode::kReverse:
        return MakeReverse(same);
      case HloOpcode::kSlice:
        return MakeSlice(same);
      case HloOpcode::kTranspose:
        return MakeTranspose(same);
      case HloOpcode::kSelect:
      case HloOpcode::kClamp:
        return MakeElementwise();
      default:
        if ((operands_.size() == 1 &&
             (IsUnaryClass(node_.opcode) || node_.opcode == HloOpcode::kIsFinite)) ||
            (operands_.size() == 2 && IsBinaryClass(node_.opcode))) {
          return MakeElementwise();
        }
        return DoesNotFit(node_, "this opcode is only built with like=NODE");
    }
  }

  const Node& node_;
  const Instructions& operands_;
  const BuildContext& context_;
  const NodeAttributes attributes_;
  std::optional<Shape> written_;
};

// An instruction of the computation that computes the same from the same operands.
HloInstruction* FindEqual(const HloInstruction& made) {
  if (made.operand_count() == 0) return nullptr;
  const HloInstruction* const operand = made.operand(0);
  if (operand->user_count() > kMostUsers && !operand->shape().dimensions().empty()) return nullptr;
  for (HloInstruction* user : operand->users()) {
    if (user == &made) continue;  // it is a user already
    if (user->opcode() == made.opcode() && !user->HasControlDependencies() &&
        !user->has_sharding() && user->operands() == made.operands() &&
        user->Identical(made, std::equal_to<const HloInstruction*>(),
                        std::equal_to<const xla::HloComputation*>(),
                        /*layout_sensitive=*/false)) {
      return user;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<HloInstruction*> BuildNode(const Node& node, const Instructions& operands,
                                          const BuildContext& context) {
  HloInstruction* same = nullptr;
  const size_t before = context.added->size();
  TF_ASSIGN_OR_RETURN(std::unique_ptr<HloInstruction> made,
                      NodeBuilder(node, operands, context).Make(same));
  if (same != nullptr) return same;
  if (context.added->size() == before) {  // else it is a number's broadcast
    if (HloInstruction* const equal = FindEqual(*made)) {
      made->DetachFromOperandsAndUsers();
      return equal;
    }
  }
  if (context.origin != nullptr) made->set_metadata(context.origin->metadata());
  HloInstruction* const added = context.computation->AddInstruction(std::move(made));
  context.added->push_back(added);
  return added;
}

}  // namespace hone::compiler
