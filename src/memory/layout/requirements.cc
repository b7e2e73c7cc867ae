#include "memory/layout/requirements.h"

#include <algorithm>
#include <set>
#include <string>

namespace hone::memory {
namespace {

using Range = std::optional<Layout>;

Layout MakeLayout(size_t begin, size_t end) {
  return {static_cast<int8_t>(begin), static_cast<int8_t>(end), false};
}

int64_t Product(const std::vector<int64_t>& dimensions, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t d = begin; d < end; ++d) product *= dimensions[d];
  return product;
}

// Dimensions of size one at the ends, and leading ones above a whole number of blocks, change
// nothing about who lies in which partition.
Layout Canonical(Layout layout, const std::vector<int64_t>& dimensions, int64_t partitions) {
  if (layout.replicated) return layout;
  auto begin = static_cast<size_t>(layout.begin), end = static_cast<size_t>(layout.end);
  while (end > begin && dimensions[end - 1] == 1) --end;
  while (begin < end &&
         (dimensions[begin] == 1 || Product(dimensions, begin + 1, end) % partitions == 0)) {
    ++begin;
  }
  return begin == end ? Layout{} : MakeLayout(begin, end);
}

// The dimensions, if they are contiguous and in order but for those of size one.
Range FromList(const std::vector<size_t>& list, const std::vector<int64_t>& dimensions) {
  Range range;
  for (size_t d : list) {
    if (dimensions[d] == 1) continue;
    if (!range) range = MakeLayout(d, d);
    const auto end = static_cast<size_t>(range->end);
    if (d < end || Product(dimensions, end, d) != 1) return std::nullopt;
    range->end = static_cast<int8_t>(d + 1);
  }
  return range.value_or(Layout{});
}

// The range of `in` with the same elements above, in and below it as `layout` has in `out`.
Range ThroughReshape(const std::vector<int64_t>& in, const std::vector<int64_t>& out,
                     const Layout& layout) {
  const auto begin = static_cast<size_t>(layout.begin), end = static_cast<size_t>(layout.end);
  const int64_t below = Product(out, end, out.size());
  const int64_t inside = Product(out, begin, end);
  size_t in_end = in.size();
  int64_t product = 1;
  while (in_end > 0 && product < below) product *= in[--in_end];
  if (product != below) return std::nullopt;
  size_t in_begin = in_end;
  product = 1;
  while (in_begin > 0 && product < inside) product *= in[--in_begin];
  if (product != inside) return std::nullopt;
  return MakeLayout(in_begin, in_end);
}

bool InRange(const Layout& layout, size_t d) {
  return d >= static_cast<size_t>(layout.begin) && d < static_cast<size_t>(layout.end);
}

// Whether shifting along dimension d by `by` keeps everyone in its partition.
bool KeepsPartition(const Layout& layout, const std::vector<int64_t>& dimensions, size_t d,
                    int64_t by, int64_t partitions) {
  if (!InRange(layout, d)) return true;
  const int64_t below = Product(dimensions, d + 1, static_cast<size_t>(layout.end));
  return by * below % partitions == 0 && d == static_cast<size_t>(layout.begin);
}

// One movement's input, given what is asked of its result. Nothing: no layout would do.
Range ThroughMovement(const Network& network, int64_t partitions, const Expr& expr, size_t input,
                      const Layout& layout) {
  const auto& in = network.exprs[static_cast<size_t>(expr.inputs[input])].dimensions;
  const Layout all{0, 0, true};
  if (layout.replicated) return layout;
  if (Canonical(layout, expr.dimensions, partitions) == Layout{}) {
    return Layout{};
  }
  std::vector<size_t> list;
  switch (expr.movement) {
    case Movement::kReshape: {
      Layout same = Canonical(layout, expr.dimensions, partitions);
      Range through = ThroughReshape(in, expr.dimensions, same);
      const auto begin = static_cast<size_t>(same.begin), end = static_cast<size_t>(same.end);
      if (Product(expr.dimensions, begin, end) % partitions != 0) return through;
      // Whole blocks: what lies above may lie along the partitions as well.
      while (!through && same.begin > 0) {
        --same.begin;
        through = ThroughReshape(in, expr.dimensions, same);
      }
      return through;
    }
    case Movement::kTranspose:
      for (size_t d = 0; d < in.size(); ++d) {
        if (InRange(layout, d)) list.push_back(static_cast<size_t>(expr.numbers[d]));
      }
      return FromList(list, in);
    case Movement::kBroadcast: {
      const Layout canonical = Canonical(layout, expr.dimensions, partitions);
      size_t covered = 0;
      for (size_t d = 0; d < in.size(); ++d) {
        if (!InRange(canonical, static_cast<size_t>(expr.numbers[d]))) continue;
        list.push_back(d);
        ++covered;
        if (in[d] != expr.dimensions[static_cast<size_t>(expr.numbers[d])]) return std::nullopt;
      }
      if (covered == 0) return all;
      if (covered != static_cast<size_t>(canonical.end - canonical.begin)) return std::nullopt;
      return FromList(list, in);
    }
    case Movement::kSlice:
      for (size_t d = 0; d < in.size(); ++d) {
        const bool whole = expr.strides[d] == 1 && in[d] == expr.dimensions[d];
        if (!InRange(layout, d) || whole) continue;
        if (expr.strides[d] != 1 || !KeepsPartition(layout, in, d, expr.numbers[d], partitions)) {
          return std::nullopt;
        }
      }
      return layout;
    case Movement::kReverse:
      for (int64_t d : expr.numbers) {
        if (InRange(layout, static_cast<size_t>(d))) return std::nullopt;
      }
      return layout;
    case Movement::kPad:
      if (input == 1) return all;
      for (size_t d = 0; d < in.size(); ++d) {
        if (!InRange(layout, d) || in[d] == expr.dimensions[d]) continue;
        if (expr.strides[d] != 1 || !KeepsPartition(layout, in, d, expr.numbers[d], partitions)) {
          return std::nullopt;
        }
      }
      return layout;
    case Movement::kConcatenate: {
      const auto axis = static_cast<size_t>(expr.axis);
      int64_t before = 0;
      for (size_t k = 0; k < input; ++k) {
        before += network.exprs[static_cast<size_t>(expr.inputs[k])].dimensions[axis];
      }
      if (!KeepsPartition(layout, in, axis, before, partitions)) return std::nullopt;
      return layout;
    }
    case Movement::kUpdate:
      if (input == 0) return layout;
      for (size_t d = 0; d < in.size(); ++d) {
        if (in[d] == expr.dimensions[d]) continue;
        if (!KeepsPartition(layout, in, d, expr.numbers[d], partitions)) return std::nullopt;
      }
      return layout;
    case Movement::kTensor:
    case Movement::kLiteral:
    case Movement::kIota:
      break;
  }
  return layout;
}

std::vector<size_t> Others(size_t rank, const std::vector<int64_t>& a,
                           const std::vector<int64_t>& b) {
  std::vector<size_t> others;
  for (size_t d = 0; d < rank; ++d) {
    const auto has = [&](const std::vector<int64_t>& list) {
      return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
    };
    if (!has(a) && !has(b)) others.push_back(d);
  }
  return others;
}

// Some dimensions in ascending order.
Range RangeOf(const std::vector<int64_t>& list, const std::vector<int64_t>& dimensions) {
  std::vector<size_t> sizes(list.begin(), list.end());
  std::sort(sizes.begin(), sizes.end());
  return FromList(sizes, dimensions);
}

// Numbers of a sum that the vector engine makes element by element.
constexpr int64_t kFewSummed = 16;

// A matrix times a vector of few numbers, which every partition has: each adds up its own rows, and
// the matrix need not be turned so that its short side lies along the partitions. `side` is the
// matrix's operand.
OperandLayouts RowByRow(const Network& network, const Op& op, const Layout& result, size_t side) {
  static const char* const kBatch[] = {"lhs_batch_dims", "rhs_batch_dims"};
  static const char* const kContracting[] = {"lhs_contracting_dims", "rhs_contracting_dims"};
  const auto dimensions = [&](size_t k) -> const std::vector<int64_t>& {
    return network.exprs[static_cast<size_t>(op.inputs[k])].dimensions;
  };
  const auto free = [&](size_t k) {
    return Others(dimensions(k).size(), ListOf(op, kBatch[k]), ListOf(op, kContracting[k]));
  };
  int64_t summed = 1;
  for (int64_t d : ListOf(op, kContracting[side])) {
    summed *= dimensions(side)[static_cast<size_t>(d)];
  }
  const std::vector<size_t> rows = free(side);
  const bool is_vector = ListOf(op, kBatch[0]).empty() && free(1 - side).empty();
  if (!is_vector || summed > kFewSummed || result.replicated || result.end <= result.begin) {
    return {};
  }
  const Range along =
      FromList({rows.begin() + result.begin, rows.begin() + result.end}, dimensions(side));
  if (!along) return {};
  OperandLayouts mode(2);
  mode[side] = along;
  mode[1 - side] = Layout{0, 0, true};
  return mode;
}

std::vector<OperandLayouts> DotModes(const Network& network, const Op& op, const Layout& result) {
  const auto& lhs = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const auto& rhs = network.exprs[static_cast<size_t>(op.inputs[1])].dimensions;
  const auto& lhs_batch = ListOf(op, "lhs_batch_dims");
  const auto& rhs_batch = ListOf(op, "rhs_batch_dims");
  const auto& lhs_contracting = ListOf(op, "lhs_contracting_dims");
  const auto& rhs_contracting = ListOf(op, "rhs_contracting_dims");
  std::vector<OperandLayouts> modes;
  const auto add = [&](const Range& a, const Range& b) {
    if (a && b) modes.push_back({a, b});
  };
  if (static_cast<size_t>(result.end) <= lhs_batch.size() && result.end > result.begin) {
    // Batch by batch on the vector engine: along the same batch dimensions everywhere.
    std::vector<int64_t> left(lhs_batch.begin() + result.begin, lhs_batch.begin() + result.end);
    std::vector<int64_t> right(rhs_batch.begin() + result.begin, rhs_batch.begin() + result.end);
    add(RangeOf(left, lhs), RangeOf(right, rhs));
  }
  for (size_t side : {0, 1}) {
    if (OperandLayouts mode = RowByRow(network, op, result, side); !mode.empty()) {
      modes.push_back(std::move(mode));
    }
  }
  // Partners meet where both sides have the same dimensions along the partitions: some that are
  // summed over, below them the last of the batch's. The other dimensions are gone through one by
  // one, sums adding up.
  std::vector<std::pair<size_t, size_t>> batch, contracting;
  for (size_t k = 0; k < lhs_batch.size(); ++k) batch.emplace_back(lhs_batch[k], rhs_batch[k]);
  for (size_t k = 0; k < lhs_contracting.size(); ++k) {
    contracting.emplace_back(lhs_contracting[k], rhs_contracting[k]);
  }
  std::sort(contracting.begin(), contracting.end());
  for (size_t above = 0; above <= batch.size(); ++above) {
    for (size_t begin = 0; begin < contracting.size(); ++begin) {
      for (size_t end = contracting.size(); end > begin; --end) {
        std::vector<size_t> left, right;
        for (size_t k = batch.size() - above; k < batch.size(); ++k) {
          left.push_back(batch[k].first);
          right.push_back(batch[k].second);
        }
        for (size_t k = begin; k < end; ++k) {
          left.push_back(contracting[k].first);
          right.push_back(contracting[k].second);
        }
        add(FromList(left, lhs), FromList(right, rhs));
      }
    }
  }
  return modes;
}

// A window that is larger than what comes of it: it goes over places of images, not of a kernel.
bool IsKernelGradient(const Network& network, const Op& op) {
  if (op.opcode != "convolution" || op.convolution.spatial.empty()) return false;
  const auto& out = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  return op.window[0].size > out[static_cast<size_t>(op.convolution.output_spatial[0])];
}

// Products contract along the partitions: features. A kernel's gradient contracts images and
// places, and few images would leave most partitions empty: places lie along them, too.
std::vector<OperandLayouts> ConvolutionModes(const Network& network, const Op& op) {
  const ConvolutionDimensions& labels = op.convolution;
  const auto range = [](int64_t d) {
    return MakeLayout(static_cast<size_t>(d), static_cast<size_t>(d) + 1);
  };
  const auto& groups = ListOf(op, "feature_group_count");
  if (!groups.empty() && groups[0] > 1) {  // depthwise: the vector engine, channel by channel
    return {{range(labels.feature), range(labels.kernel_output)}};
  }
  std::vector<OperandLayouts> modes = {{range(labels.feature), range(labels.kernel_input)}};
  if (!IsKernelGradient(network, op)) return modes;
  const auto places = [&](size_t operand, int64_t image, const std::vector<int64_t>& spatial) {
    std::vector<size_t> list = {static_cast<size_t>(image)};
    list.insert(list.end(), spatial.begin(), spatial.end());
    return FromList(list, network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions);
  };
  const Range left = places(0, labels.feature, labels.spatial);
  const Range right = places(1, labels.kernel_input, labels.kernel_spatial);
  if (left && right) modes.insert(modes.begin(), {left, right});
  return modes;
}

std::vector<OperandLayouts> ReduceModes(const Network& network, const Op& op,
                                        const Layout& result) {
  const auto& reduced = ListOf(op, "dimensions");
  const auto& in = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const std::vector<size_t> kept = Others(in.size(), reduced, {});
  const size_t values = op.inputs.size() / 2;
  std::vector<OperandLayouts> modes;
  const auto add = [&](const Range& range) {
    if (!range) return;
    OperandLayouts mode(op.inputs.size());
    for (size_t k = 0; k < values; ++k) mode[k] = range;
    modes.push_back(std::move(mode));
  };
  if (result.replicated) {
    add(result);
  } else {
    std::vector<size_t> list(kept.begin() + result.begin, kept.begin() + result.end);
    add(FromList(list, in));
  }
  // Sums, maxima and the like are made over the partitions, too, and left anywhere (NKI's
  // tensor_partition_reduce; sums also as a product with ones); whatever else is reduced has been
  // reduced along the free dimensions before.
  static const std::set<std::string> over_partitions = {"add", "maximum", "minimum", "and", "or"};
  const bool across = !op.bodies.empty() && op.bodies[0]->ops.size() == 1 &&
                      over_partitions.contains(op.bodies[0]->ops[0].opcode);
  for (size_t k = 0; across && k < reduced.size(); ++k) {
    for (size_t length = 1; k + length <= reduced.size(); ++length) {
      add(RangeOf({reduced.begin() + static_cast<std::ptrdiff_t>(k),
                   reduced.begin() + static_cast<std::ptrdiff_t>(k + length)},
                  in));
    }
  }
  return modes;
}

}  // namespace

