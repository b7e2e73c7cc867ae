#include "compiler/implementations/attention_kernels.h"

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/attention_softmax.h"
#include "compiler/implementations/causal.h"
#include "compiler/implementations/dot_places.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// What is so small before a softmax is nothing after it, beside anything that is not.
constexpr double kNothing = -1e8;

// An array that a kernel is handed: reshaped, a condition as numbers, transposed.
struct KernelInput {
  const HloInstruction* value;
  Sizes sizes, permutation;

  friend bool operator==(const KernelInput& a, const KernelInput& b) {
    return a.value == b.value && a.sizes == b.sizes && a.permutation == b.permutation;
  }
};

// Writes what it matches as a task, in which sizes of 1 are left out. Dimensions are those of the
// softmax as the second product takes it: views count theirs by them.
class Matcher : public AttentionSoftmax {
 public:
  // `product` is softmax(f(q kT)) v, with the softmax its operand of that number.
  Matcher(HloInstruction* product, int number) : AttentionSoftmax(product, number) {}

  // The task, with the result's dimensions permuted; empty where it is no attention.
  std::string Write(const Sizes& permutation) {
    if (!FindDimensions()) return "";
    const std::optional<View> before = Softmax();
    if (!before || !TakesScores(*before)) return "";
    const std::string of_scores = Product(scores_).empty() ? "" : Scores(*before, /*top=*/true);
    if (failed_ || of_scores.empty() || !OnlyHere()) return "";
    const std::string values = Values();
    if (failed_ || inputs_.size() > kMostKernelInputs) return "";
    std::string task(loops::kKernelTaskBegin);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Sizes sizes;
      for (const int64_t d : inputs_[i].permutation) sizes.push_back(inputs_[i].sizes[d]);
      if (sizes.empty()) sizes = {1};
      absl::StrAppend(&task, "input i", i, " ", TaskType(type()), "[", absl::StrJoin(sizes, ","),
                      "];");
    }
    const Sizes order = ResultOrder(permutation);
    absl::StrAppend(
        &task, text_, "y = attend ", of_scores, " ", values,
        absl::c_is_sorted(order) ? "" : absl::StrCat(" permutation=", absl::StrJoin(order, ",")),
        until_ < 0 ? "" : absl::StrCat(" until=", until_), ";output y;");
    return task;
  }

  // The product of queries and keys, of what was written.
  const HloInstruction* scores() const { return scores_.value; }

  // Makes what the kernel is handed.
  std::vector<HloInstruction*> Inputs() const {
    std::vector<HloInstruction*> made;
    for (const KernelInput& input : inputs_) {
      HloInstruction* value = const_cast<HloInstruction*>(input.value);
      if (emit::SizesOf(*value) != input.sizes) value = emit::Reshape(value, input.sizes);
      if (!absl::c_is_sorted(input.permutation)) {
        value = emit::Transpose(value, input.permutation);
      }
      made.push_back(emit::Convert(value, type()));
    }
    return made;
  }

 private:
  // Whether the value is computed from the scores: the product that is found first.
  bool TakesScores(const View& view) {
    const auto known = takes_.find(view);
    if (known != takes_.end()) return known->second;
    bool takes = false;
    if (IsWhole(view) && takes_.size() < 4 * kMostKernelNodes) {
      const HloOpcode opcode = view.value->opcode();
      if (opcode == HloOpcode::kDot) {
        takes = scores_.value == nullptr || scores_ == view;
        if (takes) scores_ = view;
      } else if (TaskKind(opcode) != nullptr || opcode == HloOpcode::kSelect) {
        for (const HloInstruction* operand : view.value->operands()) {
          takes = TakesScores(PastRounding(operand, view.dimensions, nullptr)) || takes;
        }
      }
    }
    return takes_[view] = takes;
  }

  std::string Let(const std::string& what) {
    const std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&text_, name, " := ", what, ";");
    return name;
  }
  std::string Fail() {
    failed_ = true;
    return "";
  }

  std::string Elementwise(const View& view) {
    std::vector<std::string> operands;
    for (int64_t i = 0; i < view.value->operand_count(); ++i) {
      operands.push_back(Scores(OperandOf(view, i), false));
    }
    if (failed_) return "";
    return Let(absl::StrCat(TaskKind(view.value->opcode()), " ", absl::StrJoin(operands, " ")));
  }

  // What is computed of the scores, or beside them. `top`: nothing but the softmax follows.
  std::string Scores(const View& view, bool top) {
    if (++nodes_ > kMostKernelNodes || failed_) return Fail();
    if (const auto found = names_.find(view); found != names_.end()) return found->second;
    std::string name;
    if (!TakesScores(view)) {
      name = Beside(view);
    } else {
      within_.insert(view.value);
      if (!emit::Free(*view.value)) return Fail();
      if (view.value->opcode() == HloOpcode::kDot) {
        name = raw_;
      } else if (view.value->opcode() == HloOpcode::kSelect) {
        name = Selected(view, top);
      } else {
        name = Elementwise(view);
      }
    }
    return names_[view] = name;
  }

  std::string Selected(const View& view, bool top) {
    if (view.value->operand(0)->shape().dimensions() != view.value->shape().dimensions()) {
      return Fail();
    }
    const auto causal = CausalOf(view.value->operand(0), view.dimensions, queries_, keys_);
    if (causal && top && causal->until >= 0) {
      const View seen = OperandOf(view, causal->negated ? 2 : 1);
      const std::optional<double> unseen = NumberOf(*view.value->operand(causal->negated ? 1 : 2));
      // What is hidden by a number is still larger than what others hide.
      const bool exact = unseen && std::isinf(*unseen) && *unseen < 0;
      if (unseen && (exact || (*unseen <= kNothing && IsPlain(seen)))) {
        until_ = causal->until;
        return Scores(seen, false);
      }
    }
    const std::string a = Scores(OperandOf(view, 1), false);
    const std::string b = Scores(OperandOf(view, 2), false);
    return failed_ ? ""
                   : Chosen(PastRounding(view.value->operand(0), view.dimensions, nullptr), a, b);
  }

  // Whether it is of the scores and numbers alone.
  bool IsPlain(const View& view) {
    if (view.value->opcode() == HloOpcode::kDot) return TakesScores(view);
    if (ConstantOf(*view.value)) return true;
    if (TaskKind(view.value->opcode()) == nullptr || !TakesScores(view)) return false;
    for (const HloInstruction* operand : view.value->operands()) {
      if (!IsPlain(PastRounding(operand, view.dimensions, nullptr))) return false;
    }
    return true;
  }

  // `a` where the condition holds, else `b`.
  std::string Chosen(const View& condition, const std::string& a, const std::string& b) {
    if (++nodes_ > kMostKernelNodes || failed_) return Fail();
    const HloOpcode opcode = condition.value->opcode();
    const auto of = [&](int64_t number) {
      return PastRounding(condition.value->operand(number), condition.dimensions, nullptr);
    };
    // As large as the scores: better from what is smaller.
    if (IsWhole(condition)) {
      if (opcode == HloOpcode::kNot) return Chosen(of(0), b, a);
      if (opcode == HloOpcode::kAnd) return Chosen(of(0), Chosen(of(1), a, b), b);
      if (opcode == HloOpcode::kOr) return Chosen(of(0), a, Chosen(of(1), a, b));
    }
    const std::string mask = Input(condition);
    return failed_ ? "" : Let(absl::StrCat("select ", mask, " ", a, " ", b));
  }

  // A value that does not depend on the scores.
  std::string Beside(const View& view) {
    if (const std::optional<double> constant = NumberOf(*view.value)) {
      return Let(absl::StrCat("constant ", raw_, " value=", absl::StrFormat("%.17g", *constant)));
    }
    if (KernelType(view.value->shape().element_type()) != type()) return Fail();
    if (IsWhole(view) && emit::Free(*view.value)) {
      if (view.value->opcode() == HloOpcode::kSelect) return Selected(view, false);
      if (TaskKind(view.value->opcode()) != nullptr) return Elementwise(view);
    }
    return Input(view);
  }

  // An array whose dimensions are some of the weights', spread over all; with the queries last, so
  // that a vector of them is loaded at once.
  std::string Input(const View& view) {
    const xla::Shape& shape = view.value->shape();
    const xla::PrimitiveType own = shape.element_type();
    if (!IsArray(shape) || (KernelType(own) != type() && own != xla::PRED)) return Fail();
    KernelInput input{view.value, {}, {}};
    Sizes places;  // in the task's order
    for (size_t d = 0; d < view.dimensions.size(); ++d) {
      if (view.dimensions[d] < 0) continue;
      input.sizes.push_back(shape.dimensions(static_cast<int64_t>(d)));
      places.push_back(PlaceOf(view.dimensions[d]));
      input.permutation.push_back(static_cast<int64_t>(input.permutation.size()));
    }
    const auto queries = static_cast<int64_t>(rank()) - 2;
    const auto after = [&](int64_t place) { return place == queries ? queries + 2 : place; };
    absl::c_stable_sort(input.permutation,
                        [&](int64_t a, int64_t b) { return after(places[a]) < after(places[b]); });
    Sizes ordered;
    for (const int64_t i : input.permutation) ordered.push_back(places[i]);
    return Spread(Add(input), ordered, FullSizes());
  }

  std::string Add(const KernelInput& input) {
    const auto found = absl::c_find(inputs_, input);
    const size_t index = found - inputs_.begin();
    if (found == inputs_.end()) inputs_.push_back(input);
    return absl::StrCat("i", index);
  }

  // Dimension d of the array is dimension places[d] of one of these sizes.
  std::string Spread(std::string name, const Sizes& places, const Sizes& sizes) {
    Sizes order(places.size());
    std::iota(order.begin(), order.end(), 0);
    absl::c_stable_sort(order, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
    Sizes sorted;
    for (const int64_t i : order) sorted.push_back(places[i]);
    if (!absl::c_is_sorted(order)) {
      name = Let(absl::StrCat("transpose ", name, " permutation=", absl::StrJoin(order, ",")));
    }
    if (sorted.size() == sizes.size()) return name;
    return Let(absl::StrCat("broadcast ", name, " sizes=", absl::StrJoin(sizes, ","),
                            sorted.empty() ? "" : " dimensions=" + absl::StrJoin(sorted, ",")));
  }

  // The scores themselves.
  std::string Product(const View& view) {
    const HloInstruction& dot = *view.value;
    if (!IsAttentionDot(dot)) return Fail();
    const std::vector<DotPlace> places = ResultPlaces(dot);
    // Of each operand's dimensions, what they are in the task; -1: a size of 1.
    const auto last = static_cast<int64_t>(rank()) - 1;
    Sizes to[2];
    int key = -1, query = -1;
    for (const int operand : {0, 1}) {
      to[operand].resize(dot.operand(operand)->shape().dimensions().size(), -1);
    }
    for (size_t d = 0; d < places.size(); ++d) {
      const int64_t dimension = view.dimensions[d];
      if (dimension < 0) continue;
      if (dimension == keys_) key = places[d].other < 0 ? places[d].operand : -1;
      if (dimension == queries_) query = places[d].other < 0 ? places[d].operand : -1;
      to[places[d].operand][places[d].dimension] =
          dimension == keys_ ? last - 1 : PlaceOf(dimension);
      if (places[d].other >= 0) to[1][places[d].other] = PlaceOf(dimension);
    }
    if (key < 0 || query < 0 || key == query) return Fail();
    for (size_t d = 0; d < places.size(); ++d) {  // several dimensions of keys
      if (places[d].other < 0 && places[d].operand == key && view.dimensions[d] >= 0 &&
          view.dimensions[d] != keys_) {
        return Fail();
      }
    }
    const auto& numbers = dot.dot_dimension_numbers();
    to[0][numbers.lhs_contracting_dimensions(0)] = last;
    to[1][numbers.rhs_contracting_dimensions(0)] = last;
    Sizes sizes = FullSizes();
    sizes.back() = dot.operand(0)->shape().dimensions(numbers.lhs_contracting_dimensions(0));
    const std::string q = Operand(dot.operand(query), to[query], sizes);
    sizes[rank() - 2] = SizeOf(keys_);
    const std::string k = Operand(dot.operand(key), to[key], sizes);
    within_.insert(&dot);
    return raw_ = Let(absl::StrCat("scores ", q, " ", k));
  }

  // An operand of a product; a transpose before it is the kernel's to see to.
  std::string Operand(const HloInstruction* value, Sizes to, const Sizes& sizes) {
    while (value->opcode() == HloOpcode::kTranspose || value->opcode() == HloOpcode::kCopy ||
           IsRounding(*value)) {
      if (value->opcode() == HloOpcode::kTranspose) {
        Sizes from(to.size());
        for (size_t d = 0; d < to.size(); ++d) from[value->dimensions(d)] = to[d];
        to = from;
      }
      value = value->operand(0);
    }
    KernelInput input{value, {}, {}};
    Sizes places;
    for (size_t d = 0; d < to.size(); ++d) {
      if (to[d] < 0) continue;
      input.sizes.push_back(value->shape().dimensions(static_cast<int64_t>(d)));
      input.permutation.push_back(static_cast<int64_t>(places.size()));
      places.push_back(to[d]);
    }
    return Spread(Add(input), places, sizes);
  }

  std::string Values() {
    const auto& numbers = product_->dot_dimension_numbers();
    const HloInstruction* const values = product_->operand(1 - number_);
    const auto last = static_cast<int64_t>(rank()) - 1;
    Sizes to(values->shape().dimensions().size(), -2);
    to[number_ == 0 ? numbers.rhs_contracting_dimensions(0)
                    : numbers.lhs_contracting_dimensions(0)] = last - 1;
    for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i) {
      const int64_t lhs = numbers.lhs_batch_dimensions(i), rhs = numbers.rhs_batch_dimensions(i);
      const int64_t dimension = number_ == 0 ? lhs : rhs;
      to[number_ == 0 ? rhs : lhs] = SizeOf(dimension) == 1 ? -1 : PlaceOf(dimension);
    }
    // One dimension is an element's: the one that is longer than 1, if there is.
    element_ = -1;
    for (size_t d = 0; d < to.size(); ++d) {
      if (to[d] != -2) continue;
      const bool longer = values->shape().dimensions(static_cast<int64_t>(d)) != 1;
      if (longer && element_ >= 0 && values->shape().dimensions(element_) != 1) return Fail();
      if (longer || element_ < 0) element_ = static_cast<int64_t>(d);
      to[d] = -1;
    }
    if (element_ < 0) return Fail();
    to[element_] = last;
    Sizes sizes = FullSizes();
    sizes[rank() - 2] = SizeOf(keys_);
    sizes.back() = values->shape().dimensions(element_);
    return Operand(values, to, sizes);
  }

  // For each dimension of the result, permuted, which one it is of leading ones, queries, elements.
  Sizes ResultOrder(const Sizes& permutation) const {
    Sizes order, permuted;
    for (const DotPlace& place : ResultPlaces(*product_)) {
      if (place.other < 0 && place.operand != number_) {
        order.push_back(place.dimension == element_ ? static_cast<int64_t>(rank()) - 1 : -1);
        continue;
      }
      const int64_t dimension = place.other >= 0 && number_ == 1 ? place.other : place.dimension;
      order.push_back(SizeOf(dimension) == 1 ? -1 : PlaceOf(dimension));
    }
    for (size_t d = 0; d < order.size(); ++d) {
      const int64_t from = order[permutation.empty() ? static_cast<int64_t>(d) : permutation[d]];
      if (from >= 0) permuted.push_back(from);
    }
    return permuted;
  }

  // Nothing else needs what the kernel computes on its way.
  bool OnlyHere() const {
    std::set<const HloInstruction*> all = within_;
    all.insert(path_.begin(), path_.end());
    all.insert(product_);
    std::set<const HloInstruction*> own = within_;
    for (const HloInstruction* value : path_) {  // what is rounded for others must be there
      if (IsRounding(*value)) own.insert(value);
    }
    for (const HloInstruction* value : own) {
      if (value->IsRoot()) return false;
      for (const HloInstruction* user : value->users()) {
        if (all.count(user) == 0) return false;
      }
    }
    return true;
  }

  struct Before {
    bool operator()(const View& a, const View& b) const {
      return std::make_pair(a.value->unique_id(), a.dimensions) <
             std::make_pair(b.value->unique_id(), b.dimensions);
    }
  };

  int64_t element_ = -1;  // of the values
  View scores_;
  std::string raw_;  // their name
  int64_t until_ = -1;
  bool failed_ = false;
  size_t nodes_ = 0;
  std::map<View, bool, Before> takes_;
  std::map<View, std::string, Before> names_;
  std::vector<KernelInput> inputs_;
  std::string text_;
  int next_ = 0;
};

