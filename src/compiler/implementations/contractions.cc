#include "compiler/implementations/contractions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/known_values.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"
#include "xla/util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Products = std::vector<LabelledProduct>;

constexpr int kLevels = 24;
constexpr int kMostReads = 512;  // of instructions, each again wherever it is an operand
constexpr size_t kMostFactors = 6;
constexpr size_t kMostProducts = 8;

// Products of matrices make so many multiplications in the time of one by itself, and take half of
// it or more to read or write an element.
constexpr double kDotsAreFaster = 24;
constexpr double kMoved = 0.6;

double ElementsOf(const HloInstruction& array) {
  return static_cast<double>(xla::ShapeUtil::ElementsIn(array.shape()));
}

// The dimension that an array of whole numbers counts along, from zero.
int64_t CountedAlong(Source source) {
  while (true) {
    source = SourceOf(source);
    HloInstruction* const value = source.array;
    const auto is_zero = [&](int number) { return NumberOf(*value->operand(number)) == 0.0; };
    if (value->opcode() == HloOpcode::kIota) {
      return source.places[xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension()];
    }
    if (value->opcode() != HloOpcode::kAdd || (!is_zero(0) && !is_zero(1))) return kNone;
    source.array = value->mutable_operand(is_zero(0) ? 1 : 0);
  }
}

// The two dimensions that an array of truth values is true where they agree.
std::optional<std::pair<int64_t, int64_t>> DiagonalOf(HloInstruction* mask) {
  const Source source = SourceOf(mask);
  HloInstruction* const compare = source.array;
  if (compare->opcode() != HloOpcode::kCompare ||
      compare->comparison_direction() != xla::ComparisonDirection::kEq) {
    return std::nullopt;
  }
  const int64_t a = CountedAlong({compare->mutable_operand(0), source.places}),
                b = CountedAlong({compare->mutable_operand(1), source.places});
  if (a == kNone || b == kNone || a == b ||
      mask->shape().dimensions(a) != mask->shape().dimensions(b)) {
    return std::nullopt;
  }
  return std::pair(a, b);
}

// Whether these are the places (0, 0), (1, 1), .. of a matrix.
bool AreOnDiagonal(const HloInstruction& indices, int64_t count) {
  if (emit::SizesOf(indices) != Dimensions{count, 2}) return false;
  const std::optional<xla::Literal> known = KnownValue(indices, xla::S64);
  for (int64_t k = 0; known && k < count; ++k) {
    if (known->Get<int64_t>({k, 0}) != k || known->Get<int64_t>({k, 1}) != k) return false;
  }
  return known.has_value();
}

// The two dimensions of its operand whose diagonal a gather takes, all else as it is; the result's
// dimension for both is `along`.
struct Diagonal {
  int64_t first = kNone, second = kNone, along = kNone;
};

std::optional<Diagonal> TakenDiagonal(const HloInstruction& gather) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const HloInstruction& array = *gather.operand(0);
  const auto& map = numbers.start_index_map();
  const auto& collapsed = numbers.collapsed_slice_dims();
  const Dimensions kept(numbers.offset_dims().begin(), numbers.offset_dims().end());
  if (map.size() != 2 || collapsed.size() != 2 || numbers.index_vector_dim() != 1 ||
      numbers.operand_batching_dims_size() != 0 ||
      std::minmax(map[0], map[1]) != std::minmax(collapsed[0], collapsed[1])) {
    return std::nullopt;
  }
  for (const int64_t d : Without(array, {map[0], map[1]})) {
    if (gather.gather_slice_sizes()[d] != array.shape().dimensions(d)) return std::nullopt;
  }
  const int64_t count = array.shape().dimensions(map[0]);
  const Dimensions along = Without(gather, kept);
  if (count != array.shape().dimensions(map[1]) || along.size() != 1 ||
      !AreOnDiagonal(*gather.operand(1), count)) {
    return std::nullopt;
  }
  return Diagonal{map[0], map[1], along[0]};
}

