// Dots, sums and diagonals in the order in which they are least work (Smith and Gray, opt_einsum,
// 2018): A A v as A (A v), trace(A B) as a sum of products, a product with a diagonal or rank-one
// matrix as a scaling or two vectors.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/contractions.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using LabelSet = uint64_t;

constexpr size_t kMostLabels = 64;
// Of the work as it stands: else rounding differs for little.
constexpr double kMuchLess = 0.6;
constexpr double kLeastWork = 4096;

// A product whose labels are each one, and which factors with which labels, slowest first; none of
// them twice in one.
struct Part {
  HloInstruction* array = nullptr;
  Dimensions labels;
};

LabelSet SetOf(const Dimensions& labels) {
  LabelSet set = 0;
  for (const int64_t label : labels) set |= LabelSet{1} << label;
  return set;
}

// What two parts become: which labels they share and sum over.
struct Step {
  size_t first = 0, second = 0;
};

// Adds up one product.
class Planner {
 public:
  // Both must outlive it.
  Planner(const Contraction& whole, const LabelledProduct& product)
      : whole_(whole), product_(product) {}

  // False where what has to agree does not match.
  bool Plan() {
    names_.resize(whole_.sizes.size());
    std::iota(names_.begin(), names_.end(), 0);
    for (const auto& [first, second] : product_.same) {
      if (first.size() != second.size()) return false;
      for (size_t k = 0; k < first.size(); ++k) {
        const int64_t a = NameOf(first[k]), b = NameOf(second[k]);
        if (whole_.sizes[a] != whole_.sizes[b]) return false;
        names_[std::max(a, b)] = std::min(a, b);
      }
    }
    for (const Dimensions& axis : whole_.axes) kept_ |= SetOf(Named(axis));
    LabelSet all = 0;
    std::vector<LabelSet> sets;
    for (const Factor& factor : product_.factors) {
      LabelSet set = 0;
      for (const Dimensions& axis : factor.axes) set |= SetOf(Named(axis));
      sets.push_back(set);
      all |= set;
    }
    // What no factor has is summed over all the same.
    scale_ = product_.scale;
    scale_ *= ElementsOf(SetOf(Named(product_.summed)) & ~all & ~kept_);
    for (size_t k = 0; k < sets.size(); ++k) {
      const LabelSet others = NeededBeside(sets, k);
      if ((sets[k] & ~others) != 0) work_ += ElementsOf(sets[k]);
      sets[k] &= others;
    }
    Best best;
    std::vector<Step> steps;
    Search(sets, 0, steps, best);
    steps_ = std::move(best.steps);
    work_ += best.work;
    return true;
  }

  double work() const { return work_; }

  // As an array of the whole's shape.
  HloInstruction* Emit(HloInstruction* root) const {
    std::vector<Part> parts;
    std::vector<LabelSet> sets;
    for (const Factor& factor : product_.factors) {
      parts.push_back(PartOf(factor));
      sets.push_back(SetOf(parts.back().labels));
    }
    for (size_t k = 0; k < parts.size(); ++k) {
      parts[k] = SummedUp(parts[k], NeededBeside(sets, k));
      sets[k] = SetOf(parts[k].labels);
    }
    for (const auto& [first, second] : steps_) {
      const Part both = Together(parts[first], parts[second], NeededBeside(sets, first, second));
      for (const size_t gone : {second, first}) {
        parts.erase(parts.begin() + static_cast<ptrdiff_t>(gone));
        sets.erase(sets.begin() + static_cast<ptrdiff_t>(gone));
      }
      parts.push_back(both);
      sets.push_back(SetOf(both.labels));
    }
    if (parts.empty()) return Whole({Scale(root), {}}, *root);
    HloInstruction*& value = parts[0].array;
    if (scale_ == -1) {
      value = emit::Unary(HloOpcode::kNegate, value);
    } else if (scale_ != 1) {
      HloInstruction* const scale = emit::Broadcast(Scale(root), emit::SizesOf(*value), {});
      value = emit::Binary(HloOpcode::kMultiply, value, scale);
    }
    return Whole(parts[0], *root);
  }

 private:
  struct Best {
    double work = std::numeric_limits<double>::infinity();
    std::vector<Step> steps;
  };

  int64_t NameOf(int64_t label) const {
    while (names_[label] != label) label = names_[label];
    return label;
  }
  Dimensions Named(const Dimensions& labels) const {
    Dimensions named;
    for (const int64_t label : labels) named.push_back(NameOf(label));
    return named;
  }
  // The labels that the whole has, or a factor other than these two.
  LabelSet NeededBeside(const std::vector<LabelSet>& sets, size_t first, size_t second) const {
    LabelSet needed = kept_;
    for (size_t k = 0; k < sets.size(); ++k) {
      if (k != first && k != second) needed |= sets[k];
    }
    return needed;
  }
  LabelSet NeededBeside(const std::vector<LabelSet>& sets, size_t one) const {
    return NeededBeside(sets, one, one);
  }
  double ElementsOf(LabelSet set) const {
    double elements = 1;
    for (; set != 0; set &= set - 1) {
      elements *= static_cast<double>(whole_.sizes[absl::countr_zero(set)]);
    }
    return elements;
  }

