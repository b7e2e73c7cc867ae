#include "compiler/gpu/library_calls.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/layout_util.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/gpu/backend_configs.pb.h"
#include "xla/shape_util.h"
#include "xla/window_util.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler::gpu {
namespace {

using xla::ConvolutionDimensionNumbers;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::Shape;
using xla::ShapeUtil;
using xla::gpu::CudnnConvBackendConfig;
using xla::gpu::GemmBackendConfig;
using xla::gpu::GpuBackendConfig;

absl::Status Unknown(const HloInstruction& call, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("the meaning of ", call.custom_call_target(), " ", what, " is not known here"));
}

// One call, and the instructions that take its place.
class Replacement {
 public:
  explicit Replacement(HloInstruction* call) : call_(call), computation_(call->parent()) {}

  // What the call computes: its result, or a tuple's first.
  const Shape& shape() const {
    return call_->shape().IsTuple() ? call_->shape().tuple_shapes(0) : call_->shape();
  }

  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction) {
    return computation_->AddInstruction(std::move(instruction));
  }
  HloInstruction* Binary(HloOpcode opcode, HloInstruction* a, HloInstruction* b) {
    return Add(HloInstruction::CreateBinary(a->shape(), opcode, a, b));
  }
  HloInstruction* Unary(HloOpcode opcode, HloInstruction* a) {
    return Add(HloInstruction::CreateUnary(a->shape(), opcode, a));
  }
  HloInstruction* Converted(HloInstruction* array, xla::PrimitiveType type) {
    if (array->shape().element_type() == type) return array;
    return Add(
        HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(array->shape(), type), array));
  }
  HloInstruction* Widened(HloInstruction* array, xla::PrimitiveType type) {
    const bool wider = xla::primitive_util::BitWidth(type) >
                       xla::primitive_util::BitWidth(array->shape().element_type());
    return wider ? Converted(array, type) : array;
  }
  HloInstruction* Constant(double value, const Shape& like) {
    auto literal = xla::LiteralUtil::CreateR0<double>(value).Convert(like.element_type());
    HloInstruction* const scalar = Add(HloInstruction::CreateConstant(*std::move(literal)));
    return Add(HloInstruction::CreateBroadcast(like, scalar, {}));
  }
  HloInstruction* Scaled(HloInstruction* array, double by) {
    return by == 1 ? array : Binary(HloOpcode::kMultiply, array, Constant(by, array->shape()));
  }
  // With zeros behind it. Of a product that was padded XLA leaves the bias as it was: what the library
  // reads beyond its end is added to what is cut off.
  HloInstruction* Lengthened(HloInstruction* vector, int64_t size) {
    if (vector->shape().dimensions().size() != 1 || vector->shape().dimensions(0) >= size) {
      return vector;
    }
    Shape shape = vector->shape();
    shape.set_dimensions(0, size);
    xla::PaddingConfig padding = xla::MakeNoPaddingConfig(1);
    padding.mutable_dimensions(0)->set_edge_padding_high(size - vector->shape().dimensions(0));
    HloInstruction* const zero = Add(
        HloInstruction::CreateConstant(xla::LiteralUtil::Zero(vector->shape().element_type())));
    return Add(HloInstruction::CreatePad(shape, vector, zero, padding));
  }
  // In the shape, along these of its dimensions.
  HloInstruction* Along(HloInstruction* array, const Shape& shape,
                        const std::vector<int64_t>& dimensions) {
    array = Converted(array, shape.element_type());
    return Add(HloInstruction::CreateBroadcast(shape, array, dimensions));
  }
  // The same along those that are the most minor in memory, the minor with the minor.
  HloInstruction* AlongMinor(HloInstruction* array, const Shape& shape) {
    std::vector<int64_t> dimensions(array->shape().dimensions().size());
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const auto minor = static_cast<int64_t>(i);
      dimensions[static_cast<size_t>(array->shape().layout().minor_to_major(minor))] =
          shape.layout().minor_to_major(minor);
    }
    return Along(array, shape, dimensions);
  }
  HloInstruction* Relu(HloInstruction* array) {
    return Binary(HloOpcode::kMaximum, array, Constant(0, array->shape()));
  }
  // x / (1 + exp(-x))
  HloInstruction* Silu(HloInstruction* array) {
    return Binary(HloOpcode::kMultiply, array, Unary(HloOpcode::kLogistic, array));
  }
  // By tanh, as cuBLAS has it.
  HloInstruction* Gelu(HloInstruction* x) {
    const Shape& shape = x->shape();
    HloInstruction* const square = Binary(HloOpcode::kMultiply, x, x);
    HloInstruction* inner = Binary(HloOpcode::kMultiply, square, Constant(0.044715, shape));
    inner = Binary(HloOpcode::kAdd, inner, Constant(1, shape));
    inner = Binary(HloOpcode::kMultiply, inner, Scaled(x, 0.7978845608028654));
    inner = Binary(HloOpcode::kAdd, Unary(HloOpcode::kTanh, inner), Constant(1, shape));
    return Binary(HloOpcode::kMultiply, inner, Scaled(x, 0.5));
  }

  // Puts the result in the call's place. What else the call returns nobody reads the values of.
  absl::Status Finish(HloInstruction* result) {
    result = Converted(result, shape().element_type());
    if (!call_->shape().IsTuple()) return computation_->ReplaceInstruction(call_, result);
    std::vector<HloInstruction*> elements = {result};
    for (size_t i = 1; i < call_->shape().tuple_shapes().size(); ++i) {
      elements.push_back(Constant(0, call_->shape().tuple_shapes(i)));
    }
    return computation_->ReplaceInstruction(call_, Add(HloInstruction::CreateTuple(elements)));
  }

 private:
  HloInstruction* const call_;
  xla::HloComputation* const computation_;
};

