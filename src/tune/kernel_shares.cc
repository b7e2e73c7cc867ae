#include "tune/kernel_shares.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

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

// As programs have it, of what XLA:CPU calls a function for.
std::string OpcodeOf(const InstructionInfo& instruction) {
  if (instruction.opcode != "custom-call") return instruction.opcode;
  const auto is_top_k = [](const auto& attribute) {
    return attribute.first == "custom_call_target" && attribute.second == "\"TopK\"";
  };
  const bool any =
      std::any_of(instruction.attributes.begin(), instruction.attributes.end(), is_top_k);
  return any ? "topk" : instruction.opcode;
}

// By its name, the opcode of what XLA has made, alone in a fusion or in none; empty for all else.
std::string MadeAnew(const InstructionInfo& instruction) {
  constexpr std::string_view kAlone = "wrapped_";
  if (instruction.name.rfind(instruction.opcode, 0) == 0) return instruction.opcode;
  if (instruction.opcode != "fusion" || instruction.name.rfind(kAlone, 0) != 0) return {};
  return instruction.name.substr(kAlone.size(), instruction.name.find('.') - kAlone.size());
}

// The seconds of what loops and calls have inside.
class Insides {
 public:
  Insides(const std::vector<KernelTime>& kernels, const ProgramGraph& graph) : graph_(graph) {
    for (const KernelTime& kernel : kernels) {
      seconds_[kernel.name] = kernel.seconds;
      if (!HasKernelsInside(kernel) && kernel.calls > 0 &&
          kernel.seconds / static_cast<double>(kernel.calls) <= kShort) {
        short_[kernel.name] = kernel.seconds;
      }
    }
  }

  double Of(const InstructionInfo& instruction) const { return In(instruction, seconds_); }
  // Of those that take little more than their start.
  double OfShort(const InstructionInfo& instruction) const { return In(instruction, short_); }

 private:
  using Seconds = std::unordered_map<std::string, double>;
  static constexpr double kShort = 2e-6;  // seconds, as they are measured one by one

  double In(const InstructionInfo& instruction, const Seconds& seconds) const {
    double inside = 0;
    for (uint32_t called : instruction.called) {
      for (const InstructionInfo& part : graph_.computations[called].instructions) {
        const auto known = seconds.find(part.name);
        if (known != seconds.end()) {
          inside += known->second;
        } else if (part.opcode == "call" || part.opcode == "conditional" ||
                   part.opcode == "while") {
          inside += In(part, seconds);
        }
      }
    }
    return inside;
  }

  const ProgramGraph& graph_;
  Seconds seconds_;
  Seconds short_;
};

}  // namespace

std::string KindOf(const InstructionInfo& instruction) {
  std::vector<int64_t> sizes = instruction.shape.dimensions;
  sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
  std::sort(sizes.begin(), sizes.end());
  std::string kind = instruction.opcode + " " + instruction.shape.type;
  for (const int64_t size : sizes) kind += " " + std::to_string(size);
  return kind;
}

std::string SizesOf(const ShapeInfo& shape) {
  std::string sizes = shape.type;
  for (const int64_t size : shape.dimensions) sizes += " " + std::to_string(size);
  for (const ShapeInfo& part : shape.tuple) sizes += "," + SizesOf(part);
  return sizes;
}

KernelShares::KernelShares(const std::vector<KernelTime>& kernels, const ProgramGraph& optimised) {
  std::unordered_map<std::string, const InstructionInfo*> named;
  for (const ComputationInfo& computation : optimised.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      named[instruction.name] = &instruction;
    }
  }
  const Insides insides(kernels, optimised);
  std::unordered_map<std::string, double> alone;  // loops
  double all = 0;
  for (const KernelTime& kernel : kernels) {
    const auto found = named.find(kernel.name);
    if (kernel.opcode == "while" && found != named.end()) {
      all += alone[kernel.name] = std::max(0.0, kernel.seconds - insides.Of(*found->second));
    } else if (!HasKernelsInside(kernel)) {
      all += kernel.seconds;
    }
  }
  if (all <= 0) return;
  seconds_ = all;
  std::map<std::string, double> without_origin, by_name;  // by opcode
  for (const KernelTime& kernel : kernels) {
    const auto found = named.find(kernel.name);
    if (found == named.end()) continue;
    const InstructionInfo& instruction = *found->second;
    if (kernel.opcode == "while") {
      // By its state, too: what is called at several places is a loop at each behind inlining.
      for (const std::string& key :
           {Original(instruction.name), instruction.origin, SizesOf(instruction.shape)}) {
        if (key.empty()) continue;
        of_loop_[key] += kernel.seconds / all;
        of_loop_alone_[key] += (alone[kernel.name] + insides.OfShort(instruction)) / all;
      }
    }
    if (HasKernelsInside(kernel)) continue;
    const std::string opcode = OpcodeOf(instruction);
    std::set<std::string> names{Original(instruction.name)}, opcodes{opcode};
    std::set<std::string> origins{instruction.origin}, kinds{KindOf(instruction)};
    kinds_.emplace(Original(instruction.name), KindOf(instruction));
    if (instruction.opcode == "fusion") {
      for (uint32_t called : instruction.called) {
        for (const InstructionInfo& part : optimised.computations[called].instructions) {
          names.insert(Original(part.name));
          opcodes.insert(part.opcode);
          origins.insert(part.origin);
          kinds.insert(KindOf(part));
          kinds_.emplace(Original(part.name), KindOf(part));
        }
      }
    }
    const double share = kernel.seconds / all;
    for (const std::string& name : names) of_instruction_[name] += share;
    for (const std::string& one : opcodes) of_opcode_[one] += share;
    for (const std::string& kind : kinds) of_kind_[kind] += share;
    if (origins == std::set<std::string>{""}) {
      without_origin[opcode] += share;
      const std::string made = MadeAnew(instruction);
      if (!made.empty()) by_name[made == instruction.opcode ? opcode : made] += share;
    }
    for (const std::string& origin : origins) {
      if (!origin.empty()) of_origin_[origin] += share;
    }
  }
  of_opcode_made_anew_ = of_origin_.empty() ? std::move(by_name) : std::move(without_origin);
}

double KernelShares::OfInstruction(const std::string& name) const {
  return Find(of_instruction_, Original(name));
}

double KernelShares::OfKind(const std::string& kind) const { return Find(of_kind_, kind); }

bool KernelShares::IsKind(const std::string& name, const std::string& kind) const {
  return kinds_.count({Original(name), kind}) != 0;
}

double KernelShares::OfOrigin(const std::string& origin) const { return Find(of_origin_, origin); }

double KernelShares::OfLoop(const std::string& name_or_origin) const {
  return Find(of_loop_, Original(name_or_origin));
}

double KernelShares::OfLoopAlone(const std::string& name_or_origin) const {
  return Find(of_loop_alone_, Original(name_or_origin));
}

std::string KernelShares::DearestLoop() const {
  const auto dearest =
      std::max_element(of_loop_.begin(), of_loop_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return dearest == of_loop_.end() ? "" : dearest->first;
}

double KernelShares::OfOpcode(const std::string& opcode) const { return Find(of_opcode_, opcode); }

double KernelShares::OfOpcodeMadeAnew(const std::string& opcode) const {
  return Find(of_opcode_made_anew_, opcode);
}

}  // namespace hone::tune
