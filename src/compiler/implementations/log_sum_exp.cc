// Logarithms of sums of exponentials, of sums of arrays of which each has some of the dimensions:
// the exponential of a sum is a product of exponentials, so that all of them are a dot. Recursions
// over hidden states, of transport and of soft decisions take an exponential for each pair of
// states at each step; the dot takes one for each state, and those of what a loop does not change
// once.
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastExponentials = 1024;
constexpr size_t kMostTerms = 8;

// Past what only puts in and takes away sizes of 1.
HloInstruction* PastIdentities(HloInstruction* x) {
  while (IsIdentity(*x)) x = x->mutable_operand(0);
  return x;
}

// One of the arrays whose sum is in the exponent, times a factor.
struct Term {
  Source source;  // of the exponent's dimensions
  double factor = 1;
};

// log(sum of exp(z - m) over some dimensions) + m, where m is the largest z there.
struct LogSumExp {
  HloInstruction* z = nullptr;
  Dimensions summed, left;  // of z
};

bool IsReduction(const HloInstruction& x, HloOpcode opcode) {
  return x.opcode() == HloOpcode::kReduce && x.operand_count() == 2 && x.shape().IsArray() &&
         emit::ReducerOpcode(*x.to_apply()) == opcode && emit::IsIdentity(*x.operand(1), opcode);
}

// Whether `m` is the largest of z over these dimensions, or 0 where that is infinite.
bool IsLargestOf(HloInstruction* m, const HloInstruction* z, const Dimensions& summed) {
  m = PastIdentities(m);
  if (m->opcode() == HloOpcode::kSelect && ConstantOf(*m->operand(2)) == 0 &&
      m->operand(0)->opcode() == HloOpcode::kIsFinite) {
    m = PastIdentities(m->mutable_operand(1));
  }
  if (const int k = PastLeast(*m); k >= 0) m = PastIdentities(m->mutable_operand(k));
  return IsReduction(*m, HloOpcode::kMaximum) && m->operand(0) == z &&
         Dimensions(m->dimensions().begin(), m->dimensions().end()) == summed;
}

std::optional<LogSumExp> Match(HloInstruction* root) {
  for (const int k : {0, 1}) {
    HloInstruction* const log = PastIdentities(root->mutable_operand(k));
    if (log->opcode() != HloOpcode::kLog || log->user_count() != 1) continue;
    HloInstruction* sum = PastIdentities(log->mutable_operand(0));
    if (sum->opcode() == HloOpcode::kAbs) sum = PastIdentities(sum->mutable_operand(0));
    if (!IsReduction(*sum, HloOpcode::kAdd) || sum->user_count() != 1) continue;
    HloInstruction* const exp = sum->mutable_operand(0);
    if (exp->opcode() != HloOpcode::kExp || exp->user_count() != 1 ||
        exp->operand(0)->opcode() != HloOpcode::kSubtract || exp->operand(0)->user_count() != 1) {
      continue;
    }
    LogSumExp found{exp->mutable_operand(0)->mutable_operand(0),
                    Dimensions(sum->dimensions().begin(), sum->dimensions().end())};
    if (found.z->user_count() != 2) continue;  // the largest, and the difference
    found.left = Without(*found.z, found.summed);
    const Source largest = SourceOf(exp->mutable_operand(0)->mutable_operand(1));
    Dimensions places;
    for (const int64_t place : largest.places) {
      if (place != kNone) places.push_back(place);
    }
    Dimensions real;
    for (const int64_t d : found.left) {
      if (found.z->shape().dimensions(d) != 1) real.push_back(d);
    }
    if (places != real || SourceOf(root->mutable_operand(1 - k)).array != largest.array ||
        !IsLargestOf(largest.array, found.z, found.summed)) {
      continue;
    }
    return found;
  }
  return std::nullopt;
}

// False where there are too many, or one does not come from fewer dimensions or elsewhere.
bool CollectTerms(const Source& from, double factor, std::vector<Term>& terms) {
  HloInstruction* const x = from.array;
  const auto number = [&](int k) { return ConstantOf(*x->operand(k)); };
  const auto collect = [&](int k, double times) {
    return CollectTerms({x->mutable_operand(k), from.places}, times, terms);
  };
  switch (x->opcode()) {
    case HloOpcode::kAdd:
      return collect(0, factor) && collect(1, factor);
    case HloOpcode::kSubtract:
      return collect(0, factor) && collect(1, -factor);
    case HloOpcode::kNegate:
      return collect(0, -factor);
    case HloOpcode::kMultiply:
      if (number(1)) return collect(0, factor * *number(1));
      if (number(0)) return collect(1, factor * *number(0));
      break;
    case HloOpcode::kDivide:
      if (number(1) && *number(1) != 0) return collect(0, factor / *number(1));
      break;
    default:
      break;
  }
  Source next = from;
  if (StepBack(next)) return CollectTerms(next, factor, terms);
  terms.push_back({SourceOf(from), factor});
  return terms.size() <= kMostTerms;
}