absl::Status ReplaceGemm(HloInstruction* call, const GemmBackendConfig& config) {
  if (config.alpha_imag() != 0) return Unknown(*call, "with a complex factor");
  Replacement to(call);
  const Shape shape = to.shape();
  xla::PrecisionConfig precision = config.precision_config();
  precision.set_algorithm(xla::PrecisionConfig::ALG_UNSET);
  precision.mutable_operand_precision()->Resize(2, xla::PrecisionConfig::DEFAULT);
  // XLA:CPU has no dot of narrow floats with a wide result: widened first they are the same
  // numbers.
  HloInstruction* const left = to.Widened(call->mutable_operand(0), shape.element_type());
  HloInstruction* const right = to.Widened(call->mutable_operand(1), shape.element_type());
  HloInstruction* result = to.Add(
      HloInstruction::CreateDot(shape, left, right, config.dot_dimension_numbers(), precision));
  result = to.Scaled(result, config.alpha_real());
  int64_t operand = 2;
  if (config.beta() != 0) {
    if (call->operand_count() <= operand) return Unknown(*call, "without a matrix to add");
    HloInstruction* const added =
        to.Converted(call->mutable_operand(operand++), shape.element_type());
    result = to.Binary(HloOpcode::kAdd, result, to.Scaled(added, config.beta()));
  }
  const auto epilogue = config.epilogue();
  const bool bias =
      epilogue == GemmBackendConfig::BIAS || epilogue == GemmBackendConfig::BIAS_RELU ||
      epilogue == GemmBackendConfig::BIAS_GELU || epilogue == GemmBackendConfig::BIAS_SILU;
  if (bias) {
    if (call->operand_count() <= operand) return Unknown(*call, "without a bias");
    HloInstruction* const vector = to.Lengthened(
        call->mutable_operand(operand++), shape.dimensions(shape.layout().minor_to_major(0)));
    result = to.Binary(HloOpcode::kAdd, result, to.AlongMinor(vector, shape));
  }
  if (call->operand_count() != operand) return Unknown(*call, "with more operands");
  switch (epilogue) {
    case GemmBackendConfig::DEFAULT:
    case GemmBackendConfig::BIAS:
      break;
    case GemmBackendConfig::RELU:
    case GemmBackendConfig::BIAS_RELU:
      result = to.Relu(result);
      break;
    case GemmBackendConfig::GELU:
    case GemmBackendConfig::BIAS_GELU:
      result = to.Gelu(result);
      break;
    case GemmBackendConfig::SILU:
    case GemmBackendConfig::BIAS_SILU:
      result = to.Silu(result);
      break;
    default:
      return Unknown(*call, "with a second result");
  }
  return to.Finish(result);
}