  double WorkOf(LabelSet a, LabelSet b, LabelSet result) const {
    const LabelSet all = a | b, summed = all & ~result;
    if (summed == 0) return ElementsOf(all);
    const bool is_dot = (a & ~b) != 0 || (b & ~a) != 0;
    return is_dot ? WorkOfDot(ElementsOf(all), ElementsOf(a), ElementsOf(b), ElementsOf(result))
                  : ElementsOf(all);
  }

  void Search(const std::vector<LabelSet>& sets, double work, std::vector<Step>& steps,
              Best& best) const {
    if (work >= best.work) return;
    if (sets.size() < 2) {
      best = {work, steps};
      return;
    }
    for (size_t i = 0; i < sets.size(); ++i) {
      for (size_t j = i + 1; j < sets.size(); ++j) {
        std::vector<LabelSet> left;
        for (size_t k = 0; k < sets.size(); ++k) {
          if (k != i && k != j) left.push_back(sets[k]);
        }
        const LabelSet result = (sets[i] | sets[j]) & NeededBeside(sets, i, j);
        left.push_back(result);
        steps.push_back({i, j});
        Search(left, work + WorkOf(sets[i], sets[j], result), steps, best);
        steps.pop_back();
      }
    }
  }

  HloInstruction* Scale(HloInstruction* root) const {
    xla::Literal scale = xla::LiteralUtil::CreateR0<double>(scale_);
    return emit::Scalar(root->parent(), scale.Convert(root->shape().element_type()).value());
  }

  // A dimension for each label; of labels that it has twice, the diagonal.
  Part PartOf(const Factor& factor) const {
    Part part{factor.array, {}};
    for (const Dimensions& axis : factor.axes) {
      absl::c_copy(Named(axis), std::back_inserter(part.labels));
    }
    if (factor.inverse) {
      const xla::PrimitiveType type = part.array->shape().element_type();
      HloInstruction* const one = emit::Number(part.array->parent(), type, 1);
      part.array = emit::Binary(HloOpcode::kDivide,
                                emit::Broadcast(one, emit::SizesOf(*part.array), {}), part.array);
    }
    part.array = emit::Reshape(part.array, SizesOf(part.labels));
    while (const auto twice = Twice(part.labels)) TakeDiagonal(part, twice->first, twice->second);
    return part;
  }

  static std::optional<std::pair<int64_t, int64_t>> Twice(const Dimensions& labels) {
    for (size_t k = 0; k < labels.size(); ++k) {
      if (!IsRepeated(labels, k)) continue;
      return std::pair(absl::c_find(labels, labels[k]) - labels.begin(), static_cast<int64_t>(k));
    }
    return std::nullopt;
  }

  // Of two dimensions, as the last.
  static void TakeDiagonal(Part& part, int64_t first, int64_t second) {
    const int64_t size = part.array->shape().dimensions(first), label = part.labels[first];
    Dimensions order = Without(*part.array, {first, second}), labels;
    for (const int64_t d : order) labels.push_back(part.labels[d]);
    const Dimensions rest = SizesAt(*part.array, order);
    order.insert(order.end(), {first, second});
    Dimensions flat = rest, sizes = rest, steps(rest.size(), 1);
    flat.push_back(size * size);
    sizes.push_back(size);
    steps.push_back(size + 1);
    HloInstruction* const whole = emit::Reshape(emit::Transpose(part.array, order), flat);
    part.array = emit::Slice(whole, Dimensions(flat.size(), 0), flat, steps);
    labels.push_back(label);
    part.labels = std::move(labels);
  }

  Dimensions SizesOf(const Dimensions& labels) const {
    Dimensions sizes;
    for (const int64_t label : labels) sizes.push_back(whole_.sizes[label]);
    return sizes;
  }

  // Over the labels that are not in the set.
  static Part SummedUp(const Part& part, LabelSet set) {
    Dimensions summed;
    Part left{part.array, {}};
    for (size_t d = 0; d < part.labels.size(); ++d) {
      if ((set >> part.labels[d] & 1) != 0)
        left.labels.push_back(part.labels[d]);
      else
        summed.push_back(static_cast<int64_t>(d));
    }
    if (summed.empty()) return part;
    HloInstruction* const zero =
        emit::Zero(part.array->parent(), part.array->shape().element_type());
    left.array = emit::Reduce(part.array, zero, summed, HloOpcode::kAdd);
    return left;
  }