// Whether a loop leaves it as it is.
bool IsInvariant(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kConstant || NextOf(x) == &x;
}

// Terms that are added up before their exponentials are taken.
struct Group {
  std::vector<Term> terms;
  Dimensions dimensions;  // of z, in order
  bool invariant = true;

  bool Has(int64_t d) const { return absl::c_linear_search(dimensions, d); }
};

class DotOfExponentials {
 public:
  explicit DotOfExponentials(const LogSumExp& log) : log_(log), z_(*log.z) {}

  // False where a dot takes no fewer exponentials.
  bool Plan() {
    std::vector<Term> terms;
    if (!CollectTerms({log_.z, Range(0, RankOf(z_))}, 1, terms)) return false;
    const auto elements = [](const Term& term) {
      return xla::ShapeUtil::ElementsIn(term.source.array->shape());
    };
    const auto is_summed = [&](const Term& term) {
      return absl::c_any_of(term.source.places,
                            [&](int64_t d) { return compiler::Has(log_.summed, d); });
    };
    const Term* largest = nullptr;
    for (const Term& term : terms) {
      if (is_summed(term) && (largest == nullptr || elements(term) > elements(*largest))) {
        largest = &term;
      }
    }
    if (largest == nullptr) return false;
    const bool invariant = IsInvariant(*largest->source.array);
    for (const Term& term : terms) {
      const bool within = absl::c_all_of(term.source.places, [&](int64_t d) {
        return d == kNone || compiler::Has(largest->source.places, d);
      });
      if (!is_summed(term)) {
        Add(rest_, term);
      } else if (within && IsInvariant(*term.source.array) == invariant) {
        Add(first_, term);
      } else {
        Add(second_, term);
      }
    }
    const auto all = static_cast<double>(xla::ShapeUtil::ElementsIn(z_.shape()));
    const double made = (first_.invariant ? 0 : ElementsOf(first_)) + ElementsOf(second_);
    return absl::c_all_of(log_.summed,
                          [&](int64_t d) { return first_.Has(d) && second_.Has(d); }) &&
           all >= kLeastExponentials && 2 * made <= all;
  }

  // Of the dimensions that are left.
  HloInstruction* Make() {
    const Shifted x = Shift(first_), y = Shift(second_);
    Dimensions order, x_batch, y_batch, x_contracted, y_contracted;
    const auto place = [](const Group& group, int64_t d) {
      return absl::c_find(group.dimensions, d) - group.dimensions.begin();
    };
    for (const int64_t d : first_.dimensions) {
      if (compiler::Has(log_.summed, d)) {
        x_contracted.push_back(place(first_, d));
        y_contracted.push_back(place(second_, d));
      } else if (second_.Has(d)) {
        x_batch.push_back(place(first_, d));
        y_batch.push_back(place(second_, d));
        order.push_back(d);
      }
    }
    for (const Group* group : {&first_, &second_}) {
      const Group& other = group == &first_ ? second_ : first_;
      for (const int64_t d : group->dimensions) {
        if (!other.Has(d)) order.push_back(d);
      }
    }
    const xla::PrimitiveType type = z_.shape().element_type();
    HloInstruction* const dot =
        emit::Dot(x.exponentials, y.exponentials, x_batch, y_batch, x_contracted, y_contracted,
                  type, emit::HighestPrecision());
    const Elements sum(InOrder(dot, order));
    Elements log = sum.Unary(HloOpcode::kLog) + Elements(InOrder(x.largest, Left(first_))) +
                   Elements(InOrder(y.largest, Left(second_)));
    if (!rest_.terms.empty()) log = log + Elements(InOrder(Exponent(rest_), rest_.dimensions));
    return WhereLarge(sum, log).array();
  }

 private:
  struct Shifted {
    HloInstruction* exponentials;
    HloInstruction* largest;  // over what is summed
  };