int64_t Dilated(int64_t size, int64_t by) { return size == 0 ? 0 : (size - 1) * by + 1; }

HloInstruction* Convolve(Replacement& to, const Shape& shape, HloInstruction* left,
                         HloInstruction* right, int64_t feature_groups, int64_t batch_groups,
                         const xla::Window& window, const ConvolutionDimensionNumbers& numbers) {
  xla::PrecisionConfig precision;
  precision.mutable_operand_precision()->Resize(2, xla::PrecisionConfig::DEFAULT);
  return to.Add(HloInstruction::CreateConvolve(shape, left, right, feature_groups, batch_groups,
                                               window, numbers, precision));
}

// Of a forward convolution's dimension numbers: its inputs' gradient from its outputs', which is a
// convolution of these with the filter turned round, their steps the forward one's strides.
HloInstruction* BackwardByInput(Replacement& to, const HloInstruction& call, HloInstruction* left,
                                HloInstruction* filter) {
  const ConvolutionDimensionNumbers& forward = call.convolution_dimension_numbers();
  const Shape& shape = to.shape();
  const int64_t groups = call.feature_group_count();
  int64_t in = forward.kernel_input_feature_dimension();
  int64_t out = forward.kernel_output_feature_dimension();
  std::vector<int64_t> spatial(forward.kernel_spatial_dimensions().begin(),
                               forward.kernel_spatial_dimensions().end());
  filter = to.Add(HloInstruction::CreateReverse(filter->shape(), filter, spatial));
  if (groups > 1) {
    // [..., in/g, ..., g * out/g, ...] becomes [..., g * in/g, ..., out/g, ...].
    std::vector<int64_t> split(filter->shape().dimensions().begin(),
                               filter->shape().dimensions().end());
    split[out] /= groups;
    split.insert(split.begin() + out, groups);
    const xla::PrimitiveType type = filter->shape().element_type();
    filter = to.Add(HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, split), filter));
    std::vector<int64_t> order;
    std::vector<int64_t> merged;
    for (int64_t i = 0; i < static_cast<int64_t>(split.size()); ++i) {
      if (i == out) continue;  // the groups
      const int64_t was = i < out ? i : i - 1;
      if (was == in) order.push_back(out);
      order.push_back(i);
      merged.push_back(was == in ? split[i] * groups : split[i]);
    }
    std::vector<int64_t> transposed;
    for (int64_t i : order) transposed.push_back(split[i]);
    filter = to.Add(
        HloInstruction::CreateTranspose(ShapeUtil::MakeShape(type, transposed), filter, order));
    filter = to.Add(HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, merged), filter));
  }
  ConvolutionDimensionNumbers numbers = forward;
  numbers.set_input_batch_dimension(forward.output_batch_dimension());
  numbers.set_input_feature_dimension(forward.output_feature_dimension());
  *numbers.mutable_input_spatial_dimensions() = forward.output_spatial_dimensions();
  numbers.set_output_batch_dimension(forward.input_batch_dimension());
  numbers.set_output_feature_dimension(forward.input_feature_dimension());
  *numbers.mutable_output_spatial_dimensions() = forward.input_spatial_dimensions();
  numbers.set_kernel_input_feature_dimension(out);
  numbers.set_kernel_output_feature_dimension(in);
  xla::Window window = call.window();
  for (int i = 0; i < window.dimensions_size(); ++i) {
    xla::WindowDimension& dimension = *window.mutable_dimensions(i);
    const int64_t kernel = Dilated(dimension.size(), dimension.window_dilation());
    const int64_t given =
        Dilated(left->shape().dimensions(forward.output_spatial_dimensions(i)), dimension.stride());
    const int64_t wanted = shape.dimensions(forward.input_spatial_dimensions(i));
    const int64_t low = kernel - 1 - dimension.padding_low();
    dimension.set_base_dilation(dimension.stride());
    dimension.set_stride(1);
    dimension.set_padding_low(low);
    dimension.set_padding_high(wanted - 1 + kernel - given - low);
    dimension.set_window_reversal(false);
  }
  return Convolve(to, shape, left, filter, groups, 1, window, numbers);
}

