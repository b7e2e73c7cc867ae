// Products of matrices as kernels of hone-loops.
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/attention_kernels.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "compiler/implementations/places.h"
#include "compiler/implementations/rounded_weights.h"
#include "compiler/implementations/task_text.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// Of less, XLA's own kernels are as fast or faster.
constexpr int64_t kLeastSide = 48, kLeastRows = 24;
// Fewer columns are read and written as whole vectors where they fill them, or nearly; and XLA's
// own kernels are slow where the first operand lies the other way round, as in gradients of
// weights.
constexpr int64_t kLeastColumns = 8, kVector = 16;
// But for a few rows, for which the other operand is read where it lies, and for any where that is
// narrow: XLA writes it out in f32 before it multiplies.
constexpr int64_t kFewRows = 8, kLeastOfFewRows = 1 << 16;
constexpr int64_t kLeastTerms = 16;
constexpr int64_t kLeastMultiplications = 1 << 18;
constexpr size_t kMostBatches = 3;

// What a dimension is of: batch number k, or one of these.
constexpr int64_t kSide[] = {-1, -2};  // of the first and the second operand
constexpr int64_t kSum = -3;

// Dimensions of the same kind that lie next to one another, as one; sizes of 1 are left out.
struct Group {
  int64_t kind;
  int64_t size;
};

// Nothing where dimensions of a side, or of the sum, lie apart.
std::optional<std::vector<Group>> GroupsOf(const std::vector<Group>& dimensions) {
  std::vector<Group> groups;
  for (const Group& dimension : dimensions) {
    if (dimension.size == 1) continue;
    if (!groups.empty() && groups.back().kind == dimension.kind && dimension.kind < 0) {
      groups.back().size *= dimension.size;
      continue;
    }
    if (absl::c_any_of(groups, [&](const Group& g) { return g.kind == dimension.kind; })) {
      return std::nullopt;
    }
    groups.push_back(dimension);
  }
  return groups;
}

// An operand under transposes, and of which kind each of its dimensions is.
struct Operand {
  HloInstruction* value = nullptr;
  Sizes kinds;
  Sizes order;  // of the dimensions that are summed: the numbers of pairs as they lie

  std::optional<std::vector<Group>> groups() const {
    std::vector<Group> dimensions;
    for (size_t d = 0; d < kinds.size(); ++d) {
      dimensions.push_back({kinds[d], value->shape().dimensions(static_cast<int64_t>(d))});
    }
    return GroupsOf(dimensions);
  }
};

template <class Dimensions>
Operand OperandOf(HloInstruction* dot, int number, const Dimensions& batches,
                  const Dimensions& summed) {
  Operand operand{dot->mutable_operand(number), {}, {}};
  Sizes kinds(operand.value->shape().dimensions().size(), kSide[number]);
  Sizes pairs(kinds.size(), -1);
  for (int k = 0; k < batches.size(); ++k) kinds[batches[k]] = k;
  for (int k = 0; k < summed.size(); ++k) {
    kinds[summed[k]] = kSum;
    pairs[summed[k]] = k;
  }
  // A side's dimensions stay in their order: the result has them in it.
  while (operand.value->opcode() == HloOpcode::kTranspose) {
    const auto& from = operand.value->dimensions();
    Sizes moved_kinds(kinds.size()), moved_pairs(kinds.size());
    int64_t last = -1;
    bool in_order = true;
    for (size_t d = 0; d < kinds.size(); ++d) {
      moved_kinds[from[d]] = kinds[d];
      moved_pairs[from[d]] = pairs[d];
      if (kinds[d] != kSide[number]) continue;
      in_order = in_order && from[d] > last;
      last = from[d];
    }
    if (!in_order) break;
    kinds = moved_kinds;
    pairs = moved_pairs;
    operand.value = operand.value->mutable_operand(0);
  }
  operand.kinds = kinds;
  for (size_t d = 0; d < pairs.size(); ++d) {
    if (pairs[d] >= 0 && operand.value->shape().dimensions(static_cast<int64_t>(d)) != 1) {
      operand.order.push_back(pairs[d]);
    }
  }
  return operand;
}

int64_t SizeOf(const std::vector<Group>& groups, int64_t kind) {
  for (const Group& group : groups) {
    if (group.kind == kind) return group.size;
  }
  return 1;
}

