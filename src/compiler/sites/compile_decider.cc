#include "compiler/sites/compile_decider.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this a layout is not worth a decision.
constexpr int64_t kLeastLayoutElements = 1024;
constexpr int64_t kMostPartitions = 16;
constexpr int64_t kLeastSplitBytes = 16 << 10;

constexpr uint64_t kTogether = 0x2e5;  // tells edges of multi-output fusions from others

constexpr const char* kStock = "stock";
constexpr const char* kFuse = "fuse";
constexpr const char* kKeep = "keep";
constexpr const char* kNone = "none";
constexpr const char* kYnn = "ynn";
constexpr const char* kStrategyNames[] = {"naive", "gemv", "gemm", "eigen"};

// The same for an operation before and after its operands are transposed.
uint64_t HashSorted(const xla::Shape& shape) {
  std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  std::sort(dimensions.begin(), dimensions.end());
  uint64_t hash = Mix(0x50d, static_cast<uint64_t>(shape.element_type()));
  for (int64_t dimension : dimensions) {
    if (dimension != 1) hash = Mix(hash, static_cast<uint64_t>(dimension));
  }
  return hash;
}

// What a library knows of an operation.
uint64_t LibraryKey(const HloInstruction& instruction) {
  uint64_t hash =
      Mix(KindSeed(CompileSiteKind::kLibrary), static_cast<uint64_t>(instruction.opcode()));
  if (instruction.shape().IsArray()) hash = Mix(hash, HashSorted(instruction.shape()));
  for (const HloInstruction* operand : instruction.operands()) {
    if (operand->shape().IsArray()) hash = Mix(hash, HashSorted(operand->shape()));
  }
  return hash;
}

// Of which one layout is as good as another: what has one way to lie, or is small.
bool AnyLayoutWillDo(const xla::Shape& shape) {
  if (!shape.IsArray() || !shape.is_static()) return true;
  int wide = 0;
  for (int64_t dimension : shape.dimensions()) wide += dimension > 1;
  return wide < 2 || xla::ShapeUtil::ElementsIn(shape) < kLeastLayoutElements;
}

bool MayHaveLayout(const HloInstruction& instruction) {
  if (AnyLayoutWillDo(instruction.shape())) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kTranspose:
    case HloOpcode::kReshape:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kSlice:
    case HloOpcode::kReduce:
    case HloOpcode::kGather:
      return true;
    default:
      return instruction.IsElementwise() && instruction.operand_count() > 0;
  }
}

// What ParallelTaskAssignment may split, of instructions on their own.
bool MayBeSplit(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kTranspose:
    case HloOpcode::kGather:
    case HloOpcode::kPad:
      return true;
    default:
      return instruction.IsElementwise() && instruction.opcode() != HloOpcode::kConstant &&
             instruction.operand_count() > 0;
  }
}

// Pieces of a loop that writes into one of its operands would write it all over again.
bool UpdatesInPlace(const HloInstruction& fusion) {
  for (const HloInstruction* instruction : fusion.fused_instructions()) {
    if (instruction->opcode() == HloOpcode::kDynamicUpdateSlice ||
        instruction->opcode() == HloOpcode::kRng) {
      return true;
    }
  }
  return false;
}

// A user that reads its operand element by element, in whichever order.
bool ReadsAnyLayout(const HloInstruction& user) {
  return user.IsElementwise() || user.opcode() == HloOpcode::kTranspose ||
         user.opcode() == HloOpcode::kReduce || user.opcode() == HloOpcode::kReshape;
}

// Row-major, the two minor dimensions exchanged, and all reversed.
std::vector<std::vector<int64_t>> Orders(int64_t rank) {
  std::vector<int64_t> row_major(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) row_major[i] = rank - 1 - i;
  std::vector<std::vector<int64_t>> orders = {row_major};
  std::vector<int64_t> exchanged = row_major;
  std::swap(exchanged[0], exchanged[1]);
  orders.push_back(exchanged);
  if (rank > 2) orders.emplace_back(row_major.rbegin(), row_major.rend());
  return orders;
}

std::string TextOf(const std::vector<int64_t>& order) { return absl::StrJoin(order, ","); }

// The layout among the orders that is written so; nothing where none is.
std::optional<xla::Layout> LayoutNamed(const std::string& text,
                                       const std::vector<std::vector<int64_t>>& orders) {
  for (const std::vector<int64_t>& order : orders) {
    if (TextOf(order) == text) return xla::LayoutUtil::MakeLayout(order);
  }
  return std::nullopt;
}

}  // namespace

CompileDecider::CompileDecider(const CompilePlan& plan, const CompileOptions& options)
    : options_(options) {
  for (const CompileChoice& choice : plan.choices) planned_[choice.key] = &choice.value;
}

