// The share of a run's time that each instruction takes: decisions about the rest are not worth it.
#ifndef HONE_TUNE_KERNEL_SHARES_H_
#define HONE_TUNE_KERNEL_SHARES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/compile_plan.h"
#include "core/program_graph.h"

namespace hone::tune {

// What an instruction is, whatever its name: opcode, type and sizes, in order and without ones, for
// transposed and reshaped it is the same.
std::string KindOf(const InstructionInfo& instruction);
// The types and sizes of a shape, of a tuple's parts one after the other.
std::string SizesOf(const ShapeInfo& shape);

class KernelShares {
 public:
  KernelShares() = default;  // nothing is known
  // Of an optimised module that was traced. Calls count by the kernels in them, loops by these and
  // by what else they take.
  KernelShares(const std::vector<KernelTime>& kernels, const ProgramGraph& optimised);

  bool known() const { return !of_opcode_.empty(); }
  // Whether frameworks have said where instructions come from.
  bool has_origins() const { return !of_origin_.empty(); }
  // The share of the time, 0 to 1, that kernels take which have the instruction in them, or an
  // instruction of the opcode or the origin. An instruction is known by its name before it was
  // fused or copied.
  double OfInstruction(const std::string& name) const;
  double OfOrigin(const std::string& origin) const;
  double OfKind(const std::string& kind) const;
  // Whether what has the name is of the kind, too: inlining gives names anew.
  bool IsKind(const std::string& name, const std::string& kind) const;
  double OfOpcode(const std::string& opcode) const;
  // That kernels of an opcode take which XLA made anew: without the origin that others have, or,
  // where none has one, named by the opcode.
  double OfOpcodeMadeAnew(const std::string& opcode) const;
  // That loops of the name or the origin take: with all that is in them; and by themselves, for
  // going round, for starting kernels, and for kernels that take little more than their start.
  double OfLoop(const std::string& name_or_origin) const;
  double OfLoopAlone(const std::string& name_or_origin) const;
  // The name or the origin of the loop that takes most; "" where none takes any.
  std::string DearestLoop() const;
  // Seconds of all kernels and loops of a run together.
  double seconds() const { return seconds_; }

 private:
  std::map<std::string, double> of_instruction_;
  std::map<std::string, double> of_origin_;
  std::map<std::string, double> of_kind_;
  std::set<std::pair<std::string, std::string>> kinds_;  // with names
  std::map<std::string, double> of_opcode_;
  std::map<std::string, double> of_opcode_made_anew_;
  std::map<std::string, double> of_loop_;  // names and origins
  std::map<std::string, double> of_loop_alone_;
  double seconds_ = 0;
};

}  // namespace hone::tune

#endif  // HONE_TUNE_KERNEL_SHARES_H_
