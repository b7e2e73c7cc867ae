#include "compiler/implementations/emit.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/opcodes.h"
#include "compiler/xla_names.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler::emit {
namespace {

// For arguments of XLA's functions. Clang, which XLA is compiled by, takes for granted that the
// caller extends narrow ones to 32 bits; GCC passes on what a register has above them, such as the
// flag of an std::optional.
HloOpcode Extended(HloOpcode opcode) {
  int wide = static_cast<int>(opcode);
  asm("" : "+r"(wide));  // or GCC would see that nothing happens
  return static_cast<HloOpcode>(wide);
}

Shape Like(const HloInstruction* x, Sizes sizes) {
  return ShapeUtil::MakeShape(x->shape().element_type(), sizes);
}

HloInstruction* Add(HloComputation* computation, std::unique_ptr<HloInstruction> instruction) {
  return computation->AddInstruction(std::move(instruction));
}

// All dimensions but one, then that one.
std::vector<int64_t> WithLast(int64_t rank, int64_t dimension) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dimension) order.push_back(d);
  }
  order.push_back(dimension);
  return order;
}

}  // namespace

bool Free(const HloInstruction& instruction) {
  if (instruction.HasControlDependencies() || instruction.has_sharding() ||
      instruction.HasSideEffect()) {
    return false;
  }
  if (!instruction.shape().is_static()) return false;
  for (const HloInstruction* operand : instruction.operands()) {
    if (!operand->shape().is_static()) return false;
  }
  return true;
}

PrimitiveType SumType(PrimitiveType type) {
  const bool narrow =
      xla::primitive_util::IsFloatingPointType(type) && xla::primitive_util::BitWidth(type) < 32;
  return narrow ? xla::F32 : type;
}

PrimitiveType WorkType(HloOpcode opcode, PrimitiveType type) {
  const bool rounds = opcode == HloOpcode::kAdd || opcode == HloOpcode::kMultiply;
  return rounds ? SumType(type) : type;
}

xla::PrecisionConfig HighestPrecision() {
  xla::PrecisionConfig precision;
  precision.add_operand_precision(xla::PrecisionConfig::HIGHEST);
  precision.add_operand_precision(xla::PrecisionConfig::HIGHEST);
  return precision;
}

std::optional<HloOpcode> ReducerOpcode(const HloComputation& computation) {
  return computation.instruction_count() == 3 ? CombinerOpcode(computation) : std::nullopt;
}

int64_t LargestOf(PrimitiveType type) {
  const int bits = xla::primitive_util::BitWidth(type) -
                   (xla::primitive_util::IsSignedIntegralType(type) ? 1 : 0);
  return bits < 63 ? (int64_t{1} << bits) - 1 : std::numeric_limits<int64_t>::max();
}

std::vector<HloOpcode> ElementwiseOpcodes() {
  std::vector<HloOpcode> all;
  for (uint32_t i = 0; i < xla::HloOpcodeCount(); ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    if (HloInstruction::IsOpElementwise(opcode)) all.push_back(opcode);
  }
  return all;
}

xla::Literal Identity(HloOpcode opcode, PrimitiveType type) {
  switch (opcode) {
    case HloOpcode::kMultiply:
      return xla::LiteralUtil::One(type);
    case HloOpcode::kMaximum:
      return xla::LiteralUtil::MinValue(type);
    case HloOpcode::kMinimum:
      return xla::LiteralUtil::MaxValue(type);
    case HloOpcode::kAnd:
      return type == xla::PRED ? xla::LiteralUtil::One(type)
                               : xla::LiteralUtil::CreateR0<int64_t>(-1).Convert(type).value();
    default:
      return xla::LiteralUtil::Zero(type);
  }
}

bool IsIdentity(const HloInstruction& scalar, HloOpcode opcode) {
  return scalar.opcode() == HloOpcode::kConstant && ShapeUtil::IsScalar(scalar.shape()) &&
         scalar.literal() == Identity(opcode, scalar.shape().element_type());
}

HloInstruction* Scalar(HloComputation* computation, xla::Literal value) {
  return Add(computation, HloInstruction::CreateConstant(std::move(value)));
}

HloInstruction* Zero(HloComputation* computation, PrimitiveType type) {
  return Scalar(computation, xla::LiteralUtil::Zero(type));
}

HloInstruction* Number(HloComputation* computation, PrimitiveType type, int64_t value) {
  return Scalar(computation, xla::LiteralUtil::CreateR0<int64_t>(value).Convert(type).value());
}

