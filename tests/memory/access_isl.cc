#include "access_isl.h"

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <memory>

namespace hone::memory {
namespace {

bool Has(const std::vector<int64_t>& list, size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
}

// A map under construction: i0, i1, … of the result, j0, j1, … of the input.
class Relation {
 public:
  Relation(const std::vector<int64_t>& out, const std::vector<int64_t>& in) {
    for (size_t d = 0; d < out.size(); ++d) Add(fmt::format("0 <= i{} < {}", d, out[d]));
    for (size_t d = 0; d < in.size(); ++d) Add(fmt::format("0 <= j{} < {}", d, in[d]));
    head_ = fmt::format("[{}] -> [{}]", Names("i", out.size()), Names("j", in.size()));
  }

  void Add(const std::string& constraint) {
    constraints_ += (constraints_.empty() ? "" : " and ") + constraint;
  }
  void Same(size_t i, size_t j) { Add(fmt::format("i{} = j{}", i, j)); }
  void Exists(const std::string& name) { exists_.push_back(name); }

  std::string Text() const {
    std::string body = constraints_.empty() ? "" : " : " + constraints_;
    if (!exists_.empty()) {
      std::string names;
      for (const std::string& name : exists_) names += (names.empty() ? "" : ", ") + name;
      body = fmt::format(" : exists ({} : {})", names, constraints_);
    }
    return "{ " + head_ + body + " }";
  }

 private:
  static std::string Names(const char* letter, size_t count) {
    std::string names;
    for (size_t d = 0; d < count; ++d) names += fmt::format("{}{}{}", d ? ", " : "", letter, d);
    return names;
  }

  std::string head_, constraints_;
  std::vector<std::string> exists_;
};

std::string Linear(const char* letter, const std::vector<int64_t>& dimensions) {
  std::string sum = "0";
  const std::vector<int64_t> strides = Strides(dimensions);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    sum += fmt::format(" + {}{}{}", strides[d], letter, d);
  }
  return sum;
}

// The window at result i of dimension `out` reaches input j of dimension `in`.
void AddWindow(Relation& relation, size_t out, size_t in, size_t number,
               const WindowDimension& window) {
  relation.Exists(fmt::format("k{}", number));
  relation.Add(fmt::format("0 <= k{} < {}", number, window.size));
  relation.Add(fmt::format("{}j{} = {}i{} - {} + {}k{}", window.base_dilation, in, window.stride,
                           out, window.pad_low, window.window_dilation, number));
}

int64_t GroupCount(const Op& op, const char* name) {
  return ListOf(op, name).empty() ? 1 : ListOf(op, name)[0];
}

void AddConvolution(const Network& network, const Op& op, size_t operand, Relation& relation) {
  const ConvolutionDimensions& labels = op.convolution;
  const auto u = [](int64_t d) { return static_cast<size_t>(d); };
  if (operand == 1) return relation.Same(u(labels.output_feature), u(labels.kernel_output));
  const auto& in = network.exprs[u(op.inputs[0])].dimensions;
  const auto& kernel = network.exprs[u(op.inputs[1])].dimensions;
  const int64_t features = kernel[u(labels.kernel_output)];
  const auto group = [&](int64_t groups) {
    const int64_t size = features / groups;
    relation.Exists("g");
    relation.Add(fmt::format("{}g <= i{} < {}g + {}", size, labels.output_feature, size, size));
  };
  if (const int64_t groups = GroupCount(op, "feature_group_count"); groups > 1) {
    const int64_t size = in[u(labels.feature)] / groups;
    group(groups);
    relation.Add(fmt::format("{}g <= j{} < {}g + {}", size, labels.feature, size, size));
  }
  if (const int64_t groups = GroupCount(op, "batch_group_count"); groups > 1) {
    const int64_t size = in[u(labels.batch)] / groups;
    group(groups);
    relation.Add(fmt::format("j{} = {}g + i{}", labels.batch, size, labels.output_batch));
  } else {
    relation.Same(u(labels.output_batch), u(labels.batch));
  }
  for (size_t s = 0; s < labels.spatial.size(); ++s) {
    AddWindow(relation, u(labels.output_spatial[s]), u(labels.spatial[s]), s, op.window[s]);
  }
}

void AddDot(const Network& network, const Op& op, size_t operand, Relation& relation) {
  const auto& batch = ListOf(op, operand == 0 ? "lhs_batch_dims" : "rhs_batch_dims");
  const auto& contracting =
      ListOf(op, operand == 0 ? "lhs_contracting_dims" : "rhs_contracting_dims");
  const auto rank = [&](size_t k) {
    return network.exprs[static_cast<size_t>(op.inputs[k])].dimensions.size();
  };
  for (size_t b = 0; b < batch.size(); ++b) relation.Same(b, static_cast<size_t>(batch[b]));
  size_t from = batch.size();
  if (operand == 1) from = rank(0) - ListOf(op, "lhs_contracting_dims").size();
  for (size_t d = 0; d < rank(operand); ++d) {
    if (!Has(batch, d) && !Has(contracting, d)) relation.Same(from++, d);
  }
}

// Source windows that reach i; of the operand, also everything that these windows reach.
void AddSelectAndScatter(const Network& network, const Op& op, size_t operand, Relation& relation) {
  const auto& source = network.exprs[static_cast<size_t>(op.inputs[1])].dimensions;
  for (size_t d = 0; d < source.size(); ++d) {
    const WindowDimension& window = op.window[d];
    std::string s = fmt::format("j{}", d);
    if (operand == 0) {
      s = fmt::format("s{}", d);
      relation.Exists(s);
      relation.Add(fmt::format("0 <= {} < {}", s, source[d]));
    }
    const auto reaches = [&](const char* letter) {
      relation.Add(fmt::format("{0}{1} - {2} <= {3}{4} < {0}{1} - {2} + {5}", window.stride, s,
                               window.pad_low, letter, d, window.size));
    };
    reaches("i");
    if (operand == 0) reaches("j");
  }
}

struct Free {
  void operator()(isl_ctx* ctx) const { isl_ctx_free(ctx); }
};

}  // namespace