// Its filter's gradient from its inputs and its outputs': a convolution of the two, examples taking
// the features' part, dilated by the forward one's strides.
HloInstruction* BackwardByFilter(Replacement& to, const HloInstruction& call, HloInstruction* left,
                                 HloInstruction* right) {
  const ConvolutionDimensionNumbers& forward = call.convolution_dimension_numbers();
  const Shape& shape = to.shape();
  ConvolutionDimensionNumbers numbers = forward;
  numbers.set_input_batch_dimension(forward.input_feature_dimension());
  numbers.set_input_feature_dimension(forward.input_batch_dimension());
  numbers.set_kernel_input_feature_dimension(forward.output_batch_dimension());
  numbers.set_kernel_output_feature_dimension(forward.output_feature_dimension());
  *numbers.mutable_kernel_spatial_dimensions() = forward.output_spatial_dimensions();
  numbers.set_output_batch_dimension(forward.kernel_input_feature_dimension());
  numbers.set_output_feature_dimension(forward.kernel_output_feature_dimension());
  *numbers.mutable_output_spatial_dimensions() = forward.kernel_spatial_dimensions();
  xla::Window window = call.window();
  for (int i = 0; i < window.dimensions_size(); ++i) {
    xla::WindowDimension& dimension = *window.mutable_dimensions(i);
    const int64_t outputs = right->shape().dimensions(forward.output_spatial_dimensions(i));
    const int64_t inputs = left->shape().dimensions(forward.input_spatial_dimensions(i));
    const int64_t wanted = shape.dimensions(forward.kernel_spatial_dimensions(i));
    const int64_t stride = dimension.stride();
    const int64_t dilation = dimension.window_dilation();
    dimension.set_size(outputs);
    dimension.set_stride(dilation);
    dimension.set_window_dilation(stride);
    dimension.set_padding_high((wanted - 1) * dilation + Dilated(outputs, stride) - inputs -
                               dimension.padding_low());
    dimension.set_window_reversal(false);
  }
  return Convolve(to, shape, left, right, 1, call.feature_group_count(), window, numbers);
}

// activation(convolution * scale + side input * its scale + bias)
absl::StatusOr<HloInstruction*> WithBias(Replacement& to, HloInstruction* call,
                                         const CudnnConvBackendConfig& config,
                                         HloInstruction* result) {
  result = to.Scaled(result, config.conv_result_scale());
  if (call->operand_count() > 4 || call->operand_count() < 3) {
    return Unknown(*call, "with as many operands");
  }
  if (call->operand_count() == 4) {
    HloInstruction* const side =
        to.Converted(call->mutable_operand(3), result->shape().element_type());
    result = to.Binary(HloOpcode::kAdd, result, to.Scaled(side, config.side_input_scale()));
  }
  const int64_t features = call->convolution_dimension_numbers().output_feature_dimension();
  HloInstruction* const bias = to.Along(call->mutable_operand(2), result->shape(), {features});
  result = to.Binary(HloOpcode::kAdd, result, bias);
  switch (config.activation_mode()) {
    case stream_executor::dnn::kNone:
      return result;
    case stream_executor::dnn::kRelu:
      return to.Relu(result);
    case stream_executor::dnn::kRelu6:
      return to.Binary(HloOpcode::kMinimum, to.Relu(result), to.Constant(6, result->shape()));
    case stream_executor::dnn::kElu: {
      HloInstruction* const zero = to.Constant(0, result->shape());
      HloInstruction* const above = to.Add(
          HloInstruction::CreateCompare(ShapeUtil::ChangeElementType(result->shape(), xla::PRED),
                                        result, zero, xla::ComparisonDirection::kGt));
      return to.Add(HloInstruction::CreateTernary(result->shape(), HloOpcode::kSelect, above,
                                                  result, to.Unary(HloOpcode::kExpm1, result)));
    }
    default:
      return Unknown(*call, "with this activation");
  }
}