// A product as a task writes it: `left` has the rows, `right` the result's columns, which are last.
class Product {
 public:
  // Of the dot's value with its dimensions permuted. Nothing where it is not one that a kernel is
  // made of.
  static std::optional<Product> Of(HloInstruction* dot, const Sizes& permutation) {
    const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
    Product product;
    Operand operands[] = {
        OperandOf(dot, 0, numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions()),
        OperandOf(dot, 1, numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions())};
    if (operands[0].order != operands[1].order) return std::nullopt;
    Sizes kinds;
    for (int k = 0; k < numbers.lhs_batch_dimensions_size(); ++k) kinds.push_back(k);
    for (const int number : {0, 1}) {
      kinds.insert(kinds.end(), absl::c_count(operands[number].kinds, kSide[number]),
                   kSide[number]);
    }
    std::vector<Group> result;
    for (size_t d = 0; d < kinds.size(); ++d) {
      const int64_t from = permutation.empty() ? static_cast<int64_t>(d) : permutation[d];
      result.push_back({kinds[from], dot->shape().dimensions(from)});
    }
    const std::optional<std::vector<Group>> groups[] = {operands[0].groups(), operands[1].groups(),
                                                        GroupsOf(result)};
    if (absl::c_any_of(groups, [](const auto& group) { return !group; })) return std::nullopt;
    if (!StaysInOrder(kinds, permutation)) return std::nullopt;
    product.result_ = *groups[2];
    if (product.result_.empty() || product.result_.back().kind >= 0) return std::nullopt;
    const int right = product.result_.back().kind == kSide[1] ? 1 : 0;
    product.left_ = operands[1 - right].value;
    product.right_ = operands[right].value;
    product.left_groups_ = *groups[1 - right];
    product.right_groups_ = *groups[right];
    product.rows_ = kSide[1 - right];
    product.columns_ = kSide[right];
    // A single row is one, too.
    if (SizeOf(product.left_groups_, product.rows_) == 1) {
      const Group row{product.rows_, 1};
      const auto sum = absl::c_find_if(product.left_groups_,
                                       [](const Group& group) { return group.kind == kSum; });
      product.left_groups_.insert(sum, row);
      product.result_.insert(product.result_.end() - 1, row);
    }
    return product.IsLarge() ? std::optional<Product>(product) : std::nullopt;
  }

  // The lines of a task that define it as `y`, for others or, `:=`, for what takes it in.
  MadeText Text(const char* type, bool stored) const {
    MadeText made{"y", "", ""};
    const auto input = [&](const char* name, const std::vector<Group>& groups) {
      absl::StrAppend(&made.inputs, "input ", name, " ", type, "[", Joined(SizesOf(groups)), "];");
    };
    input("a", left_groups_);
    if (!OneOperand()) input("b", right_groups_);
    const std::string a = Ordered(made.text, "a", left_groups_, Order(rows_, kSum));
    const std::string b =
        Ordered(made.text, OneOperand() ? "a" : "b", right_groups_, Order(kSum, columns_));
    Sizes permutation;
    const Sizes from = Order(rows_, columns_);
    for (const Group& group : result_) {
      permutation.push_back(absl::c_find(from, group.kind) - from.begin());
    }
    absl::StrAppend(&made.text, stored ? "y = product " : "y := product ", a, " ", b);
    if (!absl::c_is_sorted(permutation)) {
      absl::StrAppend(&made.text, " permutation=", Joined(permutation));
    }
    absl::StrAppend(&made.text, ";");
    return made;
  }

  std::string Task(const char* type) const {
    const MadeText made = Text(type, true);
    return absl::StrCat(loops::kKernelTaskBegin, made.inputs, made.text, "output y;");
  }

  // Which dimensions above 1 of its value each of the task's result has in it.
  std::vector<Sizes> GroupsOfValue(const HloInstruction& value) const {
    const Sizes full = Squeezed(value.shape());
    std::vector<Sizes> groups;
    int64_t d = 0;
    for (const Group& group : result_) {
      groups.emplace_back();
      for (int64_t size = 1; size < group.size; ++d) {
        groups.back().push_back(d);
        size *= full[d];
      }
    }
    return groups;
  }

  std::vector<HloInstruction*> Inputs() const {
    return OneOperand() ? std::vector<HloInstruction*>{left_}
                        : std::vector<HloInstruction*>{left_, right_};
  }