void PullLayout(const Network& network, int64_t partitions, ExprId id, const Layout& layout,
                std::vector<LeafRequirement>& leaves) {
  const Expr& expr = network.exprs[static_cast<size_t>(id)];
  if (expr.movement == Movement::kTensor) {
    leaves.push_back({expr.tensor, layout});
    return;
  }
  for (size_t input = 0; input < expr.inputs.size(); ++input) {
    if (const Range next = ThroughMovement(network, partitions, expr, input, layout)) {
      PullLayout(network, partitions, expr.inputs[input], *next, leaves);
      continue;
    }
    for (TensorId tensor : LeavesOf(network, expr.inputs[input])) {
      leaves.push_back({tensor, std::nullopt});
    }
  }
}

bool Satisfies(const Layout& has, const Layout& wanted, const std::vector<int64_t>& dimensions,
               int64_t partitions) {
  return has.replicated ||
         Canonical(has, dimensions, partitions) == Canonical(wanted, dimensions, partitions);
}

std::vector<Layout> AllLayouts(const Machine& machine, const std::vector<int64_t>& dimensions,
                               int64_t element_bytes) {
  std::vector<Layout> layouts;
  for (size_t begin = 0; begin < dimensions.size(); ++begin) {
    for (size_t end = begin + 1; end <= dimensions.size(); ++end) {
      if (dimensions[begin] == 1 || dimensions[end - 1] == 1) continue;
      layouts.push_back(MakeLayout(begin, end));
    }
  }
  const int64_t bytes = Elements(dimensions) * element_bytes;
  if (layouts.empty() || bytes * kReplicatedShare <= machine.bytes_per_partition) {
    layouts.push_back({0, 0, true});
  }
  return layouts;
}