StatusOr<std::string> AccessMap(const Network& network, const Expr& expr, size_t input) {
  const auto& in = network.exprs[static_cast<size_t>(expr.inputs[input])].dimensions;
  Relation relation(expr.dimensions, in);
  switch (expr.movement) {
    case Movement::kReshape:
      relation.Add(Linear("i", expr.dimensions) + " = " + Linear("j", in));
      break;
    case Movement::kTranspose:
      for (size_t d = 0; d < in.size(); ++d) relation.Same(d, static_cast<size_t>(expr.numbers[d]));
      break;
    case Movement::kBroadcast:
      for (size_t d = 0; d < in.size(); ++d) relation.Same(static_cast<size_t>(expr.numbers[d]), d);
      break;
    case Movement::kSlice:
      for (size_t d = 0; d < in.size(); ++d) {
        relation.Add(fmt::format("j{} = {} + {}i{}", d, expr.numbers[d], expr.strides[d], d));
      }
      break;
    case Movement::kReverse:
      for (size_t d = 0; d < in.size(); ++d) {
        if (Has(expr.numbers, d)) {
          relation.Add(fmt::format("j{} = {} - i{}", d, in[d] - 1, d));
        } else {
          relation.Same(d, d);
        }
      }
      break;
    case Movement::kPad:
      for (size_t d = 0; input == 0 && d < in.size(); ++d) {
        relation.Add(fmt::format("i{} = {} + {}j{}", d, expr.numbers[d], expr.strides[d], d));
      }
      break;
    case Movement::kConcatenate: {
      const auto axis = static_cast<size_t>(expr.axis);
      int64_t before = 0;
      for (size_t k = 0; k < input; ++k) {
        before += network.exprs[static_cast<size_t>(expr.inputs[k])].dimensions[axis];
      }
      for (size_t d = 0; d < in.size(); ++d) {
        relation.Add(fmt::format("i{} = j{} + {}", d, d, d == axis ? before : 0));
      }
      break;
    }
    case Movement::kUpdate: {
      const auto& part = network.exprs[static_cast<size_t>(expr.inputs[1])].dimensions;
      std::string outside;
      for (size_t d = 0; d < in.size(); ++d) {
        const int64_t start = expr.numbers[d];
        relation.Add(fmt::format("i{} = j{} + {}", d, d, input == 1 ? start : 0));
        outside +=
            fmt::format("{}i{} < {} or i{} >= {}", d ? " or " : "", d, start, d, start + part[d]);
      }
      if (input == 0 && !in.empty()) relation.Add("(" + outside + ")");
      break;
    }
    case Movement::kTensor:
    case Movement::kLiteral:
    case Movement::kIota:
      break;
  }
  return relation.Text();
}