// Whether a scatter makes a diagonal matrix of a vector.
bool MakesDiagonal(const HloInstruction& scatter) {
  const auto& numbers =
      xla::Cast<xla::HloScatterInstruction>(&scatter)->scatter_dimension_numbers();
  return scatter.operand_count() == 3 && RankOf(scatter) == 2 && RankOf(*scatter.operand(2)) == 1 &&
         emit::ReducerOpcode(*scatter.to_apply()) == HloOpcode::kAdd &&
         NumberOf(*scatter.operand(0)) == 0.0 && numbers.inserted_window_dims_size() == 2 &&
         numbers.scatter_dims_to_operand_dims_size() == 2 && numbers.index_vector_dim() == 1 &&
         scatter.shape().dimensions(0) == scatter.shape().dimensions(1) &&
         AreOnDiagonal(*scatter.operand(1), scatter.shape().dimensions(0));
}

class Reader {
 public:
  explicit Reader(HloInstruction* root) : root_(root), type_(root->shape().element_type()) {}

  std::optional<Contraction> Read() {
    Axes axes;
    for (const int64_t size : root_->shape().dimensions()) axes.push_back(NewAxis(size));
    Contraction whole;
    std::optional<Products> products = Parts(root_, axes, /*gone=*/true, kLevels);
    if (!products || IsPlainSum(*products)) return std::nullopt;
    whole.products = *std::move(products);
    whole.axes = Resolved(axes);
    for (LabelledProduct& product : whole.products) {
      for (Factor& factor : product.factors) factor.axes = Resolved(factor.axes);
      for (auto& [first, second] : product.same) {
        first = Resolved(first);
        second = Resolved(second);
      }
      product.summed = Resolved(product.summed);
    }
    if (absl::c_linear_search(sizes_, 0)) return std::nullopt;
    whole.sizes = sizes_;
    whole.work = work_;
    whole.precision = precision_;
    return whole;
  }

 private:
  Dimensions NewAxis(int64_t size) {
    if (size == 1) return {};
    sizes_.push_back(size);
    return {static_cast<int64_t>(sizes_.size()) - 1};
  }

  // In labels that have not been split.
  Dimensions Resolved(const Dimensions& labels) const {
    Dimensions resolved;
    for (const int64_t label : labels) {
      const auto split = split_.find(label);
      const Dimensions parts = split == split_.end() ? Dimensions{label} : Resolved(split->second);
      absl::c_copy(parts, std::back_inserter(resolved));
    }
    return resolved;
  }
  Axes Resolved(Axes axes) const {
    for (Dimensions& axis : axes) axis = Resolved(axis);
    return axes;
  }

  // `value` as a product of nothing else.
  std::optional<Products> Leaf(HloInstruction* value, const Axes& axes) const {
    if (value->shape().element_type() != type_) return std::nullopt;
    return Products{{1, {{value, axes}}}};
  }

  // What is behind it, where that can be read; else itself. `gone`: nothing else needs what is read
  // from it.
  std::optional<Products> Read(HloInstruction* value, const Axes& axes, bool gone, int levels) {
    if (!value->shape().IsArray()) return std::nullopt;
    if (const std::optional<double> number = ConstantOf(*value)) {
      return *number == 0 ? Products() : Products{{*number}};
    }
    gone = gone && value->user_count() == 1;
    if (levels > 0 && ++reads_ < kMostReads && emit::Free(*value)) {
      const double before = work_;
      if (auto parts = Parts(value, axes, gone, levels - 1)) return parts;
      work_ = before;
    }
    return Leaf(value, axes);
  }