std::vector<Layout> ResultLayouts(const Network& network, const Machine& machine, const Op& op) {
  const Tensor& result = network.tensors[static_cast<size_t>(op.results[0])];
  std::vector<Layout> all = AllLayouts(machine, result.dimensions, result.element_bytes);
  std::vector<Layout> fit;
  const auto keep = [&](auto good) {
    for (const Layout& layout : all) {
      if (good(layout)) fit.push_back(layout);
    }
  };
  if (op.opcode == "dot") {
    const auto batch = static_cast<int>(ListOf(op, "lhs_batch_dims").size());
    const auto lhs_rank = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions.size();
    const int middle = static_cast<int>(lhs_rank - ListOf(op, "lhs_contracting_dims").size());
    keep([&](const Layout& layout) {
      if (layout.replicated) return false;
      return layout.end <= middle || layout.begin >= middle || layout.begin < batch;
    });
  } else if (op.opcode == "convolution") {
    const int64_t feature = op.convolution.output_feature;
    keep([&](const Layout& layout) {
      return !layout.replicated &&
             (layout.begin == feature ? layout.end == feature + 1
                                      : layout.end <= feature || layout.begin > feature);
    });
  }
  std::erase_if(fit.empty() ? all : fit,
                [&](const Layout& layout) { return Modes(network, op, layout).empty(); });
  if (fit.empty()) fit = std::move(all);
  if (fit.empty()) fit.push_back({});
  return fit;
}