 private:
  static std::string Joined(const Sizes& sizes) { return absl::StrJoin(sizes, ","); }
  static Sizes SizesOf(const std::vector<Group>& groups) {
    Sizes sizes;
    for (const Group& group : groups) sizes.push_back(group.size);
    return sizes;
  }

  // Whether a permutation leaves each side's dimensions in their order.
  static bool StaysInOrder(const Sizes& kinds, const Sizes& permutation) {
    int64_t last[] = {-1, -1};
    for (const int64_t from : permutation) {
      for (const int side : {0, 1}) {
        if (kinds[from] != kSide[side]) continue;
        if (from < last[side]) return false;
        last[side] = from;
      }
    }
    return true;
  }

  // The same array, twice: it is handed over once.
  bool OneOperand() const {
    return left_ == right_ && SizesOf(left_groups_) == SizesOf(right_groups_);
  }

  // Batches that are longer than 1, then these.
  Sizes Order(int64_t first, int64_t second) const {
    Sizes order;
    for (const Group& group : result_) {
      if (group.kind >= 0) order.push_back(group.kind);
    }
    order.push_back(first);
    order.push_back(second);
    return order;
  }

  // The operand's name, transposed where its dimensions lie otherwise.
  static std::string Ordered(std::string& task, const std::string& name,
                             const std::vector<Group>& groups, const Sizes& order) {
    Sizes permutation;
    for (const int64_t kind : order) {
      const auto found = absl::c_find_if(groups, [&](const Group& g) { return g.kind == kind; });
      permutation.push_back(found - groups.begin());
    }
    if (absl::c_is_sorted(permutation)) return name;
    const std::string transposed = order[order.size() - 2] == kSum ? "r" : "l";
    absl::StrAppend(&task, transposed, " := transpose ", name, " permutation=", Joined(permutation),
                    ";");
    return transposed;
  }

  static bool IsNarrow(const HloInstruction& value) {
    const HloInstruction* from = &value;
    while (from->opcode() == HloOpcode::kConvert) from = from->operand(0);
    return xla::primitive_util::BitWidth(from->shape().element_type()) < 32;
  }

  static bool FillsVectors(int64_t columns) {
    return (columns > kLeastColumns && columns <= kVector) || columns == 2 * kVector;
  }
  bool IsLarge() const {
    const int64_t rows = SizeOf(left_groups_, rows_), columns = SizeOf(right_groups_, columns_);
    const int64_t terms = SizeOf(left_groups_, kSum);
    int64_t all = rows * columns * terms;
    size_t batches = 0;
    for (const Group& group : result_) {
      if (group.kind < 0) continue;
      all *= group.size;
      ++batches;
    }
    const bool wide = columns >= kLeastSide || FillsVectors(columns) ||
                      (columns >= kLeastColumns && left_groups_.back().kind == rows_);
    return (rows >= kLeastRows || rows <= kFewRows || IsNarrow(*right_)) && wide &&
           terms >= kLeastTerms && batches <= kMostBatches &&
           all >= (rows <= kFewRows ? kLeastOfFewRows : kLeastMultiplications);
  }

  HloInstruction *left_ = nullptr, *right_ = nullptr;
  std::vector<Group> left_groups_, right_groups_, result_;
  int64_t rows_ = 0, columns_ = 0;  // kinds
};

bool IsDotOfFloats(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || dot.operand_count() != 2 || !emit::Free(dot)) return false;
  const auto is_float = [](const xla::Shape& shape) {
    return IsArray(shape) && IsKernelFloat(shape.element_type());
  };
  return is_float(dot.shape()) && is_float(dot.operand(0)->shape()) &&
         is_float(dot.operand(1)->shape());
}

// The type that a dot is computed in: f64 where one of its types is.
xla::PrimitiveType TypeOf(const HloInstruction& dot) {
  for (const xla::Shape* shape :
       {&dot.shape(), &dot.operand(0)->shape(), &dot.operand(1)->shape()}) {
    if (shape->element_type() == xla::F64) return xla::F64;
  }
  return xla::F32;
}

// The transpose that alone takes the dot's value, where a kernel can make it along.
HloInstruction* TransposeOf(HloInstruction* dot) {
  if (dot->user_count() != 1 || dot->IsRoot()) return nullptr;
  HloInstruction* const user = dot->users()[0];
  if (user->opcode() != HloOpcode::kTranspose || !emit::Free(*user)) return nullptr;
  return Product::Of(dot, Sizes(user->dimensions().begin(), user->dimensions().end())) ? user
                                                                                       : nullptr;
}