absl::Status ReplaceConvolution(HloInstruction* call, const CudnnConvBackendConfig& config) {
  Replacement to(call);
  const absl::string_view target = call->custom_call_target();
  HloInstruction* const left = call->mutable_operand(0);
  HloInstruction* const right = call->mutable_operand(1);
  if (xla::primitive_util::IsIntegralType(left->shape().element_type())) {
    return Unknown(*call, "of integers");
  }
  if (target == "__cudnn$convBackwardInput") {
    return to.Finish(
        to.Scaled(BackwardByInput(to, *call, left, right), config.conv_result_scale()));
  }
  if (target == "__cudnn$convBackwardFilter") {
    return to.Finish(
        to.Scaled(BackwardByFilter(to, *call, left, right), config.conv_result_scale()));
  }
  HloInstruction* const result =
      Convolve(to, to.shape(), left, right, call->feature_group_count(), call->batch_group_count(),
               call->window(), call->convolution_dimension_numbers());
  if (target == "__cudnn$convForward") {
    if (call->operand_count() != 2) return Unknown(*call, "with more operands");
    return to.Finish(to.Scaled(result, config.conv_result_scale()));
  }
  auto finished = WithBias(to, call, config, result);
  if (!finished.ok()) return finished.status();
  return to.Finish(*finished);
}

absl::Status ReplaceOne(HloInstruction* call) {
  const absl::string_view target = call->custom_call_target();
  if (target == "__cublas$gemm" || target == "__cublas$lt$matmul") {
    const auto config = call->backend_config<GpuBackendConfig>();
    if (!config.ok()) return config.status();
    return ReplaceGemm(call, config->gemm_backend_config());
  }
  if (target == "__cudnn$convForward" || target == "__cudnn$convBackwardInput" ||
      target == "__cudnn$convBackwardFilter" || target == "__cudnn$convBiasActivationForward") {
    const auto config = call->backend_config<GpuBackendConfig>();
    if (!config.ok()) return config.status();
    return ReplaceConvolution(call, config->cudnn_conv_backend_config());
  }
  Replacement to(call);
  if (target == "__cublas$triangularSolve") {
    const auto options = call->backend_config<xla::TriangularSolveOptions>();
    if (!options.ok()) return options.status();
    return to.Finish(to.Add(HloInstruction::CreateTriangularSolve(
        to.shape(), call->mutable_operand(0), call->mutable_operand(1), *options)));
  }
  if (target == "__cusolver$cholesky") {
    const auto options = call->backend_config<xla::CholeskyOptions>();
    if (!options.ok()) return options.status();
    return to.Finish(
        to.Add(HloInstruction::CreateCholesky(to.shape(), call->mutable_operand(0), *options)));
  }
  if (target.substr(0, 2) == "__") return Unknown(*call, "");
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceLibraryCalls(xla::HloModule& module) {
  for (xla::HloComputation* computation : module.computations()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kCustomCall) continue;
      if (absl::Status status = instruction->DropAllControlDeps(); !status.ok()) return status;
      if (absl::Status status = ReplaceOne(instruction); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::compiler::gpu