StatusOr<std::string> AccessMap(const Network& network, const Op& op, size_t operand) {
  const auto& in = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  const auto& out = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  Relation relation(out, in);
  const std::string& opcode = op.opcode;
  if (!op.conservative.empty()) {
    return MakeError(ErrorCode::kUnsupported, opcode + ": " + op.conservative);
  }
  if (IsElementwise(opcode)) {
    for (size_t d = 0; d < in.size(); ++d) relation.Same(d, d);
  } else if (opcode == "dot") {
    AddDot(network, op, operand, relation);
  } else if (opcode == "convolution") {
    AddConvolution(network, op, operand, relation);
  } else if (opcode == "reduce" && operand < op.inputs.size() / 2) {
    size_t from = 0;
    for (size_t d = 0; d < in.size(); ++d) {
      if (!Has(ListOf(op, "dimensions"), d)) relation.Same(from++, d);
    }
  } else if (opcode == "reduce-window" && operand < op.inputs.size() / 2) {
    for (size_t d = 0; d < in.size(); ++d) AddWindow(relation, d, d, d, op.window[d]);
  } else if (opcode == "select-and-scatter" && operand < 2) {
    AddSelectAndScatter(network, op, operand, relation);
  } else if (opcode == "sort") {
    for (size_t d = 0; d < in.size(); ++d) {
      if (!Has(ListOf(op, "dimensions"), d)) relation.Same(d, d);
    }
  } else if (opcode == "regroup-bytes") {
    for (size_t d = 0; d < std::min(in.size(), out.size()); ++d) relation.Same(d, d);
  } else if (opcode == "fft" || opcode == "cholesky" || opcode == "triangular-solve") {
    const size_t whole = opcode == "fft" ? ListOf(op, "fft_length").size() : 2;
    for (size_t d = 0; d + whole < in.size(); ++d) relation.Same(d, d);
  }
  return relation.Text();
}

StatusOr<Image> ImageOf(const std::string& text, const Box& box, size_t rank) {
  const std::unique_ptr<isl_ctx, Free> ctx(isl_ctx_alloc());
  isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
  std::string names, bounds;
  for (size_t d = 0; d < box.low.size(); ++d) {
    names += fmt::format("{}i{}", d ? ", " : "", d);
    bounds += fmt::format("{}{} <= i{} < {}", d ? " and " : " : ", box.low[d], d, box.high[d]);
  }
  isl_map* map = isl_map_read_from_str(ctx.get(), text.c_str());
  isl_set* domain =
      isl_set_read_from_str(ctx.get(), fmt::format("{{ [{}]{} }}", names, bounds).c_str());
  isl_set* image = isl_set_apply(domain, map);
  if (image == nullptr) {
    return MakeError(ErrorCode::kInternal, "isl cannot read the map " + text);
  }
  Image result;
  result.hull = {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  if (isl_set_is_empty(image) == isl_bool_false) {
    const auto number = [](isl_val* value) {
      const int64_t n = isl_val_get_num_si(value);
      isl_val_free(value);
      return n;
    };
    for (size_t d = 0; d < rank; ++d) {
      const auto at = static_cast<int>(d);
      result.hull.low[d] = number(isl_set_dim_min_val(isl_set_copy(image), at));
      result.hull.high[d] = number(isl_set_dim_max_val(isl_set_copy(image), at)) + 1;
    }
    isl_set_foreach_point(
        image,
        [](isl_point* point, void* count) {
          isl_point_free(point);
          ++*static_cast<int64_t*>(count);
          return isl_stat_ok;
        },
        &result.elements);
  }
  isl_set_free(image);
  return result;
}

}  // namespace hone::memory