// A product that a kernel can be made of, and the instruction that has its value: a dot, or the
// transpose behind it.
struct Found {
  Product product;
  HloInstruction* dot;
};
std::optional<Found> ProductAt(HloInstruction* value) {
  HloInstruction* dot = value;
  Sizes permutation;
  if (value->opcode() == HloOpcode::kTranspose) {
    dot = value->mutable_operand(0);
    if (!IsDotOfFloats(*dot) || TransposeOf(dot) != value) return std::nullopt;
    permutation.assign(value->dimensions().begin(), value->dimensions().end());
  } else if (!IsDotOfFloats(*value) || TransposeOf(value) != nullptr) {
    return std::nullopt;
  }
  const std::optional<Product> product = Product::Of(dot, permutation);
  if (!product || IsInOneKernel(*value->parent()) || BelongsToAttention(*dot) ||
      absl::c_any_of(dot->operands(),
                     [](const HloInstruction* side) { return IsToBeRoundedWithin(*side); })) {
    return std::nullopt;
  }
  return Found{*product, dot};
}

// A product that is computed in the type of its value, so that more can be computed with it.
std::optional<Space> SpaceOfProduct(HloInstruction* value) {
  const std::optional<Found> found = ProductAt(value);
  if (!found || !MayBeUnrounded(*value) ||
      TypeOf(*found->dot) != KernelType(value->shape().element_type())) {
    return std::nullopt;
  }
  return ElementsOf(value, found->product.GroupsOfValue(*value));
}

// What is elementwise behind a product, with it.
HloInstruction* WithProduct(HloInstruction* root) {
  const std::optional<Space> space = SpaceWithin(root, SpaceOfProduct);
  const std::optional<Neighbourhood> end = space ? EndOf(root, *space) : std::nullopt;
  if (!end) return nullptr;
  const Product product = ProductAt(space->made)->product;
  return CallWith(root, *end, *space, product.Text(TaskType(space->type), /*stored=*/false),
                  product.Inputs());
}

}  // namespace

std::vector<HloOpcode> ProductKernelsRoots() {
  std::vector<HloOpcode> roots = RoundedWeightsRoots();
  roots.insert(roots.end(), {HloOpcode::kDot, HloOpcode::kTranspose, HloOpcode::kCompare});
  return ElementwiseOpcodesAnd(std::move(roots));
}

// A dot of floats, with a transpose before or after it, becomes a custom call `hone_loops`
// (core/native_kernel.h) that computes a product (loops/task.h), where both sides are large enough
// for packed panels, or one of them has a few rows. Batches may lie anywhere; of what is
// summed, and of what each side keeps, the dimensions lie next to one another. Left alone: what
// attention is made of, which is one kernel as a whole.
// Bytes that are scaled by columns are scaled afterwards (DotScaledAfter).
// What is elementwise behind it and needs it alone (a bias, an activation, a residual, a gradient's
// mask) is computed in the same kernel; of narrow floats in f32, rounded at its end.
absl::StatusOr<HloInstruction*> ProductKernels(HloInstruction* root) {
  if (absl::c_linear_search(RoundedWeightsRoots(), root->opcode())) return RoundedElsewhere(root);
  if (!IsArray(root->shape())) return nullptr;
  if (root->opcode() == HloOpcode::kCompare) return MaskOfMaximum(root, SpaceOfProduct);
  if (HloInstruction* const scatter = ScatteredOnto(root)) return scatter;
  if (IsElementwise(root->opcode())) return WithProduct(root);
  // Of that a kernel is made in the next sweep.
  if (HloInstruction* const after = *DotScaledAfter(root)) return after;
  const std::optional<Found> found = ProductAt(root);
  if (!found) return nullptr;
  if (const std::optional<Space> space = SpaceOfProduct(root); space && IsTakenIn(root, *space)) {
    return nullptr;
  }
  const xla::PrimitiveType type = TypeOf(*found->dot);
  std::vector<HloInstruction*> inputs;
  for (HloInstruction* input : found->product.Inputs()) {
    inputs.push_back(emit::Convert(input, type));
  }
  return KernelCall(root, type, std::move(inputs), found->product.Task(TaskType(type)));
}

}  // namespace hone::compiler
