// HLO instructions as operators of an e-graph (egraph/egraph.h): opcode, attributes and shape as
// one number, what a class is known to be, and what an instruction costs.
#ifndef HONE_COMPILER_RULES_HLO_OPERATORS_H_
#define HONE_COMPILER_RULES_HLO_OPERATORS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "egraph/egraph.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// What is to become small.
enum class SaturationGoal {
  kOpCount,  // instructions; those of a region that the module does not have yet count too
  kFlops,    // HloCostAnalysis' flops and transcendentals, an eighth for each instruction
  kBytes,    // HloCostAnalysis' bytes accessed, an eighth for each instruction
};

// Whether the value is a function of opcode, attributes and operands alone, and the instruction can
// be made again from these: no side effects, control dependencies, shardings, backend
// configurations, dynamic shapes, layouts other than the default, nor called programs.
bool IsPure(const xla::HloInstruction& instruction);

// Operators of one e-graph. Instructions given to Opaque and Intern must outlive it or its use.
class HloOperators : public egraph::Analysis {
 public:
  struct Operator {
    // Opcode, attributes and shape. Of a built one the operands are null.
    const xla::HloInstruction* exemplar = nullptr;
    uint32_t shape = 0;  // equal numbers, equal shapes
    double cost = 0;
    bool opaque = false;
  };

  HloOperators(xla::HloModule* module, SaturationGoal goal);

  // An operator that equals no other: for what is not pure, or comes from elsewhere. `cost` is what
  // needing it costs.
  egraph::OpId Opaque(const xla::HloInstruction* instruction, double cost);
  // Of a pure instruction of the module.
  egraph::OpId Intern(const xla::HloInstruction* instruction);
  // Of a pure instruction of a scratch module that will be gone.
  egraph::OpId InternBuilt(const xla::HloInstruction* instruction);

  const Operator& at(egraph::OpId op) const { return operators_[op]; }
  double CostOf(const xla::HloInstruction& instruction) const;

  // A new instruction of the operator. Where its region is not in the module yet, it is put there
  // if `for_module`.
  std::unique_ptr<xla::HloInstruction> Make(egraph::OpId op,
                                            const std::vector<xla::HloInstruction*>& operands,
                                            bool for_module);

  // A class' datum is the number of its shape; classes of different shapes are not equal.
  uint32_t Make(const egraph::ENode& node) override { return operators_[node.op].shape; }
  bool Join(uint32_t a, uint32_t b, uint32_t* joined) override {
    *joined = a;
    return a == b;
  }

 private:
  using Key = std::pair<uint64_t, uint64_t>;

  uint32_t ShapeNumber(const xla::Shape& shape);
  Key KeyOf(const xla::HloInstruction& instruction) const;
  // Regions by content; kept is null for those of the module.
  struct Region {
    xla::HloComputation* computation = nullptr;
    std::unique_ptr<xla::HloComputation> kept;
  };

  xla::HloModule* const module_;
  const SaturationGoal goal_;
  std::vector<Operator> operators_;
  absl::flat_hash_map<Key, egraph::OpId> numbers_;
  absl::flat_hash_map<std::string, uint32_t> shapes_;
  absl::flat_hash_map<std::string, Region> regions_;
  std::vector<std::unique_ptr<xla::HloInstruction>> built_;  // before the regions that they call
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_HLO_OPERATORS_H_