HloInstruction* NumberLike(HloInstruction* like, PrimitiveType type, int64_t value) {
  return Broadcast(Number(like->parent(), type, value), SizesOf(*like), {});
}

bool Replaces(const HloComputation& computation) {
  return computation.root_instruction() == computation.parameter_instruction(1);
}

bool InOrder(Sizes dimensions, int64_t first, int64_t end) {
  for (const int64_t d : dimensions) {
    if (d != first++) return false;
  }
  return first == end;
}

HloInstruction* Convert(HloInstruction* x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  return Add(x->parent(),
             HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(x->shape(), type), x));
}

HloInstruction* BitcastConvert(HloInstruction* x, PrimitiveType type) {
  if (x->shape().element_type() == type) return x;
  return Add(x->parent(), HloInstruction::CreateBitcastConvert(
                              ShapeUtil::ChangeElementType(x->shape(), type), x));
}

HloInstruction* Unary(HloOpcode opcode, HloInstruction* x) {
  return Add(x->parent(), HloInstruction::CreateUnary(x->shape(), Extended(opcode), x));
}

HloInstruction* Binary(HloOpcode opcode, HloInstruction* x, HloInstruction* y) {
  return Add(x->parent(), HloInstruction::CreateBinary(x->shape(), Extended(opcode), x, y));
}

HloInstruction* WithStart(HloInstruction* value, HloInstruction* start, HloOpcode opcode) {
  if (IsIdentity(*start, opcode)) return value;
  HloInstruction* wide = Convert(start, value->shape().element_type());
  return Binary(opcode, value, Broadcast(wide, SizesOf(*value), {}));
}

HloInstruction* AddTo(HloInstruction* sum, HloInstruction* term, HloOpcode adds) {
  return sum == nullptr ? term : Binary(adds, sum, term);
}

HloInstruction* Compare(xla::Comparison::Direction direction, HloInstruction* x,
                        HloInstruction* y) {
  return Add(x->parent(),
             HloInstruction::CreateCompare(ShapeUtil::ChangeElementType(x->shape(), xla::PRED), x,
                                           y, direction));
}

HloInstruction* Select(HloInstruction* which, HloInstruction* x, HloInstruction* y) {
  return Add(x->parent(),
             HloInstruction::CreateTernary(x->shape(), HloOpcode::kSelect, which, x, y));
}

HloInstruction* Reshape(HloInstruction* x, Sizes sizes) {
  if (Sizes(x->shape().dimensions()) == sizes) return x;
  return Add(x->parent(), HloInstruction::CreateReshape(Like(x, sizes), x));
}

HloInstruction* Transpose(HloInstruction* x, Sizes permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  std::vector<int64_t> sizes;
  for (int64_t from : permutation) sizes.push_back(x->shape().dimensions(from));
  return Add(x->parent(), HloInstruction::CreateTranspose(Like(x, sizes), x, permutation));
}

HloInstruction* Rows(HloInstruction* x, int64_t dimension) {
  const std::vector<int64_t> sizes = SizesOf(*x);
  x = Transpose(x, WithLast(static_cast<int64_t>(sizes.size()), dimension));
  return Reshape(x, {Product(sizes) / std::max<int64_t>(1, sizes[dimension]), sizes[dimension]});
}

HloInstruction* FromRows(HloInstruction* rows, Sizes sizes, int64_t dimension) {
  const std::vector<int64_t> order = WithLast(static_cast<int64_t>(sizes.size()), dimension);
  std::vector<int64_t> moved(sizes.size()), back(sizes.size());
  for (size_t k = 0; k < order.size(); ++k) {
    moved[k] = sizes[order[k]];
    back[order[k]] = static_cast<int64_t>(k);
  }
  return Transpose(Reshape(rows, moved), back);
}

HloInstruction* Broadcast(HloInstruction* x, Sizes sizes, Sizes dimensions) {
  return Add(x->parent(), HloInstruction::CreateBroadcast(Like(x, sizes), x, dimensions));
}

HloInstruction* Iota(HloComputation* computation, PrimitiveType type, Sizes sizes,
                     int64_t dimension) {
  return Add(computation, HloInstruction::CreateIota(ShapeUtil::MakeShape(type, sizes), dimension));
}

HloInstruction* Diagonal(HloComputation* computation, Sizes sizes, int64_t first, int64_t second) {
  return Compare(xla::ComparisonDirection::kEq, Iota(computation, PrimitiveType::S32, sizes, first),
                 Iota(computation, PrimitiveType::S32, sizes, second));
}

