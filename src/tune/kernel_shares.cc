#include "tune/kernel_shares.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace hone::tune {
namespace {

// XLA names a copy "add.5.clone", "add.5.remat2", "add.5.clone.1" or so.
std::string Original(const std::string& name) {
  size_t end = name.size();
  for (const char* suffix : {".clone", ".remat"}) {
    end = std::min(end, name.find(suffix));
  }
  return name.substr(0, end);
}

double Find(const std::map<std::string, double>& shares, const std::string& name) {
  const auto found = shares.find(name);
  return found == shares.end() ? 0 : found->second;
}

}  // namespace

KernelShares::KernelShares(const std::vector<KernelTime>& kernels, const ProgramGraph& optimised) {
  std::unordered_map<std::string, const InstructionInfo*> named;
  for (const ComputationInfo& computation : optimised.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      named[instruction.name] = &instruction;
    }
  }
  double all = 0;
  for (const KernelTime& kernel : kernels) {
    if (!HasKernelsInside(kernel)) all += kernel.seconds;
  }
  if (all <= 0) return;
  seconds_ = all;
  for (const KernelTime& kernel : kernels) {
    const auto found = named.find(kernel.name);
    if (found == named.end()) continue;
    const InstructionInfo& instruction = *found->second;
    if (kernel.opcode == "while" && !instruction.origin.empty()) {
      of_loop_[instruction.origin] += kernel.seconds / all;
    }
    if (HasKernelsInside(kernel)) continue;
    std::set<std::string> names{Original(instruction.name)}, opcodes{instruction.opcode};
    std::set<std::string> origins{instruction.origin};
    if (instruction.opcode == "fusion") {
      for (uint32_t called : instruction.called) {
        for (const InstructionInfo& part : optimised.computations[called].instructions) {
          names.insert(Original(part.name));
          opcodes.insert(part.opcode);
          origins.insert(part.origin);
        }
      }
    }
    const double share = kernel.seconds / all;
    for (const std::string& name : names) of_instruction_[name] += share;
    for (const std::string& opcode : opcodes) of_opcode_[opcode] += share;
    for (const std::string& origin : origins) {
      if (!origin.empty()) of_origin_[origin] += share;
    }
  }
}

double KernelShares::OfInstruction(const std::string& name) const {
  return Find(of_instruction_, Original(name));
}

double KernelShares::OfOrigin(const std::string& origin) const { return Find(of_origin_, origin); }

double KernelShares::OfLoop(const std::string& origin) const { return Find(of_loop_, origin); }

double KernelShares::OfOpcode(const std::string& opcode) const { return Find(of_opcode_, opcode); }

}  // namespace hone::tune