  std::optional<Products> Parts(HloInstruction* value, const Axes& axes, bool gone, int levels) {
    const auto read = [&](int number, const Axes& its) {
      return Read(value->mutable_operand(number), its, gone, levels);
    };
    switch (value->opcode()) {
      case HloOpcode::kBroadcast: {
        Axes its;
        for (const int64_t d : value->dimensions()) its.push_back(axes[d]);
        return read(0, its);
      }
      case HloOpcode::kTranspose: {
        Axes its(axes.size());
        for (size_t d = 0; d < axes.size(); ++d) its[value->dimensions(d)] = axes[d];
        return read(0, its);
      }
      case HloOpcode::kReshape: {
        const std::optional<Axes> its = Reshaped(*value->operand(0), axes);
        return its ? read(0, *its) : std::nullopt;
      }
      case HloOpcode::kNegate: {
        std::optional<Products> products = read(0, axes);
        if (!products) return std::nullopt;
        for (LabelledProduct& product : *products) product.scale = -product.scale;
        CountElements(*value, gone);
        return products;
      }
      case HloOpcode::kMultiply: {
        CountElements(*value, gone);
        return Times(read(0, axes), read(1, axes));
      }
      case HloOpcode::kDivide:
        return Divided(value, axes, gone, levels);
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract: {
        CountElements(*value, gone);
        return Sum(read(0, axes), read(1, axes), value->opcode() == HloOpcode::kAdd ? 1 : -1);
      }
      case HloOpcode::kConvert: {
        if (value->operand(0)->shape().element_type() != xla::PRED) return std::nullopt;
        CountElements(*value, gone);
        return OnDiagonal(value->mutable_operand(0), axes, Products(1));
      }
      case HloOpcode::kSelect: {
        if (NumberOf(*value->operand(2)) != 0.0) return std::nullopt;
        CountElements(*value, gone);
        return OnDiagonal(value->mutable_operand(0), axes, read(1, axes));
      }
      case HloOpcode::kDot:
        return OfDot(value, axes, gone, levels);
      case HloOpcode::kReduce:
        return OfSum(value, axes, gone, levels);
      case HloOpcode::kGather: {
        const std::optional<Diagonal> diagonal = TakenDiagonal(*value);
        if (!diagonal) return std::nullopt;
        Axes its;
        for (size_t d = 0; d < axes.size(); ++d) {
          if (static_cast<int64_t>(d) != diagonal->along) its.push_back(axes[d]);
        }
        const auto [low, high] = std::minmax(diagonal->first, diagonal->second);
        its.insert(its.begin() + low, axes[diagonal->along]);
        its.insert(its.begin() + high, axes[diagonal->along]);
        CountElements(*value, gone);
        return read(0, its);
      }
      case HloOpcode::kScatter: {
        if (!MakesDiagonal(*value)) return std::nullopt;
        CountElements(*value, gone);
        return Agreeing(axes[0], axes[1], read(2, {axes[0]}));
      }
      default:
        return std::nullopt;
    }
  }

  // The axes of what a reshape makes arrays of these axes from. Labels are split where they run
  // over several dimensions there.
  std::optional<Axes> Reshaped(const HloInstruction& from, const Axes& axes) {
    Dimensions left;
    for (const Dimensions& axis : axes) absl::c_copy(Resolved(axis), std::back_inserter(left));
    absl::c_reverse(left);  // the slowest is the last
    Axes its;
    for (const int64_t size : from.shape().dimensions()) {
      Dimensions axis;
      for (int64_t rest = size; rest > 1;) {
        if (left.empty()) return std::nullopt;
        int64_t label = left.back();
        left.pop_back();
        if (rest % sizes_[label] != 0) {
          if (sizes_[label] % rest != 0) return std::nullopt;
          const Dimensions slow = NewAxis(rest), fast = NewAxis(sizes_[label] / rest);
          split_[label] = {slow[0], fast[0]};
          left.push_back(fast[0]);
          label = slow[0];
        }
        axis.push_back(label);
        rest /= sizes_[label];
      }
      its.push_back(std::move(axis));
    }
    return left.empty() ? std::make_optional(its) : std::nullopt;
  }