  void Add(Group& group, const Term& term) {
    group.terms.push_back(term);
    group.invariant = group.invariant && IsInvariant(*term.source.array);
    Dimensions dimensions;
    for (int64_t d = 0; d < RankOf(z_); ++d) {
      if (group.Has(d) || compiler::Has(term.source.places, d)) dimensions.push_back(d);
    }
    group.dimensions = std::move(dimensions);
  }

  double ElementsOf(const Group& group) const {
    return static_cast<double>(emit::Product(SizesAt(z_, group.dimensions)));
  }

  Dimensions Left(const Group& group) const {
    Dimensions left;
    for (const int64_t d : group.dimensions) {
      if (!compiler::Has(log_.summed, d)) left.push_back(d);
    }
    return left;
  }

  HloInstruction* Exponent(const Group& group) const {
    HloInstruction* sum = nullptr;
    for (const Term& term : group.terms) {
      Elements one(Spread(term.source, group.dimensions, SizesAt(z_, group.dimensions)));
      if (term.factor != 1) one = one * one.Number(term.factor);
      sum = emit::AddTo(sum, one.array());
    }
    return sum;
  }

  Shifted Shift(const Group& group) const {
    HloInstruction* const exponent = Exponent(group);
    Dimensions over, left;
    for (size_t k = 0; k < group.dimensions.size(); ++k) {
      const bool summed = compiler::Has(log_.summed, group.dimensions[k]);
      (summed ? over : left).push_back(static_cast<int64_t>(k));
    }
    const xla::PrimitiveType type = exponent->shape().element_type();
    HloInstruction* const least =
        emit::Scalar(exponent->parent(), emit::Identity(HloOpcode::kMaximum, type));
    Elements largest(emit::Reduce(exponent, least, over, HloOpcode::kMaximum));
    largest = Choose(Abs(largest) < INFINITY, largest, 0.0);
    HloInstruction* const spread = emit::Broadcast(largest.array(), emit::SizesOf(*exponent), left);
    return {(Elements(exponent) - Elements(spread)).Unary(HloOpcode::kExp).array(),
            largest.array()};
  }

  // An array of some of the dimensions that are left, as one of all of them.
  HloInstruction* InOrder(HloInstruction* x, const Dimensions& dimensions) const {
    return Spread({x, dimensions}, log_.left, SizesAt(z_, log_.left));
  }

  // The logarithm, unless a sum is so small that terms of it may have been lost: then as it was.
  Elements WhereLarge(Elements sum, Elements log) const {
    const bool is_double = sum.type() == xla::F64;
    HloInstruction* const lost =
        emit::Unary(HloOpcode::kNot, (sum > sum.Number(is_double ? 1e-250 : 1e-25)).array());
    std::vector<Elements> arrays = {log};
    for (const Group* group : {&first_, &second_, &rest_}) {
      for (const Term& term : group->terms) arrays.emplace_back(term.source.array);
    }
    return InBranches(arrays, Elements(lost),
                      {"usual", [](const std::vector<Elements>& parts) { return parts[0]; }},
                      {"rare", [&](const std::vector<Elements>& parts) { return OfTerms(parts); }});
  }

  // As the program has it, of the terms, which are behind the first array.
  Elements OfTerms(const std::vector<Elements>& arrays) const {
    Group whole;
    size_t next = 1;
    for (const Group* group : {&first_, &second_, &rest_}) {
      for (const Term& term : group->terms) {
        whole.terms.push_back({{arrays[next++].array(), term.source.places}, term.factor});
      }
    }
    whole.dimensions = Range(0, RankOf(z_));
    const Shifted shifted = Shift(whole);
    HloInstruction* const zero = emit::Zero(shifted.largest->parent(), z_.shape().element_type());
    const Elements sum(emit::Reduce(shifted.exponentials, zero, log_.summed, HloOpcode::kAdd));
    return sum.Unary(HloOpcode::kLog) + Elements(shifted.largest);
  }

  const LogSumExp& log_;
  const HloInstruction& z_;
  Group first_, second_, rest_;
};

}  // namespace

absl::StatusOr<HloInstruction*> LogSumExpDot(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  if (!emit::Free(*root) || (type != xla::F32 && type != xla::F64) ||
      IsInOneKernel(*root->parent()) || IsBranch(*root->parent())) {
    return nullptr;
  }
  const std::optional<LogSumExp> log = Match(root);
  if (!log) return nullptr;
  DotOfExponentials dot(*log);
  if (!dot.Plan()) return nullptr;
  return emit::Reshape(dot.Make(), emit::SizesOf(*root));
}

}  // namespace hone::compiler
