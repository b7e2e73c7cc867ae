#include "tune/find_implementations.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/native_kernel.h"
#include "tune/kernel_shares.h"
#include "tune/recipe.h"

namespace hone::tune {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kLongest = 1e6;  // a clock's range ends somewhere

constexpr char kInline[] = "call-inliner:every_call_site";
// What is called returns several values as a tuple.
constexpr char kUntuple[] = "tuple-simplifier";
constexpr char kShare[] = "cse";
constexpr char kLoopPass[] = "implement:loop_one_kernel";
constexpr char kWriteOutPass[] = "implement:write_out_small";
constexpr char kOnePlacePass[] = "implement:one_place";
constexpr char kBatchPass[] = "batch_lanes";

std::set<std::string> NamesOf(const Pool& pool, const std::vector<OpcodeCount>& counts) {
  std::set<std::string> names;
  for (const OpcodeCount& count : counts) names.insert(pool.opcodes()[count.opcode]);
  return names;
}

// Whether there may be something for it to change in programs of these opcodes.
bool HasRoot(const PassInfo& pass, const std::set<std::string>& opcodes) {
  return pass.roots.empty() ||
         std::any_of(pass.roots.begin(), pass.roots.end(),
                     [&](const std::string& root) { return opcodes.count(root) != 0; });
}

// Only passes values on: inlining takes many of them away.
bool IsNoWork(const std::string& opcode) {
  return opcode == "call" || opcode == "get-tuple-element" || opcode == "parameter" ||
         opcode == "tuple";
}

bool Inlines(const std::string& pass) { return pass == kInline || pass == kUntuple; }

// Of a program, in instructions, without what makes no code. A loop is several kernels, which take
// longer than as many instructions in one.
double CodeSize(const Pool& pool, const std::vector<OpcodeCount>& counts) {
  constexpr double kLoop = 100;
  double size = 0;
  for (const OpcodeCount& count : counts) {
    const std::string& opcode = pool.opcodes()[count.opcode];
    const bool is_free = opcode == "constant" || opcode == "broadcast" || opcode == "reshape";
    if (!is_free && !IsNoWork(opcode)) size += (opcode == "while" ? kLoop : 1) * count.count;
  }
  return size;
}

// What an instruction is, whatever its name.
struct Known {
  std::string kind;
  std::string opcode;
  std::string origin;
  bool operator<(const Known& other) const {
    return std::tie(kind, origin) < std::tie(other.kind, other.origin);
  }
};
// How many kernels a loop may start in one round, and the sizes of its state.
struct LoopKnown {
  size_t kernels = 0;
  std::string state;
};
// A program's instructions by name, and how many there are of each; what there is of them outside
// of kernels; its loops by name; and what its long kernels take to compile beyond their operations.
struct Contents {
  std::map<std::string, Known> names;
  std::map<Known, size_t> counts;
  std::set<Known> outside;
  std::map<std::string, LoopKnown> loops;
  double long_kernels = 0;
};

bool IsOneKernel(const InstructionInfo& call) {
  return std::any_of(call.attributes.begin(), call.attributes.end(), [](const auto& attribute) {
    return attribute.second.find("xla_cpu_small_call=\"true\"") != std::string::npos;
  });
}

bool Calls(const InstructionInfo& one) {
  return one.opcode == "while" || one.opcode == "call" || one.opcode == "conditional";
}

// How many kernels what is called may start, before fusion; or how many operations there are in
// it, kernels or not.
size_t KernelsOf(const ProgramGraph& graph, const InstructionInfo& caller,
                 bool operations = false) {
  static const std::set<std::string> kNone = {"parameter", "constant",          "bitcast",
                                              "tuple",     "get-tuple-element", "broadcast"};
  if (IsOneKernel(caller) && !operations) return 1;
  size_t kernels = 0;
  for (uint32_t called : caller.called) {
    for (const InstructionInfo& one : graph.computations[called].instructions) {
      if (kNone.count(one.opcode) == 0) {
        kernels += Calls(one) ? KernelsOf(graph, one, operations) : 1;
      }
    }
  }
  return kernels;
}

// LLVM takes more than twice as long for twice as many operations in one kernel.
constexpr double kLongKernel = 300;

// Behind a pass: what is in branches that were not there `before` is what it falls back on, as for
// sines of large arguments, and counts as replaced.
Contents ContentsOf(Pool& pool, const StateName& state, const Contents* before = nullptr) {
  Contents contents;
  const StatusOr<ProgramGraph> graph = pool.Describe(state);
  if (!graph) return contents;
  std::set<uint32_t> in_kernels;                           // computations
  for (size_t i = graph->computations.size(); i-- > 0;) {  // callers first
    const bool in_kernel = in_kernels.count(static_cast<uint32_t>(i)) != 0;
    const std::vector<InstructionInfo>& instructions = graph->computations[i].instructions;
    std::set<uint32_t> kept;  // what is not fused counts as replaced
    for (const InstructionInfo& one : instructions) {
      if (one.opcode == "add-dependency") kept.insert(one.operands.front());
    }
    for (uint32_t k = 0; k < instructions.size(); ++k) {
      const InstructionInfo& one = instructions[k];
      const Known known{KindOf(one), one.opcode, one.origin};
      contents.names.emplace(one.name, known);
      ++contents.counts[known];
      if (!in_kernel && kept.count(k) == 0) contents.outside.insert(known);
      if (one.opcode == "while") {
        contents.loops.emplace(
            one.name, LoopKnown{in_kernel ? 0 : KernelsOf(*graph, one), SizesOf(one.shape)});
      }
      if (!in_kernel && IsOneKernel(one)) {
        const auto operations = static_cast<double>(KernelsOf(*graph, one, /*operations=*/true));
        contents.long_kernels += operations * std::max(0.0, operations / kLongKernel - 1);
      }
      const bool falls_back = before != nullptr && one.opcode == "conditional" &&
                              before->names.count(one.name) == 0 &&
                              before->outside.count(known) == 0;
      if (in_kernel || falls_back || IsOneKernel(one)) {
        in_kernels.insert(one.called.begin(), one.called.end());
      }
    }
  }
  return contents;
}

// Where nothing of the same opcode, type and origin is left, under other names behind inlining or
// unrolling, it has its origin.
Replaced ReplacedBy(const Contents& behind, const std::string& name, const Known& known) {
  const bool all = behind.outside.count(known) == 0;
  return {name, all ? known.origin : std::string(), known.opcode, known.kind, all};
}

// None where the last pass changes nothing; else the opcodes behind it are added.
std::optional<Alternative> Try(Pool& pool, const ProgramInfo& program, const Contents& before,
                               const std::vector<PassId>& passes, Clock::time_point until,
                               std::set<std::string>* opcodes = nullptr) {
  ApplyRequest request;
  request.until = until;
  request.from.program = program.id;
  request.passes = passes;
  request.options.verify = true;
  request.options.opcodes = true;
  const StatusOr<Applied> applied = pool.Apply(request);
  if (!applied || !applied->steps.back().changed) return std::nullopt;
  const PassInfo& last = pool.passes()[passes.back()];
  Alternative found{Stage::kImplementation, last.name};
  found.traits = last.traits;
  StateName after{program.id, {}};
  for (const Step& step : applied->steps) {
    found.passes.push_back({pool.passes()[step.pass].name, {}});
    after.links.push_back({step.pass, step.state, {}});
  }
  // XLA inlines calls in any case.
  const std::vector<OpcodeCount>* inlined = &program.opcodes;
  for (size_t k = 0; k + 1 < passes.size() && Inlines(found.passes[k].pass); ++k) {
    if (applied->steps[k].changed) inlined = &applied->steps[k].opcodes;
  }
  found.before = CodeSize(pool, *inlined);
  found.behind = CodeSize(pool, applied->steps.back().opcodes);
  const Contents behind = ContentsOf(pool, after, &before);
  found.behind += behind.long_kernels - before.long_kernels;
  std::map<Known, size_t> loops_left;
  std::set<std::string> states;
  for (const auto& [name, loop] : behind.loops) {
    states.insert(loop.state);
    if (before.loops.count(name) != 0) continue;  // it is none of those that have another name now
    size_t& most = loops_left[behind.names.at(name)];
    most = std::max(most, loop.kernels);
  }
  for (const auto& [name, known] : before.names) {
    if (behind.names.count(name) != 0 || IsNoWork(known.opcode)) continue;
    // What was called has other names behind inlining: as many as there were are no others.
    const auto now = behind.counts.find(known);
    if (passes.size() > 1 && now != behind.counts.end() && now->second >= before.counts.at(known)) {
      continue;
    }
    found.instructions.push_back(ReplacedBy(behind, name, known));
  }
  for (const auto& [name, loop] : before.loops) {
    const Known& known = before.names.at(name);
    const auto same = behind.loops.find(name);
    const size_t now = same != behind.loops.end() ? same->second.kernels : loops_left[known];
    // All that a loop does over another state is another matter, too.
    const bool is_other = loop.kernels > 0 && states.count(loop.state) == 0;
    if (2 * now < loop.kernels || is_other) {
      found.loops.push_back({name, known.origin, known.opcode});
    }
  }
  if (opcodes != nullptr) opcodes->merge(NamesOf(pool, applied->steps.back().opcodes));
  std::map<uint16_t, uint32_t> counts;
  for (const OpcodeCount& count : applied->steps.back().opcodes) {
    counts[count.opcode] = count.count;
  }
  // Inlining, and equal values made one, leave fewer of all.
  const size_t before_last = applied->steps.size() - 1;
  for (const OpcodeCount& count :
       before_last == 0 ? program.opcodes : applied->steps[before_last - 1].opcodes) {
    if (counts[count.opcode] < count.count) found.opcodes.push_back(pool.opcodes()[count.opcode]);
  }
  return found;
}

}  // namespace