std::vector<OperandLayouts> Modes(const Network& network, const Op& op, const Layout& result) {
  const size_t count = op.inputs.size();
  const auto& out = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  if (IsElementwise(op.opcode)) {
    OperandLayouts mode(count);
    for (size_t k = 0; k < count; ++k) {
      const size_t rank = network.exprs[static_cast<size_t>(op.inputs[k])].dimensions.size();
      mode[k] = rank == out.size() ? result : Layout{0, 0, true};
    }
    return {mode};
  }
  if (op.opcode == "dot") {
    if (ListOf(op, "lhs_contracting_dims").empty()) return {OperandLayouts(count)};
    return DotModes(network, op, result);
  }
  if (op.opcode == "convolution") return ConvolutionModes(network, op);
  if (op.opcode == "reduce") return ReduceModes(network, op, result);
  if (op.opcode == "reduce-window" || op.opcode == "select-and-scatter") {
    for (size_t d = 0; d < op.window.size(); ++d) {
      if (InRange(result, d) && op.window[d].size > 1) return {};
    }
    OperandLayouts mode(count);
    mode[0] = result;
    if (op.opcode == "select-and-scatter") mode[1] = result;
    return {mode};
  }
  return {OperandLayouts(count)};  // general-purpose cores: any layout
}

int64_t Shifts(const Network& network, const Op& op, size_t operand, const Layout& wanted) {
  if (operand != 0 || !IsKernelGradient(network, op)) return 0;
  const auto& out = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  int64_t places = 1;
  for (int64_t d : op.convolution.output_spatial) places *= out[static_cast<size_t>(d)];
  const bool along = InRange(wanted, static_cast<size_t>(op.convolution.spatial[0]));
  return along && places > 1 ? places : 0;
}