HloInstruction* Slice(HloInstruction* x, Sizes starts, Sizes limits, Sizes strides) {
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < starts.size(); ++d) {
    sizes.push_back((limits[d] - starts[d] + strides[d] - 1) / strides[d]);
  }
  if (Sizes(sizes) == Sizes(x->shape().dimensions())) return x;
  return Add(x->parent(), HloInstruction::CreateSlice(Like(x, sizes), x, starts, limits, strides));
}

HloInstruction* SliceAlong(HloInstruction* x, int64_t dimension, int64_t from, int64_t to) {
  std::vector<int64_t> starts(x->shape().dimensions().size(), 0), limits = SizesOf(*x);
  const std::vector<int64_t> strides(starts.size(), 1);
  starts[dimension] = from;
  limits[dimension] = to;
  return Slice(x, starts, limits, strides);
}

HloInstruction* DynamicSlice(HloInstruction* x, const std::vector<HloInstruction*>& starts,
                             Sizes sizes) {
  return Add(x->parent(), HloInstruction::CreateDynamicSlice(Like(x, sizes), x, starts, sizes));
}

HloInstruction* DynamicUpdateSlice(HloInstruction* x, HloInstruction* update,
                                   const std::vector<HloInstruction*>& starts) {
  return Add(x->parent(), HloInstruction::CreateDynamicUpdateSlice(x->shape(), x, update, starts));
}

HloInstruction* Concatenate(const std::vector<HloInstruction*>& parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  std::vector<int64_t> sizes = SizesOf(*parts[0]);
  for (size_t k = 1; k < parts.size(); ++k) {
    sizes[dimension] += parts[k]->shape().dimensions(dimension);
  }
  return Add(parts[0]->parent(),
             HloInstruction::CreateConcatenate(Like(parts[0], sizes), parts, dimension));
}

HloInstruction* Pad(HloInstruction* x, HloInstruction* value, Sizes low, Sizes high,
                    Sizes interior) {
  xla::PaddingConfig config;
  std::vector<int64_t> sizes;
  bool changes = false;
  for (size_t d = 0; d < low.size(); ++d) {
    auto* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(low[d]);
    dimension->set_edge_padding_high(high[d]);
    dimension->set_interior_padding(interior[d]);
    const int64_t size = x->shape().dimensions(d);
    sizes.push_back(size + std::max<int64_t>(size - 1, 0) * interior[d] + low[d] + high[d]);
    changes = changes || low[d] != 0 || high[d] != 0 || interior[d] != 0;
  }
  if (!changes) return x;
  return Add(x->parent(), HloInstruction::CreatePad(Like(x, sizes), x, value, config));
}

HloInstruction* TakeAlong(HloInstruction* x, HloInstruction* places, int64_t dimension) {
  const auto rank = static_cast<int64_t>(x->shape().dimensions().size());
  std::vector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dimension) others.push_back(d);
  }
  const xla::GatherDimensionNumbers numbers = xla::HloGatherInstruction::MakeGatherDimNumbers(
      /*offset_dims=*/{}, /*collapsed_slice_dims=*/{dimension}, /*start_index_map=*/{dimension},
      /*index_vector_dim=*/rank, others, others);
  return Add(x->parent(), HloInstruction::CreateGather(Like(x, SizesOf(*places)), x, places,
                                                       numbers, std::vector<int64_t>(rank, 1),
                                                       /*indices_are_sorted=*/false));
}

HloComputation* Combiner(xla::HloModule* module, HloOpcode opcode, PrimitiveType type) {
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HloComputation::Builder builder("reducer");
  HloInstruction* a = builder.AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"));
  HloInstruction* b = builder.AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"));
  builder.AddInstruction(HloInstruction::CreateBinary(scalar, Extended(opcode), a, b));
  return module->AddEmbeddedComputation(builder.Build());
}

HloInstruction* Reduce(HloInstruction* x, HloInstruction* start, Sizes dimensions,
                       HloOpcode opcode) {
  HloComputation* const reducer = Combiner(x->GetModule(), opcode, x->shape().element_type());
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    if (!absl::c_linear_search(dimensions, d)) sizes.push_back(x->shape().dimensions(d));
  }
  return Add(x->parent(),
             HloInstruction::CreateReduce(Like(x, sizes), x, start, dimensions, reducer));
}

