// Products within loops that count their trips: of what is read (rows of an array, one a trip),
// once before the loop; of what is written (a row a trip), or added up, once after it. A recurrent
// network multiplies its inputs, its outputs and their gradients by weights at each step, and adds
// up the gradients of weights: small products, each of which reads or writes a whole matrix. Of all
// steps they are one product (Appleyard, Kocisky, Blunsom, "Optimizing Performance of Recurrent
// Neural Networks on GPUs", arXiv:1604.01946, section 3.3; loop distribution in general).
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/all_trips.h"
#include "compiler/implementations/counted_loop.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/loop_dot_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostBytes = int64_t{1} << 29;  // of what is kept of all trips
// A product of so many rows, or a sum of so many products, gains nothing from more of them.
constexpr int64_t kEnough = 1024;

// Takes products out of a loop.
class Distribution {
 public:
  explicit Distribution(std::unique_ptr<CountedLoop> loop) : loop_(std::move(loop)), all_(*loop_) {}

  // What takes the loop's place; null where there is nothing to take out of it.
  absl::StatusOr<HloInstruction*> Apply();

 private:
  enum class End : uint8_t { kWritten, kAdded };
  // A part of the state that only the ends of trips need.
  struct Result {
    int64_t part;
    End end;
    HloInstruction* value;  // a row to write, or what is added
  };

  // What to move; false where there is nothing, or what it takes is too much.
  bool Decide();
  // The body without it, which reads products and writes what is kept: in parts behind the others.
  absl::StatusOr<HloComputation*> MakeBody(const xla::Shape& state) const;

  bool ChooseIndex();
  std::vector<Result> Candidates() const;
  void FindNeeded();
  bool GainsByRows(const HloInstruction& dot);
  // It follows from rows that are read at the places of `index_`, and what is the same in all
  // trips.
  bool IsOfRows(const HloInstruction& value) { return loop_->IsOfRows(value, &positions_); }
  // Whether a product is moved that is needed for it and for nothing that stays.
  bool HasProduct(const HloInstruction& value);
  // Whether its sum over all trips is one product, or follows from such.
  bool SumsProducts(const HloInstruction& value);
  bool IsWorthIt(const Result& result) {
    return result.end == End::kWritten ? HasProduct(*result.value) : SumsProducts(*result.value);
  }
  // What must be kept of each trip for a value, or its sum, after the loop.
  void Keep(HloInstruction* value);
  void KeepForSum(HloInstruction* value);
  std::vector<HloInstruction*> ProductsOfRows();
  // Parts of weights, which XLA would cut out on each trip.
  std::vector<HloInstruction*> PartsOfWeights();

  std::unique_ptr<CountedLoop> loop_;
  AllTrips all_;
  HloInstruction* index_ = nullptr;  // where a trip reads and writes rows
  Positions positions_;
  absl::flat_hash_set<const HloInstruction*> needed_;
  std::map<const HloInstruction*, bool> has_product_;
  absl::flat_hash_set<const HloInstruction*> looked_at_;  // by Keep
  std::vector<Result> results_;
  // Products that are read, parts of weights, and what is kept of each trip: behind the loop's
  // parts.
  std::vector<HloInstruction*> early_, weights_, kept_;
};

// The places that most rows are read from and written to, each once.
bool Distribution::ChooseIndex() {
  std::map<Positions, std::pair<int, HloInstruction*>> found;
  for (HloInstruction* instruction : loop_->body()->MakeInstructionPostOrder()) {
    const Positions* const rows = loop_->RowsOf(*instruction);
    if (rows == nullptr || !IsPermutation(*rows)) continue;
    auto& [count, index] = found[*rows];
    ++count;
    if (index == nullptr) {
      index =
          instruction->mutable_operand(instruction->opcode() == HloOpcode::kDynamicSlice ? 1 : 2);
    }
  }
  int most = 0;
  for (const auto& [positions, use] : found) {
    if (use.first <= most) continue;
    most = use.first;
    index_ = use.second;
    positions_ = positions;
  }
  if (index_ != nullptr) return true;
  // Nothing is read or written row by row: what counts from 0 on does.
  for (HloInstruction* part : loop_->state()->users()) {
    const Positions* const values = loop_->ValuesOf(*part);
    if (values == nullptr || !IsPermutation(*values)) continue;
    index_ = part;
    positions_ = *values;
    return true;
  }
  return false;
}