std::vector<Mismatch> Mismatches(const Network& network, const Machine& machine, const Op& op,
                                 const std::vector<Layout>& layouts) {
  if (!machine.engines_are_partitioned) return {};
  const Layout& result = layouts[static_cast<size_t>(op.results[0])];
  std::optional<std::vector<Mismatch>> best;
  double least = 0;
  std::vector<LeafRequirement> leaves;
  for (const OperandLayouts& mode : Modes(network, op, result)) {
    std::vector<Mismatch> found;
    for (size_t operand = 0; operand < mode.size(); ++operand) {
      if (!mode[operand]) continue;
      if (Shifts(network, op, operand, *mode[operand]) > 0) {
        found.push_back({operand, *mode[operand]});
        continue;
      }
      leaves.clear();
      PullLayout(network, machine.partitions, op.inputs[operand], *mode[operand], leaves);
      for (const LeafRequirement& leaf : leaves) {
        const Layout& has = layouts[static_cast<size_t>(leaf.tensor)];
        if (has.replicated) continue;
        const auto& dimensions = network.tensors[static_cast<size_t>(leaf.tensor)].dimensions;
        if (leaf.layout && Satisfies(has, *leaf.layout, dimensions, machine.partitions)) continue;
        found.push_back({operand, *mode[operand]});
        break;
      }
    }
    // A copy into every partition costs as many bytes as there are partitions.
    double cost = static_cast<double>(found.size());
    for (const Mismatch& copy : found) {
      const Expr& expr = network.exprs[static_cast<size_t>(op.inputs[copy.operand])];
      if (!copy.wanted.replicated) continue;
      cost += 64.0 *
              static_cast<double>(Elements(expr.dimensions) *
                                  std::max<int64_t>(1, BytesOf(expr.type))) /
              static_cast<double>(machine.bytes_per_partition);
    }
    if (!best || cost < least) {
      best = std::move(found);
      least = cost;
    }
    if (best->empty()) break;
  }
  return best.value_or(std::vector<Mismatch>{});
}

}  // namespace hone::memory