bool OnlyTransposed(const HloInstruction& dot) {
  return dot.user_count() == 1 && !dot.IsRoot() &&
         dot.users()[0]->opcode() == HloOpcode::kTranspose && emit::Free(*dot.users()[0]);
}

}  // namespace

HloInstruction* AttentionCall(HloInstruction* root) {
  Sizes permutation;
  HloInstruction* product = root;
  if (root->opcode() == HloOpcode::kTranspose) {
    product = root->mutable_operand(0);
    if (product->opcode() != HloOpcode::kDot || !OnlyTransposed(*product)) return nullptr;
    permutation.assign(root->dimensions().begin(), root->dimensions().end());
  } else if (OnlyTransposed(*root)) {
    return nullptr;
  }
  if (!emit::Free(*root) || !IsAttentionDot(*product)) return nullptr;
  for (const int weights : {0, 1}) {
    Matcher matcher(product, weights);
    const std::string task = matcher.Write(permutation);
    if (task.empty()) continue;
    return KernelCall(root, KernelType(root->shape().element_type()), matcher.Inputs(), task);
  }
  return nullptr;
}

bool IsOfAttention(const HloInstruction& softmax) {
  const HloInstruction* value = &softmax;
  if (value->opcode() != HloOpcode::kDivide) return false;
  while (value->user_count() == 1 && value->users()[0]->opcode() != HloOpcode::kDot) {
    value = value->users()[0];
    if (!IsIdentity(*value) && value->opcode() != HloOpcode::kTranspose && !IsRounding(*value)) {
      return false;
    }
  }
  if (value->user_count() != 1 || !IsAttentionDot(*value->users()[0])) return false;
  for (const int weights : {0, 1}) {
    if (value->users()[0]->operand(weights) != value) continue;
    if (!Matcher(value->users()[0], weights).Write({}).empty()) return true;
  }
  return false;
}

bool BelongsToAttention(const HloInstruction& dot) {
  // What may follow the first product, up to the second.
  std::vector<const HloInstruction*> next = {&dot};
  std::set<const HloInstruction*> seen = {&dot};
  while (!next.empty() && seen.size() < 2 * kMostKernelNodes) {
    const HloInstruction* const value = next.back();
    next.pop_back();
    if (value->opcode() == HloOpcode::kDot && IsAttentionDot(*value)) {
      for (const int weights : {0, 1}) {
        Matcher matcher(const_cast<HloInstruction*>(value), weights);
        const bool attends = !matcher.Write({}).empty();
        if (attends && (value == &dot || matcher.scores() == &dot)) return true;
      }
      if (value != &dot) continue;
    }
    for (const HloInstruction* user : value->users()) {
      if (seen.insert(user).second) next.push_back(user);
    }
  }
  return false;
}

}  // namespace hone::compiler