  static std::optional<Products> Times(const std::optional<Products>& a,
                                       const std::optional<Products>& b) {
    if (!a || !b || a->size() * b->size() > kMostProducts) return std::nullopt;
    Products all;
    for (const LabelledProduct& x : *a) {
      for (const LabelledProduct& y : *b) {
        LabelledProduct both = x;
        both.scale *= y.scale;
        absl::c_copy(y.factors, std::back_inserter(both.factors));
        absl::c_copy(y.same, std::back_inserter(both.same));
        absl::c_copy(y.summed, std::back_inserter(both.summed));
        if (both.factors.size() > kMostFactors) return std::nullopt;
        all.push_back(std::move(both));
      }
    }
    return all;
  }

  // By what is spread over it. One array, divided, is an array.
  std::optional<Products> Divided(HloInstruction* value, const Axes& axes, bool gone, int levels) {
    HloInstruction* const by = value->mutable_operand(1);
    const Source source = SourceOf(by);
    if (source.array->shape().element_type() != type_ ||
        ElementsOf(*source.array) * 4 > ElementsOf(*by)) {
      return std::nullopt;
    }
    Axes its;
    for (const int64_t d : source.places) its.push_back(d == kNone ? Dimensions() : axes[d]);
    CountElements(*value, gone);
    const auto products = Read(value->mutable_operand(0), axes, gone, levels);
    if (!products || (products->size() == 1 && products->front().factors.size() == 1)) {
      return std::nullopt;
    }
    return Times(products, Products{{1, {{source.array, its, true}}}});
  }

  // Only of what is zero but on a diagonal and what is anything: else the sum is what is computed
  // once. A diagonal that is summed over is none: a product with it is what it is multiplied with.
  static std::optional<Products> Sum(std::optional<Products> a, const std::optional<Products>& b,
                                     double sign) {
    if (!a || !b || a->size() + b->size() > kMostProducts) return std::nullopt;
    const auto is_diagonal = [](const LabelledProduct& product) {
      const auto is_summed = [&](int64_t label) {
        return absl::c_linear_search(product.summed, label);
      };
      return absl::c_any_of(product.same, [&](const auto& pair) {
        return absl::c_none_of(pair.first, is_summed) && absl::c_none_of(pair.second, is_summed);
      });
    };
    if (absl::c_none_of(*a, is_diagonal) && absl::c_none_of(*b, is_diagonal)) return std::nullopt;
    for (const LabelledProduct& product : *b) {
      a->push_back(product);
      a->back().scale *= sign;
    }
    return a;
  }

  static std::optional<Products> Agreeing(const Dimensions& first, const Dimensions& second,
                                          std::optional<Products> products) {
    if (!products) return std::nullopt;
    for (LabelledProduct& product : *products) product.same.emplace_back(first, second);
    return products;
  }
  static std::optional<Products> OnDiagonal(HloInstruction* mask, const Axes& axes,
                                            std::optional<Products> products) {
    const auto diagonal = DiagonalOf(mask);
    if (!diagonal) return std::nullopt;
    return Agreeing(axes[diagonal->first], axes[diagonal->second], std::move(products));
  }

  // Also of one that others need: its work is not saved, but what it is multiplied with may be less
  // with its operands.
  std::optional<Products> OfDot(HloInstruction* dot, const Axes& axes, bool gone, int levels) {
    HloInstruction *const x = dot->mutable_operand(0), *const y = dot->mutable_operand(1);
    const DotSide left = DotSideOf(*dot, 0), right = DotSideOf(*dot, 1);
    Axes left_axes(RankOf(*x)), right_axes(RankOf(*y));
    size_t next = 0;
    for (size_t k = 0; k < left.batch.size(); ++k, ++next) {
      left_axes[left.batch[k]] = right_axes[right.batch[k]] = axes[next];
    }
    for (const int64_t d : left.free) left_axes[d] = axes[next++];
    for (const int64_t d : right.free) right_axes[d] = axes[next++];
    Dimensions summed;
    double terms = 1;
    for (size_t k = 0; k < left.contracted.size(); ++k) {
      const int64_t size = x->shape().dimensions(left.contracted[k]);
      const Dimensions axis = NewAxis(size);
      absl::c_copy(axis, std::back_inserter(summed));
      left_axes[left.contracted[k]] = right_axes[right.contracted[k]] = axis;
      terms *= static_cast<double>(size);
    }
    const double result = ElementsOf(*dot);
    Count(*dot, gone, WorkOfDot(result * terms, ElementsOf(*x), ElementsOf(*y), result));
    for (int k = 0; k < dot->precision_config().operand_precision_size(); ++k) {
      const auto its = dot->precision_config().operand_precision(k);
      while (precision_.operand_precision_size() <= k) {
        precision_.add_operand_precision(xla::PrecisionConfig::DEFAULT);
      }
      precision_.set_operand_precision(k, std::max(its, precision_.operand_precision(k)));
    }
    ++dots_;
    const bool before = std::exchange(in_passing_, false);
    auto products = Times(Read(x, left_axes, gone, levels), Read(y, right_axes, gone, levels));
    in_passing_ = before;
    return Over(summed, std::move(products));
  }