std::vector<Distribution::Result> Distribution::Candidates() const {
  std::vector<Result> found;
  for (int64_t part = 0; part < loop_->parts(); ++part) {
    HloInstruction* const end = loop_->next()->mutable_operand(part);
    if (!end->shape().IsArray() || end->user_count() != 1 ||
        loop_->next()->OperandIndices(end).size() != 1 || loop_->OnlyUserOf(part) != end) {
      continue;
    }
    if (end->opcode() == HloOpcode::kDynamicUpdateSlice) {
      const Positions* const rows = loop_->RowsOf(*end);
      if (rows != nullptr && *rows == positions_ && loop_->PartOf(*end->operand(0)) == part) {
        found.push_back({part, End::kWritten, end->mutable_operand(1)});
      }
    } else if (end->opcode() == HloOpcode::kAdd) {
      const int which = loop_->PartOf(*end->operand(0)) == part ? 1 : 0;
      if (loop_->PartOf(*end->operand(1 - which)) == part) {
        found.push_back({part, End::kAdded, end->mutable_operand(which)});
      }
    }
  }
  return found;
}

// What stays in the loop whatever is moved.
void Distribution::FindNeeded() {
  needed_.clear();
  has_product_.clear();
  std::vector<const HloInstruction*> open;
  for (int64_t part = 0; part < loop_->parts(); ++part) {
    if (absl::c_none_of(results_, [&](const Result& result) { return result.part == part; })) {
      open.push_back(loop_->next()->operand(part));
    }
  }
  while (!open.empty()) {
    const HloInstruction* const value = open.back();
    open.pop_back();
    if (!needed_.insert(value).second) continue;
    absl::c_copy(value->operands(), std::back_inserter(open));
  }
}

// Where a trip has few rows to multiply.
bool Distribution::GainsByRows(const HloInstruction& dot) {
  const std::optional<int> weights = loop_->InvariantSideOf(dot);
  if (!weights) return false;
  const DotSide rows = DotSideOf(dot, 1 - *weights);
  return emit::Product(SizesAt(*dot.operand(1 - *weights), rows.free)) < kEnough;
}

bool Distribution::HasProduct(const HloInstruction& value) {
  if (needed_.contains(&value) || !IsLiftable(value) || loop_->IsInvariant(value)) return false;
  const auto known = has_product_.find(&value);
  if (known != has_product_.end()) return known->second;
  const bool has = (value.opcode() == HloOpcode::kDot && GainsByRows(value)) ||
                   absl::c_any_of(value.operands(), [&](const HloInstruction* operand) {
                     return HasProduct(*operand);
                   });
  return has_product_[&value] = has;
}

bool Distribution::SumsProducts(const HloInstruction& value) {
  if (needed_.contains(&value) || !IsLiftable(value)) return false;
  switch (value.opcode()) {
    case HloOpcode::kDot:
      return value.shape().element_type() != xla::PRED && emit::TermsOf(value) < kEnough &&
             !loop_->IsInvariant(*value.operand(0)) && !loop_->IsInvariant(*value.operand(1));
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract:
      return SumsProducts(*value.operand(0)) && SumsProducts(*value.operand(1));
    case HloOpcode::kConvert:  // not of integers, whose sums may wrap
      return xla::primitive_util::IsFloatingPointType(value.shape().element_type()) &&
             xla::primitive_util::IsFloatingPointType(value.operand(0)->shape().element_type()) &&
             SumsProducts(*value.operand(0));
    case HloOpcode::kNegate:
    case HloOpcode::kReduce:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
      return SumsProducts(*value.operand(0));
    default:
      return false;
  }
}

void Distribution::Keep(HloInstruction* value) {
  if (loop_->IsInvariant(*value) || !looked_at_.insert(value).second) return;
  if (HasProduct(*value)) {
    for (HloInstruction* operand : value->operands()) Keep(operand);
  } else if (!IsOfRows(*value)) {
    kept_.push_back(value);
  }
}