CompileOptions CompileDecider::NoSites() {
  CompileOptions options;
  options.sites = false;
  return options;
}

const std::string* CompileDecider::Planned(SiteKey key) const {
  const auto found = planned_.find(key);
  return found == planned_.end() ? nullptr : found->second;
}

const std::string& CompileDecider::Decide(const HloInstruction* instruction, CompileSite site) {
  chosen_ = site.choices[site.stock];
  if (const std::string* wanted = Planned(site.key);
      wanted != nullptr && *wanted != chosen_ &&
      std::find(site.choices.begin(), site.choices.end(), *wanted) != site.choices.end()) {
    chosen_ = *wanted;
    ++applied_;
    if (site.kind == CompileSiteKind::kDotStrategy || site.kind == CompileSiteKind::kLibrary) {
      hidden_ = Mix(Mix(hidden_, site.key), HashText(chosen_));
    }
  }
  if (!options_.sites || site.choices.size() < 2) return chosen_;
  const auto [known, fresh] = index_.try_emplace(site.key, sites_.size());
  if (!fresh) {
    ++sites_[known->second].places;
    CompileSite& first = sites_[known->second];
    first.bytes += site.bytes;
    for (size_t i = 0; i < first.seconds.size() && i < site.seconds.size(); ++i) {
      first.seconds[i] += site.seconds[i];
    }
    return chosen_;
  }
  if (instruction != nullptr) {
    site.instruction = std::string(instruction->name());
    site.opcode = std::string(xla::HloOpcodeString(instruction->opcode()));
  }
  sites_.push_back(std::move(site));
  return chosen_;
}

std::vector<xla::Shape> CompileDecider::EntryLayouts(const std::vector<xla::Shape>& arrays,
                                                     bool results) {
  std::vector<xla::Shape> laid_out;
  for (size_t i = 0; i < arrays.size(); ++i) {
    xla::Shape& shape = laid_out.emplace_back(arrays[i]);
    xla::LayoutUtil::SetToDefaultLayout(&shape);
    if (AnyLayoutWillDo(shape)) continue;
    CompileSite site;
    site.key = Mix(KindSeed(CompileSiteKind::kEntryLayout), results ? 1 : 0);
    site.key = Mix(Mix(site.key, i), HashText(xla::ShapeUtil::HumanString(shape)));
    if (!options_.free_entry && Planned(site.key) == nullptr) continue;
    site.kind = CompileSiteKind::kEntryLayout;
    site.opcode = results ? "result" : "parameter";
    site.instruction = absl::StrCat(site.opcode, ".", i);
    site.bytes = BytesOf(shape);
    const std::vector<std::vector<int64_t>> orders = Orders(shape.dimensions().size());
    for (const std::vector<int64_t>& order : orders) site.choices.push_back(TextOf(order));
    *shape.mutable_layout() = *LayoutNamed(Decide(nullptr, std::move(site)), orders);
  }
  return laid_out;
}

void CompileDecider::FusionBegins(const xla::HloModule& module) {
  roles_.clear();
  answered_.clear();
  answered_together_.clear();
  for (const xla::HloComputation* computation : module.computations()) {
    if (computation->IsFusionComputation()) continue;
    for (const auto& [instruction, hash] : HashNeighbourhoods(*computation, options_.fusion_hops)) {
      roles_[instruction] = hash;
    }
  }
}

uint64_t CompileDecider::RoleOf(const HloInstruction& instruction) const {
  const auto found = roles_.find(&instruction);
  return found == roles_.end() ? HashWithOperands(instruction) : found->second;
}

bool CompileDecider::Fuse(const HloInstruction& producer, const HloInstruction& consumer,
                          bool stock, bool legal) {
  if (!stock && !legal) return false;
  const uint64_t role = RoleOf(producer);
  last_consumer_ = RoleOf(consumer);
  bool fuse = stock;
  if (stock) {
    CompileSite node;
    node.key = Mix(KindSeed(CompileSiteKind::kFusionNode), role);
    node.kind = CompileSiteKind::kFusionNode;
    node.bytes = BytesOf(producer.shape());
    node.choices = {kStock, kKeep};
    if (Decide(&producer, std::move(node)) == kKeep) fuse = false;
  }
  CompileSite edge;
  edge.key = Mix(Mix(KindSeed(CompileSiteKind::kFusionEdge), role), last_consumer_);
  edge.kind = CompileSiteKind::kFusionEdge;
  edge.user = std::string(xla::HloOpcodeString(consumer.opcode()));
  edge.bytes = BytesOf(producer.shape());
  edge.choices = {kFuse, kKeep};
  edge.stock = fuse ? 0 : 1;
  return Decide(&producer, std::move(edge)) == kFuse;
}