  static std::optional<Products> Over(const Dimensions& summed, std::optional<Products> products) {
    if (!products) return std::nullopt;
    for (LabelledProduct& product : *products) {
      absl::c_copy(summed, std::back_inserter(product.summed));
    }
    return products;
  }

  std::optional<Products> OfSum(HloInstruction* sum, const Axes& axes, bool gone, int levels) {
    if (sum->operand_count() != 2 || emit::ReducerOpcode(*sum->to_apply()) != HloOpcode::kAdd ||
        NumberOf(*sum->operand(1)) != 0.0) {
      return std::nullopt;
    }
    HloInstruction* const x = sum->mutable_operand(0);
    Axes its;
    Dimensions summed;
    size_t next = 0;
    for (int64_t d = 0; d < RankOf(*x); ++d) {
      if (!absl::c_linear_search(sum->dimensions(), d)) {
        its.push_back(axes[next++]);
        continue;
      }
      its.push_back(NewAxis(x->shape().dimensions(d)));
      absl::c_copy(its.back(), std::back_inserter(summed));
    }
    Count(*sum, gone, ElementsOf(*x));
    const bool before = std::exchange(in_passing_, true);
    std::optional<Products> products = Read(x, its, gone, levels);
    in_passing_ = before;
    return Over(summed, std::move(products));
  }

  // A sum that reads what it is made of once, and not a diagonal of it.
  bool IsPlainSum(const Products& products) const {
    if (root_->opcode() != HloOpcode::kReduce || dots_ > 0) return false;
    constexpr double kMuchSmaller = 4;
    return absl::c_any_of(products, [&](const LabelledProduct& product) {
      return product.same.empty() && absl::c_any_of(product.factors, [&](const Factor& factor) {
               return ElementsOf(*factor.array) * kMuchSmaller > ElementsOf(*root_->operand(0));
             });
    });
  }

  void Count(const HloInstruction& value, bool gone, double work) {
    if (gone && counted_.insert(&value).second) work_ += work;
  }
  // Sums compute what is elementwise in passing.
  void CountElements(const HloInstruction& value, bool gone) {
    if (!in_passing_) Count(value, gone, ElementsOf(value));
  }

  HloInstruction* const root_;
  const xla::PrimitiveType type_;
  std::vector<int64_t> sizes_;
  absl::flat_hash_map<int64_t, Dimensions> split_;
  absl::flat_hash_set<const HloInstruction*> counted_;
  double work_ = 0;
  int dots_ = 0;
  int reads_ = 0;
  bool in_passing_ = false;  // within a sum, in front of no dot
  xla::PrecisionConfig precision_;
};

}  // namespace

double WorkOfDot(double products, double left, double right, double result) {
  return products / kDotsAreFaster + kMoved * (left + right + result);
}

std::optional<Contraction> ReadContraction(HloInstruction* root) {
  if (!IsArray(root->shape()) || !emit::Free(*root)) return std::nullopt;
  const xla::PrimitiveType type = root->shape().element_type();
  if (!IsKernelFloat(type) && !xla::primitive_util::IsComplexType(type)) return std::nullopt;
  return Reader(root).Read();
}

}  // namespace hone::compiler