void Distribution::KeepForSum(HloInstruction* value) {
  for (HloInstruction* operand : value->operands()) {
    if (value->opcode() == HloOpcode::kDot) {
      Keep(operand);
    } else if (SumsProducts(*operand)) {
      KeepForSum(operand);
    }
  }
}

// Those that stay in the loop, of what is known before it.
std::vector<HloInstruction*> Distribution::ProductsOfRows() {
  std::vector<HloInstruction*> found;
  for (HloInstruction* instruction : loop_->body()->MakeInstructionPostOrder()) {
    if (instruction->opcode() == HloOpcode::kDot && needed_.contains(instruction) &&
        IsOfRows(*instruction) && GainsByRows(*instruction)) {
      found.push_back(instruction);
    }
  }
  return found;
}

std::vector<HloInstruction*> Distribution::PartsOfWeights() {
  std::vector<HloInstruction*> found;
  for (HloInstruction* instruction : loop_->body()->MakeInstructionPostOrder()) {
    if (instruction->opcode() == HloOpcode::kSlice && needed_.contains(instruction) &&
        loop_->IsInvariant(*instruction) &&
        absl::c_any_of(instruction->users(), [](const HloInstruction* user) {
          return user->opcode() == HloOpcode::kDot;
        })) {
      found.push_back(instruction);
    }
  }
  return found;
}

bool Distribution::Decide() {
  if (!ChooseIndex()) return false;
  results_ = Candidates();
  for (size_t before = results_.size() + 1; results_.size() < before;) {
    before = results_.size();
    FindNeeded();
    results_.erase(std::remove_if(results_.begin(), results_.end(),
                                  [&](const Result& result) { return !IsWorthIt(result); }),
                   results_.end());
  }
  early_ = ProductsOfRows();
  weights_ = PartsOfWeights();
  for (const Result& result : results_) {
    result.end == End::kWritten ? Keep(result.value) : KeepForSum(result.value);
  }
  int64_t bytes = 0;
  for (const std::vector<HloInstruction*>& some : {early_, kept_}) {
    for (const HloInstruction* value : some) {
      bytes += xla::ShapeUtil::ByteSizeOf(all_.ShapeOf(*value));
    }
  }
  return !(early_.empty() && results_.empty()) && bytes <= kMostBytes;
}

absl::StatusOr<HloComputation*> Distribution::MakeBody(const xla::Shape& state) const {
  xla::HloModule* const module = loop_->whole()->GetModule();
  xla::HloCloneContext context(module);
  HloComputation* const body =
      module->AddEmbeddedComputation(loop_->body()->Clone("products", &context));
  *body->parameter_instruction(0)->mutable_shape() = state;
  const auto part_of = [&](int64_t part) {
    return ElementOf(body->parameter_instruction(0), part);
  };
  // The places of a row: an index, and zeros of its type.
  HloInstruction* const index = context.GetInstruction(index_);
  HloInstruction* const zero = emit::Zero(body, index->shape().element_type());
  const auto place = [&](const xla::Shape& whole_shape) {
    std::vector<HloInstruction*> indices(whole_shape.dimensions().size(), zero);
    indices[0] = index;
    return indices;
  };
  std::vector<HloInstruction*> next;
  for (int64_t part = 0; part < loop_->parts(); ++part) {
    const bool moved =
        absl::c_any_of(results_, [&](const Result& result) { return result.part == part; });
    next.push_back(moved ? part_of(part) : context.GetInstruction(loop_->next()->operand(part)));
  }
  for (HloInstruction* product : early_) {
    const int64_t part = static_cast<int64_t>(next.size());
    next.push_back(part_of(part));
    Dimensions sizes = emit::SizesOf(*product);
    HloInstruction* const row = body->AddInstruction(HloInstruction::CreateDynamicSlice(
        xla::ShapeUtil::MakeShape(product->shape().element_type(), Behind(1, sizes)), next.back(),
        place(next.back()->shape()), Behind(1, sizes)));
    TF_RETURN_IF_ERROR(context.GetInstruction(product)->ReplaceAllUsesWithDifferentShape(
        emit::Reshape(row, sizes)));
  }
  for (HloInstruction* part : weights_) {
    next.push_back(part_of(static_cast<int64_t>(next.size())));
    TF_RETURN_IF_ERROR(context.GetInstruction(part)->ReplaceAllUsesWith(next.back()));
  }
  for (HloInstruction* value : kept_) {
    HloInstruction* const rows = part_of(static_cast<int64_t>(next.size()));
    HloInstruction* const row = BitsOf(context.GetInstruction(value));
    next.push_back(body->AddInstruction(HloInstruction::CreateDynamicUpdateSlice(
        rows->shape(), rows, emit::Reshape(row, Behind(1, emit::SizesOf(*value))),
        place(rows->shape()))));
  }
  body->set_root_instruction(body->AddInstruction(HloInstruction::CreateTuple(next)),
                             /*accept_different_shape=*/true);
  TF_RETURN_IF_ERROR(RemoveUnused(*body));  // what was moved
  return body;
}