FusionWish CompileDecider::FuseIntoUsers(const HloInstruction& producer, FusionSeconds seconds) {
  const auto [answer, fresh] = answered_.try_emplace(producer.unique_id(), FusionWish::kStock);
  if (!fresh) return answer->second;
  CompileSite site;
  site.key = Mix(KindSeed(CompileSiteKind::kFusionNode), RoleOf(producer));
  site.kind = CompileSiteKind::kFusionNode;
  site.bytes = BytesOf(producer.shape());
  site.choices = {kStock, kFuse, kKeep};
  site.seconds = {std::min(seconds.fuse, seconds.keep), seconds.fuse, seconds.keep};
  const std::string& chosen = Decide(&producer, std::move(site));
  if (chosen != kStock) answer->second = chosen == kFuse ? FusionWish::kFuse : FusionWish::kKeep;
  return answer->second;
}

bool CompileDecider::FuseTogether(const HloInstruction& a, const HloInstruction& b, bool stock,
                                  const FusionSeconds* seconds) {
  const auto [answer, fresh] =
      answered_together_.try_emplace({a.unique_id(), b.unique_id()}, FusionWish::kStock);
  if (fresh) {
    CompileSite site;
    site.key = Mix(KindSeed(CompileSiteKind::kFusionEdge), kTogether);
    site.key = Mix(Mix(site.key, RoleOf(a)), RoleOf(b));
    site.kind = CompileSiteKind::kFusionEdge;
    site.user = std::string(xla::HloOpcodeString(b.opcode()));
    site.bytes = BytesOf(a.shape());
    site.choices = {kFuse, kKeep};
    site.stock = stock ? 0 : 1;
    if (seconds != nullptr) site.seconds = {seconds->fuse, seconds->keep};
    const bool fuse = Decide(&a, std::move(site)) == kFuse;
    if (fuse != stock) answer->second = fuse ? FusionWish::kFuse : FusionWish::kKeep;
  }
  // XLA's own opinion may have changed since.
  return answer->second == FusionWish::kStock ? stock : answer->second == FusionWish::kFuse;
}

void CompileDecider::FusesInto(const HloInstruction& consumer) {
  last_consumer_ = RoleOf(consumer);
}

void CompileDecider::Fused(const HloInstruction& fusion) { roles_[&fusion] = last_consumer_; }

void CompileDecider::Layouts(xla::LayoutAssignment& assignment,
                             const xla::HloComputation& computation) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!MayHaveLayout(*instruction)) continue;
    const int64_t rank = instruction->shape().dimensions().size();
    CompileSite site;
    site.key = Mix(KindSeed(CompileSiteKind::kLayout), HashWithOperands(*instruction));
    site.kind = CompileSiteKind::kLayout;
    site.bytes = BytesOf(instruction->shape());
    site.choices = {kStock};
    const std::vector<std::vector<int64_t>> orders = Orders(rank);
    for (const std::vector<int64_t>& order : orders) site.choices.push_back(TextOf(order));
    const auto layout = LayoutNamed(Decide(instruction, std::move(site)), orders);
    if (!layout) continue;  // the stock compiler's
    xla::Shape shape = instruction->shape();
    *shape.mutable_layout() = *layout;
    // Where a layout cannot be had, the compiler goes on with its own.
    if (!assignment.SetInstructionLayout(shape, instruction, /*mandatory=*/false).ok()) continue;
    for (const HloInstruction* user : instruction->users()) {
      if (!ReadsAnyLayout(*user)) continue;
      for (int64_t operand = 0; operand < user->operand_count(); ++operand) {
        if (user->operand(operand) != instruction) continue;
        assignment.SetOperandLayout(shape, user, operand, /*mandatory=*/false).IgnoreError();
      }
    }
  }
}

int64_t CompileDecider::Partitions(const HloInstruction& instruction, int64_t stock) {
  if (stock <= 1) {
    // One piece can also mean that it must not be split: XLA's own list says of which it need not.
    if (instruction.IsLoopFusion() ? UpdatesInPlace(instruction) : !MayBeSplit(instruction)) {
      return stock;
    }
    if (Traffic(instruction) < kLeastSplitBytes) return stock;
  }
  const xla::Shape& shape =
      instruction.shape().IsTuple() ? instruction.shape().tuple_shapes(0) : instruction.shape();
  if (!shape.IsArray() || xla::ShapeUtil::ElementsIn(shape) < 2) return stock;
  CompileSite site;
  uint64_t hash = HashWithOperands(instruction);
  if (instruction.IsLoopFusion()) {
    hash = Mix(hash, static_cast<uint64_t>(instruction.fused_instruction_count()));
    hash = Mix(hash, HashWithOperands(*instruction.fused_expression_root()));
  }
  site.key = Mix(KindSeed(CompileSiteKind::kPartitions), hash);
  site.kind = CompileSiteKind::kPartitions;
  site.bytes = Traffic(instruction);
  const int64_t most = std::min(kMostPartitions, xla::ShapeUtil::ElementsIn(shape));
  std::vector<int64_t> counts = {stock};
  for (int64_t count = 1; count <= most; count *= 2) {
    if (count != stock) counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == stock) site.stock = static_cast<uint32_t>(i);
    site.choices.push_back(absl::StrCat(counts[i]));
  }
  return std::stoll(Decide(&instruction, std::move(site)));
}

