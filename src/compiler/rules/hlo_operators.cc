#include "compiler/rules/hlo_operators.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/layout_util.h"
#include "xla/printer.h"
#include "xla/service/hlo_cost_analysis.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Breaks ties between equal flops or bytes; a power of two, so that sums stay exact.
constexpr double kPerInstruction = 0.125;

bool IsPureOpcode(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kFft:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kScatter:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kSort:
    case HloOpcode::kTranspose:
    case HloOpcode::kTuple:
      return true;
    default:
      return false;
  }
}

bool IsUsualShape(const xla::Shape& shape) {
  bool usual = true;
  xla::ShapeUtil::ForEachSubshape(shape, [&](const xla::Shape& part, const xla::ShapeIndex&) {
    if (part.IsTuple()) return;
    usual &= part.IsArray() && part.is_static() &&
             (!part.has_layout() ||
              (xla::LayoutUtil::IsMonotonicWithDim0Major(part.layout()) &&
               part.layout().tiles().empty() && part.layout().memory_space() == 0 &&
               part.layout().element_size_in_bits() == 0));
  });
  return usual;
}

class TextPrinter : public xla::Printer {
 public:
  TextPrinter() : xla::Printer(/*is_hasher=*/true) {}
  void Append(const absl::AlphaNum& a) override { text.append(a.data(), a.size()); }
  std::string text;
};

const xla::HloPrintOptions& AttributeOptions() {
  static const xla::HloPrintOptions* const kOptions = new xla::HloPrintOptions(
      xla::HloPrintOptions()
          .set_print_large_constants(true)
          .set_print_metadata(false)
          .set_print_original_value(false)
          .set_print_control_dependencies(false)
          .set_print_subcomputation_mode(xla::HloPrintOptions::PrintSubcomputationMode::kOff));
  return *kOptions;
}

// Names of instructions left out, of computations too.
std::string RegionText(const HloComputation& region) {
  return region.ToString(xla::HloPrintOptions::Canonical()
                             .set_print_large_constants(true)
                             .set_print_metadata(false)
                             .set_print_original_value(false)
                             .set_print_backend_config(true));
}

}  // namespace

bool IsPure(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (!IsPureOpcode(opcode) &&
      (!instruction.IsElementwise() || opcode == HloOpcode::kCopy || opcode == HloOpcode::kMap ||
       opcode == HloOpcode::kFusion || opcode == HloOpcode::kStochasticConvert ||
       opcode == HloOpcode::kDomain)) {
    return false;
  }
  return !instruction.HasSideEffect() && !instruction.HasControlDependencies() &&
         !instruction.has_sharding() && !instruction.has_frontend_attributes() &&
         instruction.raw_backend_config_string().empty() && IsUsualShape(instruction.shape());
}

HloOperators::HloOperators(xla::HloModule* module, SaturationGoal goal)
    : module_(module), goal_(goal) {
  for (HloComputation* computation : module->computations()) {
    // Regions are small.
    if (computation->IsEntryComputation() || computation->instruction_count() > 32) continue;
    regions_.try_emplace(RegionText(*computation), Region{computation, nullptr});
  }
}

uint32_t HloOperators::ShapeNumber(const xla::Shape& shape) {
  const auto next = static_cast<uint32_t>(shapes_.size());
  return shapes_.try_emplace(xla::ShapeUtil::HumanStringWithLayout(shape), next).first->second;
}

HloOperators::Key HloOperators::KeyOf(const HloInstruction& instruction) const {
  TextPrinter printer;
  absl::StrAppend(&printer.text, static_cast<int>(instruction.opcode()), " ",
                  instruction.operand_count(), " ",
                  xla::ShapeUtil::HumanStringWithLayout(instruction.shape()));
  // What it costs may depend on them.
  for (const HloInstruction* operand : instruction.operands()) {
    absl::StrAppend(&printer.text, " ", xla::ShapeUtil::HumanStringWithLayout(operand->shape()));
  }
  if (instruction.opcode() == HloOpcode::kConstant) {
    if (instruction.shape().IsArray()) {
      const xla::Literal& literal = instruction.literal();
      printer.text.append(static_cast<const char*>(literal.untyped_data()),
                          static_cast<size_t>(literal.size_bytes()));
    } else {
      instruction.literal().PrintWithoutShapeOneline(&printer);
    }
  } else if (instruction.opcode() == HloOpcode::kGetTupleElement) {
    absl::StrAppend(&printer.text, "\n", instruction.tuple_index());
  } else {
    HloInstruction::AttributePrinter next([&]() -> xla::Printer* {
      printer.text.push_back('\n');
      return &printer;
    });
    instruction.PrintExtraAttributes(next, AttributeOptions());
  }
  for (const HloComputation* region : instruction.called_computations()) {
    absl::StrAppend(&printer.text, "\n", RegionText(*region));
  }
  const XXH128_hash_t hash = XXH3_128bits(printer.text.data(), printer.text.size());
  return {hash.high64, hash.low64};
}