std::vector<Alternative> FindImplementations(Pool& pool, const ProgramInfo& program, double seconds,
                                             const std::atomic<bool>* interrupted,
                                             const std::set<std::string>* among) {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(seconds, kLongest)));
  std::vector<Alternative> found;
  const StatusOr<PassId> inlining = FindPass(pool.passes(), kInline);
  const StatusOr<PassId> untupling = FindPass(pool.passes(), kUntuple);
  const StatusOr<PassId> sharing = FindPass(pool.passes(), kShare);
  std::set<std::string> opcodes = NamesOf(pool, program.opcodes);
  const bool calls = inlining && untupling && opcodes.count("call") != 0;
  const Contents contents = ContentsOf(pool, {program.id, {}});
  std::vector<std::vector<PassId>> ways = {{}};  // to come to it, the shortest first
  if (calls) ways.push_back({*inlining, *untupling});
  // Some do not apply before what is in their way has been written out, as a solve within a loop,
  // before each group is convolved by itself, or to products of integers.
  std::vector<PassId> preparing;
  for (PassId pass = 0; pass < pool.passes().size(); ++pass) {
    const PassInfo& info = pool.passes()[pass];
    if ((info.traits & kPrepares) == 0 || !HasRoot(info, opcodes)) continue;
    const bool applies = std::any_of(ways.begin(), ways.end(), [&](std::vector<PassId> way) {
      way.push_back(pass);
      return Try(pool, program, contents, way, until, &opcodes).has_value();
    });
    if (applies) preparing.push_back(pass);
  }
  for (const PassId pass : preparing) {
    ways.push_back({pass});
    if (calls) ways.push_back({*inlining, *untupling, pass});
  }
  const auto add = [&](PassId pass) {
    if ((interrupted != nullptr && *interrupted) || Clock::now() >= until) return;
    if (!HasRoot(pool.passes()[pass], opcodes)) return;
    if (loops::MakesKernels(pool.passes()[pass].name) && !pool.makes_kernels()) return;
    if (among != nullptr && among->count(pool.passes()[pass].name) == 0) return;
    std::optional<Alternative> one;
    std::vector<std::vector<PassId>> mine = ways;
    if (calls && (pool.passes()[pass].traits & kForInlined) != 0) std::swap(mine[0], mine[1]);
    for (const std::vector<PassId>& before : mine) {
      if (one || (!before.empty() && before.back() == pass)) continue;
      std::vector<PassId> passes = before;
      if (sharing && (pool.passes()[pass].traits & kOfShared) != 0) passes.push_back(*sharing);
      passes.push_back(pass);
      one = Try(pool, program, contents, passes, until);
    }
    if (one) found.push_back(*std::move(one));
  };
  // Kernels first, which promise most: looking takes seconds on large programs, and time may end.
  for (const bool kernels : {true, false}) {
    for (PassId pass = 0; pass < pool.passes().size(); ++pass) {
      const PassInfo& info = pool.passes()[pass];
      if (info.kind == PassKind::kImplementation && loops::MakesKernels(info.name) == kernels) {
        add(pass);
      }
    }
  }
  if (const StatusOr<PassId> batch = FindPass(pool.passes(), kBatchPass)) add(*batch);
  // Of a loop around others only these may be of small operations; once small matrices are written
  // out, or writes into one place are no scatters, it is, too, and all are one kernel.
  for (const PassId pass : preparing) {
    const std::string& name = pool.passes()[pass].name;
    const auto loops = std::find_if(found.begin(), found.end(), [](const Alternative& one) {
      return one.name == kLoopPass && one.passes.size() == 1;
    });
    if (loops == found.end() || (name != kWriteOutPass && name != kOnePlacePass)) continue;
    const PassId loop = *FindPass(pool.passes(), kLoopPass);
    if (auto whole = Try(pool, program, contents, {pass, loop}, until)) {
      whole->name = name + "," + kLoopPass;
      whole->traits = kAnywhere;
      found.insert(loops, *std::move(whole));
    }
  }
  return found;
}

}  // namespace hone::tune