DotStrategy CompileDecider::Strategy(const HloInstruction& dot, DotStrategy stock) {
  CompileSite site;
  site.key = Mix(KindSeed(CompileSiteKind::kDotStrategy), HashWithOperands(dot));
  site.kind = CompileSiteKind::kDotStrategy;
  site.bytes = Traffic(dot);
  const auto name = [](DotStrategy strategy) { return kStrategyNames[static_cast<int>(strategy)]; };
  site.choices = {name(stock)};
  // The kernel emitter finds its own way where it is not to call a library, but does not convert
  // what it multiplies. The other way round, libraries want two proper matrices.
  const xla::PrimitiveType type = dot.shape().element_type();
  if (stock == DotStrategy::kEigen && dot.operand(0)->shape().element_type() == type &&
      dot.operand(1)->shape().element_type() == type) {
    site.choices.push_back(name(DotStrategy::kNaive));
  }
  const std::string chosen = Decide(&dot, std::move(site));
  for (DotStrategy strategy : {DotStrategy::kNaive, DotStrategy::kEigen}) {
    if (chosen == name(strategy)) return strategy;
  }
  return stock;
}

bool CompileDecider::DotByLibrary(const xla::DotDimensionNumbers& numbers, const xla::Shape& left,
                                  const xla::Shape& right, const xla::Shape& result) {
  CompileSite site;
  site.key = KindSeed(CompileSiteKind::kLibrary);
  for (const xla::Shape* shape : {&left, &right, &result}) {
    site.key = Mix(site.key, HashSorted(*shape));
    site.bytes += BytesOf(*shape);
  }
  site.key = Mix(site.key, static_cast<uint64_t>(numbers.lhs_batch_dimensions_size()));
  site.kind = CompileSiteKind::kLibrary;
  site.opcode = "dot";
  site.choices = {kYnn, kNone};
  return Decide(nullptr, std::move(site)) == kYnn;
}

bool CompileDecider::ByLibrary(const HloInstruction& instruction, bool decides) {
  if (!decides) {
    const std::string* wanted = Planned(LibraryKey(instruction));
    return wanted == nullptr || *wanted != kNone;
  }
  CompileSite site;
  site.key = LibraryKey(instruction);
  site.kind = CompileSiteKind::kLibrary;
  site.bytes = Traffic(instruction);
  site.choices = {kYnn, kNone};
  return Decide(&instruction, std::move(site)) == kYnn;
}

CompileSite CompileDecider::SiteOf(CompileSiteKind kind, const HloInstruction& instruction,
                                   std::vector<std::string> choices, uint32_t stock) {
  const auto named = named_.find(instruction.name());
  CompileSite site;
  site.key =
      Mix(KindSeed(kind), named == named_.end() ? HashWithOperands(instruction) : named->second);
  site.kind = kind;
  site.instruction = std::string(instruction.name());
  site.opcode = std::string(xla::HloOpcodeString(instruction.opcode()));
  site.bytes = Traffic(instruction);
  site.choices = std::move(choices);
  site.stock = stock;
  return site;
}

std::string CompileDecider::Choose(const CompileSite& site) {
  const auto [known, fresh] = chosen_once_.try_emplace({site.key, site.instruction});
  if (fresh) known->second = Decide(nullptr, site);
  return known->second;
}

void CompileDecider::NameAll(const xla::HloModule& module, HloOpcode opcode) {
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == opcode) {
        named_.try_emplace(instruction->name(), HashWithOperands(*instruction));
      }
    }
  }
}

bool CompileDecider::Plans(const CompileSite& site, const std::string& value) const {
  const std::string* const planned = Planned(site.key);
  return planned != nullptr && *planned == value;
}

bool CompileDecider::Plans(const std::string& value) const {
  return std::any_of(planned_.begin(), planned_.end(),
                     [&](const auto& choice) { return *choice.second == value; });
}

}  // namespace hone::compiler