double HloOperators::CostOf(const HloInstruction& instruction) const {
  if (instruction.opcode() == HloOpcode::kParameter) return 0;  // cannot go
  if (goal_ == SaturationGoal::kOpCount) {
    double cost = 1;
    for (const HloComputation* region : instruction.called_computations()) {
      if (region->parent() == module_ || regions_.contains(RegionText(*region))) continue;
      cost += static_cast<double>(region->instruction_count());
    }
    return cost;
  }
  // A whole program is not looked into: it cannot be changed here.
  if (!IsPure(instruction)) return kPerInstruction;
  xla::HloCostAnalysis analysis;
  if (!analysis.RevisitInstruction(&instruction).ok()) return kPerInstruction;
  if (goal_ == SaturationGoal::kFlops) {
    return kPerInstruction + static_cast<double>(analysis.flop_count(instruction)) +
           static_cast<double>(analysis.transcendental_count(instruction));
  }
  return kPerInstruction + static_cast<double>(analysis.bytes_accessed(instruction));
}

egraph::OpId HloOperators::Opaque(const HloInstruction* instruction, double cost) {
  const auto op = static_cast<egraph::OpId>(operators_.size());
  operators_.push_back({instruction, ShapeNumber(instruction->shape()), cost, true});
  return op;
}

egraph::OpId HloOperators::Intern(const HloInstruction* instruction) {
  const auto next = static_cast<egraph::OpId>(operators_.size());
  const auto [known, inserted] = numbers_.try_emplace(KeyOf(*instruction), next);
  if (inserted) {
    operators_.push_back(
        {instruction, ShapeNumber(instruction->shape()), CostOf(*instruction), false});
  }
  return known->second;
}

egraph::OpId HloOperators::InternBuilt(const HloInstruction* instruction) {
  const auto next = static_cast<egraph::OpId>(operators_.size());
  const auto [known, inserted] = numbers_.try_emplace(KeyOf(*instruction), next);
  if (!inserted) return known->second;
  const double cost = CostOf(*instruction);
  const std::vector<HloInstruction*> operands(instruction->operands().begin(),
                                              instruction->operands().end());
  std::unique_ptr<HloInstruction> exemplar =
      instruction->CloneWithNewOperands(instruction->shape(), operands);
  exemplar->DetachFromOperandsAndUsers();
  exemplar->ReplaceCalledComputations([this](HloComputation* region) {
    if (region->parent() == module_) return region;
    Region& ours = regions_[RegionText(*region)];
    if (ours.computation == nullptr) {
      ours.kept = region->Clone("built");
      ours.computation = ours.kept.get();
    }
    return ours.computation;
  });
  operators_.push_back({exemplar.get(), ShapeNumber(instruction->shape()), cost, false});
  built_.push_back(std::move(exemplar));
  return next;
}

std::unique_ptr<HloInstruction> HloOperators::Make(egraph::OpId op,
                                                   const std::vector<HloInstruction*>& operands,
                                                   bool for_module) {
  const HloInstruction& exemplar = *operators_[op].exemplar;
  if (for_module) {
    for (HloComputation* region : exemplar.called_computations()) {
      if (region->parent() != nullptr) continue;
      for (auto& [text, ours] : regions_) {
        if (ours.computation == region) module_->AddEmbeddedComputation(std::move(ours.kept));
      }
    }
  }
  return exemplar.CloneWithNewOperands(exemplar.shape(), operands);
}

}  // namespace hone::compiler