HloInstruction* Dot(HloInstruction* x, HloInstruction* y, Sizes x_batch, Sizes y_batch,
                    Sizes x_contracted, Sizes y_contracted, PrimitiveType type,
                    const xla::PrecisionConfig& precision) {
  xla::DotDimensionNumbers numbers;
  std::vector<int64_t> sizes;
  for (size_t k = 0; k < x_batch.size(); ++k) {
    numbers.add_lhs_batch_dimensions(x_batch[k]);
    numbers.add_rhs_batch_dimensions(y_batch[k]);
    sizes.push_back(x->shape().dimensions(x_batch[k]));
  }
  for (size_t k = 0; k < x_contracted.size(); ++k) {
    numbers.add_lhs_contracting_dimensions(x_contracted[k]);
    numbers.add_rhs_contracting_dimensions(y_contracted[k]);
  }
  for (auto [side, batch, contracted] :
       {std::tuple(x, x_batch, x_contracted), std::tuple(y, y_batch, y_contracted)}) {
    for (int64_t d = 0; d < static_cast<int64_t>(side->shape().dimensions().size()); ++d) {
      if (absl::c_linear_search(batch, d) || absl::c_linear_search(contracted, d)) continue;
      sizes.push_back(side->shape().dimensions(d));
    }
  }
  return Add(x->parent(), HloInstruction::CreateDot(ShapeUtil::MakeShape(type, sizes), x, y,
                                                    numbers, precision));
}

HloInstruction* Interleave(std::vector<HloInstruction*> pieces, Sizes factors) {
  // Last dimension first: [.., Q, ..] pieces become [.., Q, factor, ..] and then [.., Q * factor,
  // ..].
  for (int64_t d = static_cast<int64_t>(factors.size()) - 1; d >= 0; --d) {
    const int64_t factor = factors[d];
    if (factor == 1) continue;
    std::vector<HloInstruction*> joined;
    for (size_t first = 0; first < pieces.size(); first += factor) {
      std::vector<int64_t> sizes = SizesOf(*pieces[first]), split = sizes;
      split.insert(split.begin() + d + 1, 1);
      sizes[d] *= factor;
      std::vector<HloInstruction*> group;
      for (int64_t r = 0; r < factor; ++r) group.push_back(Reshape(pieces[first + r], split));
      joined.push_back(Reshape(Concatenate(group, d + 1), sizes));
    }
    pieces = std::move(joined);
  }
  return pieces[0];
}

int64_t TermsOf(const HloInstruction& product) {
  const xla::Shape& right = product.operand(1)->shape();
  if (product.opcode() == HloOpcode::kConvolution) {
    const auto& numbers = product.convolution_dimension_numbers();
    return ShapeUtil::ElementsIn(right) /
           std::max<int64_t>(1, right.dimensions(numbers.kernel_output_feature_dimension()));
  }
  int64_t terms = 1;
  for (const int64_t dimension : product.dot_dimension_numbers().rhs_contracting_dimensions()) {
    terms *= right.dimensions(dimension);
  }
  return terms;
}

absl::Status RemoveBehind(xla::HloComputation& computation, int64_t count) {
  if (computation.instruction_count() <= count) return absl::OkStatus();
  std::vector<HloInstruction*> all(computation.instructions().begin(),
                                   computation.instructions().end());
  for (; static_cast<int64_t>(all.size()) > count; all.pop_back()) {
    TF_RETURN_IF_ERROR(computation.RemoveInstruction(all.back()));
  }
  return absl::OkStatus();
}

std::vector<int64_t> SizesOf(const HloInstruction& x) {
  return {x.shape().dimensions().begin(), x.shape().dimensions().end()};
}

int64_t Product(Sizes sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

HloInstruction* OneKernel(HloComputation* computation, const std::vector<HloInstruction*>& operands,
                          std::unique_ptr<HloComputation> contents) {
  const xla::Shape shape = contents->root_instruction()->shape();
  HloInstruction* call = computation->AddInstruction(HloInstruction::CreateCall(
      shape, operands, computation->parent()->AddEmbeddedComputation(std::move(contents))));
  call->add_frontend_attribute(kSmallCall, "true");
  call->add_frontend_attribute("inlineable", "false");  // keeps xla::CallInliner away
  return call;
}

HloInstruction* Kept(HloInstruction* value) {
  HloInstruction* const token = Add(value->parent(), HloInstruction::CreateToken());
  return Add(value->parent(), HloInstruction::CreateAddDependency(value, token));
}

}  // namespace hone::compiler::emit