absl::StatusOr<HloInstruction*> Distribution::Apply() {
  if (!Decide()) return nullptr;
  // The state, and what comes to it: products to read, and rows to write.
  HloInstruction* const whole = loop_->whole();
  HloComputation* const parent = whole->parent();
  const int64_t parts = loop_->parts();
  std::vector<HloInstruction*> first;
  for (int64_t part = 0; part < parts; ++part) first.push_back(loop_->First(part));
  for (HloInstruction* product : early_) first.push_back(all_.Of(product));
  for (HloInstruction* part : weights_) first.push_back(loop_->Before(part));
  for (const HloInstruction* value : kept_) {
    const xla::Shape shape = BitsShape(all_.ShapeOf(*value));
    first.push_back(
        emit::Broadcast(emit::Zero(parent, shape.element_type()), shape.dimensions(), {}));
  }
  xla::Shape state = whole->shape();
  for (size_t k = parts; k < first.size(); ++k) {
    state.mutable_tuple_shapes()->push_back(first[k]->shape());
  }
  TF_ASSIGN_OR_RETURN(HloComputation* const body, MakeBody(state));
  HloInstruction* const loop =
      LoopLike(whole, WithState(*whole->while_condition(), state), body, first);
  for (size_t k = 0; k < kept_.size(); ++k) {
    const int64_t part = parts + static_cast<int64_t>(early_.size() + weights_.size() + k);
    all_.Know(kept_[k], FromBits(ElementOf(loop, part), kept_[k]->shape().element_type()));
  }
  std::vector<HloInstruction*> ends;
  for (int64_t part = 0; part < parts; ++part) {
    const auto result =
        absl::c_find_if(results_, [&](const Result& some) { return some.part == part; });
    if (result == results_.end()) {
      ends.push_back(ElementOf(loop, part));
    } else if (result->end == End::kWritten) {
      ends.push_back(
          emit::Reshape(all_.Of(result->value), whole->shape().tuple_shapes(part).dimensions()));
    } else {
      ends.push_back(emit::Binary(HloOpcode::kAdd, loop_->First(part), all_.SumOf(result->value)));
    }
  }
  return parent->AddInstruction(HloInstruction::CreateTuple(ends));
}

}  // namespace

absl::StatusOr<HloInstruction*> DotsOutOfLoop(HloInstruction* root) {
  if (root->opcode() == HloOpcode::kWhile) {
    std::unique_ptr<CountedLoop> loop = CountedLoop::Of(root);
    return loop == nullptr ? nullptr : Distribution(std::move(loop)).Apply();
  }
  const bool of_dot =
      root->opcode() == HloOpcode::kSlice && root->operand(0)->opcode() == HloOpcode::kDot;
  const bool of_parts = root->opcode() == HloOpcode::kDot &&
                        absl::c_any_of(root->operands(), [](const HloInstruction* operand) {
                          return operand->opcode() == HloOpcode::kConcatenate;
                        });
  if (!of_dot && !of_parts) return nullptr;
  const auto callers = root->parent()->caller_instructions();
  if (callers.size() != 1 || callers[0]->opcode() != HloOpcode::kWhile ||
      callers[0]->while_body() != root->parent()) {
    return nullptr;
  }
  const std::unique_ptr<CountedLoop> loop = CountedLoop::Of(callers[0]);
  if (loop == nullptr) return nullptr;
  return of_parts ? DotByParts(*loop, root) : SliceOfDotByParts(*loop, root);
}

}  // namespace hone::compiler