  // The product of the two, summed over what is not in the set.
  Part Together(const Part& a, const Part& b, LabelSet set) const {
    const LabelSet of_a = SetOf(a.labels), of_b = SetOf(b.labels);
    const LabelSet summed = (of_a | of_b) & ~set;
    if (summed == 0 || of_a == of_b) {
      Part both{nullptr, a.labels};
      for (const int64_t label : b.labels) {
        if ((of_a >> label & 1) == 0) both.labels.push_back(label);
      }
      both.array = emit::Binary(HloOpcode::kMultiply, Over(a, both.labels), Over(b, both.labels));
      return SummedUp(both, set);
    }
    // What the whole has first comes first.
    const bool swapped = First(of_b & ~of_a & set) < First(of_a & ~of_b & set);
    const Part &x = swapped ? b : a, &y = swapped ? a : b;
    Dimensions x_batch, y_batch, x_contracted, y_contracted;
    Part dot;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      const auto other = absl::c_find(y.labels, x.labels[d]);
      if (other == y.labels.end()) continue;
      const bool contracted = (summed >> x.labels[d] & 1) != 0;
      (contracted ? x_contracted : x_batch).push_back(static_cast<int64_t>(d));
      (contracted ? y_contracted : y_batch).push_back(other - y.labels.begin());
      if (!contracted) dot.labels.push_back(x.labels[d]);
    }
    for (const Part* one : {&x, &y}) {
      const LabelSet others = SetOf((one == &x ? y : x).labels);
      for (const int64_t label : one->labels) {
        if ((others >> label & 1) == 0) dot.labels.push_back(label);
      }
    }
    dot.array = emit::Dot(x.array, y.array, x_batch, y_batch, x_contracted, y_contracted,
                          x.array->shape().element_type(), whole_.precision);
    return dot;
  }

  static int First(LabelSet set) { return absl::countr_zero(set); }

  // As an array over these labels, and in their order; of what is there twice, over the first.
  HloInstruction* Over(const Part& part, const Dimensions& labels) const {
    Dimensions order, where;
    for (size_t k = 0; k < labels.size(); ++k) {
      const auto mine = absl::c_find(part.labels, labels[k]);
      if (mine == part.labels.end() || IsRepeated(labels, k)) continue;
      order.push_back(mine - part.labels.begin());
      where.push_back(static_cast<int64_t>(k));
    }
    HloInstruction* const ordered = emit::Transpose(part.array, order);
    return order.size() == labels.size() ? ordered
                                         : emit::Broadcast(ordered, SizesOf(labels), where);
  }
  static bool IsRepeated(const Dimensions& labels, size_t k) {
    return absl::c_find(labels, labels[k]) - labels.begin() < static_cast<ptrdiff_t>(k);
  }

  HloInstruction* Whole(const Part& part, const HloInstruction& root) const {
    Dimensions all;
    for (const Dimensions& axis : whole_.axes) {
      absl::c_copy(Named(axis), std::back_inserter(all));
    }
    const Dimensions sizes = SizesOf(all);
    HloInstruction* value = Over(part, all);
    // A label that is there again is zero but where it agrees with the first.
    for (size_t k = 0; k < all.size(); ++k) {
      if (!IsRepeated(all, k)) continue;
      const int64_t first = absl::c_find(all, all[k]) - all.begin();
      HloInstruction* const agree =
          emit::Diagonal(value->parent(), sizes, first, static_cast<int64_t>(k));
      HloInstruction* const zero = emit::Zero(value->parent(), root.shape().element_type());
      value = emit::Select(agree, value, emit::Broadcast(zero, sizes, {}));
    }
    return emit::Reshape(value, emit::SizesOf(root));
  }

  const Contraction& whole_;
  const LabelledProduct& product_;
  std::vector<int64_t> names_;  // of labels that agree, the first's
  LabelSet kept_ = 0;           // the whole's
  double scale_ = 1;
  double work_ = 0;
  std::vector<Step> steps_;  // of what is left, the product of two behind the others
};

}  // namespace

absl::StatusOr<HloInstruction*> ContractionOrder(HloInstruction* root) {
  const std::optional<Contraction> whole = ReadContraction(root);
  if (!whole || whole->work < kLeastWork || whole->sizes.size() > kMostLabels) return nullptr;
  std::vector<Planner> planners;
  double work = 0;
  for (const LabelledProduct& product : whole->products) {
    planners.emplace_back(*whole, product);
    if (!planners.back().Plan()) return nullptr;
    work += planners.back().work();
  }
  if (planners.size() > 1) work += static_cast<double>(xla::ShapeUtil::ElementsIn(root->shape()));
  if (work > kMuchLess * whole->work) return nullptr;
  HloInstruction* sum = nullptr;
  for (const Planner& planner : planners) sum = emit::AddTo(sum, planner.Emit(root));
  if (sum != nullptr) return sum;
  HloInstruction* const zero = emit::Zero(root->parent(), root->shape().element_type());
  return emit::Broadcast(zero, emit::SizesOf(*root), {});
}

}  // namespace hone::compiler
